"""RankRLS with the penalty and the kernel's parameters chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin, _fit_context, clone
from sklearn.model_selection import GroupKFold, KFold, ParameterGrid, check_cv
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import _check_sample_weight, _num_samples, check_is_fitted, validate_data

from labelrank.rankers.rank_rls import RankRLS, agreement, check_alphas
from labelrank.solvers.rls_basis import check_basis
from labelrank.solvers.rls_groups import FloatArray, IntArray, group_codes


class RankRLSCV(RegressorMixin, BaseEstimator):
    """:class:`RankRLS` with `alpha`, and parameters of the kernel, that rank items of new groups best.

    For each point of the grid there is one decomposition, whatever the number of penalties. Leaving out one group at a
    time needs no further model: the scores of every group by the model of the others have a closed form.

    Parameters
    ----------
    alphas : array-like of float, default=(0.001, 0.01, 0.1, 1, 10, 100, 1000)
        Penalties to choose from.
    param_grid : mapping or sequence of mappings, optional
        Other parameters of `estimator` to choose from, as for :class:`sklearn.model_selection.GridSearchCV`:
        ``{"gamma": [0.01, 0.1]}``.
    estimator : RankRLS, optional
        What is fitted, but for `alpha` and the grid: kernel, basis, weighting. By default ``RankRLS()``.
    cv : "leave-one-group-out", int, splitter or iterable of splits, optional
        By default one group at a time is left out where there are groups, and there are five folds of items where there
        are none. A number is that of the folds of whole groups (:class:`sklearn.model_selection.GroupKFold`); a
        splitter gets `X`, `y` and `groups`. Folds are fitted, leaving one group out is not.

    Attributes
    ----------
    alpha_ : float
        The penalty chosen.
    best_params_ : dict
        The point of the grid chosen.
    best_score_ : float
        Its score: 1 less the mean disagreement per group left out.
    scores_ : ndarray of shape (n_points, n_alphas)
        All scores.
    grid_ : list of dict
        The points of the grid.
    best_estimator_ : RankRLS
        Fitted to all groups with what was chosen.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    With a basis, leaving out a group takes its scores away and keeps its basis vectors; without, the result is that of
    a fit without the group.

    Ties between scores go to the larger penalty, then to the first point of the grid.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import RankRLS, RankRLSCV
    >>> rng = np.random.default_rng(0)
    >>> X, groups = rng.uniform(-3, 3, size=(300, 1)), np.repeat(np.arange(30), 10)
    >>> y = np.sin(2 * X[:, 0]) + rng.normal(size=30)[groups] + 0.1 * rng.normal(size=300)
    >>> model = RankRLSCV([0.01, 1, 100], {"gamma": [0.001, 1]}, RankRLS(kernel="rbf")).fit(X, y, groups)
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

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> RankRLSCV:
        """Choose the parameters and learn from all groups with them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_items, n_features)
            Items.
        y : array-like of shape (n_items,)
            Scores, larger is better.
        groups : array-like of shape (n_items,), optional
            Group of each item. By default all items form one group, and the items of a fold are compared.
        sample_weight : array-like of shape (n_items,), optional
            Weights of the items in the fit. Items of weight zero do not count in the scores either.

        Returns
        -------
        self
        """
        alphas = check_alphas(self.alphas)
        self.grid_ = list(ParameterGrid(self.param_grid or {}))
        if any("alpha" in point for point in self.grid_):
            raise ValueError("param_grid has alpha; give the penalties as alphas, which cost next to nothing")
        template = RankRLS() if self.estimator is None else self.estimator
        X, y = validate_data(self, X, y, y_numeric=True, **template._checks())
        self.scores_ = np.empty((len(self.grid_), len(alphas)))
        best: tuple[float, float, RankRLS | None] = (-np.inf, 0.0, None)
        for i, point in enumerate(self.grid_):
            model = clone(template).set_params(**point)
            self.scores_[i] = self._evaluate(model, X, y, groups, sample_weight, alphas)
            top = np.flatnonzero(self.scores_[i] == self.scores_[i].max())
            alpha = float(alphas[top].max())
            if self.scores_[i].max() > best[0]:
                best = (float(self.scores_[i].max()), alpha, model)
                self.best_params_ = dict(point)
        self.best_score_, self.alpha_, chosen = best
        if chosen is None:
            raise ValueError("no group that was left out has two items to compare; give cv folds that have")
        chosen.set_params(alpha=self.alpha_)
        if hasattr(chosen, "eigenvalues_"):
            chosen._use(chosen._path([self.alpha_])[:, 0])
        else:
            chosen.fit(X, y, groups, sample_weight)
        self.best_estimator_ = chosen
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
        X = validate_data(self, X, reset=False, **self.best_estimator_._checks())
        return self.best_estimator_.predict(X)

    def score(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> float:
        """1 less the disagreement within groups; see :func:`labelrank.metrics.group_disagreement`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_items, n_features)
            Items.
        y : array-like of shape (n_items,)
            True scores.
        groups : array-like of shape (n_items,), optional
            Group of each item; by default all items form one group.
        sample_weight : array-like of shape (n_items,), optional
            Weights of the items; a pair has the product of two.

        Returns
        -------
        float
            From 0 to 1.
        """
        return agreement(y, self.predict(X), groups, sample_weight)

    # -----------------------------------------------------------------------------------------------------------

    def _evaluate(
        self, model: RankRLS, X: Any, y: Any, groups: Any, sample_weight: Any, alphas: FloatArray
    ) -> FloatArray:
        """Score of each penalty on what was left out."""
        model._validate_params()
        leave_one_out = self.cv == "leave-one-group-out" if isinstance(self.cv, str) else self.cv is None
        if leave_one_out and groups is not None:
            return _leave_one_group_out(model, X, y, groups, sample_weight, alphas)
        if leave_one_out and self.cv is not None:
            raise ValueError('cv="leave-one-group-out" needs groups; without them give the number of folds')
        return self._folds(model, X, y, groups, sample_weight, alphas)

    def _folds(self, model: RankRLS, X: Any, y: Any, groups: Any, sample_weight: Any, alphas: FloatArray) -> FloatArray:
        n = _num_samples(X)
        weight = _check_sample_weight(sample_weight, np.empty((n, 0)), dtype=np.float64, ensure_non_negative=True)
        code = np.zeros(n, dtype=np.intp) if groups is None else group_codes(groups, n)
        cv = self.cv
        if cv is None or isinstance(cv, Integral):
            n_folds = 5 if cv is None else int(cv)
            cv = KFold(n_folds) if groups is None else GroupKFold(n_folds)
        left_out: list[tuple[FloatArray, FloatArray, IntArray]] = []
        for fold, (train, test) in enumerate(check_cv(cv).split(X, y, groups)):
            test = np.asarray(test)[weight[test] > 0]
            fitted, X_train, X_test = _fold(model, X, np.asarray(train), test)
            fitted._prepare(X_train, y[train], code[train], weight[train])
            X_test = validate_data(fitted, X_test, reset=False, **fitted._checks())
            scores = fitted._scores(X_test, fitted.path(alphas).T)
            left_out.append((y[test].astype(np.float64), scores, code[test] + fold * n))
        truth, scores, within = (np.concatenate(part) for part in zip(*left_out, strict=True))
        return np.array([agreement(truth, scores[:, k], within) for k in range(len(alphas))])


def _leave_one_group_out(
    model: RankRLS, X: Any, y: Any, groups: Any, sample_weight: Any, alphas: FloatArray
) -> FloatArray:
    X, items = model._prepare(X, y, groups, sample_weight)
    if len(items.start) < 3:
        raise ValueError("leaving out one group needs two groups or more that have weight; got fewer")
    model.path(alphas[:1])  # says so where there is no decomposition
    scores = model._held_out(X, items, alphas)
    return np.array([agreement(items.y, scores[:, k], items.code) for k in range(len(alphas))])


def _fold(model: RankRLS, X: Any, train: IntArray, test: IntArray) -> tuple[RankRLS, Any, Any]:
    """The estimator, with what is left of its basis, and the two parts of X."""
    model = clone(model)
    rows = check_basis(model.basis, model.n_basis, _num_samples(X))
    if rows is None:
        if model.n_basis is not None:
            model.set_params(n_basis=min(model.n_basis, len(train)))
    else:
        inside = np.isin(rows, train)
        place = np.zeros(_num_samples(X), dtype=np.intp)
        place[train] = np.arange(len(train))
        model.set_params(basis=place[rows[inside]], n_basis=None)
    X_train, X_test = X[train], X[test]
    if model.kernel != "precomputed":
        return model, X_train, X_test
    columns = train if X_train.shape[1] == _num_samples(X) or rows is None else np.flatnonzero(inside)
    return model, X_train[:, columns], X_test[:, columns]
