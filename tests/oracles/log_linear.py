"""Figure 3 of the log-linear paper, edge by edge and base ranker by base ranker."""

import math

import numpy as np


def block_features(X, n_labels, fit_intercept):
    """h_{(w, y)}(x, l) = φ_w(x) [l = y] as an array (n, n_labels, n_features * n_labels)."""
    X = np.asarray(X, dtype=float)
    if fit_intercept:
        X = np.hstack([X, np.ones((len(X), 1))])
    n, d = X.shape
    h = np.zeros((n, n_labels, d * n_labels))
    for i in range(n):
        for y in range(n_labels):
            for w in range(d):
                h[i, y, w * n_labels + y] = X[i, w]
    return h


def _changes(h, cut):
    """π for every edge of every instance."""
    return [{e: h[i, e[1]] - h[i, e[0]] for part in parts for e in part} for i, parts in enumerate(cut)]


def loss(h, cut, lam, weight=None):
    """Sum over the instances of the mean over the subgraphs of log(1 + Σ exp(λ·π))."""
    total = 0.0
    for i, parts in enumerate(cut):
        for part in parts:
            s = sum(math.exp(lam @ (h[i, e[1]] - h[i, e[0]])) for e in part)
            total += (1 if weight is None else weight[i]) * math.log(1 + s) / len(parts)
    return total


def boost(h, cut, n_iter, smoothing=0.0, weight=None):
    """Coefficients after `n_iter` steps, the mean loss before and after each, the bound on each decrease of it."""
    n_base = h.shape[2]
    weight = np.ones(len(h)) if weight is None else weight
    total_weight = sum(w for w, parts in zip(weight, cut, strict=True) if parts)
    pi = _changes(h, cut)
    Z = max(np.abs(change).sum() for i, row in enumerate(pi) if weight[i] > 0 for change in row.values())
    lam = np.zeros(n_base)
    curve, bounds = [loss(h, cut, lam, weight)], []
    for _ in range(n_iter):
        plus, minus = np.zeros(n_base), np.zeros(n_base)
        for i, parts in enumerate(cut):
            for e, change in pi[i].items():
                q = 0.0
                for part in parts:
                    if e in part:
                        q += math.exp(lam @ change) / (1 + sum(math.exp(lam @ pi[i][other]) for other in part))
                q *= weight[i] / len(parts)
                for j in range(n_base):
                    if change[j] > 0:
                        plus[j] += q * change[j]
                    elif change[j] < 0:
                        minus[j] -= q * change[j]
        step = np.zeros(n_base)
        bound = 0.0
        for j in range(n_base):
            a, b = plus[j] + smoothing, minus[j] + smoothing
            if a > 0 and b > 0:
                step[j] = 0.5 * math.log(a / b)
                bound += plus[j] * (1 - math.exp(-step[j])) + minus[j] * (1 - math.exp(step[j]))
        lam = lam - step / Z
        curve.append(loss(h, cut, lam, weight))
        bounds.append(bound / Z)
    return lam, np.array(curve) / total_weight, np.array(bounds) / total_weight
