"""Dual block ascent by soft projections: an epoch over instances, and the duality gap.

An instance is visited once per epoch. Its scores are computed, then all its subgraphs are projected one after the
other: the new duals of one change the scores for the next by a multiple of the squared norm, without a product.
Finally the coefficients are updated, once for each label whose duals changed.
"""

from typing import Any, NamedTuple

import numpy as np

from labelrank._kernels.compile import kernel
from labelrank._kernels.losses.soft_margin import target
from labelrank._kernels.solvers.soft_projection.projection import levels

FAST = {"reassoc", "contract", "nnan", "nsz"}


class Duals(NamedTuple):
    """Dual variables: for each subgraph, α of its side A and β of its side B, with Σα = Σβ ≤ C weight."""

    value: Any  # (n_duals,)
    C: float


class Pace(NamedTuple):
    """Which instances an epoch may skip."""

    epoch: int
    rests: Any  # (n_instances, 2): the next epoch that visits the instance, and how many it misses after that
    small: float  # gap of a subgraph up to which it is not projected
    enough: float  # gap of an instance up to which it may rest


class Dense(NamedTuple):
    """Scores that are linear in dense rows, or the scores of all instances and a kernel matrix.

    `constant` is the value of one more feature, 0 for none, whose coefficients are the bias.
    """

    X: Any  # (n_instances, n_features), or the kernel matrix
    norm: Any  # (n_instances,): squared norms of the instances
    coef: Any  # (n_labels, n_features), or the scores of shape (n_labels, n_instances)
    bias: Any  # (n_labels,)
    constant: float
    is_gram: bool


class Csr(NamedTuple):
    """Scores that are linear in the rows of a CSR matrix."""

    indptr: Any
    indices: Any
    data: Any
    norm: Any  # (n_instances,)
    coef: Any  # (n_features, n_labels)
    bias: Any  # (n_labels,)
    constant: float


class Scratch(NamedTuple):
    """Working memory of an epoch."""

    f: Any  # (n_labels,): scores
    delta: Any  # (n_labels,): changes of the sums of duals
    labels: Any  # (n_labels,): the labels of an instance
    seen: Any  # (n_labels,): the last instance with each label
    mu: Any
    nu: Any


@kernel
def scratch_of(n_labels, blocks):
    """Allocate the working memory."""
    return Scratch(
        np.zeros(n_labels),
        np.zeros(n_labels),
        np.empty(n_labels, dtype=np.int64),
        np.full(n_labels, -1),
        np.empty(blocks.largest),
        np.empty(blocks.largest),
    )


@kernel
def distinct_labels(i, scratch, blocks):
    """Write the distinct labels of an instance; return their number."""
    n = 0
    for m in range(blocks.head[i, 2], blocks.head[i + 1, 2]):
        label = blocks.members[m]
        if scratch.seen[label] != i:
            scratch.seen[label] = i
            scratch.labels[n] = label
            n += 1
    return n


@kernel
def visit(i, norm, pace, duals, scratch, blocks):
    """Project all subgraphs of an instance, and schedule its next visit. Return the duality gap found."""
    f, delta, mu, nu = scratch.f, scratch.delta, scratch.mu, scratch.nu
    sides, members, gamma, value = blocks.sides, blocks.members, blocks.gamma, duals.value
    gap = 0.0
    o = blocks.head[i, 1]
    for s in range(blocks.head[i, 0], blocks.head[i + 1, 0]):
        a0, b0 = sides[s, 0], sides[s, 2]
        p, q = sides[s, 1] - a0, sides[s, 3] - b0
        bound = duals.C * blocks.weight[s]
        top_a, top_b, linear = -np.inf, -np.inf, 0.0
        for m in range(p):
            short = target(gamma, a0 + m, 1.0) - f[members[a0 + m]]
            top_a = max(top_a, short)
            linear += value[o + m] * short
            mu[m] = short + value[o + m] * norm
        for m in range(q):
            short = f[members[b0 + m]] - target(gamma, b0 + m, 0.0)
            top_b = max(top_b, short)
            linear += value[o + p + m] * short
            nu[m] = short + value[o + p + m] * norm
        own = bound * max(top_a + top_b, 0.0) - linear
        gap += own
        if own > pace.small:
            # The problem times the squared norm: duals are divided at the end, and scores not at all.
            top_mu, t_a, top_nu, t_b = levels(mu[:p], nu[:q], bound * norm)
            for m in range(p):
                step = replace(value, o + m, max(t_a - (top_mu - mu[m]), 0.0) / norm)
                delta[members[a0 + m]] += step
                f[members[a0 + m]] += step * norm
            for m in range(q):
                step = replace(value, o + p + m, max(t_b - (top_nu - nu[m]), 0.0) / norm)
                delta[members[b0 + m]] -= step
                f[members[b0 + m]] -= step * norm
        o += p + q
    # An instance with a small gap rests for the next 0, 1, 3, 7, 15 epochs as long as its gap stays small.
    if gap <= pace.enough:
        pace.rests[i, 0] = pace.epoch + 1 + pace.rests[i, 1]
        pace.rests[i, 1] = min(2 * pace.rests[i, 1] + 1, 15)
    else:
        pace.rests[i, 1] = 0
    return gap


@kernel(inline="always")
def replace(values, m, new):
    """Store a dual; return its change as stored, possibly in float32, so that coefficients match the duals."""
    old = np.float64(values[m])
    values[m] = new
    return values[m] - old


@kernel(fastmath=FAST)
def dot(x, w):
    """Return the sum of products."""
    total = 0.0
    for j in range(len(x)):
        total += x[j] * w[j]
    return total


@kernel
def epoch_dense(model, order, pace, duals, blocks):
    """Visit the instances in `order` and update the coefficients. Returns the sum of the gaps found."""
    coef, bias, constant = model.coef, model.bias, model.constant
    scratch = scratch_of(len(coef), blocks)
    found = 0.0
    for i in order:
        x = model.X[i]
        n = distinct_labels(i, scratch, blocks)
        for label in scratch.labels[:n]:
            scratch.f[label] = coef[label, i] if model.is_gram else dot(x, coef[label]) + constant * bias[label]
        found += visit(i, model.norm[i], pace, duals, scratch, blocks)
        for label in scratch.labels[:n]:
            step = scratch.delta[label]
            if step != 0.0:
                w = coef[label]
                for j in range(len(x)):
                    w[j] += step * x[j]
                bias[label] += step * constant
                scratch.delta[label] = 0.0
    return found


@kernel
def epoch_csr(model, order, pace, duals, blocks):
    """Visit the instances in `order` and update the coefficients. Returns the sum of the gaps found."""
    indptr, indices, data, coef, bias = model.indptr, model.indices, model.data, model.coef, model.bias
    k = len(bias)
    scratch = scratch_of(k, blocks)
    f, delta, labels = scratch.f, scratch.delta, scratch.labels
    found = 0.0
    for i in order:
        n, first, last = distinct_labels(i, scratch, blocks), indptr[i], indptr[i + 1]
        for m in range(n):
            f[labels[m]] = model.constant * bias[labels[m]]
        if n == k:  # no gather
            for r in range(first, last):
                x, w = data[r], coef[indices[r]]
                for label in range(k):
                    f[label] += x * w[label]
        else:
            for r in range(first, last):
                x, w = data[r], coef[indices[r]]
                for m in range(n):
                    f[labels[m]] += x * w[labels[m]]
        found += visit(i, model.norm[i], pace, duals, scratch, blocks)
        n_changed = 0
        for m in range(n):
            if delta[labels[m]] != 0.0:
                labels[n_changed] = labels[m]
                n_changed += 1
        for r in range(first, last if n_changed else first):
            x, w = data[r], coef[indices[r]]
            for m in range(n_changed):
                w[labels[m]] += delta[labels[m]] * x
        for m in range(n_changed):
            bias[labels[m]] += delta[labels[m]] * model.constant
            delta[labels[m]] = 0.0
    return found


@kernel
def duality_gaps(scores, first, duals, blocks, gaps):
    """Write the duality gap of each of the instances from `first` on; return C times their loss."""
    loss = 0.0
    for i in range(first, first + len(scores)):
        f = scores[i - first]
        o = blocks.head[i, 1]
        gaps[i] = 0.0
        for s in range(blocks.head[i, 0], blocks.head[i + 1, 0]):
            top_a, top_b, linear = -np.inf, -np.inf, 0.0
            for m in range(blocks.sides[s, 0], blocks.sides[s, 1]):
                short = target(blocks.gamma, m, 1.0) - f[blocks.members[m]]
                top_a = max(top_a, short)
                linear += duals.value[o] * short
                o += 1
            for m in range(blocks.sides[s, 2], blocks.sides[s, 3]):
                short = f[blocks.members[m]] - target(blocks.gamma, m, 0.0)
                top_b = max(top_b, short)
                linear += duals.value[o] * short
                o += 1
            slack = duals.C * blocks.weight[s] * max(top_a + top_b, 0.0)
            loss += slack
            gaps[i] += slack - linear
    return loss


@kernel
def collect(first, duals, blocks, out):
    """Write Σα − Σβ of each label for the instances from `first` on."""
    out[:] = 0.0
    for i in range(first, first + len(out)):
        own, o = out[i - first], blocks.head[i, 1]
        for s in range(blocks.head[i, 0], blocks.head[i + 1, 0]):
            for m in range(blocks.sides[s, 0], blocks.sides[s, 1]):
                own[blocks.members[m]] += duals.value[o]
                o += 1
            for m in range(blocks.sides[s, 2], blocks.sides[s, 3]):
                own[blocks.members[m]] -= duals.value[o]
                o += 1


@kernel
def make_feasible(duals, blocks):
    """Scale the two sides of each subgraph to a common sum of at most its bound."""
    o = 0
    for s in range(len(blocks.sides)):
        p, q = blocks.sides[s, 1] - blocks.sides[s, 0], blocks.sides[s, 3] - blocks.sides[s, 2]
        alpha, beta = duals.value[o : o + p], duals.value[o + p : o + p + q]
        sum_a, sum_b = clip_and_sum(alpha), clip_and_sum(beta)
        z = min(sum_a, sum_b, duals.C * blocks.weight[s])
        scale_to(alpha, sum_a, z)
        scale_to(beta, sum_b, z)
        o += p + q


@kernel
def clip_and_sum(values):
    """Set negative entries to 0; return the sum."""
    total = 0.0
    for m in range(len(values)):
        values[m] = max(values[m], 0.0)
        total += values[m]
    return total


@kernel
def scale_to(values, total, z):
    """Scale entries with the sum `total` to the smaller sum `z`, unless the sums are equal up to rounding."""
    for m in range(len(values)):
        if z == 0.0:
            values[m] = 0.0
        elif total > z * (1.0 + 1e-12):
            values[m] = values[m] / total * z
