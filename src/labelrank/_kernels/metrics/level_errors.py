"""Which subgraphs of layered graphs a ranking disagrees with, without building them.

Only the worst and best rank of each level matter: O(n_labels) per row for all decompositions except single edges.
"""

import numpy as np

from labelrank._kernels.compile import kernel
from labelrank._kernels.cuts import ADJACENT_LEVELS, DISAGREEMENT, DOMINATED, DOMINATION, LEVELS, ZERO_ONE


@kernel
def failed_subgraphs(levels, ranks, depth, kind):
    """Per row the number of subgraphs with a contradicted or tied edge, and the number of subgraphs."""
    n, k = levels.shape
    failed = np.zeros(n)
    total = np.zeros(n)
    best, worst = np.empty(depth), np.empty(depth)
    best_below, worst_above = np.empty(depth), np.empty(depth)
    for row in range(n):
        if kind == DISAGREEMENT:
            for i in range(k):
                for j in range(k):
                    if 0 <= levels[row, i] < levels[row, j]:
                        total[row] += 1
                        failed[row] += ranks[row, i] >= ranks[row, j]
            continue
        # An empty level has best = inf and worst = -inf, so it has no effect.
        for level in range(depth):
            best[level], worst[level] = np.inf, -np.inf
        for j in range(k):
            level = levels[row, j]
            if level >= 0:
                best[level] = min(best[level], ranks[row, j])
                worst[level] = max(worst[level], ranks[row, j])
        below, above = np.inf, -np.inf
        for level in range(depth):
            worst_above[level] = above
            above = max(above, worst[level])
            back = depth - 1 - level
            best_below[back] = below
            below = min(below, best[back])
        if kind == ZERO_ONE:
            for level in range(depth):
                if worst[level] > -np.inf and best_below[level] < np.inf:
                    total[row] = 1
                    if worst[level] >= best_below[level]:
                        failed[row] = 1
        elif kind == DOMINATION:
            for j in range(k):
                level = levels[row, j]
                if level >= 0 and best_below[level] < np.inf:
                    total[row] += 1
                    failed[row] += ranks[row, j] >= best_below[level]
        elif kind == DOMINATED:
            for j in range(k):
                level = levels[row, j]
                if level >= 0 and worst_above[level] > -np.inf:
                    total[row] += 1
                    failed[row] += worst_above[level] >= ranks[row, j]
        elif kind == LEVELS:
            for level in range(depth):
                if worst[level] > -np.inf and best_below[level] < np.inf:
                    total[row] += 1
                    failed[row] += worst[level] >= best_below[level]
        else:
            for level in range(depth):
                if worst[level] == -np.inf:
                    continue
                for lower in range(level + 1, depth):
                    if best[lower] < np.inf:
                        total[row] += 1
                        failed[row] += worst[level] >= best[lower]
                        if kind == ADJACENT_LEVELS:
                            break
    return failed, total
