"""One coefficient per label and round, and only the examples that it touches."""

import math

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def best_features(plus, minus, possible, length, smoothing):
    """Of each label the feature with the largest length · (√W⁺ − √W⁻)², -1 when none can move."""
    d, k = plus.shape
    best = np.full(k, -1, np.int64)
    gain = np.zeros(k)
    for j in range(d):
        scale = length[j]
        for label in range(k):
            if smoothing > 0 or possible[j, label]:
                difference = math.sqrt(max(plus[j, label], 0.0)) - math.sqrt(max(minus[j, label], 0.0))
                value = scale * difference * difference
                if value > gain[label]:
                    gain[label] = value
                    best[label] = j
    return best


@njit(cache=True, nogil=True)
def weights_of_column(rows, values, label, levels, flow):
    """W⁺ and W⁻ of one feature and label from scratch."""
    plus, minus = 0.0, 0.0
    for p in range(len(rows)):
        amount = values[p] * flow[rows[p], label]
        if levels[rows[p], label] == 0:
            amount = -amount
        if amount > 0:
            plus += amount
        else:
            minus -= amount
    return plus, minus


@njit(cache=True, nogil=True)
def _spread(row, label, change, relevant, indptr, indices, data, plus, minus):
    """Add a change of flow to the two weights of all features of a row."""
    for p in range(indptr[row], indptr[row + 1]):
        if (data[p] > 0) != relevant:
            plus[indices[p], label] += abs(data[p]) * change
        else:
            minus[indices[p], label] += abs(data[p]) * change


@njit(cache=True, nogil=True)
def move_separate(rows, values, label, step, levels, scores, flow, weight, factors, csr, plus, minus):
    """Labels that stand alone: move one of them and update what depends on it. Returns the change of the loss."""
    indptr, indices, data = csr
    change_of_loss = 0.0
    for p in range(len(rows)):
        row = rows[p]
        level = levels[row, label]
        if level < 0:
            continue
        before = scores[row, label]
        after = before + step * values[p]
        scores[row, label] = after
        c = weight[row] * factors[level]
        old, new = (-before, -after) if level == 0 else (before, after)
        share = 1.0 / (1.0 + math.exp(-new)) if new > -700 else 0.0
        change_of_loss += c * (_soft(new) - _soft(old))
        change = c * share - flow[row, label]
        flow[row, label] = c * share
        _spread(row, label, change, level == 0, indptr, indices, data, plus, minus)
    return change_of_loss


@njit(cache=True, nogil=True)
def _soft(x):
    return x + math.log1p(math.exp(-x)) if x > 0 else math.log1p(math.exp(x))


@njit(cache=True, nogil=True)
def spread_changes(rows, new_flow, levels, flow, csr, plus, minus):
    """Put the new flows of some rows into `flow` and update the weights."""
    indptr, indices, data = csr
    k = flow.shape[1]
    for r in range(len(rows)):
        row = rows[r]
        for label in range(k):
            change = new_flow[r, label] - flow[row, label]
            if change != 0.0:
                flow[row, label] = new_flow[r, label]
                _spread(row, label, change, levels[row, label] == 0, indptr, indices, data, plus, minus)
