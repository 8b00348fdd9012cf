"""Nearest-neighbor ranking against the bare neighbor search and against scikit-lr.

Claims, each a ratio of CPU times of one thread, measured in turn (the smallest of several runs):

1. fit on complete rankings and predict for every row, 20 neighbors: at most 1.3 times scikit-learn's
   ``NearestNeighbors`` with the same parameters;
2. with missing labels, a prediction for every training row: at least 4 times less than in scikit-lr's
   ``KNeighborsLabelRanker``. Both use the same search, whose time is a lower bound of the total. So the claim is about
   the total for many labels (50 labels, 30 and 60 % missing), and about the time beyond the search for few labels
   (segment with 7, calhousing with 4, 30 % missing); the ratio of the totals is printed too. ``"mallows_completed"``
   does the same work as scikit-lr and is reported without a claim;
3. ``KNeighborsRankerCV`` takes at most 3 times as long as one search with the largest of its candidates.

The data are `calhousing` and `segment` of the folder ``LABELRANK_DATA``; without it, they are generated. scikit-lr is
run by the interpreter ``LABELRANK_SCIKIT_LR_PYTHON``; without it, it is left out. Exit status 1 if a claim does not
hold; ``--quick`` uses small data, runs once and only reports.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/bench_neighbors.py [--quick]
"""

import argparse
import os
import sys
import time
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
from _scikit_lr import available, run
from sklearn.neighbors import NearestNeighbors

from labelrank import KNeighborsRanker, KNeighborsRankerCV, mask_rankings
from labelrank.datasets import make_label_ranking
from labelrank.metrics import kendall_tau


def seconds(function):
    start = time.process_time()
    function()
    return time.process_time() - start


def in_turn(*functions, repeat):
    """Smallest CPU time of each, measured one after the other `repeat` times."""
    return np.min([[seconds(function) for function in functions] for _ in range(repeat)], axis=0)


def with_search(function):
    """CPU time in total, of the search, and beyond the search."""
    spent = []

    def timed(method):
        def call(*args, **kwargs):
            start = time.process_time()
            try:
                return method(*args, **kwargs)
            finally:
                spent.append(time.process_time() - start)

        return call

    with (
        mock.patch.object(NearestNeighbors, "fit", timed(NearestNeighbors.fit)),
        mock.patch.object(NearestNeighbors, "kneighbors", timed(NearestNeighbors.kneighbors)),
    ):
        total = seconds(function)
    return total, sum(spent), total - sum(spent)


def load(name, quick):
    """A data set; every row is used for training and as a query."""
    folder = os.environ.get("LABELRANK_DATA")
    if folder and not quick:
        table = np.genfromtxt(Path(folder, "lr16", f"{name}.csv"), delimiter=",", names=True)
        X = np.column_stack([table[c] for c in table.dtype.names if c.startswith("x")])
        y = np.column_stack([table[c] for c in table.dtype.names if c.startswith("rank")])
    else:
        n, d, k = {"calhousing": (20_640, 4, 4), "segment": (2310, 18, 7)}[name]
        X, y = make_label_ranking(n // 10 if quick else n, d, n_labels=k, random_state=0)[:2]
    order = np.random.default_rng(0).permutation(len(X))
    X, y = np.ascontiguousarray(X[order]), np.asarray(y, dtype=float)[order]
    return X, y


def complete(name, data, n_neighbors, repeat):
    X, y = data
    X_test = X
    search, ranker = NearestNeighbors(n_neighbors=n_neighbors), KNeighborsRanker(n_neighbors)
    ranker.fit(X, y).predict(X_test)  # compiled before it is timed
    bare, ours = in_turn(
        lambda: search.fit(X).kneighbors(X_test), lambda: ranker.fit(X, y).predict(X_test), repeat=repeat
    )
    print(
        f"1. {name}, {n_neighbors} neighbors: search {1e3 * bare:.1f} ms, ours {1e3 * ours:.1f} ms, "
        f"ratio {ours / bare:.2f} (at most 1.3)"
    )
    return ours / bare <= 1.3


def missing(name, data, n_neighbors, repeat, share=0.3, on_total=False):
    X, y = data
    X_test, y_test = X, y
    y = mask_rankings(y, share, random_state=0)
    good = True
    for aggregation in ("mallows", "mallows_completed"):
        ranker = KNeighborsRanker(n_neighbors, aggregation=aggregation, on_empty="ignore")
        ranker.fit(X, y).predict(X_test)
        ours, bare, beyond = np.min([with_search(lambda: ranker.fit(X, y).predict(X_test)) for _ in range(repeat)], 0)  # noqa: B023
        print(
            f"2. {name}, {share:.0%} missing, {aggregation}: search {1e3 * bare:.1f} ms, ours {1e3 * ours:.1f} ms, "
            f"tau {kendall_tau(y_test, ranker.predict(X_test)):.3f}"
        )
        if not available():
            continue
        params = {"n_neighbors": n_neighbors}
        theirs = run("neighbors", X, y, X_test, y_test, params, repeat)
        their_search = run("search", X, y, X_test, y_test, params, repeat)
        total, floor = theirs["fit"] + theirs["predict"], their_search["fit"] + their_search["predict"]
        ratio = (total - floor) / beyond
        good &= (total / ours if on_total else ratio) >= 4 or aggregation != "mallows"
        print(
            f"   scikit-lr: search {1e3 * floor:.1f} ms, theirs {1e3 * total:.1f} ms, tau {theirs['tau']:.3f}; "
            f"total {total / ours:.1f} times ours{' (at least 4)' * on_total}, "
            f"beyond the search {ratio:.1f} times{' (at least 4)' * (not on_total)}"
        )
    return good


def chosen(name, data, repeat):
    X, y = data
    good = True
    for share in (0.0, 0.3):
        ranks = mask_rankings(y, share, random_state=0)
        ranker = KNeighborsRankerCV(weights="dudani", on_empty="ignore").fit(X, ranks)
        largest = int(ranker.candidates_[-1])
        search = NearestNeighbors(n_neighbors=largest)
        bare, ours = in_turn(lambda: search.fit(X).kneighbors(X), lambda: ranker.fit(X, ranks), repeat=repeat)  # noqa: B023
        good &= ours / bare <= 3
        print(
            f"3. {name}, {share:.0%} missing: search of {largest} neighbors {bare:.2f} s, "
            f"all {len(ranker.candidates_)} candidates {ours:.2f} s, ratio {ours / bare:.2f} (at most 3)"
        )
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small data, once, only reports")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")
    repeat = 1 if quick else 15
    good = True
    for name in ("segment", "calhousing"):
        data = load(name, quick)
        good &= complete(name, data, 20, 3 * repeat)
        good &= missing(name, data, 20, repeat)
        good &= chosen(name, data, 1)
    many = make_label_ranking(300 if quick else 3000, 5, n_labels=50, random_state=0)[:2]
    for share in (0.3, 0.6):
        good &= missing("50 labels", many, 20, 1 if quick else 3, share, on_total=True)
    return 0 if good or quick else 1


if __name__ == "__main__":
    sys.exit(main())
