"""The two loops of L-BFGS over corrections that are kept in 32 bits.

Coefficients come in rows with a `width` each, the root of the diagonal of a Hessian. Corrections are kept in units of
these widths, in which they are neither huge nor tiny.
"""

import numpy as np

from labelrank._kernels.compile import kernel


# "reassoc" and "contract" let the sums run in several lanes.
@kernel(fastmath={"reassoc", "contract"})
def keep(step, direction, change, width, moved, bent):
    """Keep moved = step · direction · width and bent = change / width, in 32 bits; their product."""
    product = 0.0
    rows, columns = direction.shape
    for r in range(rows):
        times, over = step * width[r], 1 / width[r]
        for j in range(columns):
            moved[r, j] = times * direction[r, j]
            bent[r, j] = over * change[r, j]
            product += np.float64(moved[r, j]) * np.float64(bent[r, j])
    return product


@kernel(fastmath={"reassoc", "contract"})
def _dot(a, b):
    total = 0.0
    for i in range(len(a)):
        total += np.float64(a[i]) * np.float64(b[i])
    return total


@kernel
def _add(factor, a, b):
    for i in range(len(a)):
        b[i] += factor * a[i]


@kernel
def _divide(a, width, sign, out):
    rows, columns = a.shape
    for r in range(rows):
        over = sign / width[r]
        for j in range(columns):
            out[r, j] = a[r, j] * over


@kernel(error_model="numpy")
def descend(moved, bent, products, order, width, gradient, direction):
    """Set direction = −H · gradient, H being the inverse Hessian of the corrections, the oldest first in `order`.

    Returns gradient · direction.
    """
    flat = direction.reshape(-1)
    shares = products[order]
    _divide(gradient, width, -1.0, direction)
    for at in range(len(order) - 1, -1, -1):
        c = order[at]
        shares[at] = _dot(moved[c], flat) / products[c]
        _add(-shares[at], bent[c], flat)
    if len(order):
        c = order[-1]
        scale = products[c] / _dot(bent[c], bent[c])
        for i in range(len(flat)):
            flat[i] *= scale
    for at in range(len(order)):
        c = order[at]
        _add(shares[at] - _dot(bent[c], flat) / products[c], moved[c], flat)
    _divide(direction, width, 1.0, direction)
    return _dot(gradient.reshape(-1), flat)
