"""Items in groups for the tests of RankRLS, and a model for each way to fit it."""

import numpy as np
import pytest
from oracles import rls as oracle
from sklearn.metrics.pairwise import rbf_kernel

from labelrank.rankers.rank_rls import RankRLS

M, D = 60, 4
RNG = np.random.default_rng(0)
X = RNG.normal(size=(M, D))
GROUPS = RNG.integers(0, 9, M)
Y = np.sin(X[:, 0]) + X[:, 1] + RNG.normal(size=9)[GROUPS] + 0.1 * RNG.normal(size=M)
WEIGHT = RNG.uniform(0.2, 3, M)
K = rbf_kernel(X, gamma=0.3)
R = np.arange(0, M, 3)
L = oracle.laplacian(oracle.adjacency(GROUPS))
MODELS = {
    "primal": RankRLS(0.5),
    "dual": RankRLS(0.5, kernel="rbf", gamma=0.3),
    "basis": RankRLS(0.5, kernel="rbf", gamma=0.3, basis=R),
    "groups": RankRLS(0.5, kernel="poly", weighting="groups"),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
