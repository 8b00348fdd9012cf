"""log(1 + Σ_e exp(f_term − f_init)) over the subgraphs of a graph: its value, and the flows of each label.

For an instance of weight w with s subgraphs, the *inflow* of a label is T = (w/s) Σ q_e over the edges that end
there, the *outflow* I = (w/s) Σ q_e over the edges that start there, with q_e = exp(f_term − f_init) / (1 + Σ exp(…)).
The gradient of the loss with respect to the scores is T − I. The diagonal of its Hessian is, summed over subgraphs,
(t + i) − (t − i)² with t and i the flows of the single subgraph.

Layered graphs are evaluated from e = exp(f − largest f), without listing edges. Rows in which an e underflows are left
to :func:`block_flows`, which keeps every sum as a logarithm.
"""

import math

import numpy as np

from labelrank._kernels.compile import kernel
from labelrank._kernels.cuts import DOMINATED, ZERO_ONE


@kernel
def add_log1p(loss, product, ratio):
    """Include log(1 + ratio) in the sum `loss + log(product)`, with one logarithm for many factors."""
    if ratio < 1e-8:
        return loss + ratio * (1.0 - 0.5 * ratio), product
    if ratio > 1e100:
        return loss + math.log(ratio), product
    product *= 1.0 + ratio
    if product > 1e150:
        return loss + math.log(product), 1.0
    return loss, product


@kernel
def _soft_plus(x):
    """log(1 + e^x) and its derivative."""
    if x > 0:
        e = math.exp(-x)
        return x + math.log1p(e), 1.0 / (1.0 + e)
    e = math.exp(x)
    return math.log1p(e), e / (1.0 + e)


@kernel
def _sum_of_lower_levels(levels, e, total, depth):
    """total[v] = Σ e over the labels of all levels below v."""
    total[:] = 0.0
    for j in range(len(levels)):
        if levels[j] >= 0:
            total[levels[j]] += e[j]
    below = 0.0
    for level in range(depth - 1, -1, -1):
        here = total[level]
        total[level] = below
        below += here


@kernel
def _domination(levels, e, t, i, total, sent, depth, h, sent_squares):
    """One star per label with lower ones. Return the loss of one instance."""
    k = len(levels)
    _sum_of_lower_levels(levels, e, total, depth)
    loss, product, stars = 0.0, 1.0, 0
    sent[:], sent_squares[:] = 0.0, 0.0
    for j in range(k):
        i[j], t[j], h[j] = 0.0, 0.0, 0.0
        if levels[j] >= 0 and total[levels[j]] > 0:
            ratio = total[levels[j]] / e[j]
            loss, product = add_log1p(loss, product, ratio)
            i[j] = ratio / (1.0 + ratio)
            h[j] = i[j] / (1.0 + ratio)
            sent[levels[j]] += i[j]
            sent_squares[levels[j]] += i[j] * i[j]
            stars += 1
    if stars == 0:
        return 0.0
    above, above_squares = 0.0, 0.0
    for level in range(depth):
        inverse = 1.0 / total[level] if total[level] > 0 else 0.0
        here, here_squares = sent[level] * inverse, sent_squares[level] * inverse * inverse
        # Σ of the outflows of the higher levels per unit of e, and of their squares.
        sent[level], sent_squares[level] = above, above_squares
        above += here
        above_squares += here_squares
    for j in range(k):
        if levels[j] >= 0:
            t[j] = e[j] * sent[levels[j]]
            h[j] = (h[j] + max(t[j] - e[j] * e[j] * sent_squares[levels[j]], 0.0)) / stars
            t[j] /= stars
        i[j] /= stars
    return (loss + math.log(product)) / stars


@kernel
def _zero_one(levels, e, t, i, total, sent, depth, h):
    """All edges in one subgraph. Return the loss of one instance."""
    k = len(levels)
    _sum_of_lower_levels(levels, e, total, depth)
    sent[:] = 0.0
    for j in range(k):
        if levels[j] >= 0:
            sent[levels[j]] += 1.0 / e[j]
    above, edges = 0.0, 0.0
    for level in range(depth):
        here = sent[level]
        edges += here * total[level]
        sent[level] = above
        above += here
    scale = 1.0 / (1.0 + edges)
    for j in range(k):
        if levels[j] >= 0:
            t[j] = e[j] * sent[levels[j]] * scale
            i[j] = total[levels[j]] / e[j] * scale
            h[j] = max(t[j] + i[j] - (t[j] - i[j]) ** 2, 0.0)
        else:
            t[j], i[j], h[j] = 0.0, 0.0, 0.0
    return math.log1p(edges)


# "reassoc" lets the sum run in several lanes.
@kernel(fastmath={"reassoc"})
def _pull_apart(inverse, e, t, product, h):
    """One label against all lower ones: add their shares to `t`, and multiply `product` by their factors.

    With `h`, add the curvatures of the pairs to it. Return the sums of the shares and of these curvatures.
    """
    total, bend = 0.0, 0.0
    for q in range(len(e)):
        ratio = e[q] * inverse
        share = ratio / (1.0 + ratio)
        t[q] += share
        product[q] *= 1.0 + ratio
        total += share
        if h is not None:
            curve = share / (1.0 + ratio)
            h[q] += curve
            bend += curve
    return total, bend


@kernel
def _take_logs(product):
    """Return Σ log(product), and reset `product` to 1."""
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
def _disagreement(x, start, depth, t, i, e, product, h):
    """One subgraph per edge; x, t, i and h (or None) are sorted by level. Return the loss of one instance."""
    m = start[depth]
    edges = 0
    for level in range(depth):
        edges += (start[level + 1] - start[level]) * (m - start[level + 1])
    for p in range(m):
        t[p], i[p] = 0.0, 0.0
        if h is not None:
            h[p] = 0.0
    if edges == 0:
        return 0.0
    low, high = x[0], x[0]
    for p in range(m):
        low, high = min(low, x[p]), max(high, x[p])
    loss = 0.0
    if high - low < 40.0:  # sixteen factors (1 + e^40) stay finite: few logarithms, and no exponential for a pair
        for p in range(m):
            e[p] = math.exp(x[p] - 0.5 * (low + high))
            product[p] = 1.0
        pending = 0
        for level in range(depth):
            below = start[level + 1]
            if below == m:
                break
            for p in range(start[level], below):
                lower = None if h is None else h[below:m]
                i[p], bend = _pull_apart(1.0 / e[p], e[below:m], t[below:m], product[below:m], lower)
                if h is not None:
                    h[p] += bend
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
                    if h is not None:
                        h[p] += share * (1.0 - share)
                        h[q] += share * (1.0 - share)
    for p in range(m):
        t[p] /= edges
        i[p] /= edges
        if h is not None:
            h[p] /= edges
    return loss / edges


@kernel
def level_flows(levels, inflow, outflow, curvature, weight, depth, kind, far):
    """Loss of layered graphs; `inflow` and `outflow` are overwritten with T and I. All have the shape (n, k).

    `curvature` is overwritten with the diagonal of the Hessian, or None.

    On input, `outflow` is exp(scores − largest of the row). Rows in which an observed label underflows are marked in
    `far` and skipped.
    """
    n, k = levels.shape
    value = 0.0
    t, i, e, h = np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    total, sent, sent_squares = np.empty(depth), np.empty(depth), np.empty(depth)
    mirrored = kind == DOMINATED  # domination upside down: scores negated, levels reversed, flows exchanged
    order = np.empty(k, levels.dtype)
    for row in range(n):
        smallest = 1.0
        for j in range(k):
            e[j] = outflow[row, j]
            order[j] = levels[row, j]
            if order[j] >= 0:
                smallest = min(smallest, e[j])
                if mirrored:
                    e[j] = 1.0 / e[j] if e[j] > 0 else 1.0
                    order[j] = depth - 1 - order[j]
        far[row] = smallest < 1e-250
        if far[row]:
            continue
        if kind == ZERO_ONE:
            loss = _zero_one(order, e, t, i, total, sent, depth, h)
        else:
            loss = _domination(order, e, t, i, total, sent, depth, h, sent_squares)
        w = weight[row]
        value += w * loss
        for j in range(k):
            inflow[row, j] = w * (i[j] if mirrored else t[j])
            outflow[row, j] = w * (t[j] if mirrored else i[j])
            if curvature is not None:
                curvature[row, j] = w * h[j]
    return value


@kernel
def pair_flows(levels, scores, inflow, outflow, curvature, weight, depth):
    """Loss of the single edges of layered graphs; `inflow` and `outflow` are overwritten with T and I.

    `curvature` is overwritten with the diagonal of the Hessian, or None.
    """
    n, k = levels.shape
    value = 0.0
    start, fill = np.zeros(depth + 1, np.int64), np.zeros(depth + 1, np.int64)
    place = np.empty(k, np.int64)
    x, t, i, e, product = np.empty(k), np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    h = None if curvature is None else np.empty(k)
    for row in range(n):
        start[:] = 0
        for j in range(k):
            if levels[row, j] >= 0:
                start[levels[row, j] + 1] += 1
        for level in range(depth):
            start[level + 1] += start[level]
            fill[level] = start[level]
        for j in range(k):
            inflow[row, j], outflow[row, j] = 0.0, 0.0
            if curvature is not None:
                curvature[row, j] = 0.0
            level = levels[row, j]
            if level >= 0:
                place[fill[level]] = j
                x[fill[level]] = scores[row, j]
                fill[level] += 1
        value += weight[row] * _disagreement(x, start, depth, t, i, e, product, h)
        for p in range(start[depth]):
            inflow[row, place[p]] = weight[row] * t[p]
            outflow[row, place[p]] = weight[row] * i[p]
            if curvature is not None and h is not None:
                curvature[row, place[p]] = weight[row] * h[p]
    return value


@kernel
def _log_sum(f, start, stop, origin, sign):
    """Log Σ exp(sign · f) over a slice of the members."""
    top = sign * f[start - origin]
    for p in range(start + 1 - origin, stop - origin):
        top = max(top, sign * f[p])
    total = 0.0
    for p in range(start - origin, stop - origin):
        total += math.exp(sign * f[p] - top)
    return top + math.log(total)


@kernel
def block_flows(blocks, first, last, weight, f, inflow, outflow, squares):
    """Loss of the instances `first` to `last` of any subgraphs, by members.

    blocks : :class:`labelrank.decompositions.subgraphs.Blocks`.
    weight : of these instances.
    f, inflow, outflow : one entry per member of these instances.
    squares : (last - first, n_labels), overwritten with Σ (t − i)² over the subgraphs; not computed if it has no rows.
    """
    value = 0.0
    inflow[:], outflow[:] = 0.0, 0.0
    squares[:] = 0.0
    net = np.zeros(squares.shape[1])  # t − i of each label in one subgraph
    origin = blocks.member_ptr[first]
    widest = 1
    for s in range(blocks.subgraph_ptr[first], blocks.subgraph_ptr[last]):
        widest = max(widest, blocks.block_ptr[s + 1] - blocks.block_ptr[s])
    log_better, log_worse = np.empty(widest), np.empty(widest)
    for row in range(first, last):
        total = 0.0
        for s in range(blocks.subgraph_ptr[row], blocks.subgraph_ptr[row + 1]):
            total += blocks.weight[s]
        if total == 0 or weight[row - first] == 0:
            continue
        for s in range(blocks.subgraph_ptr[row], blocks.subgraph_ptr[row + 1]):
            w = weight[row - first] * blocks.weight[s] / total
            begin, end = blocks.block_ptr[s], blocks.block_ptr[s + 1]
            log_total = -np.inf
            for b in range(begin, end):
                log_better[b - begin] = _log_sum(f, blocks.better_start[b], blocks.better_stop[b], origin, -1.0)
                log_worse[b - begin] = _log_sum(f, blocks.worse_start[b], blocks.worse_stop[b], origin, 1.0)
                log_total = np.logaddexp(log_total, log_better[b - begin] + log_worse[b - begin])
            loss, _ = _soft_plus(log_total)
            value += w * loss
            for b in range(begin, end):
                for p in range(blocks.better_start[b], blocks.better_stop[b]):
                    q = math.exp(log_worse[b - begin] - f[p - origin] - loss)
                    outflow[p - origin] += w * q
                    if len(squares):
                        net[blocks.members[p]] -= q
                for p in range(blocks.worse_start[b], blocks.worse_stop[b]):
                    q = math.exp(f[p - origin] + log_better[b - begin] - loss)
                    inflow[p - origin] += w * q
                    if len(squares):
                        net[blocks.members[p]] += q
            if len(squares):
                for b in range(begin, end):
                    _add_squares(
                        blocks.members[blocks.better_start[b] : blocks.better_stop[b]], net, w, squares[row - first]
                    )
                    _add_squares(
                        blocks.members[blocks.worse_start[b] : blocks.worse_stop[b]], net, w, squares[row - first]
                    )
    return value


@kernel
def _add_squares(labels, net, w, squares):
    """Add w · net² of some labels to `squares`, and reset net."""
    for label in labels:
        squares[label] += w * net[label] ** 2
        net[label] = 0.0
