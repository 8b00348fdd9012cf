"""
A stream: learn from each instance once
=======================================

Instances arrive in batches, and preferences change over time. `partial_fit` of `SoftProjectionRanker` makes one step
for each instance and does not store it. Every batch is predicted before the ranker learns from it. The data are
generated: in the middle of the stream two labels swap their roles.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from labelrank import DummyRanker, SoftProjectionRanker
from labelrank.datasets import make_label_ranking
from labelrank.metrics import kendall_tau

n, size = 2000 if "--quick" in sys.argv else 10_000, 100
X, y = make_label_ranking(n, 8, n_labels=6, random_state=0)
y[n // 2 :, [0, 1]] = y[n // 2 :, [1, 0]]

stream = SoftProjectionRanker(C=0.1).partial_fit(X[:size], y[:size])
fixed, everyone = SoftProjectionRanker(C=0.1).fit(X[:size], y[:size]), DummyRanker().fit(X[:size], y[:size])
tau = {"keeps learning": [], "first batch only": [], "same ranking for all": []}
for start in range(size, n, size):
    rows = slice(start, start + size)
    for name, ranker in zip(tau, (stream, fixed, everyone), strict=True):
        tau[name].append(kendall_tau(y[rows], ranker.predict(X[rows])))
    stream.partial_fit(X[rows], y[rows])

# %%
# The coefficients are the mean of all iterates, so the ranker forgets the old roles slowly.
for name, values in tau.items():
    smooth = np.convolve(values, np.ones(3) / 3, mode="valid")
    plt.plot(np.arange(len(smooth)) * size + 2 * size, smooth, label=name)
plt.axvline(n // 2, color="gray", linestyle=":")
plt.xlabel("instances seen")
plt.ylabel("Kendall's tau of the next batch")
plt.legend()
plt.show()
