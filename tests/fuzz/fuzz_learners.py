"""Every learner against its oracle on random problems.

A short seeded round is a test. A long one by command: ``python tests/fuzz/fuzz_learners.py --cases 100000 --seed 1``.
A case that fails is repeated by ``--only LEARNER --first N --cases 1`` with the same seed.
"""

import argparse
import itertools
import sys
import time
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz.learner_problems import draw, features, form_of, weights_of
from oracles import consensus, constraint_classification, label_covering, log_linear, neighbors, plackett_luce, rls
from oracles import decompositions as cuts
from oracles import soft_projection as projections
from oracles import trees as splits
from oracles.metrics import cover_elements
from rankers.soft_projections import LAYERED, literal_problem
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel

from labelrank import (
    CalibratedRanker,
    ConstraintClassificationRanker,
    DecisionTreeRanker,
    DummyRanker,
    GradientBoostingRanker,
    GraphRanker,
    KernelRidgeRanker,
    KNeighborsRanker,
    KNeighborsRankerCV,
    LabelCoveringClassifier,
    LogLinearRanker,
    PairwiseRanker,
    PreferenceGraphs,
    RandomForestRanker,
    RankRLS,
    RankRLSCV,
    SoftProjectionRanker,
    as_graphs,
)


def close(found, expected, tol=1e-7, scale=None):
    """Equal, relative to the largest entry."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    size = np.abs(expected).max(initial=0.0) if scale is None else scale
    np.testing.assert_allclose(found, expected, rtol=0, atol=tol * (size + 1e-12))


def minimum(value, coef, rng, tol):
    """No step from the coefficients makes the value smaller by more than a share of that of zeros."""
    best, scale = value(coef), abs(value(np.zeros_like(coef)))
    for size in (1e-4, 1e-2, 1.0):
        for _ in range(3):
            step = size * (np.abs(coef) + 0.1) * rng.normal(size=coef.shape)
            for sign in (1, -1):
                assert value(coef + sign * step) >= best - tol * scale
    return best


def with_constant(X, fit_intercept=True):
    return np.column_stack([X, np.ones(len(X))]) if fit_intercept else X


# --- Learners by pairs


def dummy(rng):
    case = draw(rng, integral=True)
    strategy = rng.choice(["borda", "copeland", "kemeny"])
    model = DummyRanker(strategy).fit(case.X, case.y, case.weight)
    edges = [(i, *edge) for i, row in enumerate(case.edges) for edge in row]
    counts = consensus.edge_counts(edges, case.n_labels, case.weights)
    if strategy == "borda":
        scores = (
            consensus.borda_scores_of_counts(counts)
            if case.ranks is None
            else consensus.borda_scores(case.ranks.tolist(), case.n_labels, case.weights.tolist())
        )
        close(model.scores_, [float(score) for score in scores])
    elif strategy == "copeland":
        close(model.scores_, consensus.copeland_scores(counts))
    else:
        cheapest = min(consensus.kemeny_cost(order, counts) for order in itertools.permutations(range(case.n_labels)))
        assert abs(consensus.kemeny_cost(model.ranks_.tolist(), counts) - cheapest) <= 1e-9 * (1 + cheapest)


def nearest_neighbors(rng):
    case = draw(rng, kinds=("ranks", "graphs"), ties=False, sizes=(12, 4))
    X, kind = rng.normal(size=case.data.shape), rng.choice(["uniform", "distance", "dudani"])
    rows = case.counted
    k = int(rng.integers(1, 6))
    query, weights = rng.normal(size=(3, X.shape[1])), case.weights[rows]
    if weights.sum() < k:
        return
    model = KNeighborsRanker(k, weights=kind).fit(form_of(rng, X), case.y, case.weight)
    expected = [neighbors.center(X[rows], case.ranks[rows], one, k, kind, weights) for one in query]
    np.testing.assert_array_equal(model.predict(query), expected)


def decision_tree(rng):
    criterion = rng.choice(["pair_gini", "mallows"])
    case = draw(rng, sizes=(14, 4 if criterion == "pair_gini" else 3))
    X = case.data.astype(np.float32).astype(float)
    model = DecisionTreeRanker(criterion, min_samples_split=1e-9, max_depth=2, min_samples_leaf=1e-9)
    model.fit(X, case.y, case.weight)
    path = model.decision_path(X).tocsc()
    rows_of = [path.indices[path.indptr[i] : path.indptr[i + 1]].tolist() for i in range(path.shape[1])]
    rows_of = [[i for i in rows if case.weights[i] > 0] for rows in rows_of]
    for node, inside in enumerate(rows_of):
        left, right = model.children_left_[node], model.children_right_[node]
        if left < 0:
            continue
        sides = [rows_of[left], rows_of[right]]
        made = splits.value(criterion, sides, case.edges, case.weights, case.n_labels)
        every = splits.splits(X, inside)
        best = max(splits.value(criterion, both, case.edges, case.weights, case.n_labels) for both in every)
        total = case.weights[inside].sum()
        assert made >= best - (1e-3 if criterion == "mallows" else 1e-5) * total * case.n_labels**2
    forest = RandomForestRanker(1, criterion=criterion, bootstrap=False, max_features=None, random_state=0)
    forest.set_params(**{key: getattr(model, key) for key in ("min_samples_split", "max_depth", "min_samples_leaf")})
    if hasattr(forest, "shrinkage"):
        forest.set_params(shrinkage=model.shrinkage)
    close(forest.fit(X, case.y, case.weight).pairwise_proba(X), model.pairwise_proba(X), 1e-5)


def pairwise(rng):
    case = draw(rng, kinds=("ranks", "graphs"), sizes=(10, 4))
    classifier = LogisticRegression(tol=1e-8, max_iter=10000)
    X = case.data / np.maximum(np.abs(case.data).max(axis=0), 1.0)
    model = PairwiseRanker(classifier).fit(form_of(rng, X), case.y, case.weight)
    proba = np.full((len(case.data), case.n_labels, case.n_labels), 0.5)
    for i, j in itertools.combinations(range(case.n_labels), 2):
        rows = [r for r in np.flatnonzero(case.weights > 0) if case.ranks[r, i] != case.ranks[r, j]]
        rows = [r for r in rows if not np.isnan(case.ranks[r, [i, j]]).any()]
        first = [bool(case.ranks[r, i] < case.ranks[r, j]) for r in rows]
        if rows:
            p = np.full(len(proba), float(first[0]))
            if len(set(first)) == 2:
                fitted = clone(classifier).fit(X[rows], first, sample_weight=case.weights[rows])
                p = fitted.predict_proba(X)[:, 1]
            proba[:, i, j], proba[:, j, i] = p, 1 - p
    close(model.pairwise_proba(X), proba, 1e-4)


def neighbors_cv(rng):
    case = draw(rng, kinds=("ranks", "graphs"), integral=True, sizes=(16, 4))
    if case.counted.sum() < 6:
        return
    kind = rng.choice(["uniform", "distance", "dudani"])
    model = KNeighborsRankerCV(weights=kind).fit(case.X, case.y, case.weight)
    chosen = KNeighborsRanker(model.n_neighbors_, weights=kind).fit(case.X, case.y, case.weight)
    np.testing.assert_array_equal(chosen.predict(case.X), model.predict(case.X))
    close(model.best_score_, model.cv_scores_.max(), 1e-9, scale=1.0)


def gradient_boosting(rng):
    """Rows with integer weights, and the rows as often in another order: the first split is as good."""
    case = draw(rng, integral=True, sizes=(10, 4))
    rows = rng.permutation(np.repeat(np.arange(len(case.data)), case.weights.astype(int)))
    y = PreferenceGraphs.concatenate([as_graphs(case.y)[int(i)] for i in rows])
    model = GradientBoostingRanker(max_iter=1, max_leaf_nodes=2, min_samples_leaf=1, early_stopping=False)
    weighted = clone(model).fit(case.data, case.y, case.weight)
    close(weighted.loss_curve_, clone(model).fit(case.data[rows], y).loss_curve_, 1e-6, scale=1.0)


# --- Learners by scores


def log_linear_ranker(rng):
    name = rng.choice(["zero_one", "disagreement", "domination", "dominated"])
    case = draw(rng, votes=False, sizes=(6, 4))
    fit_intercept = bool(rng.integers(2))
    cut = [cuts.OF_EDGES[name]([(a, b) for a, b, _ in row]) for row in case.edges]
    X = case.data / np.maximum(np.abs(case.data).max(axis=0), 1.0)
    h = log_linear.block_features(X, case.n_labels, fit_intercept)
    params = {"decomposition": name, "fit_intercept": fit_intercept}
    total = case.weights[case.counted].sum()
    if rng.random() < 0.5:
        if not fit_intercept and not np.abs(X[case.counted]).sum():
            return
        lam, curve, _ = log_linear.boost(h, cut, 4, weight=case.weights)
        model = LogLinearRanker(solver="boosting", alpha=0, tol=0, max_iter=4, **params)
        model.fit(form_of(rng, X), case.y, case.weight)
        close(model.loss_curve_, curve[: len(model.loss_curve_)], 1e-8)
        close(model.coef_.T, lam.reshape(-1, case.n_labels)[: X.shape[1]], 1e-6)
        return
    alpha = float(total * 10.0 ** rng.integers(-2, 2))
    model = LogLinearRanker(alpha=alpha, tol=1e-8, **params).fit(form_of(rng, X), case.y, case.weight)
    coef = np.column_stack([model.coef_, model.intercept_]).T[: X.shape[1] + fit_intercept]

    def value(coef):
        return log_linear.loss(h, cut, coef.ravel(), case.weights) + 0.5 * alpha * (coef[: X.shape[1]] ** 2).sum()

    close(model.loss_curve_[-1] * total, minimum(value, coef, rng, 1e-7), 1e-9, scale=total)


def calibrated(rng):
    n, k = int(rng.integers(2, 8)), int(rng.integers(1, 5))
    relevant = rng.integers(0, 2, (n, k))
    X, weight = features(rng, n, 2), weights_of(rng, n)
    if weight is not None and not weight.any():
        return
    common = {"alpha": 0.5 * (1.0 if weight is None else weight.sum()), "tol": 1e-9}
    model = CalibratedRanker(**common).fit(form_of(rng, X), PreferenceGraphs.from_multilabel(relevant), weight)
    ranks = np.column_stack([3.0 - 2 * relevant, np.full(n, 2.0)])
    wide = LogLinearRanker(**common).fit(X, ranks, weight)
    rows = X if weight is None else X[weight > 0]  # others may be where the scores hardly matter
    scores = wide.decision_function(rows)
    close(expit(model.decision_function(rows)), expit(scores[:, :-1] - scores[:, -1:]), 1e-4, scale=1.0)
    close(model.loss_curve_[-1], wide.loss_curve_[-1], 1e-7, scale=1.0)


def covering(rng):
    n, k = int(rng.integers(1, 8)), int(rng.integers(1, 5))
    Y, H = rng.integers(0, 2, (n, k)), np.clip(features(rng, n, 2), -1, 1)
    repeats = rng.integers(0, 3, n)
    if not repeats.any():
        return
    name = rng.choice(["zero_one", "hamming", "two_sets", "weighted_positive", "weighted_negative"])
    many_H, many_Y = np.repeat(H, repeats, axis=0), np.repeat(Y, repeats, axis=0)

    def cover(y):
        return cover_elements(y, name)

    if rng.random() < 0.5:
        Z = np.abs(many_H).sum(axis=1).max()
        if not Z:
            return
        alpha, curve, _, _ = label_covering.boost(many_H, many_Y, cover, np.full((1, 2), 1 / Z), 4)
        model = LabelCoveringClassifier(name, solver="boosting", alpha=0, tol=0, max_iter=4, fit_intercept=False)
        model.fit(form_of(rng, H), Y, repeats)
        close(model.loss_curve_, curve[: len(model.loss_curve_)], 1e-8)
        close(model.coef_.T, alpha, 1e-6)
        return
    model = LabelCoveringClassifier(name, alpha=0.3, tol=1e-9, fit_intercept=False).fit(form_of(rng, H), Y, repeats)

    def value(coef):
        return label_covering.loss(many_H, many_Y, cover, coef) + 0.15 * (coef**2).sum() / repeats.sum()

    close(model.loss_curve_[-1], minimum(value, model.coef_.T, rng, 1e-7), 1e-9)


def graph_ranker(rng):
    case = draw(rng, kinds=("ranks", "graphs"))
    alpha = float(case.weights.sum())
    model = GraphRanker("plackett_luce", alpha=alpha, tol=1e-8).fit(case.X, case.y, case.weight)
    Z = with_constant(case.data)

    def value(coef):
        rows = zip(case.ranks, Z, case.weights, strict=True)
        losses = [w * plackett_luce.loss(row, z @ coef)[0] for row, z, w in rows]
        return float(sum(losses)) + 0.5 * alpha * (coef[:-1] ** 2).sum()

    coef, total = np.column_stack([model.coef_, model.intercept_]).T, case.weights[case.counted].sum()
    close(model.loss_curve_[-1] * total, minimum(value, coef, rng, 1e-6), 1e-8, scale=total)


def soft_projection(rng):
    case = draw(rng, votes=False, sizes=(6, 4))
    layered = LAYERED if case.ranks is not None else []
    name, weighting = rng.choice([*layered, "disagreement", "domination", "dominated"]), rng.choice(["mean", "sum"])
    C = float(10.0 ** rng.integers(-2, 3) / case.weights.max())
    model = SoftProjectionRanker(
        C, decomposition=name, weighting=weighting, margin="unit", tol=1e-9, max_iter=5000, random_state=0
    ).fit(case.X, case.y, case.weight)
    graphs = as_graphs(case.y)
    problem = literal_problem(graphs, name, C, weighting, None, case.weights)
    Z = with_constant(case.data)

    def value(W):
        return projections.objective(W, Z, *problem)

    W = np.column_stack([model.coef_, model.intercept_])
    close(model.objective_, minimum(value, W, rng, 1e-7 if model.gap_ <= 1e-9 else 1e-2), 1e-8)
    assert model.dual_objective_ <= model.objective_ * (1 + 1e-9) + 1e-300


def perceptron(rng):
    case = draw(rng, sizes=(6, 4))
    X, fit_intercept = rng.choice([-2.0, -0.5, 0.0, 0.25, 1.0], size=case.data.shape), bool(rng.integers(2))
    weights = 2.0 ** rng.integers(-2, 3, len(X)) * (case.weights > 0)
    model = ConstraintClassificationRanker(
        margin=float(rng.choice([0.0, 0.71, 3.03])), max_iter=3, tol=0, fit_intercept=fit_intercept, shuffle=False
    ).fit(form_of(rng, X), case.y, weights)
    rows = np.flatnonzero(case.counted).tolist()
    largest = np.abs(X[rows]).max(axis=0)
    largest[largest == 0] = 1.0
    expected, shares = constraint_classification.perceptron(
        X / largest, case.edges, weights, [rows] * model.n_iter_, model.margin, fit_intercept
    )
    close(model.coef_[: len(expected)], expected[:, :-1] / largest, 1e-9)
    close(model.loss_curve_, shares, 1e-9)


# --- Least squares


def kernel_ridge(rng):
    case = draw(rng, sizes=(7, 4))
    alpha, intercept = 10.0 ** rng.integers(-2, 3), bool(rng.integers(2))
    X = case.data / np.maximum(np.abs(case.data).max(axis=0), 1.0)
    kernel = rng.choice(["linear", "rbf"])
    model = KernelRidgeRanker(alpha, kernel=kernel, gamma=0.5, fit_intercept=intercept)
    model.fit(form_of(rng, X), case.y, case.weight)
    K = (X @ X.T if kernel == "linear" else rbf_kernel(X, gamma=0.5)) + intercept
    if case.ranks is None:
        edges = [(i, a, b) for i, row in enumerate(case.edges) for a, b, _ in row]
        votes = [v for row in case.edges for _, _, v in row]
        laplacians, right = rls.rows_of_edges(edges, votes, case.y.shape, case.weights)
    else:
        laplacians, right = rls.rows_of_rankings(case.ranks, case.weights)
    A = rls.two_sided_solution(K, np.eye(case.n_labels), laplacians, right, alpha)
    close(model.decision_function(X), K @ A, 1e-5, scale=1.0 + np.abs(K @ A).max())


def items(rng):
    """Items in groups of any names, with weights."""
    m = int(rng.integers(3, 14))
    X = features(rng, m, int(rng.integers(1, 4)))
    groups = rng.integers(0, rng.integers(1, 5), m)
    weight = weights_of(rng, m)
    if weight is not None and not weight.any():
        weight = None
    y = rng.normal(size=m) if rng.random() < 0.7 else rng.integers(0, 3, m).astype(float)
    return X / np.maximum(np.abs(X).max(axis=0), 1.0), y, groups, weight


def rank_rls(rng):
    X, y, groups, weight = items(rng)
    weights = np.ones(len(y)) if weight is None else weight
    weighting, kernel = rng.choice(["pairs", "groups"]), rng.choice(["linear", "rbf"])
    alpha = float(10.0 ** rng.integers(-2, 2) * max(weights.max() ** 2 if weighting == "pairs" else 1.0, 1e-12))
    W = rls.adjacency(groups, weights)
    L = rls.laplacian(rls.weigh_groups(W, groups) if weighting == "groups" else W)
    K = X @ X.T if kernel == "linear" else rbf_kernel(X, gamma=0.5)
    names = [f"group {g}" for g in groups] if rng.random() < 0.5 else groups
    model = RankRLS(alpha, kernel=kernel, gamma=0.5, weighting=weighting)
    model.fit(form_of(rng, X), y, weight, groups=names)
    expected = K @ rls.full_solution(K, L, y, alpha)
    close(model.predict(X), expected, 1e-6, scale=1.0 + np.abs(expected).max())
    other = model.path([alpha, 10 * alpha])[1]
    scores = X @ other if kernel == "linear" else K @ other
    close(scores, K @ rls.full_solution(K, L, y, 10 * alpha), 1e-6, scale=1.0 + np.abs(expected).max())


def rank_rls_cv(rng):
    X, y, groups, weight = items(rng)
    weights = np.ones(len(y)) if weight is None else weight
    weighting, kernel = rng.choice(["pairs", "groups"]), rng.choice(["linear", "rbf"])
    unit = weights.max() ** 2 if weighting == "pairs" else 1.0
    alphas = [0.1 * unit, 10 * unit]
    estimator = RankRLS(kernel=kernel, gamma=0.5, weighting=weighting)
    cv = "leave-pair-out" if rng.random() < 0.7 else None
    sizes = np.bincount(groups[weights > 0])
    if sizes.max() < 2 or (cv is None and (sizes > 0).sum() < 2):
        return
    model = RankRLSCV(alphas, None, estimator, cv=cv).fit(form_of(rng, X), y, weight, groups=groups)

    def refit(rows):
        left = weights.copy()
        left[rows] = 0
        if not left.any():
            return np.zeros(len(y))
        return clone(estimator).set_params(alpha=model.alpha_).fit(X, y, left, groups=groups).predict(X)

    if cv is None:
        for group in np.unique(groups[weights > 0]):
            rows = np.flatnonzero((groups == group) & (weights > 0))
            scores, found = refit(rows)[rows], model.left_out_scores_[rows]
            share = weights[rows] / weights[rows].sum()
            close(found - share @ found, scores - share @ scores, 1e-5, scale=1 + np.abs(scores).max())
        return
    for (i, j), found in zip(model.left_out_pairs_, model.left_out_differences_, strict=True):
        scores = refit([i, j])
        close(found, scores[i] - scores[j], 1e-5, scale=1 + np.abs(scores).max())


LEARNERS = {
    "DummyRanker": dummy,
    "KNeighborsRanker": nearest_neighbors,
    "KNeighborsRankerCV": neighbors_cv,
    "DecisionTreeRanker": decision_tree,
    "GradientBoostingRanker": gradient_boosting,
    "PairwiseRanker": pairwise,
    "LogLinearRanker": log_linear_ranker,
    "CalibratedRanker": calibrated,
    "LabelCoveringClassifier": covering,
    "GraphRanker": graph_ranker,
    "SoftProjectionRanker": soft_projection,
    "ConstraintClassificationRanker": perceptron,
    "KernelRidgeRanker": kernel_ridge,
    "RankRLS": rank_rls,
    "RankRLSCV": rank_rls_cv,
}


def run(name, case, seed):
    """One case; an error tells what is wrong."""
    rng = np.random.default_rng([seed, case, *name.encode()])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        LEARNERS[name](rng)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=1000, help="of all learners together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first case of each learner")
    parser.add_argument("--only", choices=LEARNERS, help="a single learner")
    args = parser.parse_args()
    names = [args.only] if args.only else list(LEARNERS)
    failed, spent = dict.fromkeys(names, 0), dict.fromkeys(names, 0.0)
    for number in range(args.cases):
        name, case = names[number % len(names)], args.first + number // len(names)
        start = time.perf_counter()
        try:
            run(name, case, args.seed)
        except Exception as error:
            failed[name] += 1
            if failed[name] <= 5:
                what = " ".join(str(error).split())[:300]
                print(f"{name} --first {case} --seed {args.seed}: {type(error).__name__}: {what}", flush=True)
        spent[name] += time.perf_counter() - start
    for name in names:
        print(f"{name:32} {failed[name]:6} failed, {spent[name]:8.1f} s")
    print(f"{args.cases} cases, seed {args.seed}: {sum(failed.values())} failed")
    return int(any(failed.values()))


if __name__ == "__main__":
    sys.exit(main())
