r"""Kernels: similarities of rows, and scores :math:`f(x) = \sum_i a_i \, k(x, x_i)`.

All learners with a kernel use the :class:`Kernel` of this module, with the same parameters and defaults:

==============  ======================================================
``"linear"``    :math:`x \cdot z`
``"rbf"``       :math:`\exp(-\gamma \|x - z\|^2)`
``"poly"``      :math:`(\gamma \, x \cdot z + c_0)^{\mathrm{degree}}`
``"sigmoid"``   :math:`\tanh(\gamma \, x \cdot z + c_0)`
==============  ======================================================

``gamma="scale"`` is the default of :class:`sklearn.svm.SVC`, which does not depend on the units of the features.
``coef0=1`` is the default of :class:`sklearn.kernel_ridge.KernelRidge`: with 0 a polynomial kernel has no terms below
its degree and cannot represent a linear function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.extmath import safe_sparse_dot

from labelrank._arrays import FloatArray, largest, row_blocks
from labelrank._compat import Interval, StrOptions
from labelrank._memory import require_memory
from labelrank.models.linear import LinearModel

Gamma = float | Literal["scale", "auto"]

WITH_GAMMA = ("rbf", "poly", "sigmoid")
KERNEL_CONSTRAINTS: dict[str, Any] = {
    "kernel": [StrOptions({"linear", *WITH_GAMMA, "precomputed"}), callable],
    "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0, None, closed="left")],
    "degree": [Interval(Real, 0, None, closed="left")],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "kernel_params": [Mapping, None],
}
KERNEL_BLOCK = 2**21  # entries of a block of kernel values: 16 MiB


@dataclass(frozen=True)
class Kernel:
    """A kernel and its parameters. Called with two matrices, it returns the kernel values of their rows.

    Attributes
    ----------
    name : {"linear", "rbf", "poly", "sigmoid", "precomputed"} or callable
        A callable takes two matrices and `params`, and returns the matrix of kernel values. The values of a precomputed
        kernel are the first matrix itself.
    gamma : float or {"scale", "auto"}
        ``"scale"`` is ``1 / (n_features * X.var())``, ``"auto"`` is ``1 / n_features``; :meth:`fitted` turns both into
        a number.
    degree, coef0 : float
        Parameters of the kernels ``"poly"`` and ``"sigmoid"``.
    params : mapping
        Keyword arguments of a callable.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.models.gram import Kernel
    >>> Kernel("poly", gamma=0.5, degree=2)(np.array([[1.0, 2.0]]), np.array([[2.0, 1.0]]))  # (½·4 + 1)²
    array([[9.]])
    >>> Kernel("rbf", gamma="auto").fitted(np.ones((3, 4))).gamma
    0.25
    """

    name: str | Callable[..., Any] = "linear"
    gamma: Gamma = "scale"
    degree: float = 3
    coef0: float = 1.0
    params: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, estimator: Any, gamma: float | None = None) -> Self:
        """Return the kernel for the parameters of an estimator, with the `gamma` found in ``fit`` if given."""
        params = getattr(estimator, "kernel_params", None)
        if params is not None and not callable(estimator.kernel):
            raise ValueError(f"kernel_params are for a callable kernel, not for kernel={estimator.kernel!r}")
        gamma = estimator.gamma if gamma is None else gamma
        return cls(estimator.kernel, gamma, estimator.degree, estimator.coef0, dict(params or {}))

    @property
    def is_linear(self) -> bool:
        """Whether the scores are linear functions of the features."""
        return isinstance(self.name, str) and self.name == "linear"

    @property
    def is_precomputed(self) -> bool:
        """Whether the matrices hold kernel values instead of features."""
        return isinstance(self.name, str) and self.name == "precomputed"

    @property
    def has_gamma(self) -> bool:
        """Whether `gamma` matters."""
        return isinstance(self.name, str) and self.name in WITH_GAMMA

    def fitted(self, X: Any, weight: FloatArray | None = None) -> Self:
        """Return the kernel with a number for `gamma`, computed from the training rows and their weights."""
        if not isinstance(self.gamma, str) or not self.has_gamma:
            return self
        if self.gamma == "auto":
            return replace(self, gamma=1.0 / X.shape[1])
        if hasattr(X, "variance"):  # features on a device
            return self.scaled(X.variance(weight), X.shape[1])
        if weight is not None and not weight.all():
            X, weight = X[weight > 0], weight[weight > 0]  # infinity times 0 would be NaN
        with np.errstate(over="ignore", invalid="ignore"):
            return self.scaled(_variance(X, weight), X.shape[1])

    def scaled(self, variance: float, n_features: int) -> Self:
        """Return the kernel with the `gamma` of ``gamma="scale"``, given the variance of all entries of X."""
        if not np.isfinite(variance):
            raise ValueError('X is so large that its variance, for gamma="scale", overflows; scale the features')
        return replace(self, gamma=1.0 / n_features / variance if variance > 0 else 1.0)

    def __call__(self, X: Any, Z: Any = None) -> FloatArray:
        """Return the kernel values of the rows of X and the rows of Z, a new C-ordered array of shape (n_X, n_Z).

        X and Z are dense or sparse. With a precomputed kernel the values are X itself, and Z is not used.
        """
        if self.is_precomputed:
            return np.asarray(_dense(X), dtype=np.float64)
        if callable(self.name):
            values = np.array(_dense(self.name(X, Z, **self.params)), dtype=np.float64, order="C")
            if values.shape != (X.shape[0], Z.shape[0]):
                raise ValueError(
                    f"the kernel must return a matrix of shape {(X.shape[0], Z.shape[0])}, one value for each pair of "
                    f"rows, got shape {values.shape}"
                )
        else:
            if self.name == "rbf" and not sparse.issparse(X) and not sparse.issparse(Z):
                # Distances do not depend on the origin; if it is near the rows, less of their squares cancels. A median
                # is robust to rows far away from all others, which would move the origin away from the others.
                origin = np.median(Z[:: 1 + len(Z) // 100], axis=0)
                X, Z = X - origin, Z - origin
            params = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
            with np.errstate(over="ignore", invalid="ignore"):
                values = pairwise_kernels(X, Z, metric=self.name, filter_params=True, **params)
            values = np.asarray(values, dtype=np.float64)
        self.check_finite(bool(np.isfinite(values).all()))
        return values

    def check_finite(self, are_finite: bool) -> None:
        """Raise if kernel values are not finite."""
        if not are_finite:
            advice = "check the function" if callable(self.name) else "scale the features"
            power = f", or degree={self.degree} of a negative number" if self.name == "poly" else ""
            raise ValueError(f"{self._description()} has NaN or infinite values: too large numbers{power}; {advice}")

    def gram(self, X: Any, what: str | None = None) -> FloatArray:
        """Return the kernel matrix of the rows of X, a new array; raise ValueError if it is not square and symmetric.

        Error messages refer to the matrix as `what`.
        """
        what = self._description() if what is None else what
        n = X.shape[0]
        if self.is_precomputed and X.shape[1] != n:
            raise ValueError(f"{what} must be square, got shape {X.shape}")
        advice = 'use kernel="linear" on features of a kernel approximation, such as those of sklearn\'s Nystroem'
        require_memory(8.0 * n**2, f"the kernel matrix of {n} rows", advice)
        gram = np.empty((n, n))
        for rows in row_blocks(n, n, KERNEL_BLOCK):
            gram[rows] = self(X[rows], X)
        check_symmetric(gram, what)
        return gram

    def scores(self, X: Any, basis: Any, coef: FloatArray) -> FloatArray:
        """Return the scores ``k(X, basis) @ coef``, in blocks of rows; the basis of a precomputed kernel is None."""
        if self.is_precomputed:
            return np.asarray(safe_sparse_dot(X, coef))
        scores = np.zeros((X.shape[0], *coef.shape[1:]))
        if len(coef):
            for rows in row_blocks(X.shape[0], len(coef), KERNEL_BLOCK):
                scores[rows] = self(X[rows], basis) @ coef
        return scores

    def _description(self) -> str:
        return "the kernel" if callable(self.name) else f"the {self.name} kernel"


class KernelModel(LinearModel):
    r"""Scores :math:`M A`, or :math:`M A K_l` with a kernel of the labels.

    M is the kernel matrix of the instances, and a row of A belongs to an instance; or M holds features, for a linear
    kernel, and a row of A belongs to a feature.

    Parameters
    ----------
    matrix : ndarray or CSR matrix of shape (n_samples, n)
        M.
    n_labels : int
        Number of labels.
    label_gram : ndarray of shape (n_labels, n_labels), optional
        Kernel matrix of the labels; by default the identity.
    is_gram : bool
        Whether M is a kernel matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.models.gram import KernelModel
    >>> model = KernelModel(np.array([[2.0]]), 2, label_gram=np.array([[1.0, 0.5], [0.5, 1.0]]))
    >>> model.scores(np.array([[1.0, 0.0]]), slice(None))
    array([[2., 1.]])
    """

    def __init__(self, matrix: Any, n_labels: int, label_gram: FloatArray | None = None, is_gram: bool = True) -> None:
        super().__init__(matrix, n_labels, fit_intercept=False)
        self.label_gram, self.is_gram = label_gram, is_gram

    def scores(self, coef: FloatArray, rows: slice) -> FloatArray:
        """Scores of some instances, a new array of shape (n_rows, n_labels)."""
        scores = super().scores(coef, rows)
        return scores if self.label_gram is None else scores @ self.label_gram

    def combine(self, shares: FloatArray) -> FloatArray:
        r"""Coefficients of :math:`\sum_i c_i \, k(x_i, \cdot)`, for the shares c of the instances, one per label."""
        return shares if self.is_gram else np.asarray(self.X.T @ shares)


def check_symmetric(gram: FloatArray, what: str) -> None:
    """Raise ValueError if a kernel matrix is not symmetric, up to rounding."""
    limit = 1e-7 * largest(gram)
    for rows in row_blocks(len(gram), len(gram), KERNEL_BLOCK):
        if np.any(np.abs(gram[rows] - gram[:, rows].T) > limit):
            raise ValueError(
                f"{what} must be symmetric, its columns in the order of its rows; if only rounding errors differ, pass "
                "(K + K.T) / 2"
            )


def _variance(X: Any, weight: FloatArray | None) -> float:
    """Variance of all entries of a matrix, its rows weighted."""
    thin: bool = sparse.issparse(X)
    if thin:
        mean, square = (np.average(np.ravel(M.mean(axis=1)), weights=weight) for M in (X, X.multiply(X)))
        return float(square - mean**2)
    mean = np.average(X.mean(axis=1), weights=weight)
    return float(np.average(np.square(X - mean).mean(axis=1), weights=weight))


def _dense(matrix: Any) -> Any:
    return matrix.toarray() if hasattr(matrix, "toarray") else matrix
