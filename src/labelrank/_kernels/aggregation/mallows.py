"""Loops of the Mallows model: spread, generalized Borda votes, most probable extensions, center of a few rows.

The spread is written in q = exp(-theta) and s_j = 1 + q + ... + q^(j-1): sums of positive terms, exact at theta = 0 and
at theta = inf, one exponential for each theta.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank._kernels.compile import kernel

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]

_STEPS = 200  # of Newton or bisection; a dozen are enough
_PRECISION = 1e-13  # of theta, relative above 1
_ROUNDING = 1e-10  # relative; votes that differ by less were pulled apart by the order of summation


# ---------------------------------------------------------------------------------------------------------------
# Spread
# ---------------------------------------------------------------------------------------------------------------


@kernel
def distance_moments(theta: float, n: int) -> tuple[float, float]:
    """Mean and variance of the Kendall distance between the centre and a ranking of n labels.

    The distance is a sum of independent V_j on 0, ..., j - 1 with P(V_j = v) = q^v / s_j, j = 2, ..., n.
    """
    q = np.exp(-theta)
    mean, variance = 0.0, 0.0
    s, first, second = 1.0, 0.0, 0.0  # sums of q^v, v q^v, v^2 q^v over v < j
    power = 1.0
    for j in range(2, n + 1):
        v = j - 1.0
        power *= q
        s += power
        first += v * power
        second += v * v * power
        e = first / s
        mean += e
        variance += second / s - e * e
    return mean, variance


@kernel
def mean_distance(theta: float, n: int) -> float:
    """g_n(theta), the mean Kendall distance to the centre: n (n - 1)/4 at 0, falling to 0 at infinity."""
    return distance_moments(theta, n)[0]


@kernel
def log_normalizer(theta: float, n: int) -> float:
    """Normaliser log phi(theta), the sum over j <= n of log s_j."""
    q = np.exp(-theta)
    total, s, power = 0.0, 1.0, 1.0
    for _ in range(2, n + 1):
        power *= q
        s += power
        total += np.log(s)
    return total


@kernel
def theta_from_mean_distance(d: float, n: int, cap: float) -> float:
    """The theta with mean distance d: 0 if d >= n (n - 1)/4, `cap` if d is at most the mean distance at `cap`.

    Newton's method on log g_n, which is nearly a line where theta is large; a step out of the bracket is a bisection.
    """
    if np.isnan(d):
        return np.nan
    if d >= n * (n - 1) / 4.0:
        return 0.0
    if d <= mean_distance(cap, n):
        return cap
    low, high = 0.0, min(cap, np.log1p((n - 1) / d))  # g_n(theta) < (n - 1)/(exp(theta) - 1)
    theta = 0.5 * high
    for _ in range(_STEPS):
        g, variance = distance_moments(theta, n)
        if g > d:
            low = theta
        else:
            high = theta
        after = theta
        if g > 0.0 and variance > 0.0:
            after = theta + np.log(g / d) * g / variance
        if not low < after < high:
            after = 0.5 * (low + high)
        moved = abs(after - theta)
        theta = after
        if moved <= _PRECISION * max(theta, 1e-3):
            break
    return theta


@kernel
def thetas_from_mean_distances(distances: Vector, n: int, cap: float) -> Vector:
    """:func:`theta_from_mean_distance` of each entry."""
    theta = np.empty_like(distances)
    for i in range(distances.shape[0]):
        theta[i] = theta_from_mean_distance(distances[i], n, cap)
    return theta


@kernel
def pair_probabilities(theta: float, p: Vector) -> None:
    """Write p[m] = P(a before b) for labels with centre ranks m apart, a before b in the centre; p : (n,), p[0] = 1/2.

    1 - p_m = q^m (s_1 + ... + s_m)/(s_m s_(m+1)), which is h(m + 1) - h(m) without its cancellation.
    """
    q = np.exp(-theta)
    s, sums, power = 1.0, 0.0, 1.0
    p[0] = 0.5
    for m in range(1, p.shape[0]):
        power *= q
        sums += s
        following = s + power
        p[m] = 1.0 - power * sums / (s * following)
        s = following


@kernel
def pair_score(theta: float, agree: Vector, against: Vector) -> tuple[float, float]:
    """First and second derivative in theta of sum over m of agree_m log p_m + against_m log(1 - p_m); both (n,)."""
    q = np.exp(-theta)
    slope, curvature = 0.0, 0.0
    power, s, first, second = 1.0, 1.0, 0.0, 0.0  # of s_m and its derivatives
    sums, firsts, seconds = 0.0, 0.0, 0.0  # of s_1 + ... + s_m
    e, variance = 0.0, 0.0  # of V_m
    for m in range(1, agree.shape[0]):
        power *= q
        sums += s
        firsts += first
        seconds += second
        following = s + power
        r = power * sums / (s * following)  # 1 - p_m
        s = following
        first += m * power
        second += m * m * power
        e_next = first / s
        variance_next = second / s - e_next * e_next
        mean = firsts / sums
        u = e + e_next - mean - m  # (log r)'
        du = seconds / sums - mean * mean - variance - variance_next
        e, variance = e_next, variance_next
        p = 1.0 - r
        slope += against[m] * u - agree[m] * u * r / p
        curvature += against[m] * du - agree[m] * r / p * (du + u * u / p)
    return slope, curvature


@kernel
def theta_from_distances(agree: Vector, against: Vector, cap: float) -> float:
    """Maximiser in [0, cap] of the composite likelihood of pairs sorted by m, the difference of their centre ranks.

    agree, against : (n,), the weight of the observed pairs at difference m that agree with the centre, or do not; entry
    0 is not used. Each log p_m and log(1 - p_m) is concave, so the slope changes its sign once at most. 0 when there is
    no pair at all.
    """
    if not pair_score(0.0, agree, against)[0] > 0.0:
        return 0.0
    for_, not_ = 0.0, 0.0
    for m in range(1, agree.shape[0]):
        for_ += agree[m]
        not_ += against[m]
    if not_ <= 0.0 or pair_score(cap, agree, against)[0] >= 0.0:
        return cap
    low, high = 0.0, cap
    theta = np.log1p(for_ / not_)  # about the answer if all pairs were neighbours in the centre; too large otherwise
    if not theta < high:
        theta = 0.5 * high
    for _ in range(_STEPS):
        slope, curvature = pair_score(theta, agree, against)
        if slope > 0.0:
            low = theta
        else:
            high = theta
        after = theta
        if curvature < 0.0:
            after = theta - slope / curvature
        if not low < after < high:
            after = 0.5 * (low + high) if high < np.inf else 2.0 * theta
        moved = abs(after - theta)
        theta = after
        if moved <= _PRECISION * max(theta, 1e-3):
            break
    return theta


@kernel
def pairs_by_distance(counts: Matrix, center: Vector, agree: Vector, against: Vector) -> None:
    """Sum pair counts by the difference of centre ranks.

    counts : (k, k), N_ab is the weight of the rows with a before b; center : (k,), ranks 1..k without ties; agree and
    against : (k,), written.
    """
    k = counts.shape[0]
    for m in range(k):
        agree[m] = 0.0
        against[m] = 0.0
    for a in range(k):
        for b in range(k):
            m = int(center[b] - center[a])
            if m > 0:
                agree[m] += counts[a, b]
                against[m] += counts[b, a]


@kernel
def theta_from_pairs(counts: Matrix, center: Vector, cap: float) -> float:
    """Maximiser in [0, cap] of sum over a before b in the centre of N_ab log p_m + N_ba log(1 - p_m).

    counts : (k, k), N_ab is the weight of the rows with a before b; center : (k,), ranks 1..k without ties;
    m = center[b] - center[a]. 0 without information.
    """
    k = counts.shape[0]
    agree, against = np.empty(k), np.empty(k)
    pairs_by_distance(counts, center, agree, against)
    return theta_from_distances(agree, against, cap)


# ---------------------------------------------------------------------------------------------------------------
# Votes and extensions
# ---------------------------------------------------------------------------------------------------------------


@kernel
def borda_votes(row: Vector, weight: float, votes: Vector) -> None:
    """Add the generalised Borda votes of one ranking to `votes`; both (k,), NaN is missing.

    The label at rank r of m observed ones gets (m - r + 1)(k + 1)/(m + 1) votes, a missing one (k + 1)/2; tied labels
    share the mean of their places.
    """
    k = row.shape[0]
    observed = 0
    for a in range(k):
        observed += row[a] == row[a]
    scale = weight * (k + 1.0) / (observed + 1.0)
    for a in range(k):
        if np.isnan(row[a]):
            votes[a] += weight * 0.5 * (k + 1.0)
        else:
            below, tied = 0, 0
            for b in range(k):
                below += row[b] > row[a]
                tied += row[b] == row[a]
            votes[a] += scale * (below + 0.5 * tied + 0.5)


@kernel
def order_by_votes(votes: Vector, initial: Vector, order: npt.NDArray[np.int64]) -> None:
    """Write the labels into `order`, most votes first; ties broken by the votes `initial`, then by the label index."""
    k = votes.shape[0]
    largest = 1.0
    for a in range(k):
        largest = max(largest, abs(votes[a]), abs(initial[a]))
    rounding = _ROUNDING * largest
    for a in range(k):
        place = a
        while place > 0:
            b = order[place - 1]
            more = votes[a] - votes[b]
            if abs(more) <= rounding:
                more = initial[a] - initial[b]
            if more <= rounding:
                break
            order[place] = b
            place -= 1
        order[place] = a


@kernel
def observed_order(row: Vector, order: npt.NDArray[np.int64]) -> int:
    """Write the observed labels into the front of `order`, best first, and return their number."""
    observed = 0
    for a in range(row.shape[0]):
        if not np.isnan(row[a]):
            place = observed
            while place > 0 and row[order[place - 1]] > row[a]:
                order[place] = order[place - 1]
                place -= 1
            order[place] = a
            observed += 1
    return observed


@kernel
def _extend(
    rows: Matrix,
    i: int,
    order: Any,
    observed: int,
    center: Vector,
    center_order: Any,
    place: Vector,
    ends: Any,
    out: Any,
) -> int:
    """Complete row i; return the number of pairs of an observed and a missing label that disagree with the centre.

    Missing labels enter in the order of the centre. Their smallest best gaps come in the same order (the change of the
    cost from one gap to the next falls with the centre rank), so each is sought from the one before it on, and one walk
    down the row places all of them. place, ends : (k,), for the function's use: centre ranks of the observed labels,
    and where a group of tied ones ends.
    """
    k = rows.shape[1]
    for t in range(observed):
        place[t] = center[order[i, t]]
        ends[t] = t + 1 == observed or rows[i, order[i, t]] < rows[i, order[i, t + 1]]
    placed = 0  # labels that have got their rank
    taken = 0  # of them, observed ones
    gap, disagree = 0, 0
    for c in range(k + 1):
        stop = observed  # after the last missing label all that is left
        if c < k:
            label = center_order[c]
            if rows[i, label] == rows[i, label]:
                continue
            r = center[label]
            cost, best, first = 0, 0, gap
            for t in range(first, observed):  # no branches
                cost += 1 - 2 * (place[t] < r)
                better = (cost < best) & ends[t]
                best = cost if better else best
                gap = t + 1 if better else gap
            for t in range(gap):
                disagree += place[t] > r
            for t in range(gap, observed):
                disagree += place[t] < r
            stop = gap
        while taken < stop:  # groups of tied labels before the gap
            end = taken + 1
            while not ends[end - 1]:
                end += 1
            for t in range(taken, end):
                out[order[i, t]] = placed + 0.5 * (1 + end - taken)
            placed += end - taken
            taken = end
        if c < k:
            placed += 1
            out[label] = placed
    return disagree


@kernel
def complete_ranking(row: Vector, center: Vector, out: Vector) -> None:
    """Write the most probable extension of `row` into `out`; all (k,), `center` has ranks 1..k without ties.

    Each missing label goes into the first of the gaps where it disagrees with the fewest observed labels; labels in one
    gap keep the order of the centre. Tied labels stay together, nothing is put between them, and they share the mean of
    their places.
    """
    k = row.shape[0]
    order, center_order = np.empty((1, k), np.int64), np.empty(k, np.int64)
    for a in range(k):
        center_order[int(center[a]) - 1] = a
    observed = observed_order(row, order[0])
    place, ends = np.empty(k), np.empty(k, np.bool_)
    _extend(row.reshape(1, k), 0, order, observed, center, center_order, place, ends, out)


@kernel
def complete_rankings(rows: Matrix, center: Vector, out: Matrix) -> None:
    """:func:`complete_ranking` of each row."""
    for i in range(rows.shape[0]):
        complete_ranking(rows[i], center, out[i])


# ---------------------------------------------------------------------------------------------------------------
# Centre and mean distance of a few rows
# ---------------------------------------------------------------------------------------------------------------


@kernel
def kendall_distances(rows: Matrix, center: Vector) -> Vector:
    """Number of pairs of labels on which each row disagrees with the centre, a tied pair 1/2, a missing one 0."""
    n, k = rows.shape
    distances = np.zeros(n)
    for i in range(n):
        for a in range(k):
            for b in range(k):
                if center[a] < center[b]:
                    if rows[i, a] > rows[i, b]:
                        distances[i] += 1.0
                    elif rows[i, a] == rows[i, b]:
                        distances[i] += 0.5
    return distances


@kernel
def discordance(counts: Matrix, center_order: Any) -> float:
    """Sum of N_ba over the pairs with a before b in the centre."""
    total = 0.0
    k = counts.shape[0]
    for i in range(k):
        for j in range(i + 1, k):
            total += counts[center_order[j], center_order[i]]
    return total


# "reassoc" lets the halves, whose sums are exact, add up in several lanes.
@kernel(fastmath={"reassoc"})
def _count_pairs(rows: Matrix, weights: Vector, counts: Matrix, votes: Vector) -> tuple[float, bool]:
    """Add pair counts (a tie is 1/2 for each) and Borda votes; return the total weight and whether all are complete."""
    m, k = rows.shape
    beats = np.empty(k)
    total, complete = 0.0, True
    for i in range(m):
        w = weights[i]
        observed = 0
        for a in range(k):
            observed += rows[i, a] == rows[i, a]
        if observed < 2 or w == 0.0:
            continue
        total += w
        complete = complete and observed == k
        for a in range(k):  # no branches: this becomes vector instructions
            x = rows[i, a]
            won = 0.5  # 1 with the tie with itself
            for b in range(k):
                y = rows[i, b]
                share = (1.0 if x < y else 0.0) + (0.5 if x == y else 0.0)
                counts[a, b] += w * share
                won += share
            beats[a] = won
        scale = w * (k + 1.0) / (observed + 1.0)
        for a in range(k):
            votes[a] += scale * beats[a] if rows[i, a] == rows[i, a] else 0.5 * w * (k + 1.0)
    return total, complete


@kernel
def _seen_before(seen: Any, rounds: int, center_order: Any) -> int:
    """The last of the first `rounds` rows of `seen` that is this order, -1 if none is."""
    k = center_order.shape[0]
    for t in range(rounds - 1, -1, -1):
        c = 0
        while c < k and seen[t, c] == center_order[c]:
            c += 1
        if c == k:
            return t
    return -1


@kernel
def center_and_distance(rows: Matrix, weights: Vector, center: Vector, max_rounds: int) -> tuple[int, float]:
    """Generalised Borda, then complete the rows with respect to the centre and take Borda again, until it is stable.

    rows : (m, k) ranks, NaN is missing; weights : (m,); center : (k,), the ranks 1..k are written into it. Equal votes
    are broken by the first votes, then by the label index. Rows with fewer than two observed labels say nothing and are
    left out.

    Returns the number of rounds and the weighted mean distance from the completed rows to the centre, in which a tied
    pair counts 1/2, or k (k - 1)/4 if no row says anything. Complete rows need no rounds. The number is negative when
    no stable centre was found, because the centres came round in a cycle or `max_rounds` were done; then the centre is
    the one with the smallest mean distance of those in the cycle, or of all.
    """
    m, k = rows.shape
    initial, counts = np.zeros(k), np.zeros((k, k))
    total, complete = _count_pairs(rows, weights, counts, initial)
    if total == 0.0:
        for c in range(k):
            center[c] = c + 1.0
        return 0, k * (k - 1) / 4.0
    votes, out = initial.copy(), np.empty(k)
    place, ends = np.empty(k), np.empty(k, np.bool_)
    order, length = np.empty((m, k), np.int64), np.zeros(m, np.int64)
    center_order = np.empty(k, np.int64)
    seen, distances = np.empty((max_rounds + 1, k), np.int64), np.empty(max_rounds + 1)
    rounds = 0  # centres before this one
    start = 0  # where the centres to choose from begin
    while True:
        order_by_votes(votes, initial, center_order)
        before = _seen_before(seen, rounds, center_order)
        if before >= 0 and before == rounds - 1:
            return rounds, distances[before]
        if before >= 0:
            start = before
            break
        distance = discordance(counts, center_order)
        for c in range(k):
            center[center_order[c]] = c + 1.0
            seen[rounds, c] = center_order[c]
            votes[c] = 0.0
        if complete:
            return 0, distance / total
        # Complete with respect to this centre: its distance, and the votes for the next one.
        for i in range(m):
            if rounds == 0 and weights[i] != 0.0:
                length[i] = observed_order(rows[i], order[i])
            if length[i] >= 2:
                distance += weights[i] * _extend(rows, i, order, length[i], center, center_order, place, ends, out)
                for a in range(k):
                    votes[a] += weights[i] * (k + 1.0 - out[a])
        distances[rounds] = distance / total
        rounds += 1
        if rounds > max_rounds:
            break
    best = start
    for t in range(start + 1, rounds):
        if distances[t] < distances[best]:
            best = t
    for c in range(k):
        center[seen[best, c]] = c + 1.0
    return -rounds, distances[best]
