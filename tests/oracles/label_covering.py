"""Figure 2 of the label covering paper, example by example, element by element, label by label."""

import math

import numpy as np


def loss(H, Y, cover, alpha):
    """Mean over the examples of Σ_s log(1 + Σ_{l in a_s} exp(−y f))."""
    total = 0.0
    for h, y in zip(H, Y, strict=True):
        f = h @ alpha
        for element in cover(y):
            total += math.log(1 + sum(math.exp(-(1 if y[label] else -1) * f[label]) for label in element))
    return total / len(H)


def boost(H, Y, cover, templates, n_iter):
    """Weights (n_hypotheses, n_labels) after `n_iter` rounds, the losses, the bounds, and how clear the choices were.

    The last is the smallest lead of a chosen template over one that would have moved other weights.
    """
    m, n_hypotheses = H.shape
    k = Y.shape[1]
    alpha = np.zeros((n_hypotheses, k))
    curve, bounds, lead = [loss(H, Y, cover, alpha)], [], np.inf
    for _ in range(n_iter):
        plus, minus = np.zeros((n_hypotheses, k)), np.zeros((n_hypotheses, k))
        for i in range(m):
            f = H[i] @ alpha
            sign = [1 if y else -1 for y in Y[i]]
            for element in cover(Y[i]):
                below = 1 + sum(math.exp(-sign[r] * f[r]) for r in element)
                for label in element:
                    q = math.exp(-sign[label] * f[label]) / below
                    for j in range(n_hypotheses):
                        value = q * sign[label] * H[i, j]
                        plus[j, label] += max(value, 0)
                        minus[j, label] += max(-value, 0)
        bound = 0.0
        new = alpha.copy()
        for label in range(k):
            d, gain = np.zeros(n_hypotheses), np.zeros(n_hypotheses)
            for j in range(n_hypotheses):
                if plus[j, label] > 0 and minus[j, label] > 0:
                    d[j] = 0.5 * math.log(plus[j, label] / minus[j, label])
                    gain[j] = (math.sqrt(plus[j, label]) - math.sqrt(minus[j, label])) ** 2
            best = max(range(len(templates)), key=lambda b: templates[b] @ gain)
            for other in templates:
                if not np.allclose(other * d, templates[best] * d, rtol=0, atol=1e-12):
                    lead = min(lead, (templates[best] - other) @ gain)
            bound += templates[best] @ gain
            new[:, label] += templates[best] * d
        alpha = new
        curve.append(loss(H, Y, cover, alpha))
        bounds.append(bound / m)
    return alpha, np.array(curve), np.array(bounds), lead
