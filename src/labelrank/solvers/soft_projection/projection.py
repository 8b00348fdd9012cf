"""A single soft projection: the reduced problem in two vectors, and the original one in weight vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


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
        Largest sum, ≥ 0; infinity for no limit.
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
    no sort. A step that does not change the active entries ends exactly at the root.

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
    from labelrank._kernels.solvers.soft_projection.projection import project_many

    if (mu_ptr is None) != (nu_ptr is None):
        raise ValueError("mu_ptr and nu_ptr must be passed together; one of them is missing")
    if mu_ptr is None and (_is_ragged(mu) or _is_ragged(nu)):
        return _project_lists(mu, nu, C)
    mu, nu = _finite(mu, "mu"), _finite(nu, "nu")
    if mu_ptr is not None:
        if mu.ndim != 1 or nu.ndim != 1:
            raise ValueError(f"with mu_ptr, mu and nu must be flat vectors; got shapes {mu.shape} and {nu.shape}")
        ends = [_pointers(mu_ptr, len(mu), "mu_ptr"), _pointers(nu_ptr, len(nu), "nu_ptr")]
        if len(ends[0]) != len(ends[1]):
            raise ValueError(f"mu_ptr has {len(ends[0])} entries and nu_ptr has {len(ends[1])}; expected equal lengths")
    elif mu.ndim != nu.ndim or mu.ndim not in (1, 2) or (mu.ndim == 2 and len(mu) != len(nu)):
        raise ValueError(
            f"mu has shape {mu.shape} and nu has shape {nu.shape}; expected two vectors, or two matrices with one row "
            "for each problem"
        )
    else:
        n = len(mu) if mu.ndim == 2 else 1
        ends = [np.arange(n + 1) * side.shape[-1] for side in (mu, nu)]
    limit = _limits(C, len(ends[0]) - 1)
    scale = _scale(mu, nu)
    if scale != 1.0:
        mu, nu, limit = mu / scale, nu / scale, limit / scale
    alpha, beta = np.empty_like(mu), np.empty_like(nu)
    project_many(mu.ravel(), ends[0], nu.ravel(), ends[1], limit, alpha.ravel(), beta.ravel())
    return (alpha, beta) if scale == 1.0 else (alpha * scale, beta * scale)


def project_polyhedron(U: Any, x: Any, gamma: Any, A: Any, B: Any, C: float) -> tuple[FloatArray, float]:
    r"""Project weight vectors softly onto the polyhedron of the margins of one instance.

    .. math:: \min_{W, \xi \ge 0} \tfrac12 \sum\nolimits_y \|w_y - u_y\|^2 + C \xi \quad \text{s.t.} \quad
              w_a \cdot x - w_b \cdot x \ge \gamma_a - \gamma_b - \xi \quad \forall a \in A, b \in B

    Parameters
    ----------
    U : array-like of shape (n_labels, n_features)
        Current weight vectors.
    x : array-like of shape (n_features,)
        The instance.
    gamma : array-like of shape (n_labels,)
        Targets; only those of labels in A and B are used.
    A, B : int array-likes, or bool arrays of shape (n_labels,)
        Labels that should be above, and labels that should be below them. No label may be in both.
    C : float
        Weight of the slack, ≥ 0.

    Returns
    -------
    W : ndarray of shape (n_labels, n_features)
        New weight vectors; those of labels in neither set are unchanged.
    xi : float
        The slack: the shortfall of the worst pair.

    Examples
    --------
    >>> from labelrank import project_polyhedron
    >>> W, xi = project_polyhedron([[0.0], [0.0], [0.0]], x=[2.0], gamma=[1, 0, 0], A=[0], B=[1, 2], C=10.0)
    >>> W.round(3).tolist(), round(xi, 6)
    ([[0.333], [-0.167], [-0.167]], 0.0)
    """
    from labelrank._kernels.solvers.soft_projection.projection import project_one

    U, x, gamma = _finite(U, "U"), _finite(x, "x"), np.asarray(gamma, dtype=np.float64)
    if U.ndim != 2 or x.shape != U.shape[1:] or gamma.shape != U.shape[:1]:
        raise ValueError(
            f"U has shape {U.shape}, x {x.shape} and gamma {gamma.shape}; expected (n_labels, n_features), "
            "(n_features,) and (n_labels,)"
        )
    A, B = _label_set(A, len(U), "A"), _label_set(B, len(U), "B")
    limit = _limits(C, 1)[0]
    both = np.concatenate([A, B])
    if len(set(both.tolist())) < len(both):
        twice = np.bincount(both).argmax()
        raise ValueError(f"label {twice} appears twice in A and B; no label can be above itself")
    # The squared norm of x may overflow or underflow, that of x divided by its largest entry cannot.
    unit = float(abs(x).max(initial=0.0)) or 1.0
    x = x / unit
    norm = float(x @ x)
    with np.errstate(over="ignore", invalid="ignore"):
        target, score = gamma[both], (U @ x * unit)[both]
        scale = _scale(target, score)
        short = target / scale - score / scale
        most = float(limit * norm * unit * unit / scale) if norm > 0 else 0.0
    if not np.isfinite(short).all():
        if not np.isfinite(target).all():
            raise ValueError("gamma of a label in A or B is NaN or infinite; leave out labels without a target")
        raise ValueError("the scores U @ x of some labels overflow; scale U or x")
    # The problem times the squared norm: the slack is the same, and the division by the norm comes last.
    mu, nu = short[: len(A)], -short[len(A) :]
    duals = np.empty_like(short)
    with np.errstate(over="ignore"):
        xi = float(project_one(mu, nu, most, duals[: len(A)], duals[len(A) :]) * scale)
    if not norm > 0:
        return U.copy(), xi
    step = np.zeros(len(U))
    step[A], step[B] = duals[: len(A)], -duals[len(A) :]
    return U + (step / norm * (scale / unit))[:, np.newaxis] * x, xi


# ---------------------------------------------------------------------------------------------------------------


def _scale(*values: FloatArray) -> float:
    """Return a power of 2 to divide by where sums could overflow, else 1."""
    largest = max(abs(v).max(initial=0.0) for v in values)
    return 1.0 if largest < 1e290 else 2.0**64


def _is_ragged(values: Any) -> bool:
    """Return whether the argument is a sequence of vectors of different lengths."""
    if isinstance(values, np.ndarray) or not isinstance(values, Sequence) or isinstance(values, (str, bytes)):
        return False
    shapes = {np.shape(v) for v in values}
    return len(shapes) > 1 and all(len(shape) == 1 for shape in shapes)


def _project_lists(mu: Any, nu: Any, C: Any) -> tuple[list[FloatArray], list[FloatArray]]:
    if len(mu) != len(nu):
        raise ValueError(f"mu has {len(mu)} problems and nu has {len(nu)}; expected equal numbers")
    flat, ptr = [], []
    for side in (mu, nu):
        parts = [np.asarray(part, dtype=np.float64) for part in side]
        flat.append(np.concatenate([np.empty(0), *parts]))
        ptr.append(np.concatenate([[0], np.cumsum([len(part) for part in parts], dtype=np.int64)]))
    alpha, beta = soft_projection(flat[0], flat[1], C, mu_ptr=ptr[0], nu_ptr=ptr[1])
    return np.split(alpha, ptr[0][1:-1]), np.split(beta, ptr[1][1:-1])


def _finite(values: Any, name: str) -> FloatArray:
    array = np.ascontiguousarray(values, dtype=np.float64)
    if np.ndim(values) == 0:
        raise ValueError(f"{name} must be an array, got {values!r}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} contains NaN or infinity; leave out labels that are not observed")
    return array


def _limits(C: Any, n: int) -> FloatArray:
    limit = np.asarray(C, dtype=np.float64)
    if limit.shape not in ((), (n,)):
        raise ValueError(f"C has shape {limit.shape}; expected a number, or one for each of the {n} problems")
    if not (limit >= 0).all():  # NaN as well
        raise ValueError(f"C must be ≥ 0, got {limit[~(limit >= 0)][0] if limit.ndim else limit}")
    return np.ascontiguousarray(np.broadcast_to(limit, n))


def _pointers(ptr: Any, size: int, name: str) -> npt.NDArray[np.int64]:
    array = np.asarray(ptr)
    if array.ndim != 1 or not len(array) or array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be a vector of integers from 0 to {size}, got {ptr!r}")
    if array[0] != 0 or array[-1] != size or (np.diff(array.astype(np.int64)) < 0).any():
        raise ValueError(f"{name} must increase from 0 to {size}, the length of the vector that it splits")
    return array.astype(np.int64)


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
