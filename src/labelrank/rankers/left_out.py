"""Scores of item rankers on left-out groups, pairs or folds, for many penalties at once."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from labelrank._arrays import FloatArray
from labelrank.rankers.items import agreement
from labelrank.solvers.least_squares.basis import check_basis
from labelrank.supervision import stacklevel_of_user

if TYPE_CHECKING:
    from labelrank.rankers.rank_rls import RankRLS

IntArray = npt.NDArray[np.intp]
Folds = list[tuple[IntArray, IntArray]]
LeftOut = dict[str, Any]  # fitted attributes
Scored = tuple[FloatArray, Callable[[int], LeftOut]]  # scores of the penalties, and what was left out by one of them


class Data(NamedTuple):
    """Validated items."""

    X: Any
    y: FloatArray
    code: IntArray  # integer of the group
    weight: FloatArray


def score_folds(splits: Folds, model: RankRLS, data: Data, alphas: FloatArray) -> Scored:
    """Score a model on folds, each by a fit without its items."""
    n = len(data.y)
    total, count = np.zeros((n, len(alphas))), np.zeros(n)
    tests, scores, within = [], [], []
    for fold, (train, test) in enumerate(splits):
        fitted, X_train, X_test = _fold(model, data, train, test)
        fitted.fit(X_train, data.y[train], data.weight[train], groups=data.code[train])
        scores.append(fitted._path_scores(X_test, alphas))
        tests.append(test)
        within.append(data.code[test] + fold * n)
        np.add.at(total, test, scores[-1])
        np.add.at(count, test, 1)
    truth, within_fold = data.y[np.concatenate(tests)], np.concatenate(within)
    found = np.array([agreement(truth, column, within_fold) for column in np.concatenate(scores).T])
    mean = np.divide(total, count[:, np.newaxis], out=np.full_like(total, np.nan), where=count[:, np.newaxis] > 0)
    return found, lambda k: {"left_out_scores_": mean[:, k].copy()}


def leave_groups_out(model: RankRLS, data: Data, alphas: FloatArray) -> Scored:
    """Score a model on groups that are left out one at a time."""
    kept = data.weight > 0
    scores = model._held_out(data.X, data.y, data.weight, data.code, alphas)
    found = np.full(len(alphas), np.nan)
    for k in _known(scores[kept], alphas, "one group"):
        found[k] = agreement(data.y[kept], scores[kept, k], data.code[kept])
    return found, lambda k: {"left_out_scores_": scores[:, k].copy()}


def leave_pairs_out(model: RankRLS, data: Data, alphas: FloatArray) -> Scored:
    """Score a model on the pairs within groups, whose two items are left out."""
    pairs, differences = model._held_out_pairs(data.X, data.y, data.weight, data.code, alphas)
    truth = np.sign(data.y[pairs[:, 0]] - data.y[pairs[:, 1]])
    group = np.unique(data.code[pairs[:, 0]], return_inverse=True)[1]
    found = np.full(len(alphas), np.nan)
    for k in _known(differences, alphas, "a pair"):
        wrong = np.abs(np.sign(differences[:, k]) - truth) / 2  # a tie on one side only counts half
        found[k] = 1.0 - np.mean(np.bincount(group, wrong) / np.bincount(group))
    return found, lambda k: {"left_out_pairs_": pairs, "left_out_differences_": differences[:, k].copy()}


def _known(scores: FloatArray, alphas: FloatArray, what: str) -> IntArray:
    """Penalties that have scores; warn about the others."""
    known = np.isfinite(scores).all(axis=0)
    if not known.all():
        named = ", ".join(f"{alpha:g}" for alpha in alphas[~known])
        warnings.warn(
            f"alphas {named} are too small for the accuracy of leaving out {what}: they are below 1e-10 of the largest "
            "eigenvalue of the kernel; their score is NaN, and they are not chosen",
            stacklevel=stacklevel_of_user(),
        )
    return np.flatnonzero(known)


def _fold(model: RankRLS, data: Data, train: IntArray, test: IntArray) -> tuple[RankRLS, Any, Any]:
    """The estimator, with what is left of its basis, and the two parts of X."""
    model, X, n = clone(model), data.X, len(data.y)
    rows = check_basis(model.basis, model.n_basis, data.weight)
    columns = train
    if rows is None:
        if model.n_basis is not None:
            model.set_params(n_basis=min(model.n_basis, np.count_nonzero(data.weight[train])))
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
