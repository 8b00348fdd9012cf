"""The log-linear ranker against scikit-learn's logistic regression and against bare matrix products.

Claims, each a ratio of times measured in turn in this process (the smallest of several runs):

1. one class per instance, L-BFGS, to the same objective (1e-6 relative): at most 1.5 times the time of
   ``LogisticRegression``, dense (20,000 x 500, 10 classes) and sparse (10,000 x 20,000, 50 classes);
2. one boosting pass over 20,000 documents x 6,000 terms x 100 labels: at most 2.5 times its three sparse products;
   ten times the documents: at most 12 times the time and the memory;
3. a million battles over 50 labels, 100 dense features, L-BFGS to tol: under 5 times ten bare products X·W and Xᵀ·G;
4. memory beyond the data, and beyond the workspace of SciPy's L-BFGS, does not grow with the rows: from 10,000 to
   40,000 documents x 6,000 terms x 100 labels it grows by less than a tenth of the score matrix of the new documents,
   with boosting and with L-BFGS, with and without a penalty.

Exit status 1 if a claim does not hold; ``--quick`` uses small sizes and only reports.

    python benchmarks/bench_log_linear.py [--quick] [--only 2]
"""

import argparse
import sys
import time
import tracemalloc
import warnings

import numpy as np
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from labelrank import LogLinearRanker, PreferenceGraphs
from labelrank.datasets import make_multilabel_hierarchy
from labelrank.losses import LogLinearLoss
from labelrank.models import LinearModel, Objective

DECOMPOSITIONS = ("zero_one", "disagreement", "domination", "dominated")


def seconds(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def in_turn(*functions, repeat):
    """Smallest time of each, measured one after the other `repeat` times."""
    return np.min([[seconds(function) for function in functions] for _ in range(repeat)], axis=0)


def objective(X, y, coef, intercept, alpha):
    scores = X @ coef.T + intercept
    scores -= scores.max(axis=1, keepdims=True)
    logs = scores[np.arange(len(y)), y] - np.log(np.exp(scores).sum(axis=1))
    return -logs.sum() + alpha / 2 * (coef**2).sum()


def logistic_regression(X, y, name, repeat, alpha=1.0, tol=1e-6):
    n_labels = y.max() + 1
    graphs = PreferenceGraphs.from_multiclass(y, n_labels=n_labels)
    theirs = LogisticRegression(C=1 / alpha, tol=tol, max_iter=5000)
    ours = LogLinearRanker(solver="lbfgs", alpha=alpha, tol=tol, max_iter=5000)
    ours.fit(X[:200], graphs[:200])  # compiled before it is timed
    a, b = in_turn(lambda: theirs.fit(X, y), lambda: ours.fit(X, graphs), repeat=repeat)
    best = objective(X, y, theirs.coef_, theirs.intercept_, alpha)
    gap = objective(X, y, ours.coef_, ours.intercept_, alpha) / best - 1
    print(
        f"1. {name}: LogisticRegression {a:.2f} s, {theirs.n_iter_.max()} iterations; ours {b:.2f} s, {ours.n_iter_}"
        f" iterations; ratio {b / a:.2f} (at most 1.5), objective {gap:+.1e} relative (at most 1e-6)"
    )
    return b / a <= 1.5 and gap <= 1e-6


def one_class(quick):
    n, d = (2000, 100) if quick else (20_000, 500)
    X, y = make_classification(n, d, n_informative=30, n_classes=10, random_state=0)
    dense = logistic_regression(X, y, f"dense {n} x {d}, 10 classes", 1 if quick else 3)
    rng = np.random.default_rng(0)
    n, d, k = (1000, 2000, 10) if quick else (10_000, 20_000, 50)
    rows = np.repeat(np.arange(n), 60)
    X = sparse.csr_array((1 + rng.exponential(size=len(rows)), (rows, rng.integers(0, d, len(rows)))), shape=(n, d))
    y = np.argmax(X @ rng.normal(size=(d, k)) + 3 * rng.gumbel(size=(n, k)), axis=1)
    return dense & logistic_regression(X, y, f"sparse {n} x {d}, {k} classes", 1 if quick else 3)


def documents(n, quick):
    d, k = (600, 20) if quick else (6000, 100)
    X, Y, _ = make_multilabel_hierarchy(n, d, n_labels=k, n_nonzero=25, random_state=0)
    return X, PreferenceGraphs.from_multilabel(Y)


def boosting_pass(quick):
    n = 2000 if quick else 20_000
    X, graphs = documents(n, quick)
    rng = np.random.default_rng(0)
    good = True
    for name in DECOMPOSITIONS:
        model = Objective(LinearModel(X, graphs.shape[1], fit_intercept=False), LogLinearLoss(graphs, name))
        coef = 0.1 * rng.normal(size=model.coef_shape)
        inflow, outflow = rng.random(graphs.shape), rng.random(graphs.shape)
        model.value_and_weights(coef)
        bare, ours = in_turn(
            lambda: (X @ coef, X.T @ inflow, X.T @ outflow),  # noqa: B023
            lambda: model.value_and_weights(coef),  # noqa: B023
            repeat=5 if quick else 25,
        )
        good &= ours / bare <= 2.5
        print(
            f"2. boosting pass, {name}: bare {1e3 * bare:.0f} ms, ours {1e3 * ours:.0f} ms, "
            f"ratio {ours / bare:.2f} (at most 2.5)"
        )
    return good & ten_times(quick)


def short_fit(size, quick, solver="boosting", alpha=0.0):
    """Time and peak memory of five iterations, size of the data and of a score matrix."""
    X, graphs = documents(size, quick)
    ranker = LogLinearRanker(solver=solver, alpha=alpha, max_iter=5, tol=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranker.fit(X, graphs)
        elapsed = min(seconds(lambda: ranker.fit(X, graphs)) for _ in range(3))
        tracemalloc.start()
        ranker.fit(X, graphs)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    held = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes + graphs.levels.nbytes
    return elapsed, peak, held, 8 * graphs.shape[0] * graphs.shape[1]


def ten_times(quick):
    """Growth of time and memory with the number of documents."""
    n = 500 if quick else 5000
    small, large = (short_fit(size, quick) for size in (n, 10 * n))
    time_ratio, memory_ratio = large[0] / small[0], (large[1] + large[2]) / (small[1] + small[2])
    print(f"2. ten times the documents: time {time_ratio:.1f}, data and peak memory {memory_ratio:.1f} (at most 12)")
    good = time_ratio <= 12 and memory_ratio <= 12
    for solver, alpha in (("boosting", 0.0), ("boosting", 1.0), ("lbfgs", 0.0), ("lbfgs", 1.0)):
        few, many = (short_fit(size, quick, solver, alpha) for size in (2 * n, 8 * n))
        growth, scores = many[1] - few[1], many[3] - few[3]
        good &= growth < 0.1 * scores
        print(
            f"4. {solver}, alpha={alpha:g}: peak beside the data {few[1] / 2**20:.1f} MiB with {2 * n} documents, "
            f"{many[1] / 2**20:.1f} MiB with {8 * n}; grows by {growth / scores:.3f} of the new scores (at most 0.1)"
        )
    return good


def battles(quick):
    n, k, d = (20_000 if quick else 1_000_000), 50, 100
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(n, d)), rng.normal(size=(d, k)) / np.sqrt(d)
    a = rng.integers(0, k, n)
    b = (a + rng.integers(1, k, n)) % k
    difference = np.einsum("ij,ij->i", X, W.T[a] - W.T[b])
    won = rng.random(n) < 1 / (1 + np.exp(-difference))
    graphs = PreferenceGraphs.from_pairs(np.arange(n), np.where(won, a, b), np.where(won, b, a), n_labels=k)
    ranker = LogLinearRanker(alpha=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranker.fit(X[:500], graphs[:500])
    G = rng.normal(size=(n, k))
    bare, ours = in_turn(
        lambda: [(X @ W, X.T @ G) for _ in range(10)], lambda: ranker.fit(X, graphs), repeat=1 if quick else 2
    )
    print(
        f"3. {n} battles: ten products {bare:.2f} s, fit {ours:.2f} s in {ranker.n_iter_} iterations, ratio "
        f"{ours / bare:.2f} (at most 5), largest gradient entry {ranker.gap_:.1e}"
    )
    return ours / bare <= 5 and ranker.gap_ <= ranker.tol


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, no verdict")
    parser.add_argument("--only", type=int, choices=(1, 2, 3), help="one of the claims")
    options = parser.parse_args()
    parts = {1: one_class, 2: boosting_pass, 3: battles}
    chosen = [options.only] if options.only else list(parts)
    good = [parts[number](options.quick) for number in chosen]
    return 0 if options.quick or all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
