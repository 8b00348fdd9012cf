"""Products of the rows of a CSR matrix with coefficients, and their transposes, for a block of rows.

Coefficients have shape (n_features, n_labels), so that the inner loops run over adjacent numbers. `csr` holds the
arrays indptr, indices and data. Products with ``X[first:last]`` by SciPy would copy the rows, and the transposed ones
would allocate a matrix of the size of the coefficients for every block.
"""

from labelrank._kernels.compile import kernel


@kernel
def csr_scores(csr, first, last, coef, out):
    """Add X[first:last] @ coef to `out`."""
    indptr, indices, data = csr
    k = coef.shape[1]
    for row in range(first, last):
        target = out[row - first]
        for p in range(indptr[row], indptr[row + 1]):
            x = data[p]
            source = coef[indices[p]]
            for j in range(k):
                target[j] += x * source[j]


@kernel
def csr_add(csr, first, last, flow, total):
    """Add X[first:last].T @ flow to `total`."""
    indptr, indices, data = csr
    k = flow.shape[1]
    for row in range(first, last):
        source = flow[row - first]
        for p in range(indptr[row], indptr[row + 1]):
            x = data[p]
            target = total[indices[p]]
            for j in range(k):
                target[j] += x * source[j]


@kernel
def csr_add_signed(csr, first, last, inflow, outflow, plus, minus):
    """Add [X]₊ᵀ T + [X]₋ᵀ I to `plus`, [X]₊ᵀ I + [X]₋ᵀ T to `minus`."""
    indptr, indices, data = csr
    k = inflow.shape[1]
    for row in range(first, last):
        for p in range(indptr[row], indptr[row + 1]):
            x = data[p]
            if x > 0:
                t, i = inflow[row - first], outflow[row - first]
            else:
                x, t, i = -x, outflow[row - first], inflow[row - first]
            to_plus, to_minus = plus[indices[p]], minus[indices[p]]
            for j in range(k):
                to_plus[j] += x * t[j]
                to_minus[j] += x * i[j]
