"""Constraint classification in words: explicit Kesler vectors, one perceptron over them, every state kept."""

import numpy as np


def kesler(x, better, worse, n_labels):
    """x in the block of the better label, -x in that of the worse one, zeros elsewhere."""
    z = np.zeros((n_labels, len(x)))
    z[better], z[worse] = x, -x
    return z.ravel()


def perceptron(X, edges, weight, orders, margin=0.0, fit_intercept=True):
    """Mean over all visits of the state after each, as (n_labels, n_features + 1), and the violated share by pass.

    edges[i] is a list of (better, worse, votes); `orders` has the rows to visit in each pass.
    """
    X = np.asarray(X, dtype=float)
    n, n_labels = len(X), 1 + max((max(a, b) for row in edges for a, b, _ in row), default=0)
    X = np.column_stack([X, np.full(n, float(fit_intercept))])
    visited = orders[0]
    tau = margin * sum(weight[i] * (X[i] @ X[i]) for i in visited) / sum(weight[i] for i in visited)
    v = np.zeros(n_labels * X.shape[1])
    total, time, shares = np.zeros_like(v), 0.0, []
    for order in orders:
        lost = 0.0
        for i in order:
            vectors = [(kesler(X[i], a, b, n_labels), votes) for a, b, votes in edges[i]]
            wrong = [(z, votes) for z, votes in vectors if v @ z <= tau]
            for z, votes in wrong:
                v = v + weight[i] * votes * z
                lost += weight[i] * votes
            total += weight[i] * v
            time += weight[i]
        shares.append(lost / sum(weight[i] * votes for i in order for _, _, votes in edges[i]))
    return (total / time).reshape(n_labels, -1), shares
