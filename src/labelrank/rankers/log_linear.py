"""Log-linear label ranking: a linear score per label, learned from decomposed preference graphs."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import expit

from labelrank._arrays import FloatArray
from labelrank._compat import Interval, StrOptions
from labelrank._memory import require_pair_matrices
from labelrank.decompositions import Decomposition, get_decomposition
from labelrank.losses import LogLinearLoss, Loss
from labelrank.rankers.base import BaseRanker, OnEmpty, Training
from labelrank.rankers.graph import GraphRanker
from labelrank.rankers.minimizer import MINIMIZING, Device
from labelrank.solvers import LBFGS, Boosting, Solver


class LogLinearRanker(GraphRanker):
    r"""Linear scores learned by L-BFGS, or boosting, on decomposed preference graphs.

    The score of label l is :math:`f_l(x) = w_l \cdot x + b_l`. Each instance's preference graph is cut into subgraphs,
    and the objective is

    .. math:: \sum_i \frac{w_i}{\sum_k \sigma_{i,k}} \sum_k \sigma_{i,k} \log\left(1 + \sum_{e \in E_{i,k}}
              e^{f_{\mathrm{term}(e)}(x_i) - f_{\mathrm{init}(e)}(x_i)}\right) + \frac\alpha2 \sum_l \|w_l\|^2 ,

    a convex bound of the share of subgraphs that the ranking disagrees with. With one class per instance and the
    default decomposition it is multinomial logistic regression. The weight of a subgraph, :math:`\sigma_{i,k}`, is the
    mean of the weights of its edges (1 where they have none) times the weight that the decomposition gives it. The
    weight of an edge is relative to the other edges of its instance; instances are weighted by :math:`w_i`, their
    `sample_weight`.

    Parameters
    ----------
    decomposition : str, Decomposition or callable, default="domination"
        How the graphs are cut: ``"zero_one"``, ``"disagreement"``, ``"domination"``, ``"dominated"``, any other of
        :mod:`labelrank.decompositions`, or a function of one instance's graph.
    solver : {"lbfgs", "boosting"}, default="lbfgs"
        ``"lbfgs"`` reaches the optimum in few passes over the data; ``"boosting"``, the algorithm of the paper, takes
        small steps with a guaranteed decrease, recorded in ``bound_curve_``.
    alpha : float, default=1.0
        Strength of the penalty; intercepts are not penalized. The loss is a sum over instances, so alpha corresponds to
        ``C=1 / alpha`` of :class:`sklearn.linear_model.LogisticRegression`.
    max_iter : int, default=1000
        Maximal number of iterations.
    tol : float, default=1e-4
        Stop when no entry of the gradient of the mean objective is larger; with boosting, of the coefficients that can
        move.
    fit_intercept : bool, default=True
        Whether to add an intercept for each label.
    smoothing : float, default=0.0
        For boosting: added to both weights of every coefficient. With 0, an unpenalized coefficient with a weight of
        zero does not move, because its best step would be infinite, and a warning at the end counts such coefficients.
        With a positive number they move.
    warm_start : bool, default=False
        Whether `fit` continues from the coefficients of the last call.
    n_jobs : int, optional
        Threads over blocks of rows.
    device : {"cpu", "cuda", "auto"}, optional
        Where to learn with PyTorch: on the processor, on a GPU, or on a GPU if there is one; by default without
        PyTorch. See :doc:`/devices`.
    checkpoint : path or tuple (path, n), optional
        File that the coefficients are written to after every n iterations, by default 10, and at the end. If the file
        exists, `fit` resumes from it; a file from other data or parameters raises an error. L-BFGS resumes from the
        saved coefficients, without its history.
    on_empty : {"warn", "error", "ignore"}, default="warn"
        What to do about rows and labels of y without any observed pair, from which nothing can be learned.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
        Coefficients.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts.
    loss_curve_ : ndarray of shape (n_iter_ + 1,)
        The mean objective, before the first iteration and after each.
    bound_curve_ : ndarray of shape (n_iter_,)
        Guaranteed decrease of the mean objective in each iteration of boosting; NaN for L-BFGS.
    n_iter_ : int
        Number of iterations, including those before a warm start if the objective is unchanged.
    gap_ : float
        Largest entry of the gradient of the mean objective at the end.
    labels_ : ndarray of shape (n_labels,)
        Names of the labels.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    CalibratedRanker : Log-linear ranker with a cut between relevant and other labels.
    GraphRanker : Other losses, and features that depend on the label.

    Notes
    -----
    An interrupted `fit` (control-C) warns and leaves an estimator with the iterations made so far; with
    ``warm_start=True`` the next `fit` continues.

    References
    ----------
    Dekel, Manning, Singer: Log-linear models for label ranking. NIPS 16, 2003.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from labelrank import LogLinearRanker
    >>> from labelrank.datasets import load_wine_rankings
    >>> X, y = load_wine_rankings(return_X_y=True)
    >>> print(f"tau {cross_val_score(LogLinearRanker(), X, y).mean():.1f}")
    tau 0.9
    """

    decomposition: str | Decomposition | Callable[..., Any]
    model: ClassVar[Literal["linear"]] = "linear"  # type: ignore[misc]
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseRanker._parameter_constraints,
        **MINIMIZING,
        "decomposition": [str, Decomposition, callable],
        "solver": [StrOptions({"lbfgs", "boosting"})],
        "smoothing": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        decomposition: str | Decomposition | Callable[..., Any] = "domination",
        *,
        solver: Literal["lbfgs", "boosting"] = "lbfgs",
        alpha: float = 1.0,
        max_iter: int = 1000,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        smoothing: float = 0.0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        device: Device = None,
        checkpoint: Any = None,
        on_empty: OnEmpty = "warn",
    ) -> None:
        self.decomposition = decomposition
        self.solver = solver
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.smoothing = smoothing
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.device = device
        self.checkpoint = checkpoint
        self.on_empty = on_empty

    def _loss(self, data: Training) -> Loss:
        return LogLinearLoss(data.graphs, get_decomposition(self.decomposition), data.weight)

    def _solver(self) -> Solver:
        if self.solver == "boosting":
            return Boosting(self.smoothing)
        if self.smoothing:
            raise ValueError(f'smoothing is for solver="boosting"; got smoothing={self.smoothing} with solver="lbfgs"')
        return LBFGS()

    def pairwise_proba(self, X: Any) -> FloatArray:
        """Probability that label i is before label j, according to the model of a single pair.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples, n_labels, n_labels)
            ``1 / (1 + exp(f_j - f_i))``; 0.5 on the diagonal.
        """
        scores = self.decision_function(X)
        require_pair_matrices(scores.shape, copies=2)
        return np.asarray(expit(scores[:, :, None] - scores[:, None, :]))
