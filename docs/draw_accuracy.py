"""Draw the picture and write the table of the page on accuracy, from results/auto_accuracy.inc."""

from __future__ import annotations

import csv
from pathlib import Path

import matplotlib.pyplot as plt
from _svg import save

HERE = Path(__file__).parent


def read() -> tuple[list[str], list[list[str]]]:
    """The columns and rows that benchmarks/bench_auto.py wrote."""
    lines = (HERE / "results" / "auto_accuracy.inc").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in row] for row in csv.reader(line for line in lines[3:] if line.strip())]
    return lines[1].removeprefix("   :header: ").split(", "), rows


def main() -> None:
    names, rows = read()
    out = [".. csv-table::", "   :class: wide", f"   :header: {', '.join(names)}", ""]
    for row in rows:
        best = max(float(cell) for cell in row[1:] if cell)
        cells = [f"**{cell}**" if cell and float(cell) == best else cell or "–" for cell in row[1:]]
        out.append("   " + ", ".join([row[0], *cells]))
    (HERE / "results" / "accuracy.inc").write_text("\n".join(out) + "\n", encoding="utf-8")
    rows = sorted(rows, key=lambda row: float(row[1]))
    figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
    for i, row in enumerate(rows):
        alone = [float(cell) for cell in row[3:] if cell]
        axes.plot(alone, [i] * len(alone), "|", color="#94a3b8", ms=9, label="" if i else "each candidate alone")
        axes.plot(float(row[1]), i, "o", color="#c2752b", ms=8, label="" if i else "best published")
        axes.plot(float(row[2]), i, "D", color="#2b5d8a", ms=6, label="" if i else "AutoRanker")
    axes.set_yticks(range(len(rows)), [row[0] for row in rows])
    axes.set_xlabel("Kendall's tau")
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)
    save(figure, "accuracy.svg")


if __name__ == "__main__":
    main()
