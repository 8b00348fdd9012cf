"""Gradient-boosted ranking trees against XGBoost and LightGBM with the same loss as their objective.

Claims about one thread, with the same rounds, leaves and bins, each measured next to its rivals:

1. mean tau over the shared sets: at most .002 below the better of the two;
2. CPU seconds on 10,000 x 16 x 10 and on 100,000 x 30 x 20: at most those of the faster of the two;
3. memory of the fit on 100,000 x 30 x 20, reported next to the binned data and the scores;
4. ten times the rows: at most 11 times the time;
5. 20,000 sparse documents x 6,000 terms x 100 topics, 100 iterations: at most twice the time of LightGBM, one model per
   topic, with the same rounds; its domination error is reported next to that of ``LogLinearRanker``.

XGBoost (with ``multi_output_tree``) and LightGBM are test dependencies: ``pip install --group rivals``. The shared sets
are read from the folder LABELRANK_DATA; without it, and with ``--quick``, data are generated. The exit status is 1 if a
claim does not hold; ``--quick`` uses small sizes and only reports.

    python benchmarks/bench_gradient_boosting.py [--quick] [--only 2]
"""

import argparse
import os
import sys
import time
import tracemalloc
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.model_selection import KFold

from labelrank import GradientBoostingRanker, LogLinearRanker, PreferenceGraphs, ranks_from_scores
from labelrank.datasets import load_iris_rankings, make_label_ranking, read_csv
from labelrank.metrics import domination_error, kendall_tau

try:
    import lightgbm  # noqa: F401
    import xgboost  # noqa: F401
    from _boosting_rivals import LightGBM, XGBoost

    RIVALS = (XGBoost, LightGBM)
except ImportError:
    RIVALS = ()
    print("XGBoost and LightGBM are not installed; pip install --group rivals")

SETS = ("bodyfat", "glass", "housing", "iris", "segment", "stock", "vehicle", "vowel", "wine", "wisconsin")


def cpu(function):
    start = time.process_time()
    function()
    return time.process_time() - start


def make(n, d, k, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    utilities = np.tanh(X @ rng.standard_normal((d, k))) + 0.5 * rng.standard_normal((n, k))
    return X, ranks_from_scores(utilities)


def ours(n_iter, **settings):
    return GradientBoostingRanker(max_iter=n_iter, early_stopping=False, random_state=0, **settings)


def accuracy(quick):
    folder = os.environ.get("LABELRANK_DATA")
    if folder and not quick:
        sets = {name: read_csv(Path(folder, "lr16", f"{name}.csv")) for name in SETS}
        sets = {name: (np.asarray(s.data, float), np.asarray(s.target, float)) for name, s in sets.items()}
    else:
        sets = {"iris": load_iris_rankings(return_X_y=True), "made": make_label_ranking(200, 5, n_labels=5)}
    n_iter, folds = (20, 2) if quick else (200, 5)
    means = []
    for name, (X, y) in sets.items():
        found = []
        for learner in (ours, *RIVALS):
            taus = []
            for train, test in KFold(folds, shuffle=True, random_state=0).split(X):
                model = learner(n_iter).fit(X[train], y[train])
                taus.append(kendall_tau(y[test], ranks_from_scores(model.decision_function(X[test]))))
            found.append(np.mean(taus))
        means.append(found)
        print(f"  {name:12} " + "  ".join(f"{tau:.4f}" for tau in found), flush=True)
    mean = np.mean(means, axis=0)
    print(f"  {'mean':12} " + "  ".join(f"{tau:.4f}" for tau in mean) + "  labelrank, " + _names())
    return not RIVALS or mean[0] >= mean[1:].max() - 0.002


def speed(quick):
    good = True
    for n, d, k in ((10_000, 16, 10), (100_000, 30, 20)):
        n_iter = 3 if quick else 20
        X, y = make(n // (20 if quick else 1), d, k)
        for learner in (ours, *RIVALS):
            learner(2).fit(X[:500], y[:500])  # compiled, loaded
        models = [learner(n_iter) for learner in (ours, *RIVALS)]
        found = [min(cpu(partial(model.fit, X, y)) for _ in range(2)) for model in models]
        print(
            f"  {len(X)} x {d} x {k}, {n_iter} iterations: " + ", ".join(f"{s:.2f} s" for s in found) + " " + _names()
        )
        good &= found[0] <= min(found[1:], default=np.inf)
    return good


def memory(quick):
    n, d, k = (5_000, 30, 20) if quick else (100_000, 30, 20)
    X, y = make(n, d, k)
    ours(2).fit(X[:500], y[:500])
    y = PreferenceGraphs.from_rankings(y)
    tracemalloc.start()
    ours(5).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    bins, scores = n * d, 8 * n * k
    print(f"  peak {peak / 1e6:.1f} MB; bins {bins / 1e6:.1f} MB, scores {scores / 1e6:.1f} MB")
    return True


def growth(quick):
    small = make(2_000 if quick else 20_000, 16, 10)
    large = make(20_000 if quick else 200_000, 16, 10)
    ours(2).fit(*small)
    times = [min(cpu(lambda data=data: ours(10).fit(*data)) for _ in range(2)) for data in (small, large)]
    print(
        f"  {len(small[0])} rows {times[0]:.2f} s, {len(large[0])} rows {times[1]:.2f} s: {times[1] / times[0]:.1f} x"
    )
    return times[1] <= 11 * times[0]


def documents(n, n_terms, n_topics, seed=0):
    """Zipf-distributed counts of terms, and up to five relevant topics of each document."""
    rng = np.random.default_rng(seed)
    zipf = 1 / np.arange(1, n_terms + 1)
    zipf /= zipf.sum()
    topics = rng.random((n, n_topics)).argsort(axis=1)[:, :5]
    n_relevant = rng.integers(1, 6, n)
    rows, columns = [], []
    own = rng.integers(0, n_terms, (n_topics, 40))  # terms that are typical of a topic
    for i in range(n):
        terms = [rng.choice(n_terms, 60, p=zipf), *(rng.choice(own[t], 8) for t in topics[i, : n_relevant[i]])]
        columns.append(np.concatenate(terms))
        rows.append(np.full(len(columns[-1]), i))
    ij = (np.concatenate(rows), np.concatenate(columns))
    X = sparse.csr_array(sparse.coo_array((np.ones(len(ij[0])), ij), shape=(n, n_terms)))
    X.data = np.log1p(X.data) * rng.uniform(0.9, 1.1, len(X.data))
    Y = np.zeros((n, n_topics), dtype=int)
    for i in range(n):
        Y[i, topics[i, : n_relevant[i]]] = 1
    return X, Y


def sparse_documents(quick):
    n, n_terms, n_topics, n_iter = (1_000, 500, 10, 5) if quick else (20_000, 6_000, 100, 100)
    X, Y = documents(n + n // 4, n_terms, n_topics)
    train, test = slice(0, n), slice(n, None)
    y = PreferenceGraphs.from_multilabel(Y)
    model = ours(n_iter)
    own = cpu(lambda: model.fit(X[train], y[train]))
    error = domination_error(y[test], model.predict(X[test]))
    linear = LogLinearRanker().fit(X[train], y[train])
    of_linear = domination_error(y[test], linear.predict(X[test]))
    print(f"  labelrank {own:.1f} s, domination error {error:.3f}; LogLinearRanker {of_linear:.3f}", flush=True)
    if not RIVALS:
        return True
    import lightgbm

    n_timed = min(n_topics, 5)  # the models of all topics take about equally long, so five are enough
    settings = {"num_leaves": 31, "max_bin": 255, "num_threads": 1, "verbose": -1, "min_data_in_leaf": 5}
    rival = 0.0
    for topic in range(n_timed):
        data = lightgbm.Dataset(X[train], label=Y[train, topic], params={"verbose": -1, "num_threads": 1})
        rival += cpu(partial(lightgbm.train, settings | {"objective": "binary"}, data, n_iter))
    rival *= n_topics / n_timed
    print(f"  LightGBM, {n_topics} models: {rival:.1f} s")
    return own <= 2 * rival


def _names():
    return ", ".join(rival.name for rival in RIVALS)


CLAIMS = {1: accuracy, 2: speed, 3: memory, 4: growth, 5: sparse_documents}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, only reports")
    parser.add_argument("--only", type=int, choices=list(CLAIMS), help="one claim")
    arguments = parser.parse_args()
    failed = []
    for number, claim in CLAIMS.items():
        if arguments.only in (None, number):
            print(f"{number}. {claim.__name__}", flush=True)
            if not claim(arguments.quick):
                failed.append(number)
    if failed and not arguments.quick:
        print(f"claims that do not hold: {failed}")
        sys.exit(1)


if __name__ == "__main__":
    main()
