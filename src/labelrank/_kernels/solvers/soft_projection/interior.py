"""Interior-point steps for the duals: all of them at once, each positive until the end.

With a slack ζ for each subgraph the duals obey Σα + ζ = Σβ + ζ = bound. The multipliers of the two equations are θ_A
and θ_B, which bound the shortfalls of the two sides from above; a dual x has the distance z ≥ 0 from its side's bound,
and ζ has θ_A + θ_B, the subgraph's slack in the primal. All x z are zero at the optimum, and their sum is the duality
gap. A step of Newton towards x z = τ gives each instance's contributions as r − J Δf of the change Δf of its scores.

``structure`` is the tuple of the dual ascent; `x` and `z` have one entry for each dual, `slack` and
`theta` a row for each subgraph: ζ, and θ_A, θ_B. Subgraphs of bound 0 are left out.
"""

import numpy as np

from labelrank._kernels.compile import kernel
from labelrank._kernels.solvers.soft_projection.ascent import target


@kernel(error_model="numpy")
def make_interior(x, slack, bound, share, structure):
    """Mix feasible duals with a share of those in the middle of their polyhedron, so that all are positive."""
    head, sides, _, _, _ = structure
    for i in range(len(head) - 1):
        o = head[i, 1]
        for s in range(head[i, 0], head[i + 1, 0]):
            p, q = sides[s, 1] - sides[s, 0], sides[s, 3] - sides[s, 2]
            z = 0.0
            for m in range(p + q):
                x[o + m] = (1.0 - share) * x[o + m] + share * 0.5 * bound[s] / (p if m < p else q)
                z += x[o + m] if m < p else 0.0
            slack[s] = bound[s] - z
            o += p + q


@kernel(error_model="numpy")
def enclose(scores, theta, margin, structure):
    """Multipliers that are above all shortfalls by the margin at least."""
    head, sides, members, gamma, _ = structure
    for i in range(len(head) - 1):
        f = scores[i]
        for s in range(head[i, 0], head[i + 1, 0]):
            top_a, top_b = -np.inf, -np.inf
            for m in range(sides[s, 0], sides[s, 1]):
                top_a = max(top_a, target(gamma, m, 1.0) - f[members[m]])
            for m in range(sides[s, 2], sides[s, 3]):
                top_b = max(top_b, f[members[m]] - target(gamma, m, 0.0))
            lift = margin + 0.5 * max(margin - (top_a + top_b), 0.0)
            theta[s, 0], theta[s, 1] = top_a + lift, top_b + lift


@kernel(error_model="numpy")
def distances(scores, x, slack, theta, z, bound, structure):
    """Compute z anew; returns Σ x z and the number of terms."""
    head, sides, members, gamma, _ = structure
    total, count = 0.0, 0
    for i in range(len(head) - 1):
        f, o = scores[i], head[i, 1]
        for s in range(head[i, 0], head[i + 1, 0]):
            p, q = sides[s, 1] - sides[s, 0], sides[s, 3] - sides[s, 2]
            if bound[s] > 0.0:
                for m in range(p):
                    a = sides[s, 0] + m
                    z[o + m] = theta[s, 0] - (target(gamma, a, 1.0) - f[members[a]])
                for m in range(q):
                    b = sides[s, 2] + m
                    z[o + p + m] = theta[s, 1] - (f[members[b]] - target(gamma, b, 0.0))
                for m in range(o, o + p + q):
                    total += x[m] * z[m]
                total += slack[s] * (theta[s, 0] + theta[s, 1])
                count += p + q + 1
            o += p + q
    return total, count


@kernel(error_model="numpy")
def curvature(ratio, free, bound, J, structure):
    """J of each instance, of shape (n_instances, n_labels, n_labels), from x/z of the duals and of the slacks."""
    head, sides, members, _, _ = structure
    J[:] = 0.0
    for i in range(len(head) - 1):
        own, o = J[i], head[i, 1]
        for s in range(head[i, 0], head[i + 1, 0]):
            a0, b0 = sides[s, 0], sides[s, 2]
            p, q = sides[s, 1] - a0, sides[s, 3] - b0
            if bound[s] > 0.0:
                sum_a, sum_b = ratio[o : o + p].sum(), ratio[o + p : o + p + q].sum()
                det = sum_a * sum_b + free[s] * (sum_a + sum_b)
                for m in range(p + q):
                    on_a = m < p
                    first, last = (o, o + p) if on_a else (o + p, o + p + q)
                    mine, other = (sum_a, sum_b) if on_a else (sum_b, sum_a)
                    r = ratio[o + m]
                    rest = mine - r
                    if rest < 0.5 * mine:  # most of the sum: what is left is summed up, not subtracted
                        rest = 0.0
                        for t in range(first, last):
                            if t != o + m:
                                rest += ratio[t]
                    row = own[members[a0 + m] if on_a else members[b0 + m - p]]
                    same, across = r * (other + free[s]) / det, r * free[s] / det
                    to_a, to_b = (same, across) if on_a else (across, same)
                    keep = row[members[a0 + m] if on_a else members[b0 + m - p]]
                    for t in range(p):
                        row[members[a0 + t]] -= to_a * ratio[o + t]
                    for t in range(q):
                        row[members[b0 + t]] -= to_b * ratio[o + p + t]
                    row[members[a0 + m] if on_a else members[b0 + m - p]] = keep + r * (
                        (rest * (other + free[s]) + free[s] * other) / det
                    )
            o += p + q


@kernel(error_model="numpy")
def contributions(
    x, slack, theta, inverse, ratio, free, tau, dx, dslack, dz, dtheta, df, bound, out, finish, structure
):
    """What the instances contribute more when their scores change by Δf, in a step towards x z = τ: r − J Δf in `out`.

    The second-order terms are those of the step that is in dx, dslack, dz and dtheta; with `finish` they get the new
    one. `inverse` is 1/z, `ratio` is x/z.
    """
    head, sides, members, _, _ = structure
    out[:] = 0.0
    for i in range(len(head) - 1):
        o, change, own = head[i, 1], df[i], out[i]
        for s in range(head[i, 0], head[i + 1, 0]):
            a0, b0 = sides[s, 0], sides[s, 2]
            p, q = sides[s, 1] - a0, sides[s, 3] - b0
            if bound[s] > 0.0:
                sum_a, sum_b = 0.0, 0.0
                xi = theta[s, 0] + theta[s, 1]
                r_slack = (tau - dslack[s] * (dtheta[s, 0] + dtheta[s, 1])) / xi - slack[s]
                # What rounding has left in the two equations is mended.
                right_a = r_slack + slack[s] - bound[s]
                right_b = right_a
                for m in range(o, o + p):
                    sum_a += ratio[m]
                    right_a += (tau - dx[m] * dz[m]) * inverse[m] - ratio[m] * change[members[a0 + m - o]]
                for m in range(o + p, o + p + q):
                    sum_b += ratio[m]
                    right_b += (tau - dx[m] * dz[m]) * inverse[m] + ratio[m] * change[members[b0 + m - o - p]]
                det = sum_a * sum_b + free[s] * (sum_a + sum_b)
                step_a = ((sum_b + free[s]) * right_a - free[s] * right_b) / det
                step_b = ((sum_a + free[s]) * right_b - free[s] * right_a) / det
                for m in range(o, o + p + q):
                    on_a = m < o + p
                    label = members[a0 + m - o] if on_a else members[b0 + m - o - p]
                    move = step_a + change[label] if on_a else step_b - change[label]
                    step = (tau - dx[m] * dz[m]) * inverse[m] - x[m] - ratio[m] * move
                    own[label] += step if on_a else -step
                    if finish:
                        dx[m], dz[m] = step, move
                if finish:
                    dslack[s] = r_slack - free[s] * (step_a + step_b)
                    dtheta[s, 0], dtheta[s, 1] = step_a, step_b
            o += p + q


@kernel(error_model="numpy")
def longest(x, slack, z, theta, dx, dslack, dz, dtheta, bound, structure):
    """The step at which the first number becomes zero, and what Σ x z is after a share of a step: two coefficients."""
    head, sides, _, _, _ = structure
    step, linear, square = np.inf, 0.0, 0.0
    for i in range(len(head) - 1):
        o = head[i, 1]
        for s in range(head[i, 0], head[i + 1, 0]):
            size = sides[s, 1] - sides[s, 0] + sides[s, 3] - sides[s, 2]
            if bound[s] > 0.0:
                for m in range(o, o + size):
                    if dx[m] < 0.0:
                        step = min(step, x[m] / -dx[m])
                    if dz[m] < 0.0:
                        step = min(step, z[m] / -dz[m])
                    linear += x[m] * dz[m] + z[m] * dx[m]
                    square += dx[m] * dz[m]
                xi, dxi = theta[s, 0] + theta[s, 1], dtheta[s, 0] + dtheta[s, 1]
                if dslack[s] < 0.0:
                    step = min(step, slack[s] / -dslack[s])
                if dxi < 0.0:
                    step = min(step, xi / -dxi)
                linear += slack[s] * dxi + xi * dslack[s]
                square += dslack[s] * dxi
            o += size
    return step, linear, square


@kernel(error_model="numpy")
def sums(x, bound, structure):
    """Σα of each subgraph."""
    head, sides, _, _, _ = structure
    out = np.zeros(len(bound))
    for i in range(len(head) - 1):
        o = head[i, 1]
        for s in range(head[i, 0], head[i + 1, 0]):
            p, q = sides[s, 1] - sides[s, 0], sides[s, 3] - sides[s, 2]
            out[s] = x[o : o + p].sum()
            o += p + q
    return out


@kernel(error_model="numpy")
def bring_to(x, bound, capped, structure):
    """Scale both sides of each subgraph to the same sum: its bound where it is capped, else the smaller of the two."""
    head, sides, _, _, _ = structure
    for i in range(len(head) - 1):
        o = head[i, 1]
        for s in range(head[i, 0], head[i + 1, 0]):
            p, q = sides[s, 1] - sides[s, 0], sides[s, 3] - sides[s, 2]
            sum_a, sum_b = x[o : o + p].sum(), x[o + p : o + p + q].sum()
            if sum_a > 0.0 and sum_b > 0.0:
                z = bound[s] if capped[s] else min(sum_a, sum_b)
                x[o : o + p] *= z / sum_a
                x[o + p : o + p + q] *= z / sum_b
            else:
                x[o : o + p + q] = 0.0
            o += p + q
