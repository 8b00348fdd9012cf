"""Base class of the boosted ranker and the boosted classifier: parameters, features, the fit, and sums of trees."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from labelrank._arrays import BoolArray, FloatArray, IntArray
from labelrank._compat import Interval, RealNotInt, StrOptions
from labelrank.losses import LOSSES
from labelrank.rankers.base import Progress
from labelrank.rankers.checkpoint import CHECKPOINT, Checkpoint
from labelrank.solvers.base import check_abilities
from labelrank.supervision import stacklevel_of_user
from labelrank.trees.base import warn_of_light_rows
from labelrank.trees.boosting.binning import MAX_BINS, Binning
from labelrank.trees.boosting.data import BoostingData
from labelrank.trees.boosting.fitting import Boosting, Settings, Step, constant_scores, mean_curvature
from labelrank.trees.boosting.growth import Limits
from labelrank.trees.boosting.prediction import Trees, add_scores, join, leaves, no_trees
from labelrank.trees.boosting.splitting import Rules
from labelrank.trees.boosting.view import BoostedTree
from labelrank.trees.categories import CategoriesMixin

_UNLIMITED = 2**31 - 1
_MANY_ROWS = 100_000  # early_stopping="auto" holds out rows if there are more
_TOLERANCE = 1e-9  # ten weights of 0.1 count as 1, despite rounding errors of their sum

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


class BoostedTreesMixin(CategoriesMixin):
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
        "checkpoint": CHECKPOINT,
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
    early_stopping: Any
    validation_fraction: float
    n_iter_no_change: int
    tol: float
    warm_start: bool
    random_state: Any
    n_jobs: int | None
    checkpoint: Any = None  # for models saved by versions without the parameter

    baseline_: FloatArray
    tree_offsets_: IntArray
    value_: FloatArray
    bin_edges_: npt.NDArray[Any]
    had_missing_: BoolArray
    train_score_: FloatArray
    validation_score_: FloatArray
    seed_: int
    n_features_in_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        # The rows and features that are drawn depend on their order.
        tags.non_deterministic = self.subsample < 1 or self.max_features < 1 or self.early_stopping is True
        return tags

    # --- features

    def _checks(self) -> dict[str, Any]:
        return {"accept_sparse": "csr", "dtype": np.float64, "ensure_all_finite": "allow-nan"}

    def _encode_fit(self, X: Any) -> Any:
        return self._encode(X) if self._continues() else super()._encode_fit(X)

    def _continues(self) -> bool:
        """Whether a fit adds trees to existing ones."""
        return self.warm_start and hasattr(self, "bin_edges_") and len(self.tree_offsets_) > 1

    # --- fit

    def _boost(self, data: BoostingData, progress: Progress) -> None:
        """Boost trees, and set the fitted attributes."""
        check_abilities(data.loss, type(self).__name__, frozenset({"curvature"}), _other_losses)
        continued = self._continues()
        largest, total, n_counted = data.weights()
        if not largest < float(np.finfo(np.float32).max):
            raise ValueError(f"sample_weight has {largest:g}, too large for sums; divide weights by their mean")
        warn_of_light_rows(total, n_counted, {"min_samples_leaf": float(self.min_samples_leaf)})
        checkpoint = Checkpoint.of(self)
        saved = None if continued or checkpoint is None else checkpoint.load()
        if saved is not None:
            self._restore(saved)
        elif not continued:
            self.seed_ = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
            self._publish(no_trees(data.n_labels))
            self.train_score_ = self.validation_score_ = np.empty(0)
        first = self.n_iter_
        if self.max_iter < first:
            raise ValueError(
                f"max_iter={self.max_iter} is smaller than the {first} iterations of the model that warm_start=True "
                "continues; increase max_iter"
            )
        train, held_out = self._split_rows(data.counted())
        binning = self._binning() if continued else self._learn_bins(data, train)
        if not continued:
            self.bin_edges_ = binning.edges
            self.had_missing_ = data.has_missing()
            self.baseline_ = np.zeros(data.n_labels)
        if not len(train):  # nothing to learn from
            progress.begin(0)
            return
        data = data.split(train, held_out)
        l2 = float(self.l2_regularization) * 4 * mean_curvature(data)
        if not continued:
            self.baseline_ = constant_scores(data, l2)
        before = join([self._trees()])
        rows = data.rows(binning, self.baseline_, before, self.n_jobs)
        boosting = Boosting(rows, binning, self._settings(data.n_labels, l2))
        curves = (self.train_score_[:first], self.validation_score_[:first])
        start = (boosting.train_loss, boosting.validation_loss)
        if saved is not None and checkpoint is not None:
            checkpoint.check_same("the training loss of its trees", -float(saved["train_score"][-1]), start[0])
        earlier = [] if saved is None else (-curves[1]).tolist()

        def attributes(done: list[Step]) -> dict[str, Any]:
            return _attributes(join([before, *(step.tree for step in done)]))

        def publish(done: list[Step]) -> None:
            for name, value in attributes(done).items():
                setattr(self, name, value)
            train_losses = [start[0], *(step.train_loss for step in done)]
            self.train_score_ = np.concatenate([curves[0], -np.array(train_losses)])
            held_out_losses = [start[1], *(step.validation_loss for step in done)] if len(held_out) else []
            self.validation_score_ = np.concatenate([curves[1], -np.array(held_out_losses)])

        def kept(steps: Iterator[Step]) -> Iterator[Step]:
            done: list[Step] = []
            for step in steps:
                done.append(step)
                if checkpoint is not None and (first + len(done)) % checkpoint.every == 0:
                    publish(done)
                    self._save(checkpoint)
                yield step

        run = boosting.run(first, self.max_iter, self.seed_, earlier)
        publish(progress.collect("iteration", kept(run), self.max_iter - first, attributes))
        if checkpoint is not None and checkpoint.saved != self.n_iter_:
            self._save(checkpoint)

    def _save(self, checkpoint: Checkpoint) -> None:
        """Save the current trees of a fit."""
        trees = {f"tree_{name}": value for name, value in self._trees()._asdict().items()}
        scores = {"train_score": self.train_score_, "validation_score": self.validation_score_}
        checkpoint.save(self.n_iter_, seed=self.seed_, **scores, **trees)

    def _restore(self, saved: dict[str, Any]) -> None:
        """Restore the trees of an interrupted fit."""
        self.seed_ = int(saved["seed"])
        self._publish(Trees(**{field: saved[f"tree_{field}"] for field in Trees._fields}))
        self.train_score_, self.validation_score_ = saved["train_score"], saved["validation_score"]

    def _split_rows(self, counted: BoolArray) -> tuple[IntArray, IntArray]:
        """Training rows, and rows that are held out for early stopping."""
        rows = np.flatnonzero(counted)
        stops = len(rows) > _MANY_ROWS if self.early_stopping == "auto" else bool(self.early_stopping)
        if not stops or not len(rows):
            return rows, rows[:0]
        n_held_out = int(np.ceil(self.validation_fraction * len(rows)))
        if n_held_out >= len(rows):
            raise ValueError(
                f"early_stopping holds out {n_held_out} of {len(rows)} samples with observed pairs, and no sample is "
                "left for training; use early_stopping=False or a smaller validation_fraction"
            )
        drawn = np.random.default_rng(self.seed_).permutation(rows)
        return np.sort(drawn[n_held_out:]), np.sort(drawn[:n_held_out])

    def _learn_bins(self, data: BoostingData, rows: IntArray) -> Binning:
        edges, found = (
            np.empty(self.n_features_in_, dtype=object),
            data.edges(rows, self.is_categorical_, self.max_bins),
        )
        for f, (edges[f], n_values) in enumerate(found):
            if self.is_categorical_[f] and n_values > self.max_bins:
                warnings.warn(
                    f"the categorical feature {f} has {n_values} values; only the {self.max_bins} most frequent ones "
                    "get bins, and the others are treated as missing",
                    UserWarning,
                    stacklevel=stacklevel_of_user(),
                )
        return Binning(edges, self.is_categorical_)

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
        """The trees, for export and plots."""
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
        leaves : ndarray of shape (n_samples, n_iter_)
            Number of the node in its tree.
        """
        return leaves(self._trees(), self._binning(), self._check_X(X))

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
    """Advice for losses without a curvature."""
    others = [repr(name) for name, loss in LOSSES.items() if "curvature" in loss.abilities]
    return f'use loss={" or ".join(others)}, or define the method curvature and add "curvature" to abilities'
