"""The best split of a node by its histogram: the largest gain Σ_l G_l² / (H_l + λ), left plus right minus parent.

Numeric features are split at bins, with missing values on the better side. Categories are sorted by the projection of
their Newton steps G / (H + s) on the first principal component of these steps, and split at a position of that order;
with two labels this is the order by G / (H + s), and one of its splits is the best of all partitions.
"""

import math

import numpy as np

from labelrank._kernels.compile import kernel

MIN_CATEGORY_WEIGHT = 10.0  # of a category that is sorted; rarer ones go right
_POWER_STEPS = 20


@kernel(fastmath={"reassoc"})
def score(sums, k, l2):
    """Σ_l G_l² / (H_l + λ)."""
    value = 0.0
    for j in range(k):
        denominator = sums[k + j] + l2
        value += sums[j] * sums[j] / denominator if denominator > 0.0 else 0.0
    return value


@kernel(fastmath={"reassoc"})
def _score_of_both(left, total, k, l2):
    """Scores of the left and the right side together."""
    value = 0.0
    for j in range(k):
        g, h = left[j], left[k + j]
        g_other, h_other = total[j] - g, total[k + j] - h
        a, b = h + l2, h_other + l2
        value += (g * g / a if a > 0.0 else 0.0) + (g_other * g_other / b if b > 0.0 else 0.0)
    return value


@kernel
def _add(left, sums):
    for c in range(len(left)):
        left[c] += sums[c]


@kernel
def _scan(histogram, order, total, k, rules, missing, best, left):
    """Try to send the first bins of an order left, one more each time; before them the bin `missing`, unless it is -1.

    best : score of both sides and position, overwritten by a better split. Returns whether one was found.
    """
    l2, least = rules.l2, rules.min_weight
    weight = total[2 * k]
    left[:] = 0.0
    if missing >= 0:
        _add(left, histogram[missing])
    better = False
    for i in range(len(order)):
        sums = histogram[order[i]]
        if sums[2 * k] <= 0.0:
            continue
        _add(left, sums)
        if left[2 * k] < least:
            continue
        if weight - left[2 * k] < least:
            break
        value = _score_of_both(left, total, k, l2)
        if value > best[0]:
            best[0], best[1] = value, i
            better = True
    return better


@kernel
def _sort_categories(histogram, n_bins, total, k, order):
    """Sort the categories of sufficient weight; return their number."""
    n = 0
    for b in range(n_bins):
        if histogram[b, 2 * k] >= MIN_CATEGORY_WEIGHT:
            order[n] = b
            n += 1
    steps, mean = np.empty((n, k)), np.zeros(k)
    ten_rows = MIN_CATEGORY_WEIGHT / total[2 * k]
    weight = 0.0
    for i in range(n):
        sums = histogram[order[i]]
        for j in range(k):
            smoothed = sums[k + j] + ten_rows * total[k + j]
            steps[i, j] = sums[j] / smoothed if smoothed > 0 else 0.0
            mean[j] += sums[2 * k] * steps[i, j]
        weight += sums[2 * k]
    widest, direction = -1.0, np.zeros(k)
    for i in range(n):
        width = 0.0
        for j in range(k):
            steps[i, j] -= mean[j] / weight
            width += steps[i, j] ** 2
        if width > widest:
            widest = width
            for j in range(k):
                direction[j] = steps[i, j]
    projection, turned = np.zeros(n), np.empty(k)
    for _ in range(_POWER_STEPS):
        turned[:] = 0.0
        norm = 0.0
        for i in range(n):
            projection[i] = 0.0
            for j in range(k):
                projection[i] += steps[i, j] * direction[j]
            for j in range(k):
                turned[j] += histogram[order[i], 2 * k] * projection[i] * steps[i, j]
        for j in range(k):
            norm += turned[j] ** 2
        if norm == 0.0:
            break
        for j in range(k):
            direction[j] = turned[j] / math.sqrt(norm)
    for i in range(1, n):  # at most 256; np.argsort takes a second to compile
        at, chosen = projection[i], order[i]
        while i > 0 and projection[i - 1] > at:
            projection[i], order[i] = projection[i - 1], order[i - 1]
            i -= 1
        projection[i], order[i] = at, chosen
    return n


@kernel
def _try_feature(here, bins, f, is_categorical, total, rules, found, left, work):
    """Improve on `found` by a feature.

    here : (n_bins, n_channels), its histogram; the last bin is that of missing values.
    bins : the other bins to try, in ascending order.
    work : buffers (sums, best, categories).
    """
    sums, best, categories = work
    k, missing = rules.n_labels, len(here) - 1
    has_missing = here[missing, 2 * k] > 0.0
    best[0] = found[0]
    if is_categorical:
        n = _sort_categories(here, len(here), total, k, categories)
        half = (n + 1) // 2
        for backward in (False, True):
            chosen = categories[:n][::-1][:half].copy() if backward else categories[:half].copy()
            if _scan(here, chosen, total, k, rules, -1, best, sums):
                left[:] = False
                for i in range(int(best[1]) + 1):
                    left[chosen[i]] = True
                found[0], found[1], found[2], found[3] = best[0], f, 0, left[missing] if has_missing else -1
        return
    # Missing values go right; the last position separates them from all others.
    if _scan(here, bins if has_missing else bins[:-1], total, k, rules, -1, best, sums):
        found[0], found[1], found[2], found[3] = best[0], f, bins[int(best[1])], 0 if has_missing else -1
    if has_missing and _scan(here, bins[:-1], total, k, rules, missing, best, sums):
        found[0], found[1], found[2], found[3] = best[0], f, bins[int(best[1])], 1


@kernel
def best_split(histogram, features, first, start, is_categorical, total, rules, found, left):
    """Best split of a node on some of the features of a histogram.

    histogram : (n_bins, n_channels), begins with feature `first`.
    features : to try, all of them in the histogram.
    total : sums of the channels over the node.
    found : score of both sides, feature, bin, and whether missing values go left (-1 if the node has none); on input,
        the score to improve on.
    left : bool (256,), overwritten with the bins of the left side if the feature is categorical.
    """
    bins = np.arange(256)
    work = (np.empty(len(total)), np.empty(2), np.empty(256, np.int64))
    for f in features:
        here = histogram[start[f] - start[first] : start[f + 1] - start[first]]
        _try_feature(here, bins[: len(here) - 1], f, is_categorical[f], total, rules, found, left, work)


@kernel
def best_sparse_split(bins, channels, node_of_row, node, features, missing, is_categorical, total, rules, found, left):
    """Best split of a node on sparse features, each with a temporary histogram.

    Bins without rows of the node take no time; absent entries have the rest of the total.
    """
    indptr, indices, codes, zero = bins
    n_channels, at_weight = channels.shape[1], 2 * rules.n_labels
    histogram, rest = np.zeros((256, n_channels)), np.empty(n_channels)
    touched = np.empty(256, np.int64)
    work = (np.empty(len(total)), np.empty(2), np.empty(256, np.int64))
    for f in features:
        n = 0
        for p in range(indptr[f], indptr[f + 1]):
            row = indices[p]
            if node_of_row[row] == node:
                values, sums = channels[row], histogram[codes[p]]
                if sums[at_weight] == 0.0:
                    touched[n] = codes[p]
                    n += 1
                for c in range(n_channels):
                    sums[c] += values[c]
        if n == 0:
            continue
        for c in range(n_channels):
            rest[c] = total[c]
        for i in range(n):
            sums = histogram[touched[i]]
            for c in range(n_channels):
                rest[c] -= sums[c]
        if rest[at_weight] > 0.0:
            sums = histogram[zero[f]]
            if sums[at_weight] == 0.0:
                touched[n] = zero[f]
                n += 1
            for c in range(n_channels):
                sums[c] += rest[c]
        occupied = np.sort(touched[:n])
        known = occupied[:-1] if occupied[-1] == missing[f] else occupied
        _try_feature(histogram[: missing[f] + 1], known, f, is_categorical[f], total, rules, found, left, work)
        for i in range(n):
            histogram[touched[i]] = 0.0
