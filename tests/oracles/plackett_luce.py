"""The Plackett-Luce likelihood, choice after choice; ties by Efron's approximation."""

import numpy as np


def choices(ranks):
    """(label that is chosen, {label that it is chosen from: share of it that is left}) of one instance.

    Missing labels are absent. The labels of the last level are not chosen: nothing is known to be worse.
    """
    present = [label for label in range(len(ranks)) if not np.isnan(ranks[label])]
    found = []
    for level in sorted({ranks[label] for label in present})[:-1]:
        tied = [label for label in present if ranks[label] == level]
        for m, label in enumerate(tied):
            rest = {other: 1.0 for other in present if ranks[other] > level}
            rest.update(dict.fromkeys(tied, 1 - m / len(tied)))
            found.append((label, rest))
    return found


def loss(ranks, f):
    """Loss, gradient and diagonal of the Hessian of one instance, in extended precision."""
    f = np.asarray(f, dtype=np.longdouble)
    value, gradient, curvature = np.longdouble(0), np.zeros(len(f), f.dtype), np.zeros(len(f), f.dtype)
    for chosen, rest in choices(ranks):
        top = max(f[label] for label in rest)
        total = sum(np.longdouble(share) * np.exp(f[label] - top) for label, share in rest.items())
        value += top + np.log(total) - f[chosen]
        gradient[chosen] -= 1
        for label, share in rest.items():
            p = share * np.exp(f[label] - top) / total
            gradient[label] += p
            curvature[label] += p * (1 - p)
    return value, gradient, curvature
