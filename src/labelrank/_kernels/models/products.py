"""Products of the rows of X with coefficients, and their transposes, for a block of rows.

Coefficients have shape (n_features, n_labels), so that the inner loops run over neighbouring numbers. X is either a
dense array or the three arrays of a CSR matrix. The kernels ``*_at`` compute only the scores that are asked for, for
graphs that know a few of many labels; their coefficients have shape (n_labels, n_features).
"""

from labelrank._kernels.compile import kernel


@kernel
def csr_scores(indptr, indices, data, first, last, coef, out):
    """out[r, :] += X[first + r] @ coef."""
    k = coef.shape[1]
    for row in range(first, last):
        target = out[row - first]
        for p in range(indptr[row], indptr[row + 1]):
            x = data[p]
            source = coef[indices[p]]
            for j in range(k):
                target[j] += x * source[j]


@kernel
def csr_add(indptr, indices, data, first, last, flow, total):
    """Add X[first:last].T @ flow to total."""
    k = flow.shape[1]
    for row in range(first, last):
        source = flow[row - first]
        for p in range(indptr[row], indptr[row + 1]):
            x = data[p]
            target = total[indices[p]]
            for j in range(k):
                target[j] += x * source[j]


@kernel
def csr_add_signed(indptr, indices, data, first, last, inflow, outflow, positive, negative):
    """Add [X]₊ᵀ T + [X]₋ᵀ I to positive, [X]₊ᵀ I + [X]₋ᵀ T to negative."""
    k = inflow.shape[1]
    for row in range(first, last):
        t, i = inflow[row - first], outflow[row - first]
        for p in range(indptr[row], indptr[row + 1]):
            x = data[p]
            plus, minus = positive[indices[p]], negative[indices[p]]
            if x > 0:
                for j in range(k):
                    plus[j] += x * t[j]
                    minus[j] += x * i[j]
            elif x < 0:
                for j in range(k):
                    plus[j] -= x * i[j]
                    minus[j] -= x * t[j]


# "reassoc" and "contract" let the sum run in several lanes.
@kernel(fastmath={"reassoc", "contract"})
def dense_scores_at(X, coef, first, last, member_ptr, members, out):
    """out[m] = X[row of m] · coef[label of m]."""
    d = X.shape[1]
    origin = member_ptr[first]
    for row in range(first, last):
        x = X[row]
        for m in range(member_ptr[row], member_ptr[row + 1]):
            c = coef[members[m]]
            s = 0.0
            for j in range(d):
                s += x[j] * c[j]
            out[m - origin] = s


@kernel
def dense_add_at(X, first, last, member_ptr, members, flow, total):
    """total[label of m] += flow[m] · X[row of m]."""
    d = X.shape[1]
    origin = member_ptr[first]
    for row in range(first, last):
        x = X[row]
        for m in range(member_ptr[row], member_ptr[row + 1]):
            w = flow[m - origin]
            if w != 0:
                target = total[members[m]]
                for j in range(d):
                    target[j] += w * x[j]


@kernel
def dense_add_signed_at(X, first, last, member_ptr, members, inflow, outflow, positive, negative):
    """The two sums of :func:`csr_add_signed` by members."""
    d = X.shape[1]
    origin = member_ptr[first]
    for row in range(first, last):
        x = X[row]
        for m in range(member_ptr[row], member_ptr[row + 1]):
            t, i = inflow[m - origin], outflow[m - origin]
            if t != 0 or i != 0:
                plus, minus = positive[members[m]], negative[members[m]]
                for j in range(d):
                    if x[j] > 0:
                        plus[j] += x[j] * t
                        minus[j] += x[j] * i
                    else:
                        plus[j] -= x[j] * i
                        minus[j] -= x[j] * t


@kernel
def csr_scores_at(indptr, indices, data, coef, first, last, member_ptr, members, out):
    """out[m] = X[row of m] · coef[label of m]."""
    origin = member_ptr[first]
    for row in range(first, last):
        for m in range(member_ptr[row], member_ptr[row + 1]):
            c = coef[members[m]]
            s = 0.0
            for p in range(indptr[row], indptr[row + 1]):
                s += data[p] * c[indices[p]]
            out[m - origin] = s


@kernel
def csr_add_at(indptr, indices, data, first, last, member_ptr, members, flow, total):
    """total[label of m] += flow[m] · X[row of m]."""
    origin = member_ptr[first]
    for row in range(first, last):
        for m in range(member_ptr[row], member_ptr[row + 1]):
            w = flow[m - origin]
            if w != 0:
                target = total[members[m]]
                for p in range(indptr[row], indptr[row + 1]):
                    target[indices[p]] += w * data[p]


@kernel
def csr_add_signed_at(indptr, indices, data, first, last, member_ptr, members, inflow, outflow, positive, negative):
    """The two sums of :func:`csr_add_signed` by members."""
    origin = member_ptr[first]
    for row in range(first, last):
        for m in range(member_ptr[row], member_ptr[row + 1]):
            t, i = inflow[m - origin], outflow[m - origin]
            if t != 0 or i != 0:
                plus, minus = positive[members[m]], negative[members[m]]
                for p in range(indptr[row], indptr[row + 1]):
                    x = data[p]
                    if x > 0:
                        plus[indices[p]] += x * t
                        minus[indices[p]] += x * i
                    else:
                        plus[indices[p]] -= x * i
                        minus[indices[p]] -= x * t


@kernel
def gather(scores, first, last, member_ptr, members, out):
    """out[m] = scores[row of m, label of m]."""
    origin = member_ptr[first]
    for row in range(first, last):
        for m in range(member_ptr[row], member_ptr[row + 1]):
            out[m - origin] = scores[row - first, members[m]]


@kernel
def scatter(flow, first, last, member_ptr, members, out):
    """out[row of m, label of m] += flow[m], from zero."""
    origin = member_ptr[first]
    out[: last - first] = 0.0
    for row in range(first, last):
        for m in range(member_ptr[row], member_ptr[row + 1]):
            out[row - first, members[m]] += flow[m - origin]
