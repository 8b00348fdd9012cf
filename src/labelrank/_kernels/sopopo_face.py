"""The face that the duals lie on: those that are positive may move, sums at their bound stay there.

On its face the dual objective is a quadratic without constraints, which conjugate gradients climb in few steps. Vectors
are compact: of the instances in `rows` alone, of which the duals of the r-th begin at ``at[r]``. ``structure`` is the
tuple of :mod:`labelrank._kernels.sopopo`.
"""

import numpy as np
from numba import njit

from labelrank._kernels.sopopo import target

ROUNDING = 1e-13  # relative to the bound: a dual that is zero, a sum that is at its bound


@njit(cache=True, nogil=True, inline="always")
def is_capped(z, limit):
    """Whether a sum is at its bound."""
    return z >= limit * (1.0 - ROUNDING)


@njit(cache=True, nogil=True)
def can_move(duals, bound, out, structure):
    """Whether each instance has a subgraph that can move within its face."""
    head, sides, _, _, _ = structure
    for i in range(len(head) - 1):
        o = head[i, 1]
        out[i] = False
        for s in range(head[i, 0], head[i + 1, 0]):
            p, q = sides[s, 1] - sides[s, 0], sides[s, 3] - sides[s, 2]
            z, n_a, n_b = 0.0, 0, 0
            for m in range(o, o + p):
                z += duals[m]
                n_a += duals[m] > 0.0
            for m in range(o + p, o + p + q):
                n_b += duals[m] > 0.0
            if n_a and n_b and (not is_capped(z, bound[s]) or n_a > 1 or n_b > 1):
                out[i] = True
            o += p + q


@njit(cache=True, nogil=True)
def face_gradient(rows, at, scores, duals, bound, out, structure):
    """The gradient of the dual objective along the face; returns its squared norm."""
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


@njit(cache=True, nogil=True)
def largest_step(rows, at, duals, direction, bound, structure):
    """How far the duals can go before one is zero or a sum reaches its bound."""
    head, sides, _, _, _ = structure
    step = np.inf
    for r in range(len(rows)):
        i, c = rows[r], at[r]
        o = head[i, 1]
        for s in range(head[i, 0], head[i + 1, 0]):
            p, q = sides[s, 1] - sides[s, 0], sides[s, 3] - sides[s, 2]
            z, growth, size = 0.0, 0.0, 0.0
            for m in range(p + q):
                if direction[c + m] < 0.0:
                    step = min(step, duals[o + m] / -direction[c + m])
                if m < p:
                    z += duals[o + m]
                    growth += direction[c + m]
                    size += abs(direction[c + m])
            # Of a sum that stays, rounding leaves some growth. One that has come near its bound since the direction
            # was found is an edge.
            if growth > 1e-9 * size:
                step = min(step, max(bound[s] - z, 0.0) / growth)
            c += p + q
            o += p + q
    return step


@njit(cache=True, nogil=True)
def move(rows, at, duals, direction, step, bound, structure):
    """Go a step; what is left of a dual by rounding is taken for zero."""
    head, sides, _, _, _ = structure
    for r in range(len(rows)):
        i, c = rows[r], at[r]
        o = head[i, 1]
        for s in range(head[i, 0], head[i + 1, 0]):
            size = sides[s, 1] - sides[s, 0] + sides[s, 3] - sides[s, 2]
            for m in range(size):
                if direction[c + m] != 0.0:
                    new = duals[o + m] + step * direction[c + m]
                    duals[o + m] = new if new > ROUNDING * bound[s] else 0.0
            c += size
            o += size


@njit(cache=True, nogil=True)
def hold(rows, at, values, out, structure):
    """out[r, l] = Σ over A − Σ over B of the values of label l; `values` are compact."""
    head, sides, members, _, _ = structure
    out[:] = 0.0
    for r in range(len(rows)):
        i, c = rows[r], at[r]
        for s in range(head[i, 0], head[i + 1, 0]):
            for m in range(sides[s, 0], sides[s, 1]):
                out[r, members[m]] += values[c]
                c += 1
            for m in range(sides[s, 2], sides[s, 3]):
                out[r, members[m]] -= values[c]
                c += 1


@njit(cache=True, nogil=True)
def move_beyond(rows, at, duals, direction, step, bound, structure):
    """Go a step past the edge of the face: duals end at zero, and sums are brought down to the smaller of the two."""
    head, sides, _, _, _ = structure
    for r in range(len(rows)):
        i, c = rows[r], at[r]
        o = head[i, 1]
        for s in range(head[i, 0], head[i + 1, 0]):
            p, q = sides[s, 1] - sides[s, 0], sides[s, 3] - sides[s, 2]
            sum_a, sum_b, moved = 0.0, 0.0, False
            for m in range(p + q):
                if direction[c + m] != 0.0:
                    moved = True
                    new = duals[o + m] + step * direction[c + m]
                    duals[o + m] = new if new > ROUNDING * bound[s] else 0.0
                if m < p:
                    sum_a += duals[o + m]
                else:
                    sum_b += duals[o + m]
            if moved:
                z = min(sum_a, sum_b, bound[s])
                for m in range(p + q):
                    total = sum_a if m < p else sum_b
                    if total != z:
                        duals[o + m] = duals[o + m] * (z / total)
            c += p + q
            o += p + q


@njit(cache=True, nogil=True)
def slope_of(rows, at, scores, change, structure):
    """The slope of the dual objective in the direction of a change of the duals."""
    head, sides, members, gamma, _ = structure
    slope = 0.0
    for r in range(len(rows)):
        i, f, c = rows[r], scores[r], at[r]
        for s in range(head[i, 0], head[i + 1, 0]):
            for m in range(sides[s, 0], sides[s, 1]):
                slope += change[c] * (target(gamma, m, 1.0) - f[members[m]])
                c += 1
            for m in range(sides[s, 2], sides[s, 3]):
                slope += change[c] * (f[members[m]] - target(gamma, m, 0.0))
                c += 1
    return slope
