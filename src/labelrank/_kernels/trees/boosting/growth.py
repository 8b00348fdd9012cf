"""Partition of the rows of a node between its children."""

from labelrank._kernels.compile import kernel


@kernel
def goes_left(code, feature_is_categorical, at_bin, missing, missing_left, left):
    """Whether a row with the bin `code` goes left; `missing` is the bin of missing values."""
    if feature_is_categorical:
        return left[code]
    if code == missing:
        return missing_left
    return code <= at_bin


@kernel
def _write(rows, first, last, sides, buffer):
    """Move the rows of the left side to the front, keeping their order; return where the right side begins."""
    n_left, n_right = 0, 0
    for p in range(first, last):
        row = rows[p]
        if sides[row]:
            rows[first + n_left] = row
            n_left += 1
        else:
            buffer[n_right] = row
            n_right += 1
    for p in range(n_right):
        rows[first + n_left + p] = buffer[p]
    return first + n_left


@kernel
def part_dense(bins, rows, first, last, split, left, sides, buffer):
    """Sort ``rows[first:last]`` by a split, (feature, is_categorical, bin, missing bin, missing_left)."""
    feature, is_categorical, at_bin, missing, missing_left = split
    for p in range(first, last):
        sides[rows[p]] = goes_left(bins[rows[p], feature], is_categorical, at_bin, missing, missing_left, left)
    return _write(rows, first, last, sides, buffer)


@kernel
def part_sparse(bins, rows, first, last, split, left, sides, buffer):
    """Sort ``rows[first:last]`` by a split of a sparse feature."""
    indptr, indices, codes, zero = bins
    feature, is_categorical, at_bin, missing, missing_left = split
    absent = goes_left(zero[feature], is_categorical, at_bin, missing, missing_left, left)
    for p in range(first, last):
        sides[rows[p]] = absent
    for p in range(indptr[feature], indptr[feature + 1]):
        sides[indices[p]] = goes_left(codes[p], is_categorical, at_bin, missing, missing_left, left)
    return _write(rows, first, last, sides, buffer)


@kernel
def add_to_rows(rows, value, scores):
    """Add the value of a leaf to the scores of its rows."""
    for row in rows:
        for j in range(len(value)):
            scores[row, j] += value[j]
