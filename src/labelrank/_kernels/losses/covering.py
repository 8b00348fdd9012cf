"""The covering loss Σ_s c_s log(1 + Σ_{l in a_s} exp(z_l)), z_l = −y_l f_l, and the flows of each label.

Labels are right or wrong together within a cover element a_s. The inflow T of a label is Σ_s c_s q(s, l) where it is
irrelevant, the outflow I is that sum where it is relevant; the gradient with respect to the scores is T − I. The
diagonal of the Hessian is Σ_s c_s q(s, l) (1 − q(s, l)) with q of the element alone; it is written to `curvature`,
which may be None. On input, `outflow` is exp(−|f|), which never overflows; sums in which exp(z) would overflow are kept
as logarithms.

Level 0 is relevant, 1 irrelevant, -1 unknown. `levels`, `scores`, `inflow` and `outflow` have the shape (n, k);
`inflow` and `outflow` are overwritten with T and I.
"""

import math

import numpy as np

from labelrank._kernels.compile import kernel
from labelrank._kernels.losses.log_linear import add_log1p

_FAR = 300.0  # beyond it exp(z) is not computed


@kernel
def _power(z, small):
    """exp(z), given exp(−|z|)."""
    return 1.0 / small if z > 0 else small


@kernel
def _log_power_sum(z, members):
    """log(1 + Σ exp(z)) of some labels."""
    top = 0.0
    for j in members:
        top = max(top, z[j])
    total = math.exp(-top)
    for j in members:
        total += math.exp(z[j] - top)
    return top + math.log(total)


@kernel
def set_flows(levels, scores, inflow, outflow, curvature, weight, together, joined, factors):
    """Losses of the rows for a covering that treats relevant labels alike and irrelevant labels alike.

    together, factors : for the relevant and for the irrelevant labels, whether they form one element, and its weight c.
    joined : whether both together form a single element.
    """
    n, k = levels.shape
    losses = np.zeros(n)
    z, q = np.empty(k), np.empty(k)
    members = np.empty(k, np.int64)
    for row in range(n):
        w = weight[row]
        loss, product = 0.0, 1.0
        for side in range(2):
            factor = factors[side]
            if joined and side == 1:
                continue
            count = 0
            for j in range(k):
                if levels[row, j] == side or (joined and levels[row, j] >= 0):
                    members[count] = j
                    count += 1
                    z[j] = -scores[row, j] if levels[row, j] == 0 else scores[row, j]
            if count == 0:
                continue
            group = members[:count]
            if not together[side]:
                part, product = 0.0, 1.0
                for j in group:
                    small = outflow[row, j]
                    if z[j] > _FAR:
                        part += z[j]
                        q[j] = factor
                    else:
                        ratio = _power(z[j], small)
                        part, product = add_log1p(part, product, ratio)
                        q[j] = factor * ratio / (1.0 + ratio)
                loss += factor * (part + math.log(product))
                continue
            top, total = 0.0, 1.0
            for j in group:
                top = max(top, z[j])
            if top < _FAR:
                for j in group:
                    q[j] = _power(z[j], outflow[row, j])
                    total += q[j]
                loss += factor * math.log1p(total - 1.0)
                for j in group:
                    q[j] *= factor / total
            else:
                log_total = _log_power_sum(z, group)
                loss += factor * log_total
                for j in group:
                    q[j] = factor * math.exp(z[j] - log_total)
        losses[row] = w * loss
        for j in range(k):
            level = levels[row, j]
            inflow[row, j] = w * q[j] if level == 1 else 0.0
            outflow[row, j] = w * q[j] if level == 0 else 0.0
            if curvature is not None:
                factor = factors[0] if joined else factors[level]
                curvature[row, j] = w * q[j] * (1.0 - q[j] / factor) if level >= 0 else 0.0
    return losses


@kernel
def element_flows(levels, scores, inflow, outflow, curvature, weight, pattern, elements):
    """Losses of the rows for any covering; row r has the elements of the labeling ``pattern[r]``."""
    element_ptr, label_ptr, labels, element_weight = elements
    n, k = levels.shape
    losses = np.zeros(n)
    z, power, q, h = np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    for row in range(n):
        w = weight[row]
        far = False
        for j in range(k):
            z[j] = -scores[row, j] if levels[row, j] == 0 else scores[row, j]
            far |= z[j] > _FAR
            power[j] = _power(z[j], outflow[row, j]) if z[j] <= _FAR else 0.0
            q[j], h[j] = 0.0, 0.0
        loss = 0.0
        part, product, last = 0.0, 1.0, -1.0
        for s in range(element_ptr[pattern[row]], element_ptr[pattern[row] + 1]):
            c = element_weight[s]
            if c != last:  # factors of equal weight share a logarithm
                loss += last * (part + math.log(product)) if last > 0 else 0.0
                part, product, last = 0.0, 1.0, c
            a, b = label_ptr[s], label_ptr[s + 1]
            if not far:
                total = 0.0
                for p in range(a, b):
                    total += power[labels[p]]
                part, product = add_log1p(part, product, total)
                for p in range(a, b):
                    share = power[labels[p]] / (1.0 + total)
                    q[labels[p]] += c * share
                    h[labels[p]] += c * share * (1.0 - share)
            else:
                log_total = _log_power_sum(z, labels[a:b])
                part += log_total
                for p in range(a, b):
                    share = math.exp(z[labels[p]] - log_total)
                    q[labels[p]] += c * share
                    h[labels[p]] += c * share * (1.0 - share)
        loss += last * (part + math.log(product)) if last > 0 else 0.0
        losses[row] = w * loss
        for j in range(k):
            level = levels[row, j]
            inflow[row, j] = w * q[j] if level == 1 else 0.0
            outflow[row, j] = w * q[j] if level == 0 else 0.0
            if curvature is not None:
                curvature[row, j] = w * h[j] if level >= 0 else 0.0
    return losses
