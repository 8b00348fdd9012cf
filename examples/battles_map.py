"""
Battles on a map of models
==========================

Chat arenas collect battles between language models. A Plackett-Luce model (for pairs, a Bradley-Terry model) estimates
the strength of each model from the battles of a topic. The map shows the strengths for two topics, arithmetic and
knowledge. Battles are derived from the graded answers in ``llm/llm_routerdc7.csv`` in the folder given by
`LABELRANK_DATA`, or generated.
"""

import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from labelrank import PreferenceGraphs
from labelrank.aggregation import plackett_luce_scores

n_battles, rng = 500 if "--quick" in sys.argv else 4000, np.random.default_rng(0)
path = Path(os.environ.get("LABELRANK_DATA", "."), "llm", "llm_routerdc7.csv")
if path.exists():
    table = pd.read_csv(path)
    topics = {name: table[table["task"] == name].iloc[:, 4:] for name in ("gsm8k", "mmlu")}
else:
    skill = np.clip(rng.normal(0.5, 0.2, size=(2, 7)) + rng.normal(0, 0.15, size=7), 0.05, 0.95)
    graded = [pd.DataFrame(1.0 * (rng.random((1000, 7)) < row)).rename(columns="model {}".format) for row in skill]
    topics = dict(zip(("arithmetic", "knowledge"), graded, strict=True))
print(f"{n_battles} battles per topic, {'of graded answers' if path.exists() else 'generated'}")


def strengths(grades):
    """Estimate the strengths of models from battles on random prompts; a tie is half a win for both."""
    a, b = np.array([rng.choice(grades.shape[1], 2, replace=False) for _ in range(n_battles)]).T
    rows = grades.to_numpy()[rng.integers(len(grades), size=n_battles)]
    lead = rows[np.arange(n_battles), a] - rows[np.arange(n_battles), b]
    winner = np.select([lead > 0, lead < 0], ["a", "b"], "tie")
    battles = pd.DataFrame({"a": grades.columns[a], "b": grades.columns[b], "winner": winner})
    labels = list(grades.columns)
    return plackett_luce_scores(PreferenceGraphs.from_battles(battles, a="a", b="b", winner="winner", labels=labels))


# %%
# Each point is the mean of five draws of battles; the bars show their standard deviation.
found = {name: np.array([strengths(grades) for _ in range(5)]) for name, grades in topics.items()}
(x_name, x), (y_name, y) = found.items()
figure, ax = plt.subplots(figsize=(7, 6), layout="constrained")
ax.errorbar(x.mean(axis=0), y.mean(axis=0), y.std(axis=0), x.std(axis=0), fmt="o", ecolor="gray")
for place, i in enumerate(np.argsort(y.mean(axis=0))):
    name, at = topics[x_name].columns[i].split("/")[-1], (x.mean(axis=0)[i], y.mean(axis=0)[i])
    side = {"ha": "left", "xytext": (6, 6)} if place % 2 else {"ha": "right", "xytext": (-6, 6)}
    ax.annotate(name, at, textcoords="offset points", **side)
ax.set(xlabel=f"strength in {x_name}", ylabel=f"strength in {y_name}")
ax.margins(0.45, 0.1)
plt.show()
