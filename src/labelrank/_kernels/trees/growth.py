"""Growth of one ranking tree, in one call: split search, partition of the rows and the queue of open nodes.

Nodes are numbered in the order in which they are made: a parent comes before its children, and the two children of a
node are neighbours. Every node owns a stretch of one array of rows; the sorted lists of the features are partitioned
along with it.
"""

import numpy as np

from labelrank._kernels.compile import kernel
from labelrank._kernels.trees.splits import MISSING_CODE, draw, theta_of, try_feature

# Columns of the nodes. Left child: -1 in a leaf, and the right one follows it; feature: -1 in a leaf; code: that of the
# value below the threshold, where features are sorted.
LEFT, FEATURE, MISSING_LEFT, COUNT, START, DEPTH, CODE = range(7)
THRESHOLD, WEIGHT, OBSERVED, COST, GAIN = range(5)  # cost: impurity times weight
_NOTHING = 1e-12  # share of the votes in the root: what differences of sums can leave where nothing is left


@kernel(error_model="numpy", _nrt=False, no_cfunc_wrapper=True)
def grow(
    x, order, rows, lanes, weight, observed, categorical, width, prior, table,
    max_features, max_depth, min_split, min_leaf, max_leaf_nodes, shrinkage,
    state, features, total, part, missing, both, found, side, buffer, drawn,
    ints, floats, totals, balance, open_nodes
):  # fmt: skip
    """Grow a tree on `rows`, which is overwritten, as is `order`; returns the number of nodes.

    x : (n_features, n_samples). order : (n_features, n), code of the value * 2^32 + row, each row of it ascending, or
    None for thresholds at random. lanes : (n_samples, n_lanes). weight : (n_samples,), or (1,) if all rows have the
    same. observed : (n_samples,), weight of the observed pairs of a row, or (1,) likewise. table : theta at shares of
    discordant pairs for the Mallows criterion, with `prior` random rankings in each node, or None for the pair Gini.
    max_leaf_nodes : 0 grows depth first without a limit. The arrays from `state` to `drawn` are buffers.

    The arrays of the last line are filled, one row for each node; `open_nodes` is a buffer. ints, floats : the columns
    named above. totals : sums of the lanes. balance : (S + shrinkage * that of the parent)/(M + shrinkage); its
    first row must be 0.

    Impurity of a node, with pair Gini: the mean over pairs of 2 N_ab N_ba/(N_ab + N_ba); Mallows: (largest theta -
    theta) times the weight.
    """
    codes, thetas = order, table  # new names: only arguments are known to be None when compiled
    n_features, n_lanes, n_pairs = x.shape[0], lanes.shape[1], balance.shape[1]
    complete, weighted, counted = n_lanes == width, weight.shape[0] > 1, observed.shape[0] > 1
    ints[0, COUNT], ints[0, START], ints[0, DEPTH] = rows.shape[0], 0, 0
    n_open, n_nodes, n_leaves, n_missing = 0, 1, 1, 0
    fresh = 0  # nodes from here on have not been looked at
    node, fewer = 0, 0  # their parent, and the one of them with fewer rows
    while True:
        # The sums of the smaller child from its rows; those of the other are what is left of the parent.
        w, m = 0.0, 0.0
        for p in range(n_lanes):
            totals[fewer, p] = 0.0
        first = ints[fewer, START]
        for i in range(first, first + ints[fewer, COUNT]):
            row = rows[i]
            one = weight[row * weighted]
            w += one
            m += observed[row * counted]
            for p in range(n_lanes):
                totals[fewer, p] += one * lanes[row, p]
        floats[fewer, WEIGHT], floats[fewer, OBSERVED] = w, m
        if fresh > 0:
            more = fresh + fresh + 1 - fewer
            for p in range(n_lanes):
                totals[more, p] = totals[node, p] - totals[fewer, p]
            floats[more, WEIGHT] = floats[node, WEIGHT] - w
            floats[more, OBSERVED] = floats[node, OBSERVED] - m
            if n_missing == 0:  # nothing was learned about them: with the majority
                ints[node, MISSING_LEFT] = floats[fresh, WEIGHT] >= floats[fresh + 1, WEIGHT]
        worth = False  # whether a fresh node can be split
        for child in range(fresh, n_nodes):
            w, m = floats[child, WEIGHT], floats[child, OBSERVED]
            agreement, gini, against = 0.0, 0.0, 0.0
            for p in range(n_pairs):
                t, e = totals[child, p], np.float64(balance[node, p])
                s = abs(t)
                o, most = w, floats[0, WEIGHT]
                if not complete:
                    o, most = totals[child, width + p], totals[0, width + p]
                least = _NOTHING * most
                agreement += s
                if o > least:
                    gini += o - s * s / o
                    rest = o - s - 1e-9 * o - least
                    against = rest if rest > against else against
                    e = (t + shrinkage * e) / (o + shrinkage)
                balance[child, p] = e
            pure = against <= 0.0
            if table is None:
                floats[child, COST] = 0.0 if pure else 0.5 * gini / n_pairs
                floats[child, GAIN] = m - gini
            else:
                theta = theta_of(agreement, m, n_pairs, prior, table)
                floats[child, COST], floats[child, GAIN] = w * (table[0] - theta), w * theta
            closed = pure | (w < min_split) | (w < 2 * min_leaf)
            closed |= (ints[child, COUNT] < 2) | (ints[child, DEPTH] >= max_depth)
            ints[child, LEFT], ints[child, FEATURE] = -1, -1 if closed else -2
            worth |= not closed
        if order is not None and worth and fresh > 0:
            first, last = ints[fresh, START], ints[fresh + 1, START] + ints[fresh + 1, COUNT]
            for f in range(n_features):
                ahead, behind = first, 0
                for i in range(first, last):
                    item = order[f, i]
                    goes = side[item & 0xFFFFFFFF]
                    order[f, ahead] = item
                    buffer[behind] = item
                    ahead += goes
                    behind += 1 - goes
                for i in range(behind):
                    order[f, ahead + i] = buffer[i]
        for child in range(fresh, n_nodes):
            if ints[child, FEATURE] == -1:
                continue
            first = ints[child, START]
            last = first + ints[child, COUNT]
            for p in range(n_lanes):
                total[p] = totals[child, p]
            w, m = floats[child, WEIGHT], floats[child, OBSERVED]
            found[0] = -1.0  # all values are at least 0
            rounding = 1e-7 if total.itemsize == 4 else 1e-14
            perfect = m * (1.0 - rounding)  # the pair Gini of two pure children, beyond which no feature can go
            best, tried = -1, 0
            for j in range(n_features):
                if tried == max_features:
                    break
                if max_features < n_features:
                    other = j + int(draw(state) * (n_features - j))
                    features[j], features[other] = features[other], features[j]
                f = features[j]
                tried += try_feature(
                    x, codes, f, rows, first, last, state, lanes, weight, observed, categorical[f], min_leaf, total, w,
                    m, n_pairs, width, complete, prior, thetas, part, missing, both, drawn, buffer, found
                )  # fmt: skip
                if found[3] == 1.0:
                    best = f
                    if table is None and found[0] >= perfect:
                        break
            ints[child, FEATURE] = best
            if best >= 0:
                ints[child, MISSING_LEFT] = found[2] == 1.0
                floats[child, GAIN] = found[0] - floats[child, GAIN]
                floats[child, THRESHOLD], ints[child, CODE] = found[1], found[4]
                open_nodes[n_open] = child
                n_open += 1
        if n_open == 0 or n_leaves == max_leaf_nodes:
            break
        n_open -= 1
        at = n_open
        if max_leaf_nodes > 0:
            for i in range(n_open - 1, -1, -1):
                if floats[open_nodes[i], GAIN] >= floats[open_nodes[at], GAIN]:
                    at = i
        node = open_nodes[at]
        open_nodes[at] = open_nodes[n_open]

        # The rows of the node: those that go left to the front.
        first = ints[node, START]
        last = first + ints[node, COUNT]
        f, threshold = ints[node, FEATURE], floats[node, THRESHOLD]
        equal, missing_left = categorical[f], ints[node, MISSING_LEFT]
        ahead, behind, n_missing = first, 0, 0
        if order is not None:  # from the sorted codes, which are neighbours; the values of the rows are far apart
            cut = ints[node, CODE]
            for i in range(first, last):
                item = order[f, i]
                code = item >> 32
                goes = code == cut if equal else code <= cut
                if code == MISSING_CODE:
                    goes = missing_left == 1
                    n_missing += 1
                side[item & 0xFFFFFFFF] = goes
        for i in range(first, last):
            row = rows[i]
            if order is None:
                v = x[f, row]
                goes = v == threshold if equal else v <= threshold
                if v != v:
                    goes = missing_left == 1
                    n_missing += 1
            else:
                goes = side[row] == 1
            rows[ahead] = row
            buffer[behind] = row
            ahead += goes
            behind += not goes
        for i in range(behind):
            rows[ahead + i] = buffer[i]
        fresh = n_nodes
        n_nodes += 2
        n_leaves += 1
        ints[node, LEFT] = fresh
        ints[fresh, START], ints[fresh, COUNT] = first, ahead - first
        ints[fresh + 1, START], ints[fresh + 1, COUNT] = ahead, last - ahead
        ints[fresh, DEPTH] = ints[fresh + 1, DEPTH] = ints[node, DEPTH] + 1
        fewer = fresh + (ahead - first > last - ahead)
    for i in range(n_open):
        ints[open_nodes[i], FEATURE] = -1
    return n_nodes
