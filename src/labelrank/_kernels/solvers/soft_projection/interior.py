"""Curvature of the dual objective at an interior point."""

from labelrank._kernels.compile import kernel


@kernel(error_model="numpy")
def curvature(start, row, label, ratio, free, J):
    """Write minus the derivative of the contributions by the scores: J, of shape (n_instances, n_labels, n_labels).

    Subgraph s of instance row[s] has the entries from start[2 s] to start[2 s + 2], those of B from start[2 s + 1] on.
    `ratio` has x/z of each entry, `free` that of each subgraph's slack. The diagonal is a sum of positive terms, since
    differences would cancel near the optimum.
    """
    J[:] = 0.0
    for s in range(len(free)):
        own, first, middle, last = J[row[s]], start[2 * s], start[2 * s + 1], start[2 * s + 2]
        sum_a, sum_b = ratio[first:middle].sum(), ratio[middle:last].sum()
        det = sum_a * sum_b + free[s] * (sum_a + sum_b)
        for m in range(first, last):
            on_a, target = m < middle, own[label[m]]
            other = sum_b if on_a else sum_a
            same, across = ratio[m] * (other + free[s]) / det, ratio[m] * free[s] / det
            rest = 0.0
            for t in range(first, last):
                if (t < middle) != on_a:
                    target[label[t]] -= across * ratio[t]
                elif t != m:
                    target[label[t]] -= same * ratio[t]
                    rest += ratio[t]
            target[label[m]] += rest * same + across * other
