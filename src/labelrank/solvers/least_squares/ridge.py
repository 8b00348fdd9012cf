r"""Ridge systems :math:`(G + \lambda I) z = b`: a Cholesky factor for one penalty, eigenvectors of G for many.

Only the lower triangle of G is used.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.linalg import eigh, lapack

from labelrank._arrays import FloatArray
from labelrank.supervision import stacklevel_of_user

LARGEST = 8192  # side of the largest G that is built from a sparse X


def solve(gram: FloatArray, target: FloatArray, alpha: float) -> FloatArray | None:
    """Find z with a Cholesky factor; return None if `alpha` is too small for one, and eigenvectors are needed.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.solvers.least_squares.ridge import solve
    >>> solve(np.array([[3.0, 0.0], [1.0, 2.0]]), np.array([5.0, 4.0]), alpha=1.0).round(9)
    array([1., 1.])
    """
    check_finite(gram, target)
    n = len(target)
    if not n:
        return np.zeros_like(target)
    # √2 ‖lower triangle‖ bounds the largest eigenvalue; below this, rounding decides whether a factor exists.
    if not alpha > n * np.finfo(float).eps * np.sqrt(2) * float(np.linalg.norm(gram)):
        return None
    factor = np.array(gram, order="F")
    np.einsum("ii->i", factor)[...] += alpha
    factor, info = lapack.dpotrf(factor, lower=1, overwrite_a=1, clean=0)
    return None if info else np.asarray(lapack.dpotrs(factor, target, lower=1)[0])


def decompose(gram: FloatArray, size: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """Return the eigenvalues and eigenvectors of G, which is overwritten.

    Eigenvalues that are negative by no more than rounding become zero; others raise ValueError. Rounding is relative to
    the largest eigenvalue or to `size`, the size of the numbers whose difference is G.
    """
    check_finite(gram)
    n = len(gram)
    if not n:
        return np.zeros(0), np.zeros((0, 0))
    # Divide and conquer: groups leave many zero eigenvalues, and the other drivers are slow on clusters.
    values, vectors = eigh(np.asfortranarray(gram), lower=True, driver="evd", overwrite_a=True, check_finite=False)
    if values[0] < -n * 1e3 * np.finfo(float).eps * max(abs(values[-1]), size, np.finfo(float).tiny):
        raise ValueError(
            f"the kernel is not positive semi-definite: its smallest eigenvalue is {values[0]:.3g}, its largest "
            f"{values[-1]:.3g}"
        )
    return np.maximum(values, 0.0), vectors


def shrink(values: FloatArray, alphas: FloatArray) -> FloatArray:
    """Return 1 / (e + λ) of shape (n, n_alphas), with 0 and a warning for directions below the rounding error.

    A direction is left out if e + λ is at most n · ε times the largest eigenvalue, where ε is the precision of a float:
    its coefficient would be a rounding error divided by almost zero.
    """
    shifted = values[:, np.newaxis] + alphas
    cut = len(values) * np.finfo(float).eps * values.max(initial=0.0)
    left_out = shifted <= cut
    if left_out.any():
        worst = int(np.argmax(left_out.sum(axis=0)))
        warnings.warn(
            f"alpha={alphas[worst]:g} is below the rounding error of the kernel: {left_out[:, worst].sum()} of "
            f"{len(values)} directions have an eigenvalue below {cut:.2g} and are left out; use a larger alpha",
            stacklevel=stacklevel_of_user(),
        )
    return np.where(left_out, 0.0, 1.0 / np.where(left_out, 1.0, shifted))


def check_finite(*arrays: FloatArray) -> None:
    """Raise ValueError if a product overflowed."""
    if not all(np.isfinite(array).all() for array in arrays):
        raise ValueError(
            "products of the features, kernel values, scores or weights are too large for floating point numbers: "
            "scale X, y or sample_weight"
        )
