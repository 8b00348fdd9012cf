"""Check the indices of a loaded model, because compiled code does not.

The types in a file do not restrict the values in its arrays. Trees with children that are out of range or form a cycle
would crash or hang the process at the first prediction.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.neighbors import BallTree, KDTree

from labelrank._compat import tree_class
from labelrank.neighbors.base import BaseNeighborsRanker
from labelrank.trees.base import BaseTreeRanker
from labelrank.trees.boosting.base import BoostedTreesMixin

Tree: Any = tree_class()
_MOST_JOBS = 1024


def check_structure(model: Any) -> None:
    """Raise ValueError if the model, or a part of it, has inconsistent indices or shapes."""
    for part in parts_of(model):
        jobs = getattr(part, "n_jobs", None)
        _expect(jobs is None or (isinstance(jobs, int) and abs(jobs) <= _MOST_JOBS), "n_jobs")
        if sparse.issparse(part):
            _check_sparse(part)
        elif isinstance(part, (BaseTreeRanker, BoostedTreesMixin)):
            if hasattr(part, "children_left_"):  # fitted
                _check_ranking_trees(part)
        elif isinstance(part, BaseNeighborsRanker):
            if hasattr(part, "pairs_"):
                _check_neighbors(part)
        elif isinstance(part, (KDTree, BallTree)):
            _check_index(part)
        elif isinstance(part, Tree):
            _check_tree(part)
        elif isinstance(part, np.random.RandomState):
            _expect(0 <= part.get_state(legacy=False)["state"]["pos"] <= 624, "the position of a random generator")
        elif hasattr(part, "n_features_in_"):
            _check_features(part)


def parts_of(model: Any) -> Iterator[Any]:
    """Iterate over the model and all objects in it, except numbers and text."""
    todo, seen = [model], {}
    while todo:
        part = todo.pop()
        if id(part) in seen or isinstance(part, (str, int, float, type(None))):
            continue
        seen[id(part)] = part
        if isinstance(part, np.ndarray):
            todo.extend(part.ravel().tolist() if part.dtype == object else ())
        elif isinstance(part, dict):
            todo.extend(part.values())
        elif isinstance(part, (list, tuple, set)):
            todo.extend(part)
        else:
            yield part
            todo.extend(getattr(part, "__dict__", {}).values())


def _expect(holds: Any, what: str) -> None:
    if not bool(holds):
        raise ValueError(f"{what} of the model is out of range")


def _within(values: npt.NDArray[Any], first: int, last: int) -> bool:
    """Whether all are integers from `first` to `last` - 1."""
    return bool(values.dtype.kind in "iu" and (values >= first).all() and (values < last).all())


def _arrays(part: Any, names: dict[str, str]) -> dict[str, npt.NDArray[Any]]:
    """Attributes by name, which must be arrays with these kinds of dtypes ('b', 'f', 'i', 'u')."""
    arrays = {name: getattr(part, name) for name in names}
    for name, kinds in names.items():
        _expect(isinstance(arrays[name], np.ndarray) and arrays[name].dtype.kind in kinds, name)
    return arrays


_NODES = {"children_left_": "i", "children_right_": "i", "feature_": "i", "threshold_": "f", "missing_left_": "b"}


def _check_ranking_trees(part: Any) -> None:
    """Check trees of labelrank: children are after their parent in the same tree, features exist."""
    boosted = isinstance(part, BoostedTreesMixin)
    arrays = _arrays(part, _NODES | {"is_categorical_": "b"})
    left, right, feature = (arrays[name] for name in ("children_left_", "children_right_", "feature_"))
    n, d = len(left), part.n_features_in_
    if boosted:
        arrays |= _arrays(part, {"bin_": "u", "category_set_": "i", "value_": "f"})
        table, edges = part.left_bins_, part.bin_edges_
        _expect(table.dtype.kind == "b" and table.ndim == 2 and table.shape[1] == 256, "left_bins_")
        _expect(arrays["bin_"].dtype == np.uint8 and _within(arrays["category_set_"], 0, len(table)), "category_set_")
        _expect(
            len(edges) == d and all(len(values) < 256 and values.dtype.kind == "f" for values in edges), "bin_edges_"
        )
        _expect(part.baseline_.shape == arrays["value_"].shape[1:] and part.baseline_.ndim == 1, "value_")
    else:
        name = "vote_moments_" if hasattr(part, "vote_moments_") else "pair_balance_"
        arrays |= _arrays(part, {name: "f"})
        _expect(arrays[name].ndim == 2, name)
    _expect(arrays.pop("is_categorical_").shape == (d,), "is_categorical_")
    _expect(all(len(values) == n and values.ndim in (1, 2) for values in arrays.values()), "number of nodes")
    offsets = np.asarray(part.tree_offsets_ if hasattr(part, "tree_offsets_") else [0, n])
    _expect(offsets.ndim == 1 and _within(offsets, 0, n + 1) and (boosted or len(offsets) > 1), "tree_offsets_")
    _expect(offsets[0] == 0 and offsets[-1] == n and (np.diff(offsets) > 0).all(), "tree_offsets_")
    sizes = np.diff(offsets)
    place, size = np.arange(n) - np.repeat(offsets[:-1], sizes), np.repeat(sizes, sizes)
    inner = left >= 0
    for children in (left, right):
        _expect((children[inner] > place[inner]).all() and (children[inner] < size[inner]).all(), "children")
    _expect(_within(feature[inner], 0, d), "feature_")


def _check_neighbors(part: Any) -> None:
    """Check the rankings of the training rows, one for each row of the index."""
    n, k = len(part.weight_), len(part.labels_)
    values, indptr, better, worse, weight = part.pairs_
    _expect(values.shape in ((n, k), (n, 0)) and values.dtype.kind == "f" and part.votes_.shape == (n, k), "pairs_")
    _expect(indptr.shape == (n + 1,) and _within(indptr, 0, len(better) + 1), "pairs_")
    _expect((np.diff(indptr) >= 0).all() and len(better) == len(worse) == len(weight), "pairs_")
    _expect(_within(better, 0, k) and _within(worse, 0, k), "pairs_")
    _expect(
        part.search_.n_samples_fit_ == n and part.rows_.shape == (n,) and part.overall_ranks_.shape == (k,), "rows_"
    )
    fitted = part.search_._fit_X
    _expect(fitted.shape[0] == n and (part.search_._tree is None or len(part.search_._tree.data) == n), "search_")


def _check_index(index: KDTree | BallTree) -> None:
    """Check an index of neighbors: nodes are ranges of rows."""
    state = index.__getstate__()
    data, rows, nodes, bounds = (np.asarray(array) for array in state[:4])
    (n, d), n_nodes, metric = data.shape, state[6], state[11]
    _expect(state[5] < 63 and n_nodes == 2 ** state[5] - 1 == len(nodes) == bounds.shape[1], "index")
    _expect(bounds.shape[2] == d and bounds.shape[0] == (2 if isinstance(index, KDTree) else 1), "index")
    _expect(rows.shape == (n,) and _within(rows, 0, n) and _within(nodes["idx_end"], 0, n + 1), "index")
    _expect((nodes["idx_start"] >= 0).all() and (nodes["idx_start"] <= nodes["idx_end"]).all(), "index")
    _expect(nodes["is_leaf"][n_nodes // 2 :].all(), "index")
    _expect("Minkowski" not in type(metric).__name__ or len(np.asarray(metric.__getstate__()[1])) in (0, d), "metric")


def _check_tree(tree: Any) -> None:
    """Check a tree of scikit-learn."""
    left, right = tree.children_left, tree.children_right
    inner = np.flatnonzero(left >= 0)
    for children in (left, right):
        _expect((children[inner] > inner).all() and (children[inner] < len(left)).all(), "children")
    _expect(len(left) > 0 and _within(tree.feature[inner], 0, tree.n_features), "feature")


def _check_features(part: Any) -> None:
    """Check the numbers of features of trees and coefficients in an estimator."""
    d = part.n_features_in_
    _expect(isinstance(d, int) and d >= 0, "n_features_in_")
    if hasattr(part, "tree_"):
        _expect(part.tree_.n_features == d, "n_features_in_")
    for tree in np.ravel(np.asarray(getattr(part, "estimators_", ()), dtype=object)):
        _expect(not hasattr(tree, "tree_") or tree.tree_.n_features <= d, "n_features_in_")
    if hasattr(part, "_predictors"):
        mapper = getattr(part, "_bin_mapper", None)
        categorical = np.zeros(d, dtype=bool) if mapper is None else np.asarray(mapper.is_categorical_)
        _expect(categorical.shape == (d,), "is_categorical_")
        for predictor in (predictor for stage in part._predictors for predictor in stage):
            _check_predictor(predictor, categorical != 0)
    if type(part).__module__.startswith("labelrank.") and hasattr(part, "coef_") and np.ndim(part.coef_) == 2:
        _expect(np.shape(part.coef_)[1] == d, "coef_")


def _check_predictor(predictor: Any, is_categorical: npt.NDArray[np.bool_]) -> None:
    """Check a tree of scikit-learn's histogram-based gradient boosting."""
    nodes = predictor.nodes
    inner = np.flatnonzero(nodes["is_leaf"] == 0)
    for name in ("left", "right"):
        children = nodes[name][inner].astype(np.int64)
        _expect((children > inner).all() and (children < len(nodes)).all(), "children")
    categorical = inner[nodes["is_categorical"][inner] != 0]
    sets = (predictor.binned_left_cat_bitsets, predictor.raw_left_cat_bitsets)
    _expect(len(nodes) and _within(nodes["feature_idx"][inner], 0, len(is_categorical)), "feature_idx")
    _expect(is_categorical[nodes["feature_idx"][categorical]].all(), "is_categorical_")
    _expect(
        all(bits.shape[1:] == (8,) and _within(nodes["bitset_idx"][categorical], 0, len(bits)) for bits in sets),
        "bitset_idx",
    )


def _check_sparse(matrix: Any) -> None:
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)
