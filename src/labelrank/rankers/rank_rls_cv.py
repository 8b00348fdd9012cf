"""RankRLS with the penalty and the kernel's parameters chosen by cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold, ParameterGrid, check_cv
from sklearn.utils.validation import check_is_fitted, validate_data

from labelrank._arrays import FloatArray, canonical
from labelrank._compat import StrOptions, check_sample_weight, fit_context, num_samples
from labelrank.rankers.base import Progress, refitting
from labelrank.rankers.rank_rls import ItemRanker, RankRLS, agreement, check_alphas
from labelrank.solvers.least_squares.basis import check_basis
from labelrank.supervision import stacklevel_of_user
from labelrank.supervision.groups import group_codes

IntArray = npt.NDArray[np.intp]


class RankRLSCV(ItemRanker):
    """:class:`RankRLS` with `alpha`, and parameters of the kernel, chosen by cross-validation on whole groups.

    Each point of the grid needs one decomposition, whatever the number of penalties. Leaving out one group at a time
    needs no further model: the scores of every group by the model of the others have a closed form.

    Parameters
    ----------
    alphas : array-like of float, default=(0.001, 0.01, 0.1, 1, 10, 100, 1000)
        Penalties to choose from.
    param_grid : mapping or sequence of mappings, optional
        Other parameters of `estimator` to choose from, as for :class:`sklearn.model_selection.GridSearchCV`:
        ``{"gamma": [0.01, 0.1]}``.
    estimator : RankRLS, optional
        Estimator with all other parameters: kernel, basis, weighting. By default ``RankRLS()``.
    cv : "leave-one-group-out", int, splitter or iterable of splits, optional
        By default one group at a time is left out if there are groups, and there are five folds of items if there are
        none. An integer is the number of folds of whole groups (:class:`sklearn.model_selection.GroupKFold`). A
        splitter gets `X`, `y` and an integer for each group. Folds need fits, leaving one group out does not.

    Attributes
    ----------
    alpha_ : float
        The chosen penalty.
    best_params_ : dict
        The chosen point of the grid.
    best_score_ : float
        Its score: 1 minus the mean disagreement per group left out.
    scores_ : ndarray of shape (n_points, n_alphas)
        All scores; NaN if leaving out one group would be rounding error, and never chosen.
    grid_ : list of dict
        The points of the grid.
    best_estimator_ : RankRLS
        Estimator with the chosen parameters, fitted to all groups.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    With a basis, leaving out a group removes its scores and keeps its basis vectors; without, the result is that of a
    fit without the group, with the `gamma` of all items.

    The closed form has a rounding error that grows with the largest eigenvalue of the kernel over the penalty.
    Penalties below 1e-10 of that eigenvalue have no score, with a warning that names them, unless the kernel is so well
    conditioned that they do not matter; folds (``cv=10``) can score them.

    Of equal scores, the first point of the grid is chosen, then the larger penalty.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import RankRLS, RankRLSCV
    >>> rng = np.random.default_rng(0)
    >>> X, groups = rng.uniform(-3, 3, size=(300, 1)), np.repeat(np.arange(30), 10)
    >>> y = np.sin(2 * X[:, 0]) + rng.normal(size=30)[groups] + 0.1 * rng.normal(size=300)
    >>> model = RankRLSCV([0.01, 1, 100], {"gamma": [0.001, 1]}, RankRLS(kernel="rbf")).fit(X, y, groups=groups)
    >>> model.alpha_, model.best_params_, round(model.best_score_, 2)
    (1.0, {'gamma': 1}, 0.94)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alphas": ["array-like"],
        "param_grid": [Mapping, list, tuple, None],
        "estimator": [RankRLS, None],
        "cv": [StrOptions({"leave-one-group-out"}), "cv_object"],
    }

    def __init__(
        self,
        alphas: npt.ArrayLike = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0),
        param_grid: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        estimator: RankRLS | None = None,
        *,
        cv: Literal["leave-one-group-out"] | int | Any = None,
    ) -> None:
        self.alphas = alphas
        self.param_grid = param_grid
        self.estimator = estimator
        self.cv = cv

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = (self.estimator or RankRLS()).__sklearn_tags__().input_tags
        tags.input_tags.sparse, tags.input_tags.pairwise = inner.sparse, inner.pairwise
        return tags

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Choose the parameters and learn from all groups with them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_items, n_features)
            Items.
        y : array-like of shape (n_items,)
            Scores, larger is better.
        sample_weight : array-like of shape (n_items,), optional
            Weights of the items in the fit. Items of weight zero do not count in the scores either.
        groups : array-like of shape (n_items,), optional
            Group of each item. By default all items form one group, and the items of a fold are compared.

        Returns
        -------
        self
        """
        with refitting(self):
            alphas = check_alphas(self.alphas)
            grid = list(ParameterGrid(self.param_grid or {}))
            if any("alpha" in point for point in grid):
                raise ValueError("param_grid has alpha; pass the penalties as alphas, which cost next to nothing")
            template = RankRLS() if self.estimator is None else self.estimator
            X, y = validate_data(self, canonical(X), y, y_numeric=True, **template._checks())
            code, weight, splits = self._splits(X, y, groups, sample_weight)
            models = [clone(template).set_params(**point) for point in grid]
            for model in models:
                model._validate_params()
            score = _leave_one_group_out if splits is None else _score_folds
            progress = Progress(self, X, y)
            found = (score(model, X, y, code, weight, alphas, splits) for model in models)
            self.scores_ = np.array(progress.collect("candidate", found, len(grid)))
            self.grid_ = grid[: len(self.scores_)]
            if np.isnan(self.scores_).all():
                raise ValueError(
                    f"all alphas, up to {alphas.max():g}, are below 1e-10 of the largest eigenvalue of the kernel, so "
                    "that leaving out one group is rounding error: pass larger ones, scale X, or pass an integer as cv"
                )
            self.best_score_ = float(np.nanmax(self.scores_))
            best = int(np.argmax((self.scores_ == self.best_score_).any(axis=1)))
            self.best_params_ = dict(grid[best])
            self.alpha_ = float(alphas[self.scores_[best] == self.best_score_].max())
            self.best_estimator_ = models[best].set_params(alpha=self.alpha_).fit(X, y, weight, groups=code)
            progress.end()
        return self

    def predict(self, X: Any) -> FloatArray:
        """Scores of items by the best estimator.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_items, n_features)
            Items.

        Returns
        -------
        ndarray of shape (n_items,)
            Larger is better.
        """
        check_is_fitted(self)
        X = validate_data(self, canonical(X), reset=False, **self.best_estimator_._checks())
        return self.best_estimator_.predict(X)

    def _splits(
        self, X: Any, y: Any, groups: Any, sample_weight: Any
    ) -> tuple[IntArray, FloatArray, list[tuple[IntArray, IntArray]] | None]:
        """Integers for the groups, weights, and the rows of each fold, None if one group is left out at a time."""
        n = num_samples(X)
        weight = check_sample_weight(sample_weight, np.empty((n, 0)), dtype=np.float64, ensure_non_negative=True)
        code = np.zeros(n, dtype=np.intp) if groups is None else group_codes(groups, n)
        cv = self.cv
        leave_one_out = cv == "leave-one-group-out" if isinstance(cv, str) else cv is None
        if leave_one_out and groups is not None:
            counts = np.bincount(code[weight > 0])
            if (counts > 0).sum() < 2:
                raise ValueError("leaving out one group needs two groups or more that have weight; got fewer")
            if counts.max() < 2:
                raise ValueError("no group that would be left out has two items to compare: all have a single one")
            return code, weight, None
        if leave_one_out and cv is not None:
            raise ValueError('cv="leave-one-group-out" needs groups; without them pass a number of folds')
        if cv is None or isinstance(cv, Integral):
            n_folds = 5 if cv is None else int(cv)
            cv = KFold(n_folds) if groups is None else GroupKFold(n_folds)
        splits: list[tuple[IntArray, IntArray]] = []
        comparable = False
        for fold, (train, test) in enumerate(check_cv(cv).split(X, y, None if groups is None else code)):
            train, test = np.arange(n)[train], np.arange(n)[test]  # masks become rows
            if not (weight[train] > 0).any():
                raise ValueError(f"fold {fold} of cv has no training items with weight")
            test = test[weight[test] > 0]  # others do not count in the scores
            if len(test):
                splits.append((train, test))
                comparable |= bool(np.bincount(code[test]).max() > 1)
        if not splits:
            raise ValueError("cv has no fold with test items that have weight; an iterator can be used only once")
        if not comparable:
            raise ValueError("no group that was left out has two items to compare; pass a cv whose folds have")
        return code, weight, splits


def _score_folds(
    model: RankRLS, X: Any, y: Any, code: IntArray, weight: FloatArray, alphas: FloatArray, splits: Any
) -> FloatArray:
    """Scores of a model for all penalties on folds, each fitted without its items."""
    left_out: list[tuple[FloatArray, FloatArray, IntArray]] = []
    for fold, (train, test) in enumerate(splits):
        fitted, X_train, X_test = _fold(model, X, train, test)
        fitted.fit(X_train, y[train], weight[train], groups=code[train])
        left_out.append((y[test], fitted._path_scores(X_test, alphas), code[test] + fold * len(code)))
    truth, scores, within = (np.concatenate(part) for part in zip(*left_out, strict=True))
    return np.array([agreement(truth, column, within) for column in scores.T])


def _leave_one_group_out(
    model: RankRLS, X: Any, y: Any, code: IntArray, weight: FloatArray, alphas: FloatArray, splits: Any
) -> FloatArray:
    """Scores of a model for all penalties on groups that are left out one at a time."""
    kept = weight > 0
    scores = model._held_out(X, y, weight, code, alphas)[kept]
    known = np.isfinite(scores).all(axis=0)
    if not known.all():
        named = ", ".join(f"{alpha:g}" for alpha in alphas[~known])
        warnings.warn(
            f"alphas {named} are too small for the accuracy of leaving out one group: they are below 1e-10 of the "
            "largest eigenvalue of the kernel; their score is NaN, and they are not chosen",
            stacklevel=stacklevel_of_user(),
        )
    found = np.full(len(alphas), np.nan)
    for k in np.flatnonzero(known):
        found[k] = agreement(y[kept], scores[:, k], code[kept])
    return found


def _fold(model: RankRLS, X: Any, train: IntArray, test: IntArray) -> tuple[RankRLS, Any, Any]:
    """The estimator, with what is left of its basis, and the two parts of X."""
    model = clone(model)
    n = num_samples(X)
    rows = check_basis(model.basis, model.n_basis, n)
    columns = train
    if rows is None:
        if model.n_basis is not None:
            model.set_params(n_basis=min(model.n_basis, len(train)))
    else:
        place = np.full(n, -1, dtype=np.intp)
        place[train] = np.arange(len(train))
        inside = np.flatnonzero(place[rows] >= 0)
        if not len(inside):
            raise ValueError(
                f"none of the {len(rows)} rows of basis is among the {len(train)} training items of a fold"
            )
        inside = inside[np.argsort(place[rows[inside]])]  # the order of the items, where a fold has no others
        model.set_params(basis=place[rows[inside]], n_basis=None)
        if X.shape[1] != n:
            columns = inside
    X_train, X_test = X[train], X[test]
    if model.kernel != "precomputed":
        return model, X_train, X_test
    return model, X_train[:, columns], X_test[:, columns]
