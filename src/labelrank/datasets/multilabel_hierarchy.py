"""Documents with several topics of a tree, such as those of a news archive."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import check_random_state

from labelrank._arrays import pointers, row_blocks
from labelrank._compat import Interval, validate_params
from labelrank.datasets._checks import COUNT, FRACTION

IntVector = npt.NDArray[np.int32]

_ROWS_AT_ONCE = 65_536


@validate_params(
    n_samples=COUNT,
    n_features=COUNT,
    n_labels=COUNT,
    n_roots=COUNT,
    max_depth=COUNT,
    n_nonzero=[Interval(Real, 1, None, closed="left")],
    n_topics=[Interval(Real, 1, None, closed="left")],
    informative=FRACTION,
)
def make_multilabel_hierarchy(
    n_samples: int = 1000,
    n_features: int = 500,
    *,
    n_labels: int = 20,
    n_roots: int = 4,
    max_depth: int = 4,
    n_nonzero: float = 23.0,
    n_topics: float = 1.5,
    informative: float = 0.6,
    random_state: Any = None,
) -> tuple[sparse.csr_array, sparse.csr_array, npt.NDArray[np.intp]]:
    """Generate documents that are labeled with nodes of a label tree.

    Each document is about one or more topics, which are nodes of the tree, inner nodes included; a few topics are
    common and many are rare. It is labeled with its topics **and all their ancestors**, as the documents of RCV1 are.
    Each label has a vocabulary. A word comes from the vocabulary of a random label of the document with probability
    `informative`, and otherwise from all terms, of which a few are common and many are rare.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of documents.
    n_features : int, default=500
        Number of terms.
    n_labels : int, default=20
        Number of labels, the nodes of the tree.
    n_roots : int, default=4
        Number of labels without a parent (at most `n_labels`). Every other label is the child of a random earlier one.
    max_depth : int, default=4
        Depth of the tree; 1 makes all labels roots.
    n_nonzero : float, default=23.0
        Mean number of words of a document, at least 1. Words are drawn with replacement, so the mean number of
        different terms, the stored values of a row, is a little smaller.
    n_topics : float, default=1.5
        Mean number of topics of a document, at least 1, before ancestors are added. A topic may be drawn twice.
    informative : float, default=0.6
        Share of the words that come from the vocabularies of the labels; with 0 nothing can be learned.
    random_state : int, RandomState instance or None, default=None
        Pass an int for reproducible output.

    Returns
    -------
    X : csr_array of shape (n_samples, n_features), float64
        1 + log(count) of each term that occurs. Every document has a word.
    Y : csr_array of shape (n_samples, n_labels), uint8
        Labels of each document, including their ancestors. Every document has a label.
    parents : ndarray of shape (n_labels,)
        Parent of each label, -1 for a root. A parent has a smaller index than its children.

    Notes
    -----
    Memory and time are linear in the number of words. 590,000 documents with 6,270 terms, 103 labels and 23 words each
    take a few seconds and less than 1 GiB.

    Examples
    --------
    >>> from labelrank.datasets import make_multilabel_hierarchy
    >>> X, Y, parents = make_multilabel_hierarchy(200, 300, n_labels=8, random_state=0)
    >>> X.shape, Y.shape
    ((200, 300), (200, 8))
    >>> parents
    array([-1, -1, -1, -1,  0,  1,  4,  3])
    """
    # RandomState draws 64-bit numbers one call at a time; a Generator is several times faster at this size.
    rng = np.random.default_rng(check_random_state(random_state).randint(np.iinfo(np.int32).max, size=4))
    parents = _random_tree(rng, n_labels, n_roots, max_depth)
    labels = _draw_labels(rng, n_samples, parents, n_topics)
    return _draw_words(rng, labels, n_features, n_nonzero, informative), labels, parents


def _random_tree(rng: np.random.Generator, n_labels: int, n_roots: int, max_depth: int) -> npt.NDArray[np.intp]:
    """Child-to-parent array; below the roots, each label picks a parent among those before it."""
    parents = np.full(n_labels, -1, dtype=np.intp)
    if max_depth == 1:
        return parents
    depth = np.ones(n_labels, dtype=np.intp)
    for label in range(min(n_roots, n_labels), n_labels):
        parents[label] = rng.choice(np.flatnonzero(depth[:label] < max_depth))
        depth[label] = depth[parents[label]] + 1
    return parents


def _ancestors(parents: npt.NDArray[np.intp]) -> sparse.csr_array:
    """Row l has a 1 for l and for each of its ancestors."""
    closure = np.eye(len(parents), dtype=np.uint8)
    for label, parent in enumerate(parents):  # parents come first
        if parent >= 0:
            closure[label] |= closure[parent]
    return sparse.csr_array(closure)


def _popularity(rng: np.random.Generator, n: int) -> npt.NDArray[np.float64]:
    """Cumulative Zipf probabilities of n things, in random order."""
    weights = 1.0 / np.arange(1, n + 1)
    rng.shuffle(weights)
    cumulative = np.cumsum(weights)
    return np.asarray(cumulative / cumulative[-1])


def _draw(rng: np.random.Generator, cumulative: npt.NDArray[np.float64], size: int) -> IntVector:
    drawn = np.searchsorted(cumulative, rng.random(size), side="right")
    return np.minimum(drawn, len(cumulative) - 1).astype(np.int32)


def _draw_labels(
    rng: np.random.Generator, n_samples: int, parents: npt.NDArray[np.intp], n_topics: float
) -> sparse.csr_array:
    counts = 1 + rng.poisson(n_topics - 1, n_samples)
    topics = _draw(rng, _popularity(rng, len(parents)), int(counts.sum()))
    indptr = pointers(counts).astype(np.int32)
    drawn = sparse.csr_array((np.ones(len(topics), dtype=np.int32), topics, indptr), shape=(n_samples, len(parents)))
    closed = drawn @ _ancestors(parents).astype(np.int32)
    closed.sort_indices()
    return sparse.csr_array((np.ones(closed.nnz, dtype=np.uint8), closed.indices, closed.indptr), shape=closed.shape)


def _draw_words(
    rng: np.random.Generator, labels: sparse.csr_array, n_features: int, n_nonzero: float, informative: float
) -> sparse.csr_array:
    n_samples, n_labels = labels.shape
    # Half of all terms, dealt out to the labels; vocabularies may overlap.
    vocabulary = rng.integers(n_features, size=(n_labels, max(1, n_features // (2 * n_labels))), dtype=np.int32)
    background = _popularity(rng, n_features)
    blocks = []
    for block in row_blocks(n_samples, 1, _ROWS_AT_ONCE):
        rows = labels[block]
        lengths = 1 + rng.poisson(n_nonzero - 1, rows.shape[0])
        row = np.repeat(np.arange(rows.shape[0], dtype=np.int32), lengths)
        # A label of the document for each word, then a word of the label; replaced by any word now and then.
        n_own = np.diff(rows.indptr)
        label = rows.indices[rows.indptr[row] + (rng.random(len(row)) * n_own[row]).astype(np.int64)]
        term = vocabulary[label, rng.integers(vocabulary.shape[1], size=len(row))]
        common = rng.random(len(row)) >= informative
        term[common] = _draw(rng, background, int(common.sum()))
        blocks.append(_log_counts(row, term, (rows.shape[0], n_features)))
    return sparse.csr_array(sparse.vstack(blocks, format="csr"))


def _log_counts(row: IntVector, term: IntVector, shape: tuple[int, int]) -> sparse.csr_array:
    counts = sparse.csr_array((np.ones(len(row)), (row, term)), shape=shape)  # sums what occurs twice
    counts.data = 1 + np.log(counts.data)
    return counts
