"""The three problems, each for our solver and as a quadratic program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrank import SoftProjectionRanker, project_polyhedron, soft_projection

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class QuadraticProgram:
    """Minimize ½ zᵀPz + qᵀz subject to A z = b, G z ≤ h and z ≥ l; P, A and G are sparse, l has -inf."""

    P: sparse.csc_array
    q: FloatArray
    A: sparse.csc_array
    b: FloatArray
    G: sparse.csc_array
    h: FloatArray
    l: FloatArray  # noqa: E741 - the letter of the formula


@dataclass(frozen=True)
class Problem:
    """A problem in two forms.

    `solve` is the call that is timed for our solver, and `vector` converts its result into the variables of the
    program. `value` is the whole objective, with the constants that the program omits, at the feasible point that
    belongs to such variables; so a point is never better because it is infeasible. `solve_many` solves `n_many`
    problems of the same kind by one call; `solve_exactly` computes the reference, to a tenth of the tolerance, if
    `solve` stops at a tolerance.
    """

    make_program: Callable[[], QuadraticProgram]
    solve: Callable[[], Any]
    vector: Callable[[Any], FloatArray]
    value: Callable[[FloatArray], float]
    solve_many: Callable[[], Any] | None = None
    n_many: int = 0
    solve_exactly: Callable[[], Any] | None = None

    @cached_property
    def program(self) -> QuadraticProgram:
        """The quadratic program; made only if a general solver runs, since a large one may not fit into memory."""
        return self.make_program()


def original(n_labels: int, n_features: int, C: float, seed: int, accuracy: float) -> Problem:
    """One soft projection as it is stated: new weight vectors, and a constraint for each pair of A x B.

    Weight vectors, instance and targets are Gaussian; the labels with the larger half of the targets are A.
    """
    U, x, gamma, A, B = _projection(n_labels, n_features, np.random.RandomState(seed))
    k, n = U.shape

    def value(z: FloatArray) -> float:
        W = z[:-1].reshape(k, n)
        scores = W @ x
        xi = max((gamma - scores)[A].max() + (scores - gamma)[B].max(), 0.0)
        return float(0.5 * ((W - U) ** 2).sum() + C * xi)

    return Problem(
        lambda: _pairs(U, x, gamma, A, B, C),
        solve=lambda: project_polyhedron(U, x, gamma, A, B, C),
        vector=lambda found: np.append(found[0].ravel(), found[1]),
        value=value,
    )


def _pairs(U: FloatArray, x: FloatArray, gamma: FloatArray, A: Any, B: Any, C: float) -> QuadraticProgram:
    """The program of the original projection; the variables are the weight vectors, one after the other, and xi."""
    k, n = U.shape
    a, b = (side.ravel() for side in np.meshgrid(A, B, indexing="ij"))
    labels = sparse.eye_array(k, format="csr")
    # -w_a.x + w_b.x - xi <= -(gamma_a - gamma_b)
    G = sparse.hstack([sparse.kron(labels[b] - labels[a], x[np.newaxis]), sparse.csr_array(-np.ones((len(a), 1)))])
    return QuadraticProgram(
        P=_diagonal(k * n, 1),
        q=np.append(-U.ravel(), C),
        A=sparse.csc_array((0, k * n + 1)),
        b=np.zeros(0),
        G=sparse.csc_array(G),
        h=gamma[b] - gamma[a],
        l=np.append(np.full(k * n, -np.inf), 0.0),
    )


def reduced(n_labels: int, n_features: int, C: float, seed: int, accuracy: float) -> Problem:
    """One soft projection after its reduction: one variable per label, one equation, one limit."""
    rng = np.random.RandomState(seed)
    n_many = int(np.clip(10**6 // n_labels, 1, 1000))
    mu, nu = _sides(*_projection(n_labels, n_features, rng))
    many = [(mu, nu)] + [_sides(*_projection(n_labels, n_features, rng)) for _ in range(min(n_many, 100) - 1)]
    rows = np.arange(n_many) % len(many)
    mus, nus = (np.stack([each[side] for each in many])[rows] for side in (0, 1))
    p = len(mu)
    above = np.arange(n_labels) < p
    program = QuadraticProgram(
        P=_diagonal(n_labels, 0),
        q=-np.concatenate([mu, nu]),
        A=sparse.csc_array(np.where(above, 1.0, -1.0)[None, :]),
        b=np.zeros(1),
        G=sparse.csc_array(np.where(above, 1.0, 0.0)[None, :]),
        h=np.array([C]),
        l=np.zeros(n_labels),
    )

    def value(z: FloatArray) -> float:
        sides = np.maximum(z[:p], 0.0), np.maximum(z[p:], 0.0)
        total = min(sides[0].sum(), sides[1].sum(), C)
        alpha, beta = (side * (total / side.sum()) if total > 0 else np.zeros_like(side) for side in sides)
        return float(0.5 * ((alpha - mu) ** 2).sum() + 0.5 * ((beta - nu) ** 2).sum())

    return Problem(
        lambda: program,
        solve=lambda: soft_projection(mu, nu, C),
        vector=np.concatenate,
        value=value,
        solve_many=lambda: soft_projection(mus, nus, C),
        n_many=n_many,
    )


def batch(n_labels: int, n_features: int, C: float, seed: int, accuracy: float) -> Problem:
    """Batch learning from ten examples per label, half of the labels relevant to each.

    Instances and prototypes are Gaussian, and so is some noise of the scores; the half with the larger scores is
    relevant. The program is not the one with a constraint for each pair, but an equivalent one with a constraint
    for each label: s_i ≥ 1 - w_a.x_i for the relevant, t_i ≥ w_b.x_i for the others, s_i + t_i ≥ 0 is the slack.
    """
    rng = np.random.RandomState(seed)
    k, n, m = n_labels, n_features, 10 * n_labels
    X, prototypes, noise = rng.standard_normal((m, n)), rng.standard_normal((k, n)), rng.standard_normal((m, k))
    scores = X @ prototypes.T + 0.1 * np.sqrt(n) * noise
    relevant = np.zeros((m, k), dtype=bool)
    np.put_along_axis(relevant, np.argsort(-scores, axis=1)[:, : k // 2], True, axis=1)
    Y = relevant.astype(np.float64)

    def ranker(tol: float) -> Any:
        model = SoftProjectionRanker(
            C=C, targets="scores", fit_intercept=False, tol=tol, max_iter=10**6, random_state=seed
        )
        return model.fit(X, Y)

    def value(z: FloatArray) -> float:
        W = z[: k * n].reshape(k, n)
        scores = X @ W.T
        s, t = np.where(relevant, 1 - scores, -np.inf).max(axis=1), np.where(relevant, -np.inf, scores).max(axis=1)
        return float(0.5 * (W**2).sum() + C * np.maximum(s + t, 0).sum())

    return Problem(
        lambda: _compact(X, relevant, C),
        solve=lambda: ranker(accuracy),
        vector=lambda model: model.coef_.ravel(),
        value=value,
        solve_exactly=lambda: ranker(accuracy / 10),
    )


def _compact(X: FloatArray, relevant: npt.NDArray[np.bool_], C: float) -> QuadraticProgram:
    """The program of batch learning; the variables are the weight vectors, then s_i and t_i of each example."""
    (m, n), k = X.shape, relevant.shape[1]
    example = np.repeat(np.arange(m), k)
    irrelevant = ~relevant.ravel()
    sign = np.where(irrelevant, 1.0, -1.0)
    scores = sparse.vstack([sparse.kron(sparse.eye_array(k), x[np.newaxis]) for x in X])
    slacks = sparse.csr_array((np.ones(m * k), (np.arange(m * k), 2 * example + irrelevant)), shape=(m * k, 2 * m))
    G = sparse.block_array(
        [
            [sparse.diags_array(sign) @ scores, -slacks],  # s_i >= 1 - w_a.x_i, t_i >= w_b.x_i
            [None, -sparse.kron(sparse.eye_array(m), np.ones((1, 2)))],  # s_i + t_i >= 0
        ]
    )
    return QuadraticProgram(
        P=_diagonal(k * n, 2 * m),
        q=np.concatenate([np.zeros(k * n), np.full(2 * m, C)]),
        A=sparse.csc_array((0, k * n + 2 * m)),
        b=np.zeros(0),
        G=sparse.csc_array(G),
        h=np.concatenate([np.where(irrelevant, 0.0, -1.0), np.zeros(m)]),
        l=np.full(k * n + 2 * m, -np.inf),
    )


PROBLEMS: dict[str, Callable[..., Problem]] = {"original": original, "reduced": reduced, "batch": batch}


def _projection(n_labels: int, n_features: int, rng: np.random.RandomState) -> tuple[Any, ...]:
    """Weight vectors, an instance, targets, and the labels with the larger and the smaller half of them."""
    U, x = rng.standard_normal((n_labels, n_features)), rng.standard_normal(n_features)
    gamma = rng.standard_normal(n_labels)
    order = np.argsort(-gamma)
    return U, x, gamma, order[: n_labels // 2], order[n_labels // 2 :]


def _sides(U: FloatArray, x: FloatArray, gamma: FloatArray, A: Any, B: Any) -> tuple[FloatArray, FloatArray]:
    """The two sides of the reduced problem."""
    missing = (gamma - U @ x) / (x @ x)
    return missing[A], -missing[B]


def _diagonal(n_ones: int, n_zeros: int) -> sparse.csc_array:
    """A diagonal of ones and then zeros, the zeros not stored."""
    return sparse.csc_array(sparse.block_diag([sparse.eye_array(n_ones), sparse.csc_array((n_zeros, n_zeros))]))
