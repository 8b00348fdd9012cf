"""What the tree and the forests share: parameters, the checks of ``fit``, and predictions from flat arrays of nodes."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.utils.validation import check_is_fitted, validate_data

from labelrank._compat import Interval, RealNotInt, StrOptions, check_feature_names, check_n_features
from labelrank.rankers.base import RankerMixin
from labelrank.supervision import stacklevel_of_user
from labelrank.trees.categories import categorical_mask, column_names, encode, learn_categories, refuse_strings
from labelrank.trees.data import FloatArray, TreeData, tree_data
from labelrank.trees.growth import Growth, Nodes, theta_table

_UNLIMITED = 2**31 - 1
_LARGEST_THETA = 20.0  # of the table; the random ranking among the rows of a node keeps theta far below
_ROWS = 256  # rows for a thread, at least


class TreeRankerMixin(RankerMixin):
    """Mixin of the rankers made of trees. A tree is a forest of one: its nodes are kept in the same arrays."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "criterion": [StrOptions({"mallows", "pair_gini"})],
        "max_depth": [Interval(numbers.Integral, 1, None, closed="left"), None],
        "min_samples_split": [Interval(numbers.Real, 0, None, closed="left"), None],
        "min_samples_leaf": [Interval(numbers.Real, 0, None, closed="neither")],
        "max_leaf_nodes": [Interval(numbers.Integral, 2, None, closed="left"), None],
        "max_features": [
            Interval(numbers.Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
            StrOptions({"sqrt", "log2"}),
            None,
        ],
        "ccp_alpha": [Interval(numbers.Real, 0, None, closed="left")],
        "shrinkage": [Interval(numbers.Real, 0, None, closed="left")],
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
        "random_state": ["random_state"],
        "on_empty": [StrOptions({"warn", "error", "ignore"})],
    }

    children_left_: npt.NDArray[np.int32]
    children_right_: npt.NDArray[np.int32]
    feature_: npt.NDArray[np.int32]
    threshold_: FloatArray
    missing_left_: npt.NDArray[np.bool_]
    node_weight_: FloatArray
    n_node_samples_: npt.NDArray[np.int64]
    impurity_: FloatArray
    pair_balance_: npt.NDArray[np.float32]
    is_categorical_: npt.NDArray[np.bool_]
    categories_: npt.NDArray[Any]
    had_missing_: npt.NDArray[np.bool_]

    # --- fit

    def _prepare(self, X: Any, y: Any, sample_weight: Any, *, sort: bool) -> tuple[TreeData, Any, FloatArray]:
        """Check the arguments of ``fit``; the training set, y as it was checked, and the weights."""
        settings: Any = self
        frame, mask = X, None
        if hasattr(self, "categories_"):
            del self.categories_
        if settings.categorical_features is not None and column_names(X) is not None:
            mask = categorical_mask(X, settings.categorical_features)
            if mask.any():
                self.categories_ = learn_categories(X, mask)
                X = encode(X, self.categories_)
        try:
            X, y, weight = self._validate_fit(
                X, y, sample_weight, on_empty=settings.on_empty, dtype=np.float64, ensure_all_finite="allow-nan"
            )
        except ValueError as error:
            if "could not convert" in str(error):
                refuse_strings(X)
            raise
        if hasattr(self, "categories_"):
            check_feature_names(self, frame, reset=True)
        self.is_categorical_ = categorical_mask(X, settings.categorical_features) if mask is None else mask
        self.had_missing_ = np.isnan(X).any(axis=0)
        return tree_data(X, y, self.is_categorical_, sort=sort), y, weight

    def _growth(self, data: TreeData, weight: FloatArray) -> Growth:
        settings: Any = self
        min_split = settings.min_samples_split
        min_split = float(2 * data.n_labels if min_split is None else min_split)
        _warn_of_light_rows(weight, min_split, float(settings.min_samples_leaf))
        return Growth(
            table=theta_table(data.n_labels, _LARGEST_THETA) if settings.criterion == "mallows" else None,
            prior=1.0,
            max_features=_number_of_features(settings.max_features, len(data.x)),
            max_depth=_UNLIMITED if settings.max_depth is None else int(settings.max_depth),
            min_samples_split=min_split,
            min_samples_leaf=float(settings.min_samples_leaf),
            max_leaf_nodes=0 if settings.max_leaf_nodes is None else int(settings.max_leaf_nodes),
            shrinkage=float(settings.shrinkage),
            ccp_alpha=float(settings.ccp_alpha),
        )

    def _keep(self, trees: Sequence[Nodes]) -> None:
        """One array of each kind, the trees one after the other; children are counted from the root of their tree."""
        fields = [parts[0] if len(parts) == 1 else np.concatenate(parts) for parts in zip(*trees, strict=True)]
        nodes = Nodes(*fields)
        self.children_left_, self.children_right_ = nodes.left, nodes.right
        self.feature_, self.threshold_, self.missing_left_ = nodes.feature, nodes.threshold, nodes.missing_left
        self.node_weight_, self.n_node_samples_, self.impurity_ = nodes.weight, nodes.n_rows, nodes.impurity
        self.pair_balance_ = nodes.balance

    # --- predict

    def _offsets(self) -> npt.NDArray[np.int64]:
        """Where the nodes of each tree begin, and where the last ends."""
        return np.array([0, len(self.children_left_)])

    def _matrix(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        if hasattr(self, "categories_"):
            if column_names(X) is None:
                raise ValueError(
                    f"{type(self).__name__} was fitted on a data frame with categories; X must be such a frame, got "
                    f"{type(X).__name__}"
                )
            check_feature_names(self, X, reset=False)
            check_n_features(self, X, reset=False)
            X = encode(X, self.categories_)
            if np.isinf(X).any():
                raise ValueError("Input X contains infinity")
            return X
        return validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan", order="C")

    def _arrays(self) -> tuple[Any, ...]:
        """What the kernels know of the trees."""
        return (
            self._offsets(), self.children_left_, self.children_right_, self.feature_, self.threshold_,
            self.missing_left_, self.is_categorical_
        )  # fmt: skip

    def _leaves(self, X: Any) -> npt.NDArray[np.int64]:
        """Leaf of each row in each tree."""
        from labelrank._kernels.trees.prediction import apply

        X = self._matrix(X)
        offsets = self._offsets()
        leaves = np.empty((len(X), len(offsets) - 1), dtype=np.int64)
        apply(X, *self._arrays(), leaves)
        return leaves

    def _mean_balance(self, X: FloatArray, used: npt.NDArray[np.bool_] | None = None) -> FloatArray:
        """Mean of the leaves' balances over the trees, or over those `used` for a row; 0 where there are none."""
        from labelrank._kernels.trees.prediction import add_balance

        n, arrays = len(X), self._arrays()
        sums, counts = np.zeros((n, self.pair_balance_.shape[1])), np.zeros(n, dtype=np.int64)
        all_trees = np.zeros((0, 0), dtype=bool)

        def block(rows: slice) -> None:
            some = all_trees if used is None else np.ascontiguousarray(used[:, rows])
            add_balance(X[rows], *arrays, self.pair_balance_, some, sums[rows], counts[rows])

        n_jobs = getattr(self, "n_jobs", None)
        n_blocks = 1 if n_jobs in (None, 1) else max(1, min(effective_n_jobs(n_jobs), n // _ROWS))
        if n_blocks == 1:
            block(slice(0, n))
        else:
            edges = np.linspace(0, n, n_blocks + 1).astype(int)
            Parallel(n_jobs=n_jobs, prefer="threads")(delayed(block)(slice(a, b)) for a, b in pairwise(edges))
        return sums / np.maximum(counts, 1)[:, None]

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of the labels: the number of other labels that a label is expected to beat.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances; NaN is a missing value.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            The sum over b of P(a before b), from 0 to n_labels - 1; larger is better.
        """
        return scores_of(self._mean_balance(self._matrix(X)), len(self.labels_))

    def pairwise_proba(self, X: Any) -> FloatArray:
        """P(label i comes before label j).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances; NaN is a missing value.

        Returns
        -------
        ndarray of shape (n_samples, n_labels, n_labels)
            1/2 on the diagonal.
        """
        balance = self._mean_balance(self._matrix(X))
        k = len(self.labels_)
        proba = np.full((len(balance), k, k), 0.5)
        a, b = np.triu_indices(k, 1)
        proba[:, a, b] = 0.5 + 0.5 * balance
        proba[:, b, a] = 0.5 - 0.5 * balance
        return proba

    def predict_spread(self, X: Any) -> FloatArray:
        """Spread of the Mallows model around the prediction: the confidence in it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances; NaN is a missing value.

        Returns
        -------
        ndarray of shape (n_samples,)
            theta, from 0 (any ranking is as likely as any other) upwards: that of the mean distance that follows from
            :meth:`pairwise_proba`.
        """
        return spread_of(self._mean_balance(self._matrix(X)), len(self.labels_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def scores_of(balance: npt.NDArray[Any], n_labels: int) -> FloatArray:
    """Expected number of beaten labels, from the balances of the pairs."""
    scores = np.full((n_labels, len(balance)), (n_labels - 1) / 2)
    pair = 0
    columns = np.ascontiguousarray(balance.T, dtype=np.float64) / 2
    for a in range(n_labels):
        for b in range(a + 1, n_labels):
            scores[a] += columns[pair]
            scores[b] -= columns[pair]
            pair += 1
    return np.ascontiguousarray(scores.T)


def spread_of(balance: npt.NDArray[Any], n_labels: int) -> FloatArray:
    """Theta of the mean distance to the majority of each pair; infinity where all are certain, 0 with one label."""
    from labelrank.aggregation.mallows import theta_from_mean_distance

    if n_labels < 2:
        return np.zeros(len(balance))
    distance = (1 - np.abs(balance.astype(np.float64))).sum(axis=1) / 2
    return np.asarray(theta_from_mean_distance(np.maximum(distance, 0.0), n_labels))


def _warn_of_light_rows(weight: FloatArray, min_split: float, min_leaf: float) -> None:
    """Say so if there are enough rows for a split, but not enough weight."""
    total, n = float(weight.sum()), int(np.count_nonzero(weight))
    for name, given, needed in (
        ("min_samples_split", min_split, min_split),
        ("min_samples_leaf", min_leaf, 2 * min_leaf),
    ):
        if total < needed * (1 - 1e-9) and n >= max(needed, 2):
            warnings.warn(
                f"the weights of the {n} rows sum to {total:.6g}, too little for a split with {name}={given:g}: trees "
                f"have a single leaf. Weights count as rows; scale them (to a mean of 1, say) or lower {name}",
                UserWarning,
                stacklevel=stacklevel_of_user(),
            )
            return


def _number_of_features(max_features: Any, n_features: int) -> int:
    if isinstance(max_features, bool):
        raise ValueError(
            f'max_features must be a number of features, a share up to 1.0, "sqrt", "log2" or None, got {max_features}'
        )
    if max_features is None:
        return n_features
    if max_features == "sqrt":
        return max(1, int(np.sqrt(n_features)))
    if max_features == "log2":
        return max(1, int(np.log2(n_features)))
    if isinstance(max_features, numbers.Integral):
        return min(int(max_features), n_features)
    return max(1, int(max_features * n_features))
