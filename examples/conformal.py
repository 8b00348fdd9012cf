"""
Routing with a guarantee
========================

A `ConformalRanker` adds a guarantee to any ranker: the predicted set of teams contains the best one with a probability
of 90 %, however good the model is. Tickets with one team in the set are routed automatically, the others by a person.
The data are generated.
"""

import matplotlib.pyplot as plt
import numpy as np

from labelrank import ConformalRanker, LogLinearRanker, RandomForestRanker
from labelrank.datasets import make_label_ranking

n = 6000
X, y = make_label_ranking(n, 5, n_labels=6, utilities="nonlinear", random_state=0)
old, new = slice(n // 2), slice(n // 2, None)
alphas = np.array([0.02, 0.05, 0.1, 0.2, 0.3])
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ranker, marker in ((RandomForestRanker(50, random_state=0), "o"), (LogLinearRanker(), "s")):
    conformal = ConformalRanker(ranker, target="top_k", random_state=0).fit(X[old], y[old])
    sets = [conformal.with_alpha(alpha).predict_set(X[new]) for alpha in alphas]
    best = np.arange(n // 2), y[new].argmin(axis=1)
    left.plot(1 - alphas, [chosen[best].mean() for chosen in sets], marker=marker, label=type(ranker).__name__)
    right.plot(1 - alphas, [(chosen.sum(axis=1) == 1).mean() for chosen in sets], marker=marker)
left.plot(1 - alphas, 1 - alphas, color="gray", linestyle=":", label="promised")
left.set(xlabel="promised", ylabel="share of sets with the best label")
left.legend()
right.set(xlabel="promised", ylabel="share of sets with one label: no person needed")
plt.show()
