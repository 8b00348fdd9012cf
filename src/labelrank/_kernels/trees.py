"""Growth of one ranking tree, in one call: split search, partition of the rows and the queue of open nodes.

Nodes are numbered in the order in which they are made: a parent comes before its children, and the two children of a
node are neighbours. Every node owns a stretch of one array of rows; the sorted lists of the features are partitioned
along with it.
"""

from numba import njit

from labelrank._kernels.tree_lanes import borrow
from labelrank._kernels.tree_splits import draw, theta_of, try_feature

# Columns of the nodes. Left child: -1 in a leaf, and the right one follows it; feature: -1 in a leaf.
LEFT, FEATURE, MISSING_LEFT, COUNT, START, DEPTH = range(6)
THRESHOLD, WEIGHT, OBSERVED, COST, GAIN = range(5)  # cost: impurity times weight
_NOTHING = 1e-12  # share of the votes in the root: what differences of sums can leave where nothing is left


@njit(cache=True, nogil=True, error_model="numpy")
def impurity(totals, node, w, m, root_w, n_pairs, width, complete, prior, table):
    """Impurity of a node times its weight, its value in the criterion, and whether its rows order all pairs alike.

    Pair Gini: the mean over pairs of 2 N_ab N_ba/(N_ab + N_ba). Mallows: (largest theta - theta) times the weight.
    """
    agreement, gini, against = 0.0, 0.0, 0.0
    for p in range(n_pairs):
        s = abs(totals[node, p])
        o = w if complete else totals[node, width + p]
        least = _NOTHING * (root_w if complete else totals[0, width + p])
        agreement += s
        if o > least:
            gini += o - s * s / o
            against = max(against, o - s - 1e-9 * o - least)
    pure = against <= 0.0
    if table is None:
        return 0.0 if pure else 0.5 * gini / n_pairs, m - gini, pure
    theta = theta_of(agreement, m, n_pairs, prior, table)
    return w * (table[0] - theta), w * theta, pure


@njit(cache=True, nogil=True, error_model="numpy")
def grow(
    x, order, rows, lanes, weight, observed, categorical, n_pairs, width, complete, prior, table,
    max_features, max_depth, min_split, min_leaf, max_leaf_nodes, shrinkage,
    state, features, total, part, missing, both, found, side, buffer, drawn,
    ints, floats, totals, balance, open_nodes
):  # fmt: skip
    """Grow a tree on `rows`, which is overwritten, as is `order`; returns the number of nodes.

    x : (n_features, n_samples). order : (n_features, n), code of the value * 2^32 + row, each row of it ascending, or
    None for thresholds at random. lanes : (n_samples, n_lanes). weight : (n_samples,), or (1,) if all rows have the
    same. observed : (n_samples,), weight of the observed pairs of a row. table : theta at shares of discordant pairs
    for the Mallows criterion, with `prior` random rankings in each node, or None for the pair Gini. max_leaf_nodes : 0
    grows depth first without a limit. The arrays from `state` to `drawn` are buffers.

    The arrays of the last line are filled, one row for each node; `open_nodes` is a buffer. ints, floats : the columns
    named above. totals : sums of the lanes. balance : (S + shrinkage * that of the parent)/(M + shrinkage).
    """
    # No counts of references in the loops below: see borrow.
    x, rows, lanes, weight, observed = borrow(x), borrow(rows), borrow(lanes), borrow(weight), borrow(observed)
    categorical, state, features, total = borrow(categorical), borrow(state), borrow(features), borrow(total)
    part, missing, both, found, side = borrow(part), borrow(missing), borrow(both), borrow(found), borrow(side)
    buffer, drawn, ints, floats, totals = borrow(buffer), borrow(drawn), borrow(ints), borrow(floats), borrow(totals)
    balance, open_nodes = borrow(balance), borrow(open_nodes)
    codes, thetas = borrow(order), borrow(table)  # new names: only arguments are known to be None when compiled
    n_features, n_lanes = x.shape[0], lanes.shape[1]
    weighted = weight.shape[0] > 1
    n_open, n_nodes, n_leaves = 0, 1, 1
    ints[0, COUNT], ints[0, START], ints[0, DEPTH], ints[0, LEFT] = rows.shape[0], 0, 0, -1
    for p in range(n_lanes):
        totals[0, p] = 0.0
    floats[0, WEIGHT], floats[0, OBSERVED] = 0.0, 0.0
    for i in range(rows.shape[0]):
        row = rows[i]
        floats[0, WEIGHT] += weight[row * weighted]
        floats[0, OBSERVED] += observed[row]
        for p in range(n_lanes):
            totals[0, p] += weight[row * weighted] * lanes[row, p]
    for p in range(n_pairs):
        o = floats[0, WEIGHT] if complete else totals[0, width + p]
        balance[0, p] = totals[0, p] / (o + shrinkage) if o > 0.0 else 0.0
    fresh = 0  # nodes from here on have not been looked at
    while True:
        worth = False  # whether a fresh node can be split
        for node in range(fresh, n_nodes):
            w = floats[node, WEIGHT]
            floats[node, COST], floats[node, GAIN], pure = impurity(
                totals, node, w, floats[node, OBSERVED], floats[0, WEIGHT], n_pairs, width, complete, prior, thetas
            )
            closed = (
                pure or w < min_split or w < 2 * min_leaf or ints[node, COUNT] < 2 or ints[node, DEPTH] >= max_depth
            )
            ints[node, FEATURE] = -1 if closed else -2
            worth |= not closed
        if order is not None and worth and fresh > 0:
            first = ints[fresh, START]
            last = first + ints[fresh, COUNT] + ints[fresh + 1, COUNT]
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
        for node in range(fresh, n_nodes):
            if ints[node, FEATURE] != -2:
                continue
            first, last = ints[node, START], ints[node, START] + ints[node, COUNT]
            for p in range(n_lanes):
                total[p] = totals[node, p]
            w, m = floats[node, WEIGHT], floats[node, OBSERVED]
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
            ints[node, FEATURE] = best
            if best < 0:
                continue
            ints[node, MISSING_LEFT] = found[2] == 1.0
            floats[node, GAIN] = found[0] - floats[node, GAIN]
            floats[node, THRESHOLD] = found[1]
            open_nodes[n_open] = node
            n_open += 1
        fresh = n_nodes
        if n_open == 0 or n_leaves == max_leaf_nodes:
            break
        at = n_open - 1
        if max_leaf_nodes > 0:
            for i in range(n_open - 2, -1, -1):
                if floats[open_nodes[i], GAIN] >= floats[open_nodes[at], GAIN]:
                    at = i
        node = open_nodes[at]
        open_nodes[at] = open_nodes[n_open - 1]
        n_open -= 1

        # The rows of the node: those that go left to the front.
        first, last = ints[node, START], ints[node, START] + ints[node, COUNT]
        f = ints[node, FEATURE]
        ahead, behind = first, 0
        n_missing = 0
        for i in range(first, last):
            row = rows[i]
            v = x[f, row]
            goes = v == floats[node, THRESHOLD] if categorical[f] else v <= floats[node, THRESHOLD]
            if v != v:
                goes = ints[node, MISSING_LEFT]
                n_missing += 1
            side[row] = goes
            rows[ahead] = row
            buffer[behind] = row
            ahead += goes
            behind += not goes
        for i in range(behind):
            rows[ahead + i] = buffer[i]
        a, b = n_nodes, n_nodes + 1
        ints[node, LEFT], ints[a, LEFT], ints[b, LEFT] = a, -1, -1
        ints[a, COUNT], ints[b, COUNT] = ahead - first, last - ahead
        ints[a, START], ints[b, START] = first, ahead
        ints[a, DEPTH], ints[b, DEPTH] = ints[node, DEPTH] + 1, ints[node, DEPTH] + 1
        fewer, more = (a, b) if ints[a, COUNT] <= ints[b, COUNT] else (b, a)
        floats[fewer, WEIGHT], floats[fewer, OBSERVED] = 0.0, 0.0
        for p in range(n_lanes):
            totals[fewer, p] = 0.0
        for i in range(ints[fewer, START], ints[fewer, START] + ints[fewer, COUNT]):
            row = rows[i]
            floats[fewer, WEIGHT] += weight[row * weighted]
            floats[fewer, OBSERVED] += observed[row]
            for p in range(n_lanes):
                totals[fewer, p] += weight[row * weighted] * lanes[row, p]
        for p in range(n_lanes):
            totals[more, p] = totals[node, p] - totals[fewer, p]
        floats[more, WEIGHT] = floats[node, WEIGHT] - floats[fewer, WEIGHT]
        floats[more, OBSERVED] = floats[node, OBSERVED] - floats[fewer, OBSERVED]
        for child in range(a, b + 1):
            for p in range(n_pairs):
                o = floats[child, WEIGHT] if complete else totals[child, width + p]
                least = _NOTHING * (floats[0, WEIGHT] if complete else totals[0, width + p])
                e = balance[node, p]
                balance[child, p] = (totals[child, p] + shrinkage * e) / (o + shrinkage) if o > least else e
        if n_missing == 0:  # nothing was learned about them: with the majority
            ints[node, MISSING_LEFT] = floats[a, WEIGHT] >= floats[b, WEIGHT]
        n_nodes += 2
        n_leaves += 1
    for i in range(n_open):
        ints[open_nodes[i], FEATURE] = -1
    return n_nodes
