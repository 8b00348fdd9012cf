"""Draw the chart of the page on choosing a learner, and write its table of accuracies.

The numbers are those of results/auto_accuracy.inc, which benchmarks/bench_auto.py writes.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

HERE = Path(__file__).parent
FONT = "system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif"
INK, GRAY, BLUE, GREEN = "#1f2937", "#64748b", "#2b5d8a", "#3d7a6a"
STEP = 62
QUESTIONS = [
    (
        "Costs or runtimes for every label?",
        'AutoRanker(scoring=get_scorer("mean_cost"))',
        "the models with the lowest costs",
    ),
    (
        "A set of labels, not an order?",
        "LabelCoveringClassifier, CalibratedRanker",
        "trained for the error you choose; with a learned cut",
    ),
    ("Items in groups, or new labels later?", "RankRLS, KernelRidgeRanker", "kernels on items or labels"),
    ("Does the data arrive as a stream?", "SoftProjectionRanker", "partial_fit, online or batch"),
    ("Text, or thousands of sparse columns?", "LogLinearRanker", "linear and fast, with exact explanations"),
    ("Must the model be readable?", "DecisionTreeRanker", "one tree, drawn with its rankings"),
    ("More than about 20,000 rows?", "GradientBoostingRanker", "handles categories and missing values"),
    (
        "None of these: plain numbers",
        "ExtraTreesRanker, KernelRidgeRankerCV",
        "accurate without tuning; or AutoRanker",
    ),
]
CLASSES = {
    "AutoRanker": "AutoRanker",
    "extra trees": "ExtraTreesRanker",
    "kernel ridge": "KernelRidgeRankerCV",
    "boosted trees": "GradientBoostingRanker",
    "small boosted trees": "GradientBoostingRanker",
    "random forest": "RandomForestRanker",
    "neighbors": "KNeighborsRankerCV",
    "linear": "LogLinearRanker",
    "penalized linear": "LogLinearRanker",
    "quadratic": "LogLinearRanker",
}


def text(x: float, y: float, words: str, size: int, color: str, extra: str = "") -> str:
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{color}" {extra}>{words}</text>\n'


def chart() -> None:
    parts = []
    for i, (question, answer, why) in enumerate(QUESTIONS):
        y, last = 18 + STEP * i, i == len(QUESTIONS) - 1
        color = GRAY if last else BLUE
        parts.append(f'<rect x="14" y="{y}" width="330" height="44" rx="22" fill="#fff" stroke="{color}"/>\n')
        parts.append(text(179, y + 27, question, 14, INK, 'text-anchor="middle"'))
        parts.append(f'<path d="M344 {y + 22}h64" stroke="{GREEN}" stroke-width="2" marker-end="url(#tip)"/>\n')
        if not last:
            parts.append(text(372, y + 16, "yes", 12, GREEN, 'text-anchor="middle"'))
            parts.append(f'<path d="M179 {y + 44}v{STEP - 46}" stroke="{GRAY}" stroke-width="1.6"/>\n')
            parts.append(text(187, y + 57, "no", 12, GRAY))
        parts.append(f'<rect x="414" y="{y}" width="472" height="44" rx="7" fill="#fff" stroke="{GREEN}"/>\n')
        parts.append(text(428, y + 19, answer, 14, GREEN, 'font-weight="600"') + text(428, y + 36, why, 12, GRAY))
    height = 18 + STEP * len(QUESTIONS)
    label = "Questions about the data, each with the learner to start with"
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 {height}" width="900" height="{height}" role="img" '
        f'aria-label="{label}" font-family="{FONT}">\n<title>{label}</title>\n'
        f'<defs><marker id="tip" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M1 1L9 5L1 9" fill="none" stroke="{GREEN}" stroke-width="1.6"/></marker></defs>\n'
        f'<rect width="900" height="{height}" rx="10" fill="#f4f7fa"/>\n{"".join(parts)}</svg>\n'
    )
    (HERE / "_static" / "which_learner.svg").write_text(svg, encoding="utf-8")


def table() -> None:
    lines = (HERE / "results" / "auto_accuracy.inc").read_text(encoding="utf-8").splitlines()
    names = lines[1].removeprefix("   :header: ").split(", ")
    rows = list(csv.reader(line.strip() for line in lines[3:] if line.strip()))
    complete = [row for row in rows if all(cell.strip() for cell in row)]
    tau = np.array([[float(cell) for cell in row[2:]] for row in complete])
    alone = tau[:, 1:]  # without AutoRanker, which is made of the others
    ranks = rankdata(-alone, axis=1)
    order = np.argsort(ranks.mean(axis=0))
    out = [
        ".. csv-table::",
        "   :header: candidate, learner, average rank, mean tau, sets where best, furthest behind the best",
        "",
    ]
    for j in order:
        name = names[3 + j]
        worst = (alone[:, j] - alone.max(axis=1)).min()
        cells = [name, f":class:`~labelrank.{CLASSES[name]}`", f"{ranks[:, j].mean():.1f}", f"{alone[:, j].mean():.3f}"]
        out.append("   " + ", ".join([*cells, f"{int((ranks[:, j] == 1).sum())}", f"−{-worst:.3f}"]))
    ahead = int((tau[:, 0] >= alone.max(axis=1)).sum())
    out += [
        "",
        f"Kendall's tau on {len(complete)} sets ({', '.join(row[0] for row in complete)}). "
        ":class:`~labelrank.AutoRanker`, which combines them and learns from all training rows, has a mean of "
        f"{tau[:, 0].mean():.3f} and is at least as good "
        f"as the best of them on {ahead} sets.",
        "",
    ]
    (HERE / "results" / "learners.inc").write_text("\n".join(out), encoding="utf-8")


if __name__ == "__main__":
    chart()
    table()
