"""Rows sent down one tree or many; the trees lie one after the other in flat arrays."""

from labelrank._kernels.compile import kernel

_BLOCK = 64  # rows that visit a tree one after the other, while it is in the cache


@kernel(inline="always")
def leaf_of(row, X, first, left, right, feature, threshold, missing_left, categorical):
    """The leaf, counted from the root `first` of the tree, in which a row of X ends."""
    node = 0
    while left[first + node] >= 0:
        at = first + node
        f = feature[at]
        v = X[row, f]
        goes = v == threshold[at] if categorical[f] else v <= threshold[at]
        if v != v:
            goes = missing_left[at]
        node = left[at] if goes else right[at]
    return node


@kernel(_nrt=False, no_cfunc_wrapper=True)
def apply(X, offsets, left, right, feature, threshold, missing_left, categorical, leaves):
    """Write the leaf of each row in each tree; leaves : (n_samples, n_trees)."""
    for row in range(X.shape[0]):
        for t in range(leaves.shape[1]):
            leaves[row, t] = leaf_of(row, X, offsets[t], left, right, feature, threshold, missing_left, categorical)


@kernel(_nrt=False, no_cfunc_wrapper=True)
def add_balance(
    X, offsets, left, right, feature, threshold, missing_left, categorical, balance, used, sums, n_used
):  # fmt: skip
    """Add the balance of each row's leaves to sums : (n_samples, n_pairs), and their number to n_used : (n_samples,).

    used : (n_trees, n_samples), the trees that have a say about a row, or (0, 0) if all have.
    """
    n, n_pairs = sums.shape
    for start in range(0, n, _BLOCK):
        stop = start + _BLOCK if start + _BLOCK < n else n
        for t in range(offsets.shape[0] - 1):
            first = offsets[t]
            for row in range(start, stop):
                if used.shape[0] and not used[t, row]:
                    continue
                leaf = first + leaf_of(row, X, first, left, right, feature, threshold, missing_left, categorical)
                n_used[row] += 1
                for p in range(n_pairs):
                    sums[row, p] += balance[leaf, p]
