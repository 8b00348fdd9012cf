"""Base class of the tree and the forests: parameters, validation, and the methods that predict."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import check_random_state

from labelrank._arrays import BoolArray, FloatArray, IntArray, row_blocks
from labelrank._compat import Interval, RealNotInt, StrOptions
from labelrank._memory import require_memory, require_pair_matrices
from labelrank._threads import n_threads
from labelrank.rankers.base import BaseRanker, Training
from labelrank.supervision import stacklevel_of_user
from labelrank.trees.categories import CategoriesMixin, column_errors
from labelrank.trees.data import Sample, has_missing, make_sample, make_sparse, sorted_features
from labelrank.trees.growth import Grower, Nodes, Rules, theta_table
from labelrank.trees.prediction import (
    ENTRIES,
    ROWS,
    Trees,
    balance_of,
    mean_values,
    of_used_features,
    probabilities_of,
    scores_of,
    spread_of,
)

Criterion = Literal["auto", "pair_gini", "mallows", "vote_variance"]
MANY_LABELS = 50  # more than these are split by the variance of their votes, unless a criterion is chosen
_UNLIMITED = 2**31 - 1
_LARGEST = 1e150  # sum of weights, whose square is finite
_TOLERANCE = 1e-9  # ten weights of 0.1 are 1, whatever their sum in floating point

# Attribute of the estimators for each array of the nodes.
NODE_ATTRIBUTES = {
    "left": "children_left_",
    "right": "children_right_",
    "feature": "feature_",
    "threshold": "threshold_",
    "missing_left": "missing_left_",
    "weight": "node_weight_",
    "n_rows": "n_node_samples_",
    "impurity": "impurity_",
}


def node_attributes(trees: Sequence[Nodes], balance: str) -> dict[str, Any]:
    """Arrays of the nodes of all trees, one tree after the other; `balance` is the name of the balances."""
    names = NODE_ATTRIBUTES | {"balance": balance}
    return {name: np.concatenate([getattr(tree, field) for tree in trees]) for field, name in names.items()}


class BaseTreeRanker(CategoriesMixin, BaseRanker):
    """Base of the rankers made of trees. A tree is a forest of one: its nodes are kept in the same arrays."""

    _parameter_constraints: ClassVar[dict[str, Any]] = BaseRanker._parameter_constraints | {
        "criterion": [StrOptions(set(get_args(Criterion)))],
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
    }

    criterion: Criterion
    max_depth: int | None
    min_samples_split: float | None
    min_samples_leaf: float
    max_leaf_nodes: int | None
    max_features: float | str | None
    ccp_alpha: float
    shrinkage: float
    random_state: Any

    children_left_: npt.NDArray[np.int32]
    children_right_: npt.NDArray[np.int32]
    feature_: npt.NDArray[np.int32]
    threshold_: FloatArray
    missing_left_: BoolArray
    node_weight_: FloatArray
    n_node_samples_: IntArray
    impurity_: FloatArray
    pair_balance_: npt.NDArray[np.float32]
    vote_moments_: npt.NDArray[np.float32]
    criterion_: str
    feature_importances_: FloatArray
    had_missing_: BoolArray

    # --- fit

    def _checks(self) -> dict[str, Any]:
        return {"accept_sparse": "csr", "dtype": np.float64, "ensure_all_finite": "allow-nan", "order": "C"}

    def _validate(self, X: Any, y: Any, sample_weight: Any) -> Training:
        X = self._encode_fit(X)
        with column_errors(X):
            data = super()._validate(X, y, sample_weight)
        self._set_categorical(data.X)
        return data

    def _grower(self, data: Training, splitter: Literal["best", "random"]) -> Grower:
        n_labels, thin = len(self.labels_), sparse.issparse(data.X)
        self.had_missing_ = has_missing(data.X)
        self.criterion_ = self.criterion
        if self.criterion == "auto":
            self.criterion_ = "pair_gini" if n_labels <= MANY_LABELS else "vote_variance"
        if not thin:
            what, advice = f"a tree on a dense X of shape {data.X.shape}", "pass a sparse X, or fewer rows or features"
            require_memory(8.0 * data.X.size * (1 + (splitter == "best")), what, advice)
        sample = make_sample(data.X, data.graphs, data.weight, self.is_categorical_, self.criterion_ == "vote_variance")
        _check_scale(sample)
        min_split = float(2 * n_labels if self.min_samples_split is None else self.min_samples_split)
        min_leaf = float(self.min_samples_leaf)
        total, n = float(data.weight.sum()), int(np.count_nonzero(data.weight))
        warn_of_light_rows(total, n, {"min_samples_split": min_split, "min_samples_leaf": min_leaf})
        rules = Rules(
            max_features=_number_of_features(self.max_features, self.n_features_in_),
            max_depth=_UNLIMITED if self.max_depth is None else int(self.max_depth),
            min_samples_split=min_split * (1 - _TOLERANCE),
            min_samples_leaf=min_leaf * (1 - _TOLERANCE),
            max_leaf_nodes=0 if self.max_leaf_nodes is None else int(self.max_leaf_nodes),
            shrinkage=float(self.shrinkage),
            random=splitter == "random",
        )
        csr = make_sparse(data.X, sample.signs.shape[1]) if thin else None
        order = sorted_features(sample.x) if splitter == "best" and not thin else None
        table = theta_table(n_labels) if self.criterion == "mallows" else None
        return Grower(sample, csr, order, table, rules, float(self.ccp_alpha))

    def _seeds(self, n_trees: int) -> IntArray:
        drawn = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=n_trees)
        return np.asarray(drawn, dtype=np.int64)

    def _publish(self, attributes: dict[str, Any]) -> None:
        for name, value in attributes.items():
            setattr(self, name, value)

    # --- predict

    def _offsets(self) -> IntArray:
        """Where the nodes of each tree begin, and where the last ends."""
        return np.array([0, len(self.children_left_)])

    def _trees(self) -> Trees:
        return Trees(
            self._offsets(), self.children_left_, self.children_right_, self.feature_, self.threshold_,
            self.missing_left_, self.is_categorical_
        )  # fmt: skip

    @property
    def _balance_name(self) -> str:
        return "vote_moments_" if self.criterion_ == "vote_variance" else "pair_balance_"

    def _from_balance(self, X: Any, function: Callable[..., FloatArray], used: BoolArray | None = None) -> FloatArray:
        """A function of the mean over the trees of the balances in the leaf of each row, in blocks of rows."""
        values, n_jobs = balance_of(self), getattr(self, "n_jobs", None)
        trees, X = of_used_features(self._trees(), X)
        width = max(values.shape[1], X.shape[1])
        blocks = row_blocks(X.shape[0], width, max(ENTRIES, ROWS * n_threads(n_jobs) * width))
        return np.concatenate(
            [
                function(
                    mean_values(trees, values, X[rows], None if used is None else used[:, rows], n_jobs),
                    len(self.labels_),
                )
                for rows in blocks
            ]
        )

    def decision_function(self, X: Any) -> FloatArray:
        """Expected number of other labels that each label beats.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances; NaN is a missing value.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            The sum over b of P(a before b), from 0 to n_labels - 1; larger is better.
        """
        return self._from_balance(self._check_X(X), scores_of)

    def pairwise_proba(self, X: Any) -> FloatArray:
        """Probability that label i comes before label j.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances; NaN is a missing value.

        Returns
        -------
        ndarray of shape (n_samples, n_labels, n_labels)
            1/2 on the diagonal.
        """
        X = self._check_X(X)
        require_pair_matrices((X.shape[0], len(self.labels_)), copies=2)  # of blocks, which are then joined
        return self._from_balance(X, probabilities_of)

    def predict_spread(self, X: Any) -> FloatArray:
        """Confidence in the prediction: theta of the Mallows model around the predicted ranking.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances; NaN is a missing value.

        Returns
        -------
        ndarray of shape (n_samples,)
            From 0 (no agreement) to 10 (not one pair disagrees).
        """
        return self._from_balance(self._check_X(X), spread_of)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


def _check_scale(sample: Sample) -> None:
    """Raise if squares of sums would overflow."""
    largest = max(1.0, float(np.abs(sample.signs).max(initial=0)), float(sample.squares.max(initial=0)))
    if float(sample.weight.sum()) * largest > _LARGEST:
        raise ValueError(
            f"the weights of the rows, times those of edges, sum to {float(sample.weight.sum()) * largest:.3g}, and "
            "their squares overflow; divide sample_weight or the weights of edges by a constant"
        )


def warn_of_light_rows(total: float, n: int, limits: dict[str, float]) -> None:
    """Warn if there are enough rows with a weight for a split, but not enough weight in total."""
    for name, limit in limits.items():
        needed = 2 * limit if name == "min_samples_leaf" else limit
        if total < needed * (1 - _TOLERANCE) and n >= max(needed, 2):
            warnings.warn(
                f"the weights of the {n} rows sum to {total:.6g}, too little for a split with {name}={limit:g}: trees "
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
    if isinstance(max_features, numbers.Integral):
        return min(int(max_features), n_features)
    functions = {"sqrt": np.sqrt, "log2": np.log2}
    number = functions[max_features](n_features) if isinstance(max_features, str) else max_features * n_features
    return max(1, int(number))
