"""Term weights and term scores, loop by loop from their formulas; all matrices are lists of rows."""

import math


def log_counts(counts):
    return [[math.log(c) + 1 if c > 0 else 0.0 for c in row] for row in counts]


def idf(corpus):
    m = len(corpus)
    u = [sum(row[t] for row in corpus) for t in range(len(corpus[0]))]
    return [math.log(m / u_t) if u_t > 0 else 0.0 for u_t in u]


def pivoted_tfidf(corpus, documents, slope):
    weights = idf(corpus)
    average_terms = sum(sum(c > 0 for c in row) for row in corpus) / len(corpus)
    result = []
    for row in documents:
        m_i = sum(c > 0 for c in row)
        weighted = []
        for t, d in enumerate(row):
            if d == 0:
                weighted.append(0.0)
                continue
            average = sum(row) / m_i
            tf = ((1 + math.log(d)) / (1 + math.log(average))) / (1.0 - slope + slope * m_i / average_terms)
            weighted.append(tf * weights[t])
        result.append(weighted)
    return result


def rocchio(X, levels, beta=16, gamma=4):
    """Scores (labels, terms); level 0 is relevant, above is not, -1 is not known."""
    scores = []
    for label in range(len(levels[0])):
        for_it = [i for i in range(len(X)) if levels[i][label] == 0]
        against = [i for i in range(len(X)) if levels[i][label] > 0]
        row = []
        for t in range(len(X[0])):
            w = 0.0
            if for_it:
                w = beta / len(for_it) * sum(X[i][t] for i in for_it)
                if against:
                    w -= gamma / len(against) * sum(X[i][t] for i in against)
            row.append(max(0.0, w))
        scores.append(row)
    return scores


def rocchio_choice(scores, k):
    """The union over the labels of their k best terms with a positive score, the lowest index first."""
    chosen = set()
    for row in scores:
        best = sorted((t for t in range(len(row)) if row[t] > 0), key=lambda t: (-row[t], t))
        chosen.update(best[:k])
    return sorted(chosen)


def boosting(X, cut, n_labels, weight=None):
    """Σ_l (√W⁺ − √W⁻)² of each term; `cut` holds the subgraphs, sets of edges (better, worse), of each instance."""
    scores = []
    for t in range(len(X[0])):
        total = 0.0
        for label in range(n_labels):
            plus = minus = 0.0
            for i, parts in enumerate(cut):
                for part in parts:
                    for better, worse in part:
                        q = (1 if weight is None else weight[i]) / (1 + len(part)) / len(parts)
                        pi = X[i][t] * ((worse == label) - (better == label))
                        if pi > 0:
                            plus += q * pi
                        else:
                            minus -= q * pi
            total += (math.sqrt(plus) - math.sqrt(minus)) ** 2
        scores.append(total)
    return scores


def best(scores, k):
    return sorted(sorted(range(len(scores)), key=lambda t: (-scores[t], t))[:k])
