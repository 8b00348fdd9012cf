"""One soft projection: the reduced problem in two vectors, and the original one in weight vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

_LARGEST_EXPONENT = 990  # of a margin: sums of many stay numbers


def soft_projection(mu: Any, nu: Any, C: Any, *, mu_ptr: Any = None, nu_ptr: Any = None) -> tuple[Any, Any]:
    r"""Solve the reduced problem of a soft projection exactly.

    .. math:: \min_{\alpha, \beta \ge 0} \tfrac12 \|\alpha - \mu\|^2 + \tfrac12 \|\beta - \nu\|^2
              \quad \text{s.t.} \quad \sum\nolimits_a \alpha_a = \sum\nolimits_b \beta_b \le C

    Parameters
    ----------
    mu : array-like of shape (p,) or (n_problems, p), or sequence of vectors
        One problem, many of the same size, or many of different sizes.
    nu : array-like of shape (q,) or (n_problems, q), or sequence of vectors
        The other side.
    C : float or array-like of shape (n_problems,)
        Largest sum, from 0; infinity for no limit.
    mu_ptr, nu_ptr : int array-like of shape (n_problems + 1,), optional
        Many problems of different sizes in two flat vectors: problem r has ``mu[mu_ptr[r]:mu_ptr[r + 1]]`` and
        ``nu[nu_ptr[r]:nu_ptr[r + 1]]``.

    Returns
    -------
    alpha, beta : ndarray like `mu` and `nu`, or lists of vectors
        The solution, in the order of the input. Both are zero where a side is empty.

    Notes
    -----
    The solution has the form :math:`\alpha = [\mu - \theta_\alpha]_+`, :math:`\beta = [\nu - \theta_\beta]_+`. The
    thresholds are roots of piecewise linear functions, found by Newton's method: two to five passes over the entries,
    no sort. A step that leaves the active entries as they are ends at the root exactly.

    References
    ----------
    Shalev-Shwartz, Singer: Efficient learning of label ranking by soft projections onto polyhedra. JMLR 7, 2006.

    Examples
    --------
    >>> from labelrank import soft_projection
    >>> soft_projection([1.0, 0.5, -1.0], [0.5], C=10.0)
    (array([0.66666667, 0.16666667, 0.        ]), array([0.83333333]))
    >>> soft_projection([1.0, 0.5, -1.0], [0.5], C=0.4)
    (array([0.4, 0. , 0. ]), array([0.4]))
    """
    from labelrank._kernels.solvers.soft_projection import projection as kernels

    if (mu_ptr is None) != (nu_ptr is None):
        raise ValueError("mu_ptr and nu_ptr come together; one of them is missing")
    if mu_ptr is None and (_is_ragged(mu) or _is_ragged(nu)):
        return _lists(mu, nu, C)
    mu, nu = _numbers(mu, "mu"), _numbers(nu, "nu")
    if mu_ptr is not None:
        if mu.ndim != 1 or nu.ndim != 1:
            raise ValueError(f"with mu_ptr, mu and nu are flat vectors; got shapes {mu.shape} and {nu.shape}")
        ends = _pointers(mu_ptr, len(mu), "mu_ptr"), _pointers(nu_ptr, len(nu), "nu_ptr")
        if len(ends[0]) != len(ends[1]):
            raise ValueError(f"mu_ptr has {len(ends[0])} entries, nu_ptr {len(ends[1])}; expected as many")
        n = len(ends[0]) - 1
    elif mu.ndim != nu.ndim or mu.ndim not in (1, 2) or (mu.ndim == 2 and len(mu) != len(nu)):
        raise ValueError(
            f"mu has shape {mu.shape} and nu {nu.shape}; expected two vectors, or two matrices of one row per problem"
        )
    else:
        n = len(mu) if mu.ndim == 2 else 1
    limit = _limits(C, n)
    (mu, nu, limit), scale = _scaled(mu, nu, limit)
    alpha, beta, theta = np.empty_like(mu), np.empty_like(nu), np.empty(n)
    if mu_ptr is not None:
        kernels.project_ragged(mu, ends[0], nu, ends[1], limit, alpha, beta, theta)
    elif mu.ndim == 2:
        kernels.project_rows(mu, nu, limit, alpha, beta, theta)
    else:
        kernels.project_one(mu, nu, limit[0], alpha, beta)
    return (alpha, beta) if scale == 1.0 else (alpha * scale, beta * scale)


def project_polyhedron(U: Any, x: Any, gamma: Any, A: Any, B: Any, C: float) -> tuple[FloatArray, float]:
    r"""Project weight vectors softly onto the polyhedron of one instance's margins.

    .. math:: \min_{W, \xi \ge 0} \tfrac12 \sum\nolimits_y \|w_y - u_y\|^2 + C \xi \quad \text{s.t.} \quad
              w_a \cdot x - w_b \cdot x \ge \gamma_a - \gamma_b - \xi \quad \forall a \in A, b \in B

    Parameters
    ----------
    U : array-like of shape (n_labels, n_features)
        Present weight vectors.
    x : array-like of shape (n_features,)
        The instance.
    gamma : array-like of shape (n_labels,)
        Targets; only those of A and B are looked at.
    A, B : int array-likes, or bool arrays of shape (n_labels,)
        Labels that should be above, and labels they should be above of. No label is in both.
    C : float
        Price of the slack, from 0.

    Returns
    -------
    W : ndarray of shape (n_labels, n_features)
        New weight vectors; those of labels in neither set are the old ones.
    xi : float
        The slack: by how much the worst pair still misses its margin.

    Examples
    --------
    >>> from labelrank import project_polyhedron
    >>> W, xi = project_polyhedron([[0.0], [0.0], [0.0]], x=[2.0], gamma=[1, 0, 0], A=[0], B=[1, 2], C=10.0)
    >>> W.round(3).tolist(), round(xi, 6)
    ([[0.333], [-0.167], [-0.167]], 0.0)
    """
    from labelrank._kernels.solvers.soft_projection.projection import project_one

    U, x, gamma = _numbers(U, "U"), _numbers(x, "x"), np.asarray(gamma, dtype=np.float64)
    if U.ndim != 2 or x.shape != U.shape[1:] or gamma.shape != U.shape[:1]:
        raise ValueError(
            f"U has shape {U.shape}, x {x.shape} and gamma {gamma.shape}; expected (n_labels, n_features), "
            "(n_features,) and (n_labels,)"
        )
    A, B = _label_set(A, len(U), "A"), _label_set(B, len(U), "B")
    limit = _limits(C, 1)[0]
    times = np.bincount(A, minlength=len(U)) + np.bincount(B, minlength=len(U))
    if times.max(initial=0) > 1:
        raise ValueError(f"label {int(times.argmax())} is there twice in A and B; no label can be above itself")
    # The problem times the squared norm, which leaves the slack as it is and divides by nothing.
    with np.errstate(over="ignore", invalid="ignore"):
        norm, short = float(x @ x), gamma - U @ x
        mu, nu = short[A], -short[B]
        size = float(mu @ mu + nu @ nu)
    if not (size < 1e300 and (1e-200 < norm < 1e200 or not x.any())):
        return _project_any_size(U, x, gamma, A, B, limit)
    alpha, beta = np.empty_like(mu), np.empty_like(nu)
    xi = float(project_one(mu, nu, limit * norm if norm > 0 else 0.0, alpha, beta))
    if not norm > 0:
        return U.copy(), xi
    step = np.zeros(len(U))
    step[A], step[B] = alpha / norm, -beta / norm
    return U + step[:, np.newaxis] * x, xi


def _project_any_size(
    U: FloatArray, x: FloatArray, gamma: FloatArray, A: npt.NDArray[Any], B: npt.NDArray[Any], limit: float
) -> tuple[FloatArray, float]:
    """The same with powers of two taken out of instance and margins, so that no product leaves the range of numbers."""
    from labelrank._kernels.solvers.soft_projection.projection import project_one

    if not (np.isfinite(gamma[A]).all() and np.isfinite(gamma[B]).all()):
        raise ValueError("gamma of a label in A or B is NaN or infinite; leave labels without a target out of A and B")
    unit = int(np.frexp(np.abs(x).max(initial=0.0))[1])
    x = np.ldexp(x, -unit)
    with np.errstate(over="ignore", invalid="ignore"):
        scores, norm = U @ x, float(x @ x)
    if not (np.isfinite(scores[A]).all() and np.isfinite(scores[B]).all()):
        raise ValueError("the scores U @ x of some labels are too large for a number; scale U or x")
    of_gamma, of_scores = (int(np.frexp(np.concatenate([v[A], v[B]]))[1].max(initial=0)) for v in (gamma, scores))
    shift = max(max(of_gamma, of_scores + unit) - _LARGEST_EXPONENT, 0)
    mu, nu = (np.ldexp(gamma[side], -shift) - np.ldexp(scores[side], unit - shift) for side in (A, B))
    alpha, beta = np.empty_like(mu), np.empty_like(nu)
    part, exponent = np.frexp(limit)
    with np.errstate(over="ignore"):
        most = float(np.ldexp(part * norm, int(exponent) + 2 * unit - shift)) if norm > 0 else 0.0
        xi = float(np.ldexp(project_one(mu, -nu, most, alpha, beta), shift))
    step = np.zeros(len(U))
    if norm > 0:
        step[A], step[B] = np.ldexp(alpha / norm, shift - unit), np.ldexp(-beta / norm, shift - unit)
    return U + step[:, np.newaxis] * x, xi


# ---------------------------------------------------------------------------------------------------------------


def _is_ragged(values: Any) -> bool:
    """Whether it is a sequence of vectors of different lengths."""
    if isinstance(values, np.ndarray) or not isinstance(values, Sequence) or isinstance(values, (str, bytes)):
        return False
    shapes = {np.shape(v) for v in values}
    return len(shapes) > 1 and all(len(shape) == 1 for shape in shapes)


def _lists(mu: Any, nu: Any, C: Any) -> tuple[list[FloatArray], list[FloatArray]]:
    if len(mu) != len(nu):
        raise ValueError(f"mu has {len(mu)} problems, nu {len(nu)}; expected as many")
    flat, ptr = [], []
    for side in (mu, nu):
        parts = [np.asarray(part, dtype=np.float64) for part in side]
        flat.append(np.concatenate([np.empty(0), *parts]))
        ptr.append(np.concatenate([[0], np.cumsum([len(part) for part in parts], dtype=np.int64)]))
    alpha, beta = soft_projection(flat[0], flat[1], C, mu_ptr=ptr[0], nu_ptr=ptr[1])
    return np.split(alpha, ptr[0][1:-1]), np.split(beta, ptr[1][1:-1])


def _numbers(values: Any, name: str) -> FloatArray:
    array = np.ascontiguousarray(values, dtype=np.float64)
    if np.ndim(values) == 0:
        raise ValueError(f"{name} must be an array, got {values!r}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} contains NaN or infinity; leave out the labels of which nothing is known")
    return array


def _limits(C: Any, n: int) -> FloatArray:
    limit = np.asarray(C, dtype=np.float64)
    if limit.shape not in ((), (n,)):
        raise ValueError(f"C has shape {limit.shape}; expected a number, or one for each of the {n} problems")
    if not (limit >= 0).all():  # NaN as well
        raise ValueError(f"C must be a number from 0, got {limit[~(limit >= 0)][0] if limit.ndim else limit}")
    return np.ascontiguousarray(np.broadcast_to(limit, n))


def _pointers(ptr: Any, size: int, name: str) -> npt.NDArray[np.int64]:
    array = np.asarray(ptr)
    if array.ndim != 1 or not len(array) or array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be a vector of integers from 0 to {size}, got {ptr!r}")
    if array[0] != 0 or array[-1] != size or (np.diff(array.astype(np.int64)) < 0).any():
        raise ValueError(f"{name} must rise from 0 to {size}, the length of the vector that it cuts")
    return array.astype(np.int64)


def _scaled(mu: FloatArray, nu: FloatArray, limit: FloatArray) -> tuple[tuple[FloatArray, ...], float]:
    """The problem divided by a power of 2 where sums could overflow, and that power."""
    top = max(np.abs(mu).max(initial=0.0), np.abs(nu).max(initial=0.0))
    if top < 1e290:
        return (mu, nu, limit), 1.0
    scale = 2.0**64
    return (mu / scale, nu / scale, limit / scale), scale


def _label_set(labels: Any, n_labels: int, name: str) -> npt.NDArray[np.intp]:
    array = np.asarray(labels)
    if array.dtype == bool:
        if array.shape != (n_labels,):
            raise ValueError(f"{name} is a mask of shape {array.shape}, expected {(n_labels,)}")
        return np.flatnonzero(array)
    if array.ndim != 1 or (len(array) and array.dtype.kind not in "iu"):
        raise ValueError(f"{name} must be a list of label indices or a mask, got {labels!r}")
    array = array.astype(np.intp)
    if len(array) and (array.min() < 0 or array.max() >= n_labels):
        raise ValueError(f"{name} has labels from {array.min()} to {array.max()}; there are {n_labels}, from 0")
    return array
