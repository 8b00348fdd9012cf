"""Weights and selection of terms against scikit-learn's tf-idf and against bare sparse products.

Claims: log counts and pivoted tf-idf take at most 4 times as long as ``TfidfTransformer(sublinear_tf=True,
norm=None)``, selection by Rocchio scores at most 4 times as long as the sparse product of labels and documents, and
selection by boosting scores at most 2 times as long as the three sparse-dense products of one boosting pass; no fit
needs nearly the memory of a dense matrix. Ratios are medians of runs that alternate in one process. Exit status 1 if a
claim does not hold (except with --quick, whose few runs are not conclusive).

    python benchmarks/bench_features.py [--quick]
"""

import argparse
import sys
import time
import tracemalloc

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from labelrank import PreferenceGraphs
from labelrank.features import BoostingSelector, LogCountTransformer, PivotedTfidfTransformer, RocchioSelector


def make_corpus(n_documents, n_terms, per_document, n_labels, rng):
    """Counts with the frequencies of words in texts, and about three labels per document."""
    frequency = 1 / (10 + np.arange(n_terms))
    terms = rng.choice(n_terms, size=n_documents * per_document, p=frequency / frequency.sum())
    rows = np.repeat(np.arange(n_documents), per_document)
    X = sparse.coo_array((np.ones(len(rows)), (rows, terms)), shape=(n_documents, n_terms)).tocsr()
    Y = sparse.random_array((n_documents, n_labels), density=3 / n_labels, format="csr", rng=rng)
    Y.data[:] = 1
    return X, Y


def seconds(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def peak(function):
    tracemalloc.start()
    function()
    size = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return size


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a smaller corpus, fewer repetitions")
    quick = parser.parse_args().quick
    n, d, n_labels = (2_000, 5_000, 20) if quick else (20_000, 50_000, 100)
    X, Y = make_corpus(n, d, 130, n_labels, np.random.default_rng(0))
    graphs = PreferenceGraphs.from_multilabel(Y)
    coef, scores = np.zeros((d, n_labels)), np.zeros((n, n_labels))
    print(f"{n} documents x {d} terms, {X.nnz} nonzeros, {n_labels} labels")

    def one_pass():
        for product in (X @ coef, X.T @ scores, X.T @ scores):
            del product

    tfidf = TfidfTransformer(sublinear_tf=True, norm=None)
    cases = [
        (LogCountTransformer(), "TfidfTransformer", lambda: tfidf.fit_transform(X), 4),
        (PivotedTfidfTransformer(), "TfidfTransformer", lambda: tfidf.fit_transform(X), 4),
        (RocchioSelector(), "(Y.T @ X).toarray()", lambda: (Y.T @ X).toarray(), 4),
        (BoostingSelector(min(3200, d // 2)), "X @ W, X.T @ T, X.T @ I", one_pass, 2),
    ]
    slow = []
    for transformer, peer, bare, claim in cases:
        whole = peak(lambda t=transformer: t.fit_transform(X, graphs))  # compiles too
        ours, theirs = [], []
        for _ in range(3 if quick else 9):
            if isinstance(transformer, (RocchioSelector, BoostingSelector)):
                ours.append(seconds(lambda t=transformer: t.fit(X, graphs)))
            else:
                ours.append(seconds(lambda t=transformer: t.fit_transform(X)))
            theirs.append(seconds(bare))
        ratio = np.median(ours) / np.median(theirs)
        name = type(transformer).__name__
        print(
            f"{name:24} {1e3 * np.median(ours):7.1f} ms; {peer}: {1e3 * np.median(theirs):.1f} ms, ratio {ratio:.2f} "
            f"(claim: at most {claim}); peak {whole / 1e6:.0f} MB, dense X would be {8e-6 * n * d:.0f} MB"
        )
        if ratio > claim or whole > 8 * n * d / 10:
            slow.append(name)
    return 0 if quick or not slow else 1


if __name__ == "__main__":
    sys.exit(main())
