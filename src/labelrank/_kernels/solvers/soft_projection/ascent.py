"""Dual block ascent by soft projections: an epoch over instances, and the terms of the two objectives.

An instance is visited once per epoch. Its scores are computed, then all its subgraphs are projected one after the
other: the duals of one change the scores for the next by their multiple of the squared norm, which costs no product.
Only then do the coefficients move, once for each label that changed.

The subgraphs come as one tuple, ``head, sides, members, gamma, labels``. Row i of head says where the subgraphs, the
duals and the labels of instance i begin, row i + 1 where they end; of the duals of a subgraph, α comes before β. A row
of sides has the ends of the two slices of members that are A and B. gamma has the target of each member; if it is
empty, targets are 1 in A and 0 in B. Instances are visited in random order, so what is read together lies together:
misses of the cache cost more than anything else here.

``constant`` is the value of one more feature, 0 for none; its coefficients are the bias.
"""

import numpy as np

from labelrank._kernels.compile import kernel
from labelrank._kernels.solvers.soft_projection.projection import levels

FAST = {"reassoc", "contract", "nnan", "nsz"}
TINY = 1e-200  # a squared norm with which nothing can be moved


@kernel(inline="always")
def target(gamma, m, unit):
    """The target of a member; `unit` is that for margins of 1."""
    return gamma[m] if len(gamma) else unit


@kernel
def visit(i, norm, f, delta, duals, bound, small, mu, nu, structure):
    """Project all subgraphs of instance i; f and delta are updated by label. Returns the duality gap found."""
    head, sides, members, gamma, _ = structure
    gap = 0.0
    o = head[i, 1]
    for s in range(head[i, 0], head[i + 1, 0]):
        a0, b0 = sides[s, 0], sides[s, 2]
        p, q = sides[s, 1] - a0, sides[s, 3] - b0
        top_a, top_b, linear = -np.inf, -np.inf, 0.0
        for m in range(p):
            short = target(gamma, a0 + m, 1.0) - f[members[a0 + m]]
            alpha = duals[o + m]
            top_a = max(top_a, short)
            linear += alpha * short
            mu[m] = short + alpha * norm
        for m in range(q):
            short = f[members[b0 + m]] - target(gamma, b0 + m, 0.0)
            beta = duals[o + p + m]
            top_b = max(top_b, short)
            linear += beta * short
            nu[m] = short + beta * norm
        own = bound[s] * max(top_a + top_b, 0.0) - linear
        gap += own
        if own > small:
            if norm > TINY:
                # The problem times the squared norm: duals are divided at the end, scores never.
                top_mu, t_a, top_nu, t_b = levels(mu[:p], nu[:q], bound[s] * norm)
                for m in range(p):
                    old = np.float64(duals[o + m])  # differences of 32-bit numbers need more bits than they have
                    new = max(t_a - (top_mu - mu[m]), 0.0) / norm
                    if new != old:
                        duals[o + m] = new
                        step = duals[o + m] - old  # as stored, so that duals and coefficients stay together
                        delta[members[a0 + m]] += step
                        f[members[a0 + m]] += step * norm
                for m in range(q):
                    old = np.float64(duals[o + p + m])
                    new = max(t_b - (top_nu - nu[m]), 0.0) / norm
                    if new != old:
                        duals[o + p + m] = new
                        step = duals[o + p + m] - old
                        delta[members[b0 + m]] -= step
                        f[members[b0 + m]] -= step * norm
            else:
                # No feature, no influence on any score: the dual objective is linear, all on the worst pair.
                best_a, best_b = 0, 0
                for m in range(p + q):
                    duals[o + m] = 0.0
                for m in range(p):
                    if mu[m] > mu[best_a]:
                        best_a = m
                for m in range(q):
                    if nu[m] > nu[best_b]:
                        best_b = m
                if mu[best_a] + nu[best_b] > 0.0:
                    duals[o + best_a] = bound[s]
                    duals[o + p + best_b] = bound[s]
        o += p + q
    return gap


@kernel
def rest(i, gap, enough, epoch, rests):
    """Leave an instance whose gap is small enough out of the next 0, 1, 3, 7, 15 epochs, while it stays so.

    rests[i] is the epoch in which it is due, and how many it is left out of next time.
    """
    if gap <= enough:
        rests[i, 0] = epoch + 1 + rests[i, 1]
        rests[i, 1] = min(2 * rests[i, 1] + 1, 15)
    else:
        rests[i, 1] = 0


@kernel(fastmath=FAST)
def dot(x, w):
    """The sum of products."""
    total = 0.0
    for j in range(len(x)):
        total += x[j] * w[j]
    return total


@kernel
def epoch_dense(X, constant, norm, coef, bias, order, epoch, rests, small, enough, duals, bound, largest, structure):
    """Visit the instances in `order`; coef has shape (n_labels, n_features). Returns the sum of the gaps found."""
    head, _, _, _, labels = structure
    k, d = coef.shape
    f, delta, mu, nu = np.zeros(k), np.zeros(k), np.empty(largest), np.empty(largest)
    found = 0.0
    for i in order:
        x = X[i]
        for m in range(head[i, 2], head[i + 1, 2]):
            f[labels[m]] = dot(x, coef[labels[m]]) + constant * bias[labels[m]]
        gap = visit(i, norm[i], f, delta, duals, bound, small, mu, nu, structure)
        found += gap
        rest(i, gap, enough, epoch, rests)
        for m in range(head[i, 2], head[i + 1, 2]):
            step = delta[labels[m]]
            if step != 0.0:
                w = coef[labels[m]]
                for j in range(d):
                    w[j] += step * x[j]
                bias[labels[m]] += step * constant
                delta[labels[m]] = 0.0
    return found


@kernel
def epoch_csr(
    indptr,
    indices,
    data,
    constant,
    norm,
    coef,
    bias,
    order,
    epoch,
    rests,
    small,
    enough,
    duals,
    bound,
    largest,
    structure,
):
    """The same for the three arrays of a CSR matrix; coef has shape (n_features, n_labels)."""
    head, _, _, _, labels = structure
    k = coef.shape[1]
    f, delta, mu, nu = np.zeros(k), np.zeros(k), np.empty(largest), np.empty(largest)
    changed = np.empty(k, dtype=np.int64)
    found = 0.0
    for i in order:
        first, last = head[i, 2], head[i + 1, 2]
        if last - first == k:
            for y in range(k):
                f[y] = constant * bias[y]
            for r in range(indptr[i], indptr[i + 1]):
                x, w = data[r], coef[indices[r]]
                for y in range(k):
                    f[y] += x * w[y]
        else:
            for m in range(first, last):
                f[labels[m]] = constant * bias[labels[m]]
            for r in range(indptr[i], indptr[i + 1]):
                x, w = data[r], coef[indices[r]]
                for m in range(first, last):
                    f[labels[m]] += x * w[labels[m]]
        gap = visit(i, norm[i], f, delta, duals, bound, small, mu, nu, structure)
        found += gap
        rest(i, gap, enough, epoch, rests)
        n_changed = 0
        for m in range(first, last):
            if delta[labels[m]] != 0.0:
                changed[n_changed] = labels[m]
                n_changed += 1
        if n_changed:
            for r in range(indptr[i], indptr[i + 1]):
                x, w = data[r], coef[indices[r]]
                for m in range(n_changed):
                    w[changed[m]] += delta[changed[m]] * x
            for m in range(n_changed):
                bias[changed[m]] += delta[changed[m]] * constant
                delta[changed[m]] = 0.0
    return found


@kernel
def epoch_gram(gram, scores, order, epoch, rests, small, enough, duals, bound, largest, structure):
    """The same for a kernel matrix; scores of shape (n_labels, n_instances) are kept up to date."""
    head, _, _, _, labels = structure
    k, n = scores.shape
    f, delta, mu, nu = np.zeros(k), np.zeros(k), np.empty(largest), np.empty(largest)
    found = 0.0
    for i in order:
        row = gram[i]
        for m in range(head[i, 2], head[i + 1, 2]):
            f[labels[m]] = scores[labels[m], i]
        gap = visit(i, row[i], f, delta, duals, bound, small, mu, nu, structure)
        found += gap
        rest(i, gap, enough, epoch, rests)
        for m in range(head[i, 2], head[i + 1, 2]):
            step = delta[labels[m]]
            if step != 0.0:
                target = scores[labels[m]]
                for j in range(n):
                    target[j] += step * row[j]
                delta[labels[m]] = 0.0
    return found


@kernel
def terms(scores, first, last, duals, bound, gaps, structure):
    """Σ bound ξ and Σ γα − γβ of the instances from `first` to `last`; `gaps` gets each one's duality gap."""
    head, sides, members, gamma, _ = structure
    loss, linear = 0.0, 0.0
    for i in range(first, last):
        f = scores[i - first]
        o = head[i, 1]
        gap = 0.0
        for s in range(head[i, 0], head[i + 1, 0]):
            top_a, top_b, own = -np.inf, -np.inf, 0.0
            for m in range(sides[s, 0], sides[s, 1]):
                short = target(gamma, m, 1.0) - f[members[m]]
                top_a = max(top_a, short)
                own += duals[o] * short
                linear += duals[o] * target(gamma, m, 1.0)
                o += 1
            for m in range(sides[s, 2], sides[s, 3]):
                short = f[members[m]] - target(gamma, m, 0.0)
                top_b = max(top_b, short)
                own += duals[o] * short
                linear -= duals[o] * target(gamma, m, 0.0)
                o += 1
            xi = max(top_a + top_b, 0.0)
            loss += bound[s] * xi
            gap += bound[s] * xi - own
        gaps[i] = gap
    return loss, linear


@kernel
def slack_sum(scores, weight, structure):
    """Σ weight ξ of all instances."""
    head, sides, members, gamma, _ = structure
    loss = 0.0
    for i in range(len(scores)):
        f = scores[i]
        for s in range(head[i, 0], head[i + 1, 0]):
            top_a, top_b = -np.inf, -np.inf
            for m in range(sides[s, 0], sides[s, 1]):
                top_a = max(top_a, target(gamma, m, 1.0) - f[members[m]])
            for m in range(sides[s, 2], sides[s, 3]):
                top_b = max(top_b, f[members[m]] - target(gamma, m, 0.0))
            loss += weight[s] * max(top_a + top_b, 0.0)
    return loss


@kernel
def collect(first, last, duals, out, structure):
    """out[i - first, l] = Σα − Σβ of label l in the subgraphs of instance i."""
    head, sides, members, _, _ = structure
    out[: last - first] = 0.0
    for i in range(first, last):
        o = head[i, 1]
        for s in range(head[i, 0], head[i + 1, 0]):
            for m in range(sides[s, 0], sides[s, 1]):
                out[i - first, members[m]] += duals[o]
                o += 1
            for m in range(sides[s, 2], sides[s, 3]):
                out[i - first, members[m]] -= duals[o]
                o += 1


@kernel
def make_feasible(rows, duals, bound, structure):
    """Scale the two sides of each subgraph of some instances to a common sum of at most its bound."""
    head, sides, _, _, _ = structure
    for i in rows:
        o = head[i, 1]
        for s in range(head[i, 0], head[i + 1, 0]):
            p, q = sides[s, 1] - sides[s, 0], sides[s, 3] - sides[s, 2]
            sum_a, sum_b = 0.0, 0.0
            for m in range(o, o + p):
                duals[m] = max(duals[m], 0.0)
                sum_a += duals[m]
            for m in range(o + p, o + p + q):
                duals[m] = max(duals[m], 0.0)
                sum_b += duals[m]
            z = min(sum_a, sum_b, bound[s])
            # A sum that is right up to rounding is left as it is, so that going on changes nothing.
            if sum_a > z * (1 + 1e-12) or z == 0.0:
                for m in range(o, o + p):
                    duals[m] = duals[m] / sum_a * z if z > 0.0 else 0.0
            if sum_b > z * (1 + 1e-12) or z == 0.0:
                for m in range(o + p, o + p + q):
                    duals[m] = duals[m] / sum_b * z if z > 0.0 else 0.0
            o += p + q


@kernel
def online_dense(X, constant, norm, coef, bias, lag_coef, lag_bias, rows, seen, duals, bound, largest, structure):
    """Project each instance once, in order, from fresh duals.

    The mean of the iterates after each of n instances is coef − lag / n: a step is missing from the iterates before it.
    """
    head, _, _, _, labels = structure
    k, d = coef.shape
    f, delta, mu, nu = np.zeros(k), np.zeros(k), np.empty(largest), np.empty(largest)
    for t in range(len(rows)):
        i = rows[t]
        x = X[i]
        for m in range(head[i, 2], head[i + 1, 2]):
            f[labels[m]] = dot(x, coef[labels[m]]) + constant * bias[labels[m]]
        visit(i, norm[i], f, delta, duals, bound, 0.0, mu, nu, structure)
        for m in range(head[i, 2], head[i + 1, 2]):
            step = delta[labels[m]]
            if step != 0.0:
                w, lag, missed = coef[labels[m]], lag_coef[labels[m]], (seen + t) * step
                for j in range(d):
                    w[j] += step * x[j]
                    lag[j] += missed * x[j]
                bias[labels[m]] += step * constant
                lag_bias[labels[m]] += missed * constant
                delta[labels[m]] = 0.0


@kernel
def online_csr(
    indptr, indices, data, constant, norm, coef, bias, lag_coef, lag_bias, rows, seen, duals, bound, largest, structure
):
    """The same for the three arrays of a CSR matrix; coef and lag_coef have shape (n_features, n_labels)."""
    head, _, _, _, labels = structure
    k = coef.shape[1]
    f, delta, mu, nu = np.zeros(k), np.zeros(k), np.empty(largest), np.empty(largest)
    for t in range(len(rows)):
        i = rows[t]
        first, last = head[i, 2], head[i + 1, 2]
        for m in range(first, last):
            f[labels[m]] = constant * bias[labels[m]]
        for r in range(indptr[i], indptr[i + 1]):
            x, w = data[r], coef[indices[r]]
            for m in range(first, last):
                f[labels[m]] += x * w[labels[m]]
        visit(i, norm[i], f, delta, duals, bound, 0.0, mu, nu, structure)
        for r in range(indptr[i], indptr[i + 1]):
            x, w, lag = data[r], coef[indices[r]], lag_coef[indices[r]]
            for m in range(first, last):
                w[labels[m]] += delta[labels[m]] * x
                lag[labels[m]] += (seen + t) * delta[labels[m]] * x
        for m in range(first, last):
            bias[labels[m]] += delta[labels[m]] * constant
            lag_bias[labels[m]] += (seen + t) * delta[labels[m]] * constant
            delta[labels[m]] = 0.0


@kernel
def different_labels(ptr, members, n_labels, ends, out):
    """Copy the members of each instance without repeats; ends[i + 1] is where those of instance i end."""
    seen = np.full(n_labels, -1)
    o = 0
    for i in range(len(ptr) - 1):
        for m in range(ptr[i], ptr[i + 1]):
            if seen[members[m]] != i:
                seen[members[m]] = i
                out[o] = members[m]
                o += 1
        ends[i + 1] = o
