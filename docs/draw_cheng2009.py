"""Draw docs/_static/cheng2009_ranks.svg and cheng2009_curves.svg from the tables of docs/results/cheng2009.rst.

Run it from the root of the repository when these tables change: ``PYTHONPATH=. python docs/draw_cheng2009.py``.
"""

from __future__ import annotations

import re
from pathlib import Path

from _svg import save

from labelrank.metrics import critical_difference
from papers.cheng2009.pictures import plot_critical_difference, plot_curves
from papers.frame import Report, Table

PAGE = Path(__file__).parent / "results" / "cheng2009.rst"


def stored_tables() -> list[Table]:
    """Tables of the page that have nothing but numbers."""
    found = []
    table = r"^\.\. (?:details:: (.*)\n\n   \.\. )?list-table::(.*)\n(?: +:.*\n)+\n((?:   .*\n)+)"
    for folded, shown, body in re.findall(table, PAGE.read_text(encoding="utf-8"), re.MULTILINE):
        title = folded or shown.strip()
        (stub, *columns), *rows = (re.findall(r"- (.*)", row) for row in body.split(" * ")[1:])
        if all(re.fullmatch(r"[-−]?[\d.]+", text) for row in rows for text in row[1:]):
            values = [[float(text.replace("−", "-")) for text in row[1:]] for row in rows]
            found.append(Table(title, stub, [row[0] for row in rows], columns, values))
    return found


if __name__ == "__main__":
    tables = stored_tables()
    save(plot_curves(Report([], tables)), "cheng2009_curves.svg")
    [ranks] = [table for table in tables if re.fullmatch(r"average rank, \d+ sets", table.title)]
    n_sets = int(ranks.title.split()[2])
    difference = critical_difference(len(ranks.columns), n_sets)
    save(plot_critical_difference(ranks.rows, ranks.columns, ranks.mean(), difference), "cheng2009_ranks.svg")
