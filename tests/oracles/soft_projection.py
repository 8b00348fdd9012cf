"""Soft projections and the batch problem as literally as possible: sorted knots, and quadratic programs in w and ξ."""

import numpy as np


def knots(mu, nu, C):
    """The procedure of the paper, knot by knot, with its misprints corrected."""
    mu, nu = np.asarray(mu, float), np.asarray(nu, float)
    if C <= 0 or not len(mu) or not len(nu):
        return np.zeros(len(mu)), np.zeros(len(nu))
    m, v = np.sort(mu)[::-1], np.sort(nu)[::-1]
    z = np.array([m[: i + 1].sum() - (i + 1) * m[i] for i in range(len(m))])
    zt = np.array([v[: j + 1].sum() - (j + 1) * v[j] for j in range(len(v))])
    Q = sorted({*z[z < C].tolist(), *zt[zt < C].tolist(), C})
    R = {x: int((z <= x).sum()) for x in Q}
    S = {x: int((zt <= x).sum()) for x in Q}
    found = None
    for at, x in enumerate(Q):
        following = Q[at + 1] if at + 1 < len(Q) else C
        O = (S[x] * m[: R[x]].sum() + R[x] * v[: S[x]].sum()) / (R[x] + S[x])  # noqa: E741
        slack = 1e-12 * (1 + abs(O))
        if x - slack <= O <= following + slack:
            found = O, R[x], S[x]
            break
    if found is None:
        found = (0.0, 1, 1) if m[0] + v[0] < 0 else (C, R[C], S[C])
    best, i, j = found
    return (
        np.maximum(mu - (m[:i].sum() - best) / i, 0),
        np.maximum(nu - (v[:j].sum() - best) / j, 0),
    )


def kkt_violation(mu, nu, C, alpha, beta):
    """How far α, β are from a point with multipliers: feasible, and [μ − θ_α]₊, [ν − θ_β]₊ with θ_α + θ_β ≥ 0.

    θ_α + θ_β > 0 only where the sum is C.
    """
    worst = max(-alpha.min(initial=0), -beta.min(initial=0), abs(alpha.sum() - beta.sum()), alpha.sum() - C)
    if not len(mu) or not len(nu):
        return max(worst, alpha.max(initial=0), beta.max(initial=0))
    if alpha.max() > 0 and beta.max() > 0:
        theta_a, theta_b = (mu - alpha)[alpha > 0].mean(), (nu - beta)[beta > 0].mean()
        worst = max(worst, -(theta_a + theta_b))
        worst = max(worst, min(theta_a + theta_b, C - alpha.sum()))
    else:  # any thresholds above the largest entries
        theta_a, theta_b = max(mu.max(), -nu.max()), nu.max()
        worst = max(worst, min(mu.max() + nu.max(), C))
    return max(worst, abs(alpha - np.maximum(mu - theta_a, 0)).max(), abs(beta - np.maximum(nu - theta_b, 0)).max())


def primal_program(X, subgraphs, gammas, bounds, n_labels):
    """P, q, G, h of min ½zᵀPz + qᵀz s.t. Gz ≤ h with z = (w, ξ): one slack a subgraph, one row a pair.

    `subgraphs` are (instance, A, B), `gammas` the targets of A and of B, `bounds` the weights of the slacks.
    """
    d = X.shape[1]
    n = n_labels * d
    rows, h = [], []
    for s, ((i, A, B), (t, u)) in enumerate(zip(subgraphs, gammas, strict=True)):
        for a, target_a in zip(A, t, strict=True):
            for b, target_b in zip(B, u, strict=True):
                row = np.zeros(n + len(subgraphs))
                row[a * d : (a + 1) * d] -= X[i]
                row[b * d : (b + 1) * d] += X[i]
                row[n + s] = -1
                rows.append(row)
                h.append(target_b - target_a)
    for s in range(len(subgraphs)):
        row = np.zeros(n + len(subgraphs))
        row[n + s] = -1
        rows.append(row)
        h.append(0.0)
    P = np.diag(np.r_[np.ones(n), np.zeros(len(subgraphs))])
    return P, np.r_[np.zeros(n), bounds], np.array(rows), np.array(h)


def objective(W, X, subgraphs, gammas, bounds):
    """½‖w‖² + Σ bound ξ, pair by pair."""
    total = 0.5 * (W**2).sum()
    for (i, A, B), (t, u), bound in zip(subgraphs, gammas, bounds, strict=True):
        f = W @ X[i]
        xi = max(ta - ub - f[a] + f[b] for a, ta in zip(A, t, strict=True) for b, ub in zip(B, u, strict=True))
        total += bound * max(xi, 0.0)
    return total
