"""
Labels that were never seen
===========================

A new drink is on the menu, and nobody has ranked it yet. With features of the labels (ingredients), similar labels have
similar scores, and `predict` ranks all labels with known features. The data are generated.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from labelrank import KernelRidgeRanker, ranks_from_scores
from labelrank.metrics import kendall_tau

rng = np.random.default_rng(0)
n_people, known = 200 if "--quick" in sys.argv else 1000, [3, 5, 10, 20, 40]
people, drinks = rng.normal(size=(n_people, 4)), rng.normal(size=(60, 4))  # tastes, ingredients
liking = people @ drinks.T
y = ranks_from_scores(liking + rng.normal(size=liking.shape))
half, new = n_people // 2, slice(40, None)

tau = []
for n in known:
    ranker = KernelRidgeRanker(label_features=drinks[:n]).fit(people[:half], y[:half, :n])
    tau.append(kendall_tau(y[half:, new], ranker.predict(people[half:], label_features=drinks[new])))
informed = KernelRidgeRanker(label_features=drinks[new]).fit(people[:half], y[:half, new])
reached = kendall_tau(y[half:, new], informed.predict(people[half:]))

# %%
# With twenty known drinks, new ones are ranked as well as by a ranker trained on rankings of the new ones.
plt.plot(known, tau, marker="o", label="learned from other drinks")
plt.axhline(reached, color="gray", linestyle=":", label="learned from these drinks")
plt.xlabel("other drinks that the ranker has learned from")
plt.ylabel("Kendall's tau of 20 new drinks, new people")
plt.legend()
plt.show()
