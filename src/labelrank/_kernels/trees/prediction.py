"""Leaves of rows in one or many trees; see :class:`labelrank.trees.prediction.Trees`."""

from labelrank._kernels.compile import kernel

_BLOCK = 64  # rows that are predicted by one tree after the other, so that trees stay in the cache


@kernel
def leaf_of(trees, tree, x):
    """Leaf of the instance x in a tree, numbered from the root of the tree."""
    first, node = trees.offsets[tree], 0
    while trees.left[first + node] >= 0:
        at = first + node
        f = trees.feature[at]
        v, threshold = x[f], trees.threshold[at]
        goes_left = v == threshold if trees.is_categorical[f] else v <= threshold
        if v != v:
            goes_left = trees.missing_left[at]
        node = trees.left[at] if goes_left else trees.right[at]
    return node


@kernel
def apply(trees, X, leaves):
    """Write the leaf of each row in each tree; leaves : (n_samples, n_trees)."""
    for row in range(X.shape[0]):
        for t in range(leaves.shape[1]):
            leaves[row, t] = leaf_of(trees, t, X[row])


@kernel
def add_values(trees, values, X, used, sums, counts):
    """Add the values of each row's leaves to sums, (n_samples, n_values), and their number to counts, (n_samples,).

    values : (n_nodes, n_values). used : (n_trees, n_samples), which trees to use for a row, or (0, 0) for all.
    """
    n, n_values = sums.shape
    for start in range(0, n, _BLOCK):
        for t in range(trees.offsets.shape[0] - 1):
            for row in range(start, min(start + _BLOCK, n)):
                if used.shape[0] and not used[t, row]:
                    continue
                leaf = trees.offsets[t] + leaf_of(trees, t, X[row])
                counts[row] += 1
                for v in range(n_values):
                    sums[row, v] += values[leaf, v]
