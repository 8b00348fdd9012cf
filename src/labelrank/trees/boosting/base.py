"""What the boosted ranker and the boosted classifier share: parameters, features, the fit, and sums of trees."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from labelrank._arrays import BoolArray, FloatArray, IntArray
from labelrank._compat import Interval, RealNotInt, StrOptions
from labelrank.losses import LOSSES, Loss
from labelrank.rankers.base import Progress
from labelrank.solvers.base import check_abilities
from labelrank.supervision import PreferenceGraphs, stacklevel_of_user
from labelrank.supervision.frames import frame_of
from labelrank.trees.base import warn_of_light_rows
from labelrank.trees.boosting.binning import MAX_BINS, Binning, has_missing, learn_bins
from labelrank.trees.boosting.fitting import Boosting, Settings, constant_scores, mean_curvature
from labelrank.trees.boosting.growth import Limits
from labelrank.trees.boosting.prediction import Trees, add_scores, join, leaves, no_trees
from labelrank.trees.boosting.splitting import Rules
from labelrank.trees.boosting.view import BoostedTree
from labelrank.trees.categories import categorical_mask, encode, learn_categories, not_numeric

_UNLIMITED = 2**31 - 1
_MANY_ROWS = 100_000  # early_stopping="auto" holds rows out if there are more
_TOLERANCE = 1e-9  # ten weights of 0.1 are 1, whatever their sum in floating point

# Attribute of the estimators for each array of the trees.
TREE_ATTRIBUTES = {
    "offsets": "tree_offsets_",
    "left": "children_left_",
    "right": "children_right_",
    "feature": "feature_",
    "bin": "bin_",
    "threshold": "threshold_",
    "missing_left": "missing_left_",
    "category_set": "category_set_",
    "value": "value_",
    "gain": "gain_",
    "n_rows": "n_node_samples_",
    "left_bins": "left_bins_",
}


class BoostedTreesMixin:
    """Estimators that are a sum of trees with a vector of label scores in each leaf."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "min_samples_leaf": [Interval(Real, 0, None, closed="neither")],
        "l2_regularization": [Interval(Real, 0, None, closed="left")],
        "max_features": [Interval(RealNotInt, 0, 1, closed="right")],
        "subsample": [Interval(Real, 0, 1, closed="right")],
        "max_bins": [Interval(Integral, 2, MAX_BINS, closed="both")],
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
        "early_stopping": ["boolean", StrOptions({"auto"})],
        "validation_fraction": [Interval(RealNotInt, 0, 1, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "warm_start": ["boolean"],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
    }

    learning_rate: float
    max_iter: int
    max_leaf_nodes: int | None
    max_depth: int | None
    min_samples_leaf: float
    l2_regularization: float
    max_features: float
    subsample: float
    max_bins: int
    categorical_features: Any
    early_stopping: Any
    validation_fraction: float
    n_iter_no_change: int
    tol: float
    warm_start: bool
    random_state: Any
    n_jobs: int | None

    baseline_: FloatArray
    tree_offsets_: IntArray
    value_: FloatArray
    bin_edges_: npt.NDArray[Any]
    is_categorical_: BoolArray
    had_missing_: BoolArray
    categories_: npt.NDArray[Any]
    train_score_: FloatArray
    validation_score_: FloatArray
    seed_: int
    n_features_in_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        # Which rows and features are drawn depends on their order.
        tags.non_deterministic = self.subsample < 1 or self.max_features < 1 or self.early_stopping is True
        return tags

    # --- features

    def _checks(self) -> dict[str, Any]:
        return {"accept_sparse": "csr", "dtype": np.float64, "ensure_all_finite": "allow-nan"}

    def _encode_fit(self, X: Any) -> Any:
        """Numbers for the categories of a data frame."""
        if self._continues():
            return self._encode(X)
        frame = None if self.categorical_features is None else frame_of(X)
        if frame is None:
            return X
        mask = categorical_mask(X, self.categorical_features)
        self.is_categorical_ = mask
        if mask.any():
            self.categories_ = learn_categories(frame, mask)
            return encode(frame, self.categories_)
        return X

    def _continues(self) -> bool:
        """Whether a fit adds trees to those that are there."""
        return self.warm_start and hasattr(self, "bin_edges_") and len(self.tree_offsets_) > 1

    def _encode(self, X: Any) -> Any:
        """Numbers for the categories that were learned."""
        check_is_fitted(self)
        if not hasattr(self, "categories_"):
            return X
        frame = frame_of(X)
        if frame is None:
            raise ValueError(
                f"{type(self).__name__} was fitted on a data frame with categories; X must be such a frame, got "
                f"{type(X).__name__}"
            )
        return encode(frame, self.categories_)

    def _validate_numeric(self, validate: Callable[[], Any], X: Any) -> Any:
        """Call a function that validates X; columns that are not numeric are named."""
        try:
            return validate()
        except ValueError as error:
            if "could not convert" in str(error):
                raise not_numeric(X, error) from error
            raise

    # --- fit

    def _boost(
        self,
        X: Any,
        graphs: PreferenceGraphs,
        weight: FloatArray,
        make_loss: Callable[[PreferenceGraphs, FloatArray], Loss],
        progress: Progress,
    ) -> None:
        """Boost trees, and set the fitted attributes."""
        loss = make_loss(graphs, weight)
        check_abilities(loss, type(self).__name__, frozenset({"curvature"}), _other_losses)
        continued = self._continues()
        if not weight.max(initial=0.0) < np.finfo(np.float32).max:
            raise ValueError(f"sample_weight has {weight.max():g}, too large for sums; divide weights by their mean")
        warn_of_light_rows(weight[loss.counted], {"min_samples_leaf": float(self.min_samples_leaf)})
        if not continued:
            self.seed_ = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
            self._publish(no_trees(graphs.shape[1]))
            self.train_score_ = self.validation_score_ = np.empty(0)
        first = self.n_iter_
        if self.max_iter < first:
            raise ValueError(
                f"max_iter={self.max_iter} is smaller than the {first} iterations of the model that warm_start=True "
                "continues; increase max_iter"
            )
        train, held_out = self._split_rows(loss.counted)
        order = np.concatenate([train, held_out])
        binning = self._binning() if continued else self._learn_bins(X, train, weight)
        if not continued:
            self.bin_edges_ = binning.edges
            self.had_missing_ = has_missing(X)
            self.baseline_ = np.zeros(graphs.shape[1])
        if not len(train):  # nothing to learn from
            progress.begin(0)
            return
        all_rows = len(order) == len(graphs) and not len(held_out)
        bins = binning.transform(X if all_rows else X[order])
        losses = [loss] if all_rows else [make_loss(graphs[rows], weight[rows]) for rows in (train, held_out)]
        validation = losses[1] if len(held_out) else None
        l2 = float(self.l2_regularization) * 4 * mean_curvature(losses[0])
        if not continued:
            self.baseline_ = constant_scores(losses[0], l2)
        scores = np.tile(self.baseline_, (len(order), 1))
        if first:
            self._add_trees(X[order], scores, 0, first)
        boosting = Boosting(bins, binning, losses[0], validation, scores, self._settings(graphs.shape[1], l2))
        before = join([self._trees()])
        curves = (self.train_score_[:first], self.validation_score_[:first])
        start = (boosting.train_loss, boosting.validation_loss)
        steps = progress.collect(
            "iteration",
            boosting.run(first, self.max_iter, self.seed_),
            self.max_iter - first,
            lambda done: _attributes(join([before, *(step.tree for step in done)])),
        )
        self._publish(join([before, *(step.tree for step in steps)]))
        train_losses = [start[0], *(step.train_loss for step in steps)]
        self.train_score_ = np.concatenate([curves[0], -np.array(train_losses)])
        held_out_losses = [start[1], *(step.validation_loss for step in steps)] if validation is not None else []
        self.validation_score_ = np.concatenate([curves[1], -np.array(held_out_losses)])

    def _split_rows(self, counted: BoolArray) -> tuple[IntArray, IntArray]:
        """Rows to learn from, and rows that are held out to decide when to stop."""
        rows = np.flatnonzero(counted)
        stops = len(rows) > _MANY_ROWS if self.early_stopping == "auto" else bool(self.early_stopping)
        if not stops or not len(rows):
            return rows, rows[:0]
        n_held_out = int(np.ceil(self.validation_fraction * len(rows)))
        if n_held_out >= len(rows):
            raise ValueError(
                f"early_stopping holds {n_held_out} of {len(rows)} samples with observed pairs out, so that none is "
                "left to learn from; pass early_stopping=False or a smaller validation_fraction"
            )
        drawn = np.random.default_rng(self.seed_).permutation(rows)
        return np.sort(drawn[n_held_out:]), np.sort(drawn[:n_held_out])

    def _learn_bins(self, X: Any, rows: IntArray, weight: FloatArray) -> Binning:
        sample: Any = X if len(rows) == X.shape[0] else X[rows]
        sample = sample.tocsc() if hasattr(sample, "tocsc") else sample
        binning = learn_bins(sample, weight[rows], self.is_categorical_, self.max_bins)
        rare = [f for f in np.flatnonzero(self.is_categorical_) if len(binning.edges[f]) == self.max_bins]
        for f in rare:
            n_categories = len(np.unique(sample[:, [f]].data if hasattr(sample, "tocsc") else sample[:, f]))
            if n_categories > self.max_bins:
                warnings.warn(
                    f"the categorical feature {f} has {n_categories} values; only the {self.max_bins} most frequent "
                    "ones are told apart, and the others are treated as missing",
                    UserWarning,
                    stacklevel=stacklevel_of_user(),
                )
        return binning

    def _settings(self, n_labels: int, l2: float) -> Settings:
        return Settings(
            learning_rate=float(self.learning_rate),
            rules=Rules(n_labels, l2, float(self.min_samples_leaf) * (1 - _TOLERANCE)),
            limits=Limits(
                _UNLIMITED if self.max_leaf_nodes is None else int(self.max_leaf_nodes),
                _UNLIMITED if self.max_depth is None else int(self.max_depth),
                float(self.max_features),
            ),
            subsample=float(self.subsample),
            n_iter_no_change=int(self.n_iter_no_change),
            tol=float(self.tol),
            n_jobs=self.n_jobs,
        )

    def _publish(self, trees: Trees) -> None:
        for name, value in _attributes(trees).items():
            setattr(self, name, value)

    # --- predict

    @property
    def n_iter_(self) -> int:
        """Number of trees."""
        check_is_fitted(self, "tree_offsets_")
        return len(self.tree_offsets_) - 1

    @property
    def estimators_(self) -> list[BoostedTree]:
        """The trees, to print and to draw."""
        check_is_fitted(self)
        return [BoostedTree(self, number) for number in range(self.n_iter_)]

    @property
    def loss_curve_(self) -> FloatArray:
        """Mean training loss, before the first iteration and after each."""
        check_is_fitted(self)
        return -self.train_score_

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of each feature in the gain of all splits."""
        check_is_fitted(self)
        trees = self._trees()
        inner = trees.feature >= 0
        total = np.bincount(trees.feature[inner], trees.gain[inner], self.n_features_in_).astype(np.float64)
        return total / total.sum() if total.sum() > 0 else total

    def apply(self, X: Any) -> IntArray:
        """Leaf of each instance in each tree.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        int ndarray of shape (n_samples, n_iter_)
            Node, counted from the root of the tree.
        """
        return leaves(self._trees(), self._binning(), self._check_X(X))  # type: ignore[attr-defined]

    def _trees(self) -> Trees:
        return Trees(**{field: getattr(self, name) for field, name in TREE_ATTRIBUTES.items()})

    def _binning(self) -> Binning:
        return Binning(self.bin_edges_, self.is_categorical_)

    def _add_trees(self, X: Any, scores: FloatArray, first: int, last: int) -> None:
        add_scores(self._trees(), self._binning(), X, scores, first, last, self.n_jobs)

    def _scores(self, X: Any) -> FloatArray:
        scores = np.tile(self.baseline_, (X.shape[0], 1))
        self._add_trees(X, scores, 0, self.n_iter_)
        return scores

    def _staged_scores(self, X: Any) -> Iterator[FloatArray]:
        scores = np.tile(self.baseline_, (X.shape[0], 1))
        for t in range(self.n_iter_):
            self._add_trees(X, scores, t, t + 1)
            yield scores.copy()


def _attributes(trees: Trees) -> dict[str, Any]:
    """Fitted attributes of some trees."""
    return {name: getattr(trees, field) for field, name in TREE_ATTRIBUTES.items()}


def _other_losses(offered: frozenset[str]) -> str:
    """Say how a loss gets a curvature, and which losses have one."""
    others = [repr(name) for name, loss in LOSSES.items() if "curvature" in loss.abilities]
    return f"use loss={' or '.join(others)}, or write the method curvature of your own and name it in abilities"
