"""
Solver selection: how much of the gap is closed
===============================================

Which solver should be started on a new instance? A selector is evaluated by how much it closes the gap between the best
single solver and the best solver of each instance. The runtimes of nine solvers on 600 SAT instances are read from
``aslib/SAT11-RAND.csv.gz`` in the folder given by `LABELRANK_DATA`, or those of four solvers are generated.
"""

import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import KFold, cross_val_predict

from labelrank import RandomForestRanker
from labelrank.datasets import read_aslib
from labelrank.metrics import closed_gap, mean_cost

quick = "--quick" in sys.argv
path = Path(os.environ.get("LABELRANK_DATA", "."), "aslib", "SAT11-RAND.csv.gz")
if path.exists():
    scenario = read_aslib(path, unsolved="last")
    X, runtimes, cutoff = scenario.data, scenario.performance, scenario.cutoff
else:
    rng, cutoff = np.random.default_rng(0), 600.0
    X = rng.normal(size=(300 if quick else 1000, 3))
    runtimes = np.exp(3.5 + 2 * X[:, :2] @ rng.normal(size=(2, 4)) + 0.5 * rng.normal(size=(len(X), 4)))
    runtimes[runtimes >= cutoff] = np.nan

# %%
# A run that was stopped without a result costs ten times the cutoff (PAR10). Costs can be used directly as `y`: smaller
# is better.
costs = np.where(np.isnan(runtimes), 10 * cutoff, runtimes)
forest = RandomForestRanker(20 if quick else 200, random_state=0, on_empty="ignore")
ranks = cross_val_predict(forest, X, costs, cv=KFold(3 if quick else 10, shuffle=True, random_state=0))
gap, (single, best) = closed_gap(costs, ranks), (costs.mean(axis=0).argmin(), costs.min(axis=1))
print(f"{path.name if path.exists() else 'generated'}, PAR10: single best {costs[:, single].mean():.0f},")
print(f"ranked first {mean_cost(costs, ranks):.0f}, best of each {best.mean():.0f}; {gap:.0%} of the gap is closed")

# %%
# How many instances are solved within a time?
chosen = costs[np.arange(len(costs)), ranks.argmin(axis=1)]
for name, times in {"best of each": best, "ranked first": chosen, "single best": costs[:, single]}.items():
    times = np.sort(times[times < cutoff])
    plt.step(times, np.arange(1, len(times) + 1) / len(costs), where="post", label=name)
plt.xscale("log")
plt.xlabel("seconds")
plt.ylabel("share of the instances solved")
plt.title(f"{gap:.0%} of the gap is closed")
plt.legend()
plt.show()
