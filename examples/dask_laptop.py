"""
Dask on a laptop
================

Data that do not fit into memory stay in partitions. Each iteration of the solver sums over the partitions, and the
model is the same as for all rows at once. Here a small cluster runs in threads of this process on a generated array;
for a real cluster only the line with the `Client` changes.
"""

import sys

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from dask.distributed import Client

import labelrank
import labelrank.dask

n, n_parts = 20_000 if "--quick" in sys.argv else 200_000, 8
coef = np.random.default_rng(0).normal(size=(10, 6))
X = da.random.default_rng(0).normal(size=(n, 10), chunks=(n // n_parts, 10))
noise = da.random.default_rng(1).gumbel(size=(n, 6), chunks=(n // n_parts, 6))
y = (-(X @ coef + noise)).map_blocks(lambda costs: costs.argsort(axis=1).argsort(axis=1) + 1.0)

with Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0") as client:
    partitioned = labelrank.dask.LogLinearRanker(alpha=10.0, client=client).fit(X, y)
    sure = labelrank.dask.predict(partitioned, X, method="confidence").compute()
local = labelrank.LogLinearRanker(alpha=10.0).fit(X.compute(), y.compute())
print(f"{n:,} rows in {n_parts} partitions: the largest difference of coefficients is ", end="")
print(f"{np.abs(partitioned.coef_ - local.coef_).max():.1e}")

# %%
# The coefficients agree with those of the local fit. Confidences are predicted partition by partition.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.scatter(local.coef_, partitioned.coef_, s=12)
left.axline((0, 0), slope=1, color="gray", linestyle=":")
left.set(xlabel="coefficients, all rows at once", ylabel="coefficients, in partitions")
right.hist(sure, bins=40)
right.set(xlabel="confidence", ylabel="rows")
plt.show()
