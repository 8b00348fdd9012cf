"""Published tables, computed again: one folder per paper, and `frame` for what they share.

``python -m papers`` lists the papers, ``python -m papers NAME --quick`` runs one on a small generated problem.
"""

from __future__ import annotations

import difflib
from importlib import import_module

from papers.frame import Experiment

PAPERS = ("dekel2003", "amit2007", "cheng2009", "sopopo2006", "tsivtsivadze2008")


def find(name: str) -> Experiment:
    """Return the experiment of a paper.

    Examples
    --------
    >>> import papers
    >>> papers.find("cheng2009").run(quick=True).tables[0].columns
    ['CC', 'IBLR', 'LRT', 'forest']
    """
    if name not in PAPERS:
        near = difflib.get_close_matches(name, PAPERS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise ValueError(f"there is no paper {name!r}{hint} Known: {', '.join(PAPERS)}")
    experiment: Experiment = import_module(f"papers.{name}").EXPERIMENT
    return experiment
