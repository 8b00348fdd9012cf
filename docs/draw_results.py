"""Draw pictures of the results pages from the tables that are printed on them."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from _svg import save

HERE = Path(__file__).parent
COLORS = ["#94a3b8", "#c2752b", "#2b5d8a", "#3d7a6a"]


def tables(page: str, title: str) -> list[tuple[list[str], list[list[str]]]]:
    """Return the header and rows of each list-table of a page whose title starts so."""
    text = (HERE / "results" / f"{page}.rst").read_text(encoding="utf-8")
    found = []
    for match in re.finditer(rf"(list-table|details):: {re.escape(title)}[^\n]*\n(.*?)(?=\n\S|\Z)", text, re.S):
        rows = [re.findall(r"- ?(.*)", row) for row in re.split(r"\n *\* ", match[2])[1:]]
        found.append((rows[0], [[cell.strip("* ") for cell in row] for row in rows[1:]]))
    return found


def number(cell: str) -> tuple[float, float]:
    """The mean and the spread of a cell such as 0.3 ± 0.1 or -8.9 %."""
    mean, *spread = re.findall(r"[-+]?\d*\.?\d+", cell)
    return float(mean), float(spread[0]) if spread else 0.0


def dekel2003() -> None:
    header, rows = tables("dekel2003", "L-BFGS, the penalty chosen for the error that was minimized")[0]
    columns = [j for j, name in enumerate(header) if j and name != "paper"]
    figure, axes = plt.subplots(figsize=(7.5, 3), layout="constrained")
    best = {j: min(number(row[j])[0] for row in rows) for j in columns}
    for i, row in enumerate(rows):
        heights = [100 * (number(row[j])[0] / best[j] - 1) for j in columns]
        places = np.arange(len(columns)) + (i - 1.5) * 0.2
        axes.bar(places, np.maximum(heights, 0.15), 0.18, color=COLORS[i], label=f"minimized: {row[0]}")
    axes.set_xticks(range(len(columns)), [f"{header[j]} error" for j in columns])
    axes.set_ylabel("% above the best")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(ncols=2, frameon=False)
    save(figure, "dekel2003.svg")


def tsivtsivadze2008() -> None:
    figure, axes = plt.subplots(1, 2, figsize=(8, 2.6), layout="constrained", sharey=True)
    for ax, title, (_, rows) in zip(
        axes, ["parses", "documents"], tables("tsivtsivadze2008", "errors in"), strict=True
    ):
        for i, row in enumerate(reversed(rows)):
            mean, spread = number(row[1])
            ax.errorbar(mean, i, xerr=spread, fmt="o", color=COLORS[2 if "Rank" in row[0] else 1], capsize=3)
        ax.set_yticks(range(len(rows)), [row[0] for row in reversed(rows)])
        ax.locator_params(axis="x", nbins=4)
        ax.set_ylim(-0.6, len(rows) - 0.4)
        ax.set_xlabel(f"disagreement error, {title}")
        ax.grid(axis="x", alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
    save(figure, "tsivtsivadze2008.svg")


def amit2007() -> None:
    header, rows = tables("amit2007", "Test error after training with the covering")[0]
    chosen = [row for row in rows if row[1] == "L-BFGS, chosen penalty"]
    figure, axes = plt.subplots(figsize=(7.5, 3.4), layout="constrained")
    for i, name in enumerate(header[2:]):
        changes = [number(row[2 + i])[0] for row in chosen]
        axes.bar(np.arange(len(chosen)) + (i - 1.5) * 0.2, changes, 0.18, color=COLORS[i], label=name)
    axes.set_xticks(range(len(chosen)), [row[0] for row in chosen])
    axes.axhline(0, color="#1f2937", lw=0.8)
    axes.set_ylabel("change of the test error, %")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(ncols=4, frameon=False, loc="outside upper center", title="trained with and measured by, against HM")
    save(figure, "amit2007.svg")


if __name__ == "__main__":
    dekel2003()
    tsivtsivadze2008()
    amit2007()
