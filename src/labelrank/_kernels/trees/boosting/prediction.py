"""Scores of binned rows: the sum over the trees of the values of their leaves."""

from labelrank._kernels.compile import kernel
from labelrank._kernels.trees.boosting.growth import goes_left


@kernel
def add_trees(trees, first, last, bins, missing, is_categorical, scores):
    """Add the trees `first` to `last` to the scores of each row.

    trees : :class:`labelrank.trees.boosting.prediction.Trees`. bins : uint8 (n_samples, n_features).
    """
    for row in range(len(bins)):
        for t in range(first, last):
            root = trees.offsets[t]
            node = root
            while trees.left[node] >= 0:
                f = trees.feature[node]
                left = goes_left(
                    bins[row, f], is_categorical[f], trees.bin[node], missing[f], trees.missing_left[node],
                    trees.left_bins[trees.category_set[node]],
                )  # fmt: skip
                node = root + (trees.left[node] if left else trees.right[node])
            for j in range(scores.shape[1]):
                scores[row, j] += trees.value[node, j]
