"""log(1 + Σ_e exp(f_term − f_init)) over the subgraphs of a graph: its value, and what flows through each label.

For an instance of weight w cut into s subgraphs, the *inflow* of a label is T = (w/s) Σ q_e over the edges that end
there, the *outflow* I = (w/s) Σ q_e over the edges that start there, with q_e = exp(f_term − f_init) / (1 + Σ exp(…)).
The gradient of the loss with respect to the scores is T − I. Every sum of exponentials is kept as a logarithm or
relative to its largest term, so that scores of any size give finite results.
"""

import math

import numpy as np

from labelrank._kernels.compile import kernel

ZERO_ONE, DISAGREEMENT, DOMINATION, DOMINATED = range(4)


@kernel
def _log_add(a, b):
    """log(e^a + e^b); either may be -inf."""
    if a < b:
        a, b = b, a
    if b == -np.inf:
        return a
    return a + math.log1p(math.exp(b - a))


@kernel
def _soft_plus(x):
    """log(1 + e^x) and its derivative."""
    if x > 0:
        e = math.exp(-x)
        return x + math.log1p(e), 1.0 / (1.0 + e)
    e = math.exp(x)
    return math.log1p(e), e / (1.0 + e)


@kernel
def _exponentials_of_levels(x, start, depth, first, sign, scaled, log_sum, extreme):
    """Of each level from `first` on: log Σ exp(sign·x), and exp(sign·x) relative to the largest."""
    for level in range(first, depth):
        a, b = start[level], start[level + 1]
        if a == b:
            log_sum[level] = -np.inf
            continue
        top = sign * x[a]
        for p in range(a + 1, b):
            top = max(top, sign * x[p])
        total = 0.0
        for p in range(a, b):
            scaled[p] = math.exp(sign * x[p] - top)
            total += scaled[p]
        extreme[level] = top
        log_sum[level] = top + math.log(total)


@kernel
def _domination(x, start, depth, t, i, scaled, log_sum, top, below, above):
    """One star per label with lower ones; x, t and i are sorted by level. Returns the loss of one instance."""
    m = start[depth]
    _exponentials_of_levels(x, start, depth, 1, 1.0, scaled, log_sum, top)
    below[depth - 1] = -np.inf  # log Σ of all lower levels
    for level in range(depth - 2, -1, -1):
        below[level] = _log_add(below[level + 1], log_sum[level + 1])
    stars = 0
    for level in range(depth):
        if below[level] > -np.inf:
            stars += start[level + 1] - start[level]
    if stars == 0:
        for p in range(m):
            t[p], i[p] = 0.0, 0.0
        return 0.0
    loss = 0.0
    above[0] = -np.inf  # log Σ over the higher levels of what each sends down, per unit of exp(f)
    for level in range(depth):
        sent = 0.0
        for p in range(start[level], start[level + 1]):
            if below[level] > -np.inf:
                value, share = _soft_plus(below[level] - x[p])
                loss += value
                i[p] = share / stars
                sent += share
            else:
                i[p] = 0.0
        if level + 1 < depth:
            above[level + 1] = _log_add(above[level], math.log(sent) - below[level]) if sent > 0 else above[level]
        if above[level] > -np.inf:
            factor = math.exp(top[level] + above[level]) / stars if start[level + 1] > start[level] else 0.0
            for p in range(start[level], start[level + 1]):
                t[p] = scaled[p] * factor
        else:
            for p in range(start[level], start[level + 1]):
                t[p] = 0.0
    return loss / stars


@kernel
def _zero_one(x, start, depth, t, i, scaled, log_sum, top, below, above, inverse, log_inverse, bottom):
    """All edges in one subgraph."""
    m = start[depth]
    _exponentials_of_levels(x, start, depth, 1, 1.0, scaled, log_sum, top)
    _exponentials_of_levels(x, start, depth - 1, 0, -1.0, inverse, log_inverse, bottom)
    below[depth - 1] = -np.inf
    for level in range(depth - 2, -1, -1):
        below[level] = _log_add(below[level + 1], log_sum[level + 1])
    above[0] = -np.inf
    log_total = -np.inf
    for level in range(depth - 1):
        above[level + 1] = _log_add(above[level], log_inverse[level])
        if log_inverse[level] > -np.inf and below[level] > -np.inf:
            log_total = _log_add(log_total, log_inverse[level] + below[level])
    if log_total == -np.inf:
        for p in range(m):
            t[p], i[p] = 0.0, 0.0
        return 0.0
    loss, _ = _soft_plus(log_total)
    for level in range(depth):
        out_of, into = 0.0, 0.0
        if start[level + 1] > start[level]:
            if below[level] > -np.inf:
                out_of = math.exp(bottom[level] + below[level] - loss)
            if above[level] > -np.inf:
                into = math.exp(top[level] + above[level] - loss)
        for p in range(start[level], start[level + 1]):
            i[p] = inverse[p] * out_of if out_of > 0 else 0.0
            t[p] = scaled[p] * into if into > 0 else 0.0
    return loss


# "reassoc" lets the sum run in several lanes.
@kernel(fastmath={"reassoc"})
def _pull_apart(inverse, scaled, t, product):
    """One label against all lower ones: their shares are added to `t`, their factors taken into `product`."""
    total = 0.0
    for q in range(len(scaled)):
        ratio = scaled[q] * inverse
        share = ratio / (1.0 + ratio)
        t[q] += share
        product[q] *= 1.0 + ratio
        total += share
    return total


@kernel
def _take_logs(product):
    """Σ log(product), which is set back to 1."""
    loss, together = 0.0, 1.0
    for q in range(len(product)):
        if product[q] > 1e100:
            loss += math.log(product[q])
        else:
            together *= product[q]
            if together > 1e150:
                loss += math.log(together)
                together = 1.0
        product[q] = 1.0
    return loss + math.log(together)


@kernel
def _disagreement(x, start, depth, t, i, scaled, product):
    """One subgraph per edge."""
    m = start[depth]
    edges = 0
    for level in range(depth):
        edges += (start[level + 1] - start[level]) * (m - start[level + 1])
    for p in range(m):
        t[p], i[p] = 0.0, 0.0
    if edges == 0:
        return 0.0
    low, high = x[0], x[0]
    for p in range(m):
        low, high = min(low, x[p]), max(high, x[p])
    loss = 0.0
    if high - low < 40.0:  # sixteen factors (1 + e^40) stay finite: few logarithms, and no exponential for a pair
        middle = 0.5 * (low + high)
        for p in range(m):
            scaled[p] = math.exp(x[p] - middle)
            product[p] = 1.0
        pending = 0
        for level in range(depth):
            if start[level + 1] == m:
                break
            for p in range(start[level], start[level + 1]):
                i[p] = _pull_apart(
                    1.0 / scaled[p],
                    scaled[start[level + 1] : m],
                    t[start[level + 1] : m],
                    product[start[level + 1] : m],
                )
                pending += 1
                if pending == 16:
                    loss += _take_logs(product[:m])
                    pending = 0
        loss += _take_logs(product[:m])
    else:
        for level in range(depth):
            for p in range(start[level], start[level + 1]):
                for q in range(start[level + 1], m):
                    value, share = _soft_plus(x[q] - x[p])
                    loss += value
                    t[q] += share
                    i[p] += share
    for p in range(m):
        t[p] /= edges
        i[p] /= edges
    return loss / edges


@kernel
def _add_log1p(loss, product, ratio):
    """Take log(1 + ratio) into the sum `loss + log(product)`: one logarithm for many factors."""
    if ratio < 1e-8:
        return loss + ratio * (1.0 - 0.5 * ratio), product
    if ratio > 1e100:
        return loss + math.log(ratio), product
    product *= 1.0 + ratio
    if product > 1e150:
        return loss + math.log(product), 1.0
    return loss, product


@kernel
def _plain_domination(levels, e, t, i, total, sent, depth):
    """Domination from e = exp(f) of moderate size: no logarithm but one per star. Returns the loss."""
    k = len(levels)
    total[:] = 0.0
    for j in range(k):
        if levels[j] >= 0:
            total[levels[j]] += e[j]
    below = 0.0
    for level in range(depth - 1, -1, -1):
        here = total[level]
        total[level] = below  # Σ exp(f) of all lower levels
        below += here
    loss, product, stars = 0.0, 1.0, 0
    sent[:] = 0.0
    for j in range(k):
        i[j] = 0.0
        if levels[j] >= 0 and total[levels[j]] > 0:
            ratio = total[levels[j]] / e[j]
            loss, product = _add_log1p(loss, product, ratio)
            i[j] = ratio / (1.0 + ratio)
            sent[levels[j]] += i[j]
            stars += 1
    if stars == 0:
        t[:] = 0.0
        return 0.0
    above = 0.0
    for level in range(depth):
        here = sent[level] / total[level] if total[level] > 0 else 0.0
        sent[level] = above  # Σ over the higher levels of what each sends down, per unit of exp(f)
        above += here
    for j in range(k):
        t[j] = e[j] * sent[levels[j]] / stars if levels[j] >= 0 else 0.0
        i[j] /= stars
    return (loss + math.log(product)) / stars


@kernel
def _plain_dominated(levels, e, t, i, total, sent, depth):
    """The mirror image of :func:`_plain_domination`."""
    k = len(levels)
    total[:] = 0.0
    for j in range(k):
        if levels[j] >= 0:
            total[levels[j]] += 1.0 / e[j]
    above = 0.0
    for level in range(depth):
        here = total[level]
        total[level] = above  # Σ exp(−f) of all higher levels
        above += here
    loss, product, stars = 0.0, 1.0, 0
    sent[:] = 0.0
    for j in range(k):
        t[j] = 0.0
        if levels[j] >= 0 and total[levels[j]] > 0:
            ratio = total[levels[j]] * e[j]
            loss, product = _add_log1p(loss, product, ratio)
            t[j] = ratio / (1.0 + ratio)
            sent[levels[j]] += t[j]
            stars += 1
    if stars == 0:
        i[:] = 0.0
        return 0.0
    below = 0.0
    for level in range(depth - 1, -1, -1):
        here = sent[level] / total[level] if total[level] > 0 else 0.0
        sent[level] = below
        below += here
    for j in range(k):
        i[j] = sent[levels[j]] / (e[j] * stars) if levels[j] >= 0 else 0.0
        t[j] /= stars
    return (loss + math.log(product)) / stars


@kernel
def _plain_zero_one(levels, e, t, i, total, sent, depth):
    """All edges in one subgraph, from e = exp(f) of moderate size."""
    k = len(levels)
    total[:] = 0.0
    sent[:] = 0.0
    for j in range(k):
        if levels[j] >= 0:
            total[levels[j]] += e[j]
            sent[levels[j]] += 1.0 / e[j]
    below = 0.0
    for level in range(depth - 1, -1, -1):
        here = total[level]
        total[level] = below
        below += here
    above, edges = 0.0, 0.0
    for level in range(depth):
        here = sent[level]
        edges += here * total[level]
        sent[level] = above
        above += here
    if edges == 0:
        t[:] = 0.0
        i[:] = 0.0
        return 0.0
    scale = 1.0 / (1.0 + edges)
    for j in range(k):
        if levels[j] >= 0:
            t[j] = e[j] * sent[levels[j]] * scale
            i[j] = total[levels[j]] / e[j] * scale
        else:
            t[j], i[j] = 0.0, 0.0
    return math.log1p(edges)


@kernel
def level_flows(levels, scores, outflow, weight, depth, kind):
    """Loss of layered graphs; `scores` is overwritten with the inflow T, `outflow` with I. Shapes (n, k).

    `outflow` comes in as exp(scores − largest of the row). A row in which that is far from underflow is worked off with
    plain sums, any other with sums kept as logarithms.
    """
    n, k = levels.shape
    value = 0.0
    start = np.zeros(depth + 1, np.int64)
    fill = np.zeros(depth + 1, np.int64)
    place = np.empty(k, np.int64)
    x, t, i, scaled, inverse = np.empty(k), np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    log_sum, top, below, above = np.empty(depth), np.zeros(depth), np.empty(depth), np.empty(depth)
    log_inverse, bottom = np.empty(depth), np.zeros(depth)
    mirrored = kind == DOMINATED  # domination upside down: scores negated, levels reversed, flows exchanged
    for row in range(n):
        w = weight[row]
        if kind != DISAGREEMENT:
            smallest = 1.0
            for j in range(k):
                scaled[j] = outflow[row, j]
                if levels[row, j] >= 0:
                    smallest = min(smallest, scaled[j])
            if smallest > 1e-250:
                if kind == ZERO_ONE:
                    loss = _plain_zero_one(levels[row], scaled, t, i, below, above, depth)
                elif kind == DOMINATED:
                    loss = _plain_dominated(levels[row], scaled, t, i, below, above, depth)
                else:
                    loss = _plain_domination(levels[row], scaled, t, i, below, above, depth)
                value += w * loss
                for j in range(k):
                    scores[row, j] = w * t[j]
                    outflow[row, j] = w * i[j]
                continue
        start[:] = 0
        for j in range(k):
            level = levels[row, j]
            if level >= 0:
                start[(depth - 1 - level if mirrored else level) + 1] += 1
        for level in range(depth):
            start[level + 1] += start[level]
            fill[level] = start[level]
        for j in range(k):
            level = levels[row, j]
            if level >= 0:
                level = depth - 1 - level if mirrored else level
                place[fill[level]] = j
                x[fill[level]] = -scores[row, j] if mirrored else scores[row, j]
                fill[level] += 1
        if kind == ZERO_ONE:
            loss = _zero_one(x, start, depth, t, i, scaled, log_sum, top, below, above, inverse, log_inverse, bottom)
        elif kind == DISAGREEMENT:
            loss = _disagreement(x, start, depth, t, i, scaled, inverse)
        else:
            loss = _domination(x, start, depth, t, i, scaled, log_sum, top, below, above)
        value += w * loss
        for j in range(k):
            scores[row, j], outflow[row, j] = 0.0, 0.0
        for p in range(start[depth]):
            j = place[p]
            scores[row, j] = w * (i[p] if mirrored else t[p])
            outflow[row, j] = w * (t[p] if mirrored else i[p])
    return value


@kernel
def _log_sum(f, a, b, sign):
    top = sign * f[a]
    for p in range(a + 1, b):
        top = max(top, sign * f[p])
    total = 0.0
    for p in range(a, b):
        total += math.exp(sign * f[p] - top)
    return top + math.log(total)


@kernel
def block_flows(
    first,
    last,
    member_start,
    subgraph_ptr,
    block_ptr,
    better_start,
    better_stop,
    worse_start,
    worse_stop,
    subgraph_weight,
    weight,
    f,
    inflow,
    outflow,
):
    """Loss of the instances `first` to `last` of any subgraphs, by members.

    `f`, `inflow` and `outflow` have one entry per member from `member_start` on.
    """
    value = 0.0
    inflow[:] = 0.0
    outflow[:] = 0.0
    widest = 1
    for s in range(subgraph_ptr[first], subgraph_ptr[last]):
        widest = max(widest, block_ptr[s + 1] - block_ptr[s])
    log_better, log_worse = np.empty(widest), np.empty(widest)
    for row in range(first, last):
        a, b = subgraph_ptr[row], subgraph_ptr[row + 1]
        total = 0.0
        for s in range(a, b):
            total += subgraph_weight[s]
        if total == 0 or weight[row - first] == 0:
            continue
        for s in range(a, b):
            w = weight[row - first] * subgraph_weight[s] / total
            log_total = -np.inf
            for block in range(block_ptr[s], block_ptr[s + 1]):
                c = block - block_ptr[s]
                b0, b1 = better_start[block] - member_start, better_stop[block] - member_start
                w0, w1 = worse_start[block] - member_start, worse_stop[block] - member_start
                log_better[c] = _log_sum(f, b0, b1, -1.0)
                log_worse[c] = _log_sum(f, w0, w1, 1.0)
                log_total = _log_add(log_total, log_better[c] + log_worse[c])
            loss, _ = _soft_plus(log_total)
            value += w * loss
            for block in range(block_ptr[s], block_ptr[s + 1]):
                c = block - block_ptr[s]
                for p in range(better_start[block] - member_start, better_stop[block] - member_start):
                    outflow[p] += w * math.exp(log_worse[c] - f[p] - loss)
                for p in range(worse_start[block] - member_start, worse_stop[block] - member_start):
                    inflow[p] += w * math.exp(f[p] + log_better[c] - loss)
    return value


@kernel
def pair_weights(
    first,
    last,
    members,
    member_start,
    subgraph_ptr,
    block_ptr,
    better_start,
    better_stop,
    worse_start,
    worse_stop,
    subgraph_weight,
    weight,
    f,
    base,
    positive,
    negative,
):
    """Loss, and Σ q·[π]₊ and Σ q·[−π]₊ over all edges for base rankers h of shape (n, k, b), π = h(term) − h(init).

    `positive` and `negative` of shape (b,) are added to.
    """
    value = 0.0
    n_base = base.shape[2]
    widest = 1
    for s in range(subgraph_ptr[first], subgraph_ptr[last]):
        widest = max(widest, block_ptr[s + 1] - block_ptr[s])
    log_better, log_worse = np.empty(widest), np.empty(widest)
    for row in range(first, last):
        a, b = subgraph_ptr[row], subgraph_ptr[row + 1]
        total = 0.0
        for s in range(a, b):
            total += subgraph_weight[s]
        if total == 0 or weight[row - first] == 0:
            continue
        for s in range(a, b):
            w = weight[row - first] * subgraph_weight[s] / total
            log_total = -np.inf
            for block in range(block_ptr[s], block_ptr[s + 1]):
                c = block - block_ptr[s]
                b0, b1 = better_start[block] - member_start, better_stop[block] - member_start
                w0, w1 = worse_start[block] - member_start, worse_stop[block] - member_start
                log_better[c] = _log_sum(f, b0, b1, -1.0)
                log_worse[c] = _log_sum(f, w0, w1, 1.0)
                log_total = _log_add(log_total, log_better[c] + log_worse[c])
            loss, _ = _soft_plus(log_total)
            value += w * loss
            for block in range(block_ptr[s], block_ptr[s + 1]):
                for p in range(better_start[block], better_stop[block]):
                    for r in range(worse_start[block], worse_stop[block]):
                        q = w * math.exp(f[r - member_start] - f[p - member_start] - loss)
                        for j in range(n_base):
                            change = base[row - first, members[r], j] - base[row - first, members[p], j]
                            if change > 0:
                                positive[j] += q * change
                            else:
                                negative[j] -= q * change
    return value


@kernel
def largest_change(
    first, last, members, subgraph_ptr, block_ptr, better_start, better_stop, worse_start, worse_stop, base
):
    """Largest over the edges of Σ_j |h_j(term) − h_j(init)|."""
    largest = 0.0
    for row in range(first, last):
        for s in range(subgraph_ptr[row], subgraph_ptr[row + 1]):
            for block in range(block_ptr[s], block_ptr[s + 1]):
                for p in range(better_start[block], better_stop[block]):
                    for r in range(worse_start[block], worse_stop[block]):
                        norm = 0.0
                        for j in range(base.shape[2]):
                            norm += abs(base[row - first, members[r], j] - base[row - first, members[p], j])
                        largest = max(largest, norm)
    return largest
