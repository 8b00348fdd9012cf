"""RankRLS with the penalty and the kernel's parameters chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
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
from labelrank.rankers.items import ItemRanker, check_candidates
from labelrank.rankers.left_out import Data, Folds, LeftOut, leave_groups_out, leave_pairs_out, score_folds
from labelrank.rankers.rank_rls import RankRLS
from labelrank.supervision.groups import group_codes


class RankRLSCV(ItemRanker):
    """:class:`RankRLS` with `alpha`, and parameters of the kernel, chosen by cross-validation on whole groups or pairs.

    Each point of the grid needs one decomposition for any number of penalties. Leaving out one group at a time needs no
    further fits: the scores of each group by the model fitted to the other groups have a closed form, and so do the
    scores of the two items of a pair by the model fitted to all other items.

    Parameters
    ----------
    alphas : array-like of float, default=(0.001, 0.01, 0.1, 1, 10, 100, 1000)
        Penalties to choose from.
    param_grid : mapping or sequence of mappings, optional
        Other parameters of `estimator` to choose from, as for :class:`sklearn.model_selection.GridSearchCV`:
        ``{"gamma": [0.01, 0.1]}``.
    estimator : RankRLS, optional
        Estimator with all other parameters: kernel, basis, weighting. By default ``RankRLS()``.
    cv : {"leave-one-group-out", "leave-pair-out"}, int, splitter or iterable of splits, optional
        By default one group at a time is left out if there are groups, and there are five folds of items if there are
        none. ``"leave-pair-out"`` leaves out every pair of items of a group in turn, for predictions in groups with
        other, known items; a single group is enough. An integer is the number of folds of whole groups
        (:class:`sklearn.model_selection.GroupKFold`). A splitter gets `X`, `y` and an integer for each group. Folds
        need fits, leaving groups or pairs out does not.

    Attributes
    ----------
    alpha_ : float
        The chosen penalty.
    best_params_ : dict
        The chosen point of the grid.
    best_score_ : float
        Its score: 1 minus the mean disagreement per group left out.
    scores_ : ndarray of shape (n_points, n_alphas)
        All scores; NaN for penalties that are too small for the closed form, which are never chosen.
    left_out_scores_ : ndarray of shape (n_items,)
        Scores of the items, with the chosen parameters, by the models without them; the mean where several folds leave
        an item out, NaN where none does and for weights of zero. Only differences within a group that was left out have
        a meaning. Not with ``"leave-pair-out"``.
    left_out_pairs_ : ndarray of shape (n_pairs, 2)
        Rows of the two items of each pair, with ``"leave-pair-out"``.
    left_out_differences_ : ndarray of shape (n_pairs,)
        Score of the first item less that of the second, by the model without both and with the chosen parameters.
    grid_ : list of dict
        The points of the grid.
    best_estimator_ : RankRLS
        Estimator with the chosen parameters, fitted to all groups.
    n_groups_ : int
        Number of groups that have an item with a weight.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    With a basis, leaving out items removes their scores and keeps their basis vectors; without, the result is that of a
    fit without the items, with the `gamma` of all items. For each group and penalty, a matrix of the size
    of the group is decomposed. Leaving out pairs stores one number for each pair and penalty.

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
        "cv": [StrOptions({"leave-one-group-out", "leave-pair-out"}), "cv_object"],
    }

    def __init__(
        self,
        alphas: npt.ArrayLike = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0),
        param_grid: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        estimator: RankRLS | None = None,
        *,
        cv: Literal["leave-one-group-out", "leave-pair-out"] | int | Any = None,
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
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = "warn") -> Self:
        """Choose the parameters and learn from all groups with them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_items, n_features)
            Items.
        y : array-like of shape (n_items,)
            Scores, larger is better.
        sample_weight : array-like of shape (n_items,), optional
            Weights of the items in the fit. Items of weight zero do not count in the scores either.
        groups : array-like of shape (n_items,), None or "warn"
            Group of each item. None means that all items form one group, so that all items of a test fold are compared
            with each other; this is also the default, with a warning.

        Returns
        -------
        self
        """
        with refitting(self):
            alphas = check_candidates(self.alphas, "alphas")
            grid = list(ParameterGrid(self.param_grid or {}))
            if any("alpha" in point for point in grid):
                raise ValueError("param_grid contains alpha; pass the penalties as alphas, which share a decomposition")
            template = RankRLS() if self.estimator is None else self.estimator
            X, y = validate_data(self, canonical(X), y, y_numeric=True, **template._checks())
            data, splits = self._splits(X, y, self._groups(groups, "fit"), sample_weight)
            self.n_groups_ = len(np.unique(data.code[data.weight > 0]))
            models = [clone(template).set_params(**point) for point in grid]
            for model in models:
                model._validate_params()
            best: list[tuple[int, float, LeftOut]] = []  # point, penalty and what was left out

            def scores() -> Iterator[FloatArray]:
                """Scores of all points of the grid; the best one is kept."""
                top = -np.inf
                for i, model in enumerate(models):
                    found, left_out = splits(model, data, alphas)
                    if (found > top).any():
                        top = np.nanmax(found)
                        at = max(np.flatnonzero(found == top), key=lambda k: alphas[k])
                        best[:] = [(i, float(alphas[at]), left_out(at))]
                    yield found

            progress = Progress(self, X, y)
            self.scores_ = np.array(progress.collect("candidate", scores(), len(grid)))
            self.grid_ = grid[: len(self.scores_)]
            if not best:
                raise ValueError(
                    f"all alphas, up to {alphas.max():g}, are below 1e-10 of the largest eigenvalue of the kernel, so "
                    "that leaving out items is rounding error: pass larger ones, scale X, or pass an integer as cv"
                )
            point, self.alpha_, left_out = best[0]
            self.__dict__.update(left_out)
            self.best_score_, self.best_params_ = float(np.nanmax(self.scores_)), dict(grid[point])
            self.best_estimator_ = models[point].set_params(alpha=self.alpha_)
            self.best_estimator_.fit(X, y, data.weight, groups=data.code)
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

    def _splits(self, X: Any, y: Any, groups: Any, sample_weight: Any) -> tuple[Data, Any]:
        """The data with integers for the groups, and the function that scores a model for all penalties."""
        n = num_samples(X)
        weight = check_sample_weight(sample_weight, np.empty((n, 0)), dtype=np.float64, ensure_non_negative=True)
        code = np.zeros(n, dtype=np.intp) if groups is None else group_codes(groups, n)
        data, cv = Data(X, y, code, weight), self.cv
        counts = np.bincount(code[weight > 0], minlength=1)
        by_pair = isinstance(cv, str) and cv == "leave-pair-out"
        if by_pair or (groups is not None and (cv is None or isinstance(cv, str))):
            if not by_pair and (counts > 0).sum() < 2:
                raise ValueError("leaving out one group needs two groups or more that have weight; got fewer")
            if counts.max() < 2:
                raise ValueError("no group has two items with weight, so there are no pairs to score")
            return data, leave_pairs_out if by_pair else leave_groups_out
        if isinstance(cv, str):
            raise ValueError('cv="leave-one-group-out" needs groups; without them pass a number of folds')
        if cv is None or isinstance(cv, Integral):
            n_folds = 5 if cv is None else int(cv)
            cv = KFold(n_folds) if groups is None else GroupKFold(n_folds)
        splits: Folds = []
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
            raise ValueError(
                "no test fold has two items of the same group; use folds with at least two items of some group"
            )
        return data, partial(score_folds, splits)
