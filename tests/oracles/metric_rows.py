"""Metrics of one instance by definition, one loop per sum; None for an instance that is left out."""

import itertools
import math

from oracles.metrics import cover_elements, subgraphs


def mean(values, weights):
    """Weighted mean over the instances that count, NaN if there is nothing to average."""
    counted = [(value, weight) for value, weight in zip(values, weights, strict=True) if value is not None]
    total = math.fsum(weight for _, weight in counted)
    return math.fsum(value * weight for value, weight in counted) / total if total > 0 else math.nan


def observed(true):
    return [j for j, rank in enumerate(true) if not math.isnan(rank)]


def sign(x, y):
    return (x > y) - (x < y)


# --- Of graphs: `votes` is {(better, worse): weight}


def votes_of_ranks(true):
    return {(a, b): 1.0 for a in range(len(true)) for b in range(len(true)) if true[a] < true[b]}


def kendall_tau(votes, pred):
    if not votes:
        return None
    balance = math.fsum(w * sign(pred[b], pred[a]) for (a, b), w in votes.items())
    return balance / math.fsum(votes.values())


def generalized_error(votes, pred, kind):
    parts = [(part, sum(votes[e] for e in part) / len(part)) for part in subgraphs(list(votes), kind)]
    if not parts:
        return None
    wrong = math.fsum(w for part, w in parts if any(not pred[a] < pred[b] for a, b in part))
    return wrong / math.fsum(w for _, w in parts)


# --- Of rankings


def kendall_tau_b(true, pred):
    pairs = list(itertools.combinations(observed(true), 2))
    balance = sum(sign(true[a], true[b]) * sign(pred[a], pred[b]) for a, b in pairs)
    untied = [sum(ranks[a] != ranks[b] for a, b in pairs) for ranks in (true, pred)]
    if not untied[0]:
        return None
    return balance / math.sqrt(untied[0] * untied[1]) if untied[1] else 0.0


def kendall_tau_x(true, pred):
    seen = observed(true)
    if len(seen) < 2:
        return None
    entries = [
        (1 if true[a] <= true[b] else -1) * (1 if pred[a] <= pred[b] else -1)
        for a, b in itertools.permutations(seen, 2)
    ]
    return sum(entries) / len(entries)


def spearman_rho(true, pred):
    seen = observed(true)
    ranks = []
    for values in ([true[j] for j in seen], [pred[j] for j in seen]):
        mean_ranks = [sum(v < x for v in values) + (sum(v == x for v in values) + 1) / 2 for x in values]
        center = sum(mean_ranks) / max(len(seen), 1)
        ranks.append([rank - center for rank in mean_ranks])
    scale = [math.sqrt(sum(r * r for r in row)) for row in ranks]
    if not scale[0]:
        return None
    return sum(a * b for a, b in zip(*ranks, strict=True)) / (scale[0] * scale[1]) if scale[1] else 0.0


def top_k_accuracy(true, pred, k):
    seen = observed(true)
    if len({true[j] for j in seen}) < 2:
        return None
    best = [j for j in seen if true[j] == min(true[i] for i in seen)]
    return float(any(sum(pred[i] <= pred[j] for i in seen) <= k for j in best))


def ndcg(true, pred, k):
    seen = observed(true)
    gain = {j: sum(true[j] < true[i] for i in seen) for j in seen}

    def dcg(ranks):
        total, place = 0.0, 1
        for rank in sorted({ranks[j] for j in seen}):
            tied = [j for j in seen if ranks[j] == rank]
            share = sum(gain[j] for j in tied) / len(tied)
            for _ in tied:
                if k is None or place <= k:
                    total += share / math.log2(place + 1)
                place += 1
        return total

    ideal = dcg(true)
    return dcg(pred) / ideal if ideal > 0 else None


# --- Of sets: `relevant` holds True, False or None (not known)


def covering_error(relevant, scores, covering):
    known = [j for j, value in enumerate(relevant) if value is not None]
    elements = cover_elements([relevant[j] for j in known], covering) if known else []
    return float(sum(any((scores[known[j]] > 0) != relevant[known[j]] for j in element) for element in elements))


def one_error(relevant, scores):
    if not any(relevant):
        return None
    return float(any(score == max(scores) and not value for value, score in zip(relevant, scores, strict=True)))


def coverage(relevant, scores):
    positive = [score for value, score in zip(relevant, scores, strict=True) if value]
    return float(sum(score >= min(positive) for score in scores)) if positive else 0.0


def average_precision(relevant, scores):
    positive = [score for value, score in zip(relevant, scores, strict=True) if value]
    if len(positive) in (0, len(scores)):
        return 1.0
    return sum(sum(p >= s for p in positive) / sum(f >= s for f in scores) for s in positive) / len(positive)


# --- Of costs


def chosen_cost(costs, pred):
    first = [cost for cost, rank in zip(costs, pred, strict=True) if rank == min(pred)]
    return math.fsum(first) / len(first)


# --- Of groups


def group_disagreement(y, f, weight):
    items = [i for i in range(len(y)) if weight[i] > 0]
    if len(items) < 2:
        return None
    pairs = list(itertools.combinations(items, 2))
    cost = math.fsum(weight[i] * weight[j] * abs(sign(y[i], y[j]) - sign(f[i], f[j])) / 2 for i, j in pairs)
    return cost / math.fsum(weight[i] * weight[j] for i, j in pairs)
