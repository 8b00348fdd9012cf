"""The face that the duals lie on: those that are positive may move, sums at their bound stay there.

On its face the dual objective is a quadratic without constraints, which conjugate gradients climb in few steps.
``structure`` is the tuple of :mod:`labelrank._kernels.solvers.soft_projection.ascent`.
"""

import numpy as np

from labelrank._kernels.compile import kernel
from labelrank._kernels.solvers.soft_projection.ascent import target

ROUNDING = 1e-13  # relative to the bound: a dual that is zero, a sum that is at its bound


@kernel(inline="always")
def is_capped(z, limit):
    """Whether a sum is at its bound."""
    return z >= limit * (1.0 - ROUNDING)


@kernel
def face_gradient(rows, at, scores, duals, bound, out, structure):
    """The gradient of the dual objective along the face, in all duals of `rows`; returns its squared norm.

    The duals of the r-th of these instances begin at ``at[r]`` in `out`.
    """
    head, sides, members, gamma, _ = structure
    square = 0.0
    for r in range(len(rows)):
        i, f, c = rows[r], scores[r], at[r]
        o = head[i, 1]
        for s in range(head[i, 0], head[i + 1, 0]):
            a0, b0 = sides[s, 0], sides[s, 2]
            p, q = sides[s, 1] - a0, sides[s, 3] - b0
            z, n_a, n_b, sum_a, sum_b = 0.0, 0, 0, 0.0, 0.0
            for m in range(p):
                z += duals[o + m]
                out[c + m] = target(gamma, a0 + m, 1.0) - f[members[a0 + m]]
                if duals[o + m] > 0.0:
                    n_a += 1
                    sum_a += out[c + m]
            for m in range(q):
                out[c + p + m] = f[members[b0 + m]] - target(gamma, b0 + m, 0.0)
                if duals[o + p + m] > 0.0:
                    n_b += 1
                    sum_b += out[c + p + m]
            if n_a and n_b:
                if is_capped(z, bound[s]):
                    shift_a, shift_b = sum_a / n_a, sum_b / n_b
                else:
                    shift_a = (sum_a - sum_b) / (n_a + n_b)
                    shift_b = -shift_a
            else:
                shift_a, shift_b = 0.0, 0.0
            for m in range(p + q):
                if duals[o + m] > 0.0 and n_a and n_b:
                    out[c + m] -= shift_a if m < p else shift_b
                    square += out[c + m] ** 2
                else:
                    out[c + m] = 0.0
            c += p + q
            o += p + q
    return square


# ---------------------------------------------------------------------------------------------------------------
# The face alone
# ---------------------------------------------------------------------------------------------------------------
#
# Most duals are zero and stay so while others climb. What follows works on the positive duals of the subgraphs that can
# move, one after the other: a tuple ``ptr, split, limit, at, goal``. Subgraph g has the entries from ptr[g] to
# ptr[g + 1], those of B from split[g] on, and the bound limit[g]; an entry has its target in goal and the place of its
# score in the flat scores in at.


@kernel
def movable(o, p, q, duals, limit):
    """The numbers of positive duals on the two sides of a subgraph that can move within its face, else zeros."""
    z, n_a, n_b = 0.0, 0, 0
    for m in range(o, o + p):
        z += duals[m]
        n_a += duals[m] > 0.0
    for m in range(o + p, o + p + q):
        n_b += duals[m] > 0.0
    if n_a and n_b and (not is_capped(z, limit) or n_a > 1 or n_b > 1):
        return n_a, n_b
    return 0, 0


@kernel
def size_of_face(duals, bound, structure):
    """The numbers of instances, subgraphs and duals that can move."""
    head, sides, _, _, _ = structure
    n_rows, n_subgraphs, n_duals = 0, 0, 0
    for i in range(len(head) - 1):
        o = head[i, 1]
        before = n_subgraphs
        for s in range(head[i, 0], head[i + 1, 0]):
            p, q = sides[s, 1] - sides[s, 0], sides[s, 3] - sides[s, 2]
            n_a, n_b = movable(o, p, q, duals, bound[s])
            n_subgraphs += n_a > 0
            n_duals += n_a + n_b
            o += p + q
        n_rows += n_subgraphs > before
    return n_rows, n_subgraphs, n_duals


@kernel
def collect_face(duals, bound, n_labels, rows, where, face, structure):
    """Write the instances that can move, where their duals are, and the face."""
    head, sides, members, gamma, _ = structure
    ptr, split, limit, at, goal = face
    r, g, c = 0, 0, 0
    ptr[0] = 0
    for i in range(len(head) - 1):
        o = head[i, 1]
        before = g
        for s in range(head[i, 0], head[i + 1, 0]):
            a0, b0 = sides[s, 0], sides[s, 2]
            p, q = sides[s, 1] - a0, sides[s, 3] - b0
            if movable(o, p, q, duals, bound[s])[0]:
                for m in range(p):
                    if duals[o + m] > 0.0:
                        where[c], at[c] = o + m, r * n_labels + members[a0 + m]
                        goal[c] = target(gamma, a0 + m, 1.0)
                        c += 1
                split[g], limit[g] = c, bound[s]
                for m in range(q):
                    if duals[o + p + m] > 0.0:
                        where[c], at[c] = o + p + m, r * n_labels + members[b0 + m]
                        goal[c] = target(gamma, b0 + m, 0.0)
                        c += 1
                g += 1
                ptr[g] = c
            o += p + q
        if g > before:
            rows[r] = i
            r += 1


@kernel
def gradient_on(face, x, f, out):
    """The gradient of the dual objective along the face; returns its squared norm."""
    ptr, split, limit, at, goal = face
    square = 0.0
    for g in range(len(split)):
        z, n_a, n_b, sum_a, sum_b = 0.0, 0, 0, 0.0, 0.0
        for c in range(ptr[g], split[g]):
            out[c] = goal[c] - f[at[c]]
            if x[c] > 0.0:
                z += x[c]
                n_a += 1
                sum_a += out[c]
        for c in range(split[g], ptr[g + 1]):
            out[c] = f[at[c]] - goal[c]
            if x[c] > 0.0:
                n_b += 1
                sum_b += out[c]
        if not (n_a and n_b):
            shift_a, shift_b = 0.0, 0.0
        elif is_capped(z, limit[g]):
            shift_a, shift_b = sum_a / n_a, sum_b / n_b
        else:
            shift_a = (sum_a - sum_b) / (n_a + n_b)
            shift_b = -shift_a
        for c in range(ptr[g], ptr[g + 1]):
            if x[c] > 0.0 and n_a and n_b:
                out[c] -= shift_a if c < split[g] else shift_b
                square += out[c] ** 2
            else:
                out[c] = 0.0
    return square


@kernel
def hold_on(face, values, out):
    """Write Σ over A − Σ over B of the values of each label of each instance, flat."""
    ptr, split, _, at, _ = face
    out[:] = 0.0
    for g in range(len(split)):
        for c in range(ptr[g], split[g]):
            out[at[c]] += values[c]
        for c in range(split[g], ptr[g + 1]):
            out[at[c]] -= values[c]


@kernel
def largest_step(face, x, direction):
    """How far the duals can go before one is zero or a sum reaches its bound."""
    ptr, split, limit, _, _ = face
    step = np.inf
    for g in range(len(split)):
        z, growth, size = 0.0, 0.0, 0.0
        for c in range(ptr[g], ptr[g + 1]):
            if direction[c] < 0.0:
                step = min(step, x[c] / -direction[c])
            if c < split[g]:
                z += x[c]
                growth += direction[c]
                size += abs(direction[c])
        # Of a sum that stays, rounding leaves some growth. One that has come near its bound since the direction was
        # found is an edge.
        if growth > 1e-9 * size:
            step = min(step, max(limit[g] - z, 0.0) / growth)
    return step


@kernel
def move(face, x, direction, step, beyond):
    """Go a step; what is left of a dual by rounding is taken for zero.

    A step `beyond` the edge of the face ends there: duals at zero, and sums at the smaller of the two.
    """
    ptr, split, limit, _, _ = face
    for g in range(len(split)):
        for c in range(ptr[g], ptr[g + 1]):
            if direction[c] != 0.0:
                new = x[c] + step * direction[c]
                x[c] = new if new > ROUNDING * limit[g] else 0.0
        if beyond:
            level(ptr[g], split[g], ptr[g + 1], x, limit[g], 0.0)


@kernel
def level(first, middle, last, x, limit, rounding):
    """Scale the two sides to the smaller of their sums and the bound, unless they differ by rounding alone."""
    sum_a, sum_b = 0.0, 0.0
    for c in range(first, middle):
        sum_a += x[c]
    for c in range(middle, last):
        sum_b += x[c]
    z = min(sum_a, sum_b, limit)
    if sum_a > z * (1.0 + rounding):
        for c in range(first, middle):
            x[c] *= z / sum_a
    if sum_b > z * (1.0 + rounding):
        for c in range(middle, last):
            x[c] *= z / sum_b


@kernel
def level_all(face, x):
    """Take the rounding of many small steps out of the sums."""
    ptr, split, limit, _, _ = face
    for g in range(len(split)):
        level(ptr[g], split[g], ptr[g + 1], x, limit[g], 1e-12)


@kernel
def slope_of(face, f, change):
    """The slope of the dual objective in the direction of a change of the duals."""
    ptr, split, _, at, goal = face
    slope = 0.0
    for g in range(len(split)):
        for c in range(ptr[g], split[g]):
            slope += change[c] * (goal[c] - f[at[c]])
        for c in range(split[g], ptr[g + 1]):
            slope += change[c] * (f[at[c]] - goal[c])
    return slope
