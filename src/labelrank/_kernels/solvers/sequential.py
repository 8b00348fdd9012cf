"""Sequential boosting: one coefficient per label and round, and updates of the affected examples.

The two weights have shape (n_labels, n_features), so that those of one label are contiguous.
"""

import math

import numpy as np

from labelrank._kernels.compile import kernel


@kernel
def _gains(plus, minus, possible, length, gain):
    """Set `gain` to length · (√W⁺ − √W⁻)² of each feature; return the largest |W⁺ − W⁻| of movable and all features."""
    steepest, steepest_of_all = 0.0, 0.0
    for j in range(len(gain)):
        a, b = max(plus[j], 0.0), max(minus[j], 0.0)
        moves = 1.0 if possible[j] else 0.0
        difference = abs(a - b)  # (√a − √b)² without cancellation
        total = a + b + 2.0 * math.sqrt(a * b)
        gain[j] = moves * length[j] * difference * difference / total if total > 0 else 0.0
        steepest = max(steepest, moves * difference)
        steepest_of_all = max(steepest_of_all, difference)
    return steepest, steepest_of_all


@kernel
def _smoothed_gains(plus, minus, length, smoothing, gain):
    """Set `gain` for smoothed steps ½ ln(a/b) with a = W⁺ + s and b = W⁻ + s, which are finite for every feature.

    The guaranteed decrease of such a step, W⁺(1 − √(b/a)) + W⁻(1 − √(a/b)), is (√a − √b)² · (1 + s/√(ab)).
    """
    steepest = 0.0
    for j in range(len(gain)):
        a, b = max(plus[j], 0.0), max(minus[j], 0.0)
        difference = abs(a - b)  # before adding s, which may be much larger
        a, b = a + smoothing, b + smoothing
        root = math.sqrt(a * b)
        bottom = root * (a + b + 2.0 * root)  # zero if tiny numbers underflow
        gain[j] = length[j] * difference * difference * (root + smoothing) / bottom if bottom > 0 else 0.0
        steepest = max(steepest, difference)
    return steepest, steepest


@kernel
def best_features(plus, minus, possible, length, smoothing):
    """Return the best feature of each label, -1 for none, and the largest slope of movable and of all features.

    With smoothing every feature is movable, and `possible` is not used.
    """
    k, d = plus.shape
    best = np.full(k, -1, np.int64)
    gain = np.empty(d)
    steepest, steepest_of_all = 0.0, 0.0
    for label in range(k):
        if smoothing > 0:
            a, b = _smoothed_gains(plus[label], minus[label], length, smoothing, gain)
        else:
            a, b = _gains(plus[label], minus[label], possible[label], length, gain)
        steepest, steepest_of_all = max(steepest, a), max(steepest_of_all, b)
        top = 0.0
        for j in range(d):
            if gain[j] > top:
                top = gain[j]
                best[label] = j
    return best, steepest, steepest_of_all


@kernel
def weights_of_column(rows, values, levels, flow):
    """W⁺ and W⁻ of one feature and label from scratch; `levels` and `flow` are those of the label."""
    plus, minus = 0.0, 0.0
    for p in range(len(rows)):
        amount = values[p] * flow[rows[p]]
        if levels[rows[p]] == 0:
            amount = -amount
        if amount > 0:
            plus += amount
        else:
            minus -= amount
    return plus, minus


@kernel
def _spread(row, change, upper, lower, indptr, indices, data):
    """Add a change of flow to the weights of all features of a row: positive ones to `upper`, others to `lower`."""
    for p in range(indptr[row], indptr[row + 1]):
        x = data[p]
        if x > 0:
            upper[indices[p]] += x * change
        else:
            lower[indices[p]] -= x * change


@kernel
def _soft(x):
    return x + math.log1p(math.exp(-x)) if x > 0 else math.log1p(math.exp(x))


@kernel
def shift_alone(rows, values, step, levels, scores, flow, weight, factors, change):
    """Move the scores of a label that is its own cover element; return the change of the loss.

    `levels`, `scores` and `flow` are those of the label; `change`, with one entry for each of `rows`, is overwritten
    with the changes of its flow.
    """
    change_of_loss, product, last = 0.0, 1.0, -1.0
    for p in range(len(rows)):
        row = rows[p]
        level = levels[row]
        change[p] = 0.0
        if level < 0:
            continue
        before = scores[row]
        after = before + step * values[p]
        scores[row] = after
        c = weight[row] * factors[level]
        old, new = (-before, -after) if level == 0 else (before, after)
        if c != last or product > 1e150 or product < 1e-150:  # one logarithm for many examples of equal weight
            change_of_loss += last * math.log(product) if last > 0 else 0.0
            product, last = 1.0, c
        if abs(old) < 10 and abs(new) < 10:  # 1 / (1 + exp(old)) is 1 minus the share of the old flow
            power = math.exp(new)
            product *= (1.0 + power) * (1.0 - flow[row] / c) if c > 0 else 1.0
            share = power / (1.0 + power)
        elif abs(old) < 100 and abs(new) < 100:
            power = math.exp(new)
            product *= (1.0 + power) / (1.0 + math.exp(old))
            share = power / (1.0 + power)
        else:
            change_of_loss += c * (_soft(new) - _soft(old))
            share = 1.0 / (1.0 + math.exp(-new)) if new > -700 else 0.0
        change[p] = c * share - flow[row]
        flow[row] = c * share
    return change_of_loss + (last * math.log(product) if last > 0 else 0.0)


@kernel
def spread_label(rows, change, levels, indptr, indices, data, plus, minus):
    """Add the changes of the flow of one label to its weights."""
    for p in range(len(rows)):
        if levels[rows[p]] == 0:
            _spread(rows[p], change[p], minus, plus, indptr, indices, data)
        else:
            _spread(rows[p], change[p], plus, minus, indptr, indices, data)


@kernel
def spread_relevant(rows, change, levels, indptr, indices, data, plus, minus, column, inflow):
    """Add the changes of the flow of one label to its weights where it is relevant; write the others to `inflow`."""
    for p in range(len(rows)):
        row = rows[p]
        if levels[row] == 0:
            _spread(row, change[p], minus, plus, indptr, indices, data)
        else:
            inflow[row, column] = change[p]


@kernel
def spread_changes(rows, new_flow, levels, flow, indptr, indices, data, plus, minus):
    """Write the new flows (n_rows, n_labels) of some rows to `flow` (n_labels, n) and update the weights."""
    for label in range(len(flow)):
        for r in range(len(rows)):
            row = rows[r]
            change = new_flow[r, label] - flow[label, row]
            if change != 0.0:
                flow[label, row] = new_flow[r, label]
                if levels[label, row] == 0:
                    _spread(row, change, minus[label], plus[label], indptr, indices, data)
                else:
                    _spread(row, change, plus[label], minus[label], indptr, indices, data)
