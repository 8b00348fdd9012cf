"""Short ways to an objective and to the solvers."""

from labelrank.models import LinearModel, Objective
from labelrank.solvers import LBFGS, Boosting, SequentialBoosting, Stop


def linear(X, loss, *, fit_intercept=True, n_jobs=None, alpha=0.0):
    return Objective(LinearModel(X, loss.shape[1], fit_intercept=fit_intercept), loss, alpha=alpha, n_jobs=n_jobs)


def _with_penalty(objective, alpha):
    return objective if alpha is None else type(objective)(objective.model, objective.loss, alpha=alpha)


def boost(objective, start, *, max_iter, tol, alpha=None, smoothing=0.0, templates=None, on_step=None):
    objective = _with_penalty(objective, alpha)
    return Boosting(smoothing, templates).solve(objective, start, Stop(max_iter, tol), on_step)


def boost_sequentially(X, loss, start, *, max_iter, tol, smoothing=0.0, on_step=None):
    objective = linear(X, loss, fit_intercept=False)
    return SequentialBoosting(smoothing).solve(objective, start, Stop(max_iter, tol), on_step)


def lbfgs(objective, start, *, max_iter, tol, alpha=None, on_step=None):
    return LBFGS().solve(_with_penalty(objective, alpha), start, Stop(max_iter, tol), on_step)
