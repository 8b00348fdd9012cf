"""RankRLS against the bare matrix routines that it needs, and against RLScore.

All times are CPU seconds of one thread: BLAS is limited to one, and each routine of the floor is measured in this
process, next to ours. The times of RLScore were measured once, with a build from its sources, since it cannot be
installed for any Python that this library supports; they are comparable only on a machine with a similar floor.

1. sparse RankRLS, Gaussian kernel, 10,000 items in 500 groups of 20, 2,500 basis vectors: `fit` and decomposition take
   at most 1.6 times the floor (syrk, two triangular solves and Cholesky factors, one eigendecomposition); `fit` is 4
   times, a path of 20 penalties 10 times, and leaving one group out for 20 penalties 5 times faster than RLScore, whose
   fit also rotates the items to the eigenvectors; with half its peak memory;
2. all of 4,000 items as basis: `fit` 4 times faster than RLScore, with the decomposition at most 1.6 times the floor;
3. linear, 100 features: `fit` and path no slower than RLScore;
4. 100,000 and 1,000,000 items, 500 basis vectors: time grows at most 12 times, peak memory of the process below 4 GiB;
5. unseen labels: ranking 20 of 100 labels by their features reaches 90 % of the tau of training on all labels.

Exit status 1 if a claim does not hold; ``--quick`` uses small sizes and only reports.

    python benchmarks/bench_rank_rls.py [--quick] [--only 4]
"""

import argparse
import subprocess
import sys
import time

import numpy as np
from scipy.linalg import blas, eigh, lapack
from threadpoolctl import threadpool_limits

from labelrank import ranks_from_scores
from labelrank.metrics import kendall_tau
from labelrank.rankers.kernel_ridge import KernelRidgeRanker
from labelrank.rankers.rank_rls import RankRLS
from labelrank.solvers.least_squares.items import ItemSystem
from labelrank.solvers.least_squares.leave_out import held_out_scores

RLSCORE = {"fit": 39.9, "path": 0.50, "leave out": 7.7, "predict": 2.6, "memory": 1503, "full": 36, "linear": 0.12}
RLSCORE_LINEAR_PATH = 0.012
ALPHAS = np.logspace(-3, 3, 20)


def timed(function):
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


def fastest(function, repeat):
    return min(timed(function)[0] for _ in range(repeat))


def verdict(name, value, limit, unit="s"):
    print(f"   {name}: {value:.3g} {unit} (at most {limit:.3g})")
    return value <= limit


def items(m, d, group=20, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    groups = np.arange(m) // group
    return X, np.sin(X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=m), groups


def bare(m, gram):
    """The floor for m rows: Gram matrix, triangular solves, Cholesky factor, eigenvectors and back-substitution."""
    r = len(gram)
    rows = min(m, 800)
    block, total, blocks = np.random.default_rng(0).normal(size=(rows, r)), np.zeros((r, r), order="F"), -(-m // rows)

    def products():
        for _ in range(blocks):
            blas.dsyrk(1.0, block.T, beta=1.0, c=total, lower=1, overwrite_c=1)

    syrk, _ = timed(products)
    gram = np.array(gram, order="F")
    np.einsum("ii->i", gram)[...] += 1
    potrf, (factor, _) = timed(lambda: lapack.dpotrf(gram, lower=1))
    trsm, _ = timed(lambda: [blas.dtrsm(1.0, factor, block.T, lower=1) for _ in range(blocks)])
    values, (_, vectors) = timed(lambda: eigh(gram, driver="evd", check_finite=False))
    back, _ = timed(lambda: blas.dtrsm(1.0, factor, vectors, lower=1, trans_a=1))
    print(f"   floor: syrk {syrk:.2f}, trsm {trsm:.2f} and {back:.2f}, Cholesky {potrf:.2f}, eigenvectors {values:.2f}")
    return {"syrk": syrk, "potrf": potrf, "trsm": trsm, "eigh": values, "back": back}


def sparse_rank_rls(quick):
    m, r = (1000, 200) if quick else (10_000, 2500)
    X, y, groups = items(m, 50)
    model = RankRLS(kernel="rbf", gamma=0.01, n_basis=r, random_state=0)
    RankRLS(kernel="rbf", n_basis=9).fit(X[:99], y[:99], groups=None)  # compiled before it is timed
    print(f"1. sparse RankRLS, {m} items, {r} basis vectors")
    fit, _ = timed(lambda: model.fit(X, y, groups=groups))
    floor = bare(m, model.system_["gram"])
    decompose, _ = timed(lambda: model.path(ALPHAS[:1]))
    path = fastest(lambda: model.path(ALPHAS), 3)
    predict = fastest(lambda: model.predict(X), 2)
    # Solving the finished system would need two solves of its size only; solving the rows first is more accurate.
    everything = floor["syrk"] + 2 * floor["potrf"] + 2 * floor["back"] + floor["eigh"]
    print(f"   fit {fit:.2f} s, decomposition {decompose:.2f} s, path {path:.4f} s, prediction {predict:.2f} s")
    whole, rotate = leave_out(model, X, y, groups)
    print(f"   leaving out for 20 penalties {whole:.2f} s, of which {rotate:.2f} s rotate the rows to the eigenvectors")
    memory = peak("memory", m, r)
    good = verdict("fit and decomposition over the floor", (fit + decompose) / everything, 1.6, "times")
    if quick:
        return True
    good &= verdict("fit", fit, RLSCORE["fit"] / 4)
    whole_fit = fit + decompose + rotate
    print(f"   all that RLScore's fit does, to rows in the eigenvectors: {whole_fit:.1f} s, RLScore {RLSCORE['fit']} s")
    good &= verdict("path", path, RLSCORE["path"] / 10)
    good &= verdict("leaving out, rows in the eigenvectors", whole - rotate, RLSCORE["leave out"] / 5)
    good &= verdict("prediction", predict, RLSCORE["predict"])
    return good & verdict("peak memory of the process", memory, RLSCORE["memory"] / 2, "MB")


def leave_out(model, X, y, groups):
    """Time for 20 penalties, and its part for the product with the eigenvectors."""
    _, loss, _, rows = RankRLS(**model.get_params())._prepare(X, y, None, groups)
    system = ItemSystem(**model.system_)
    whole, _ = timed(lambda: held_out_scores(system, loss, ALPHAS, rows))
    parts = [slice(a, a + 800) for a in range(0, len(X), 800)]
    return whole, timed(lambda: [rows(part) @ system.directions for part in parts])[0]


def full_rank_rls(quick):
    m = 500 if quick else 4000
    X, y, groups = items(m, 50)
    model = RankRLS(kernel="rbf", gamma=0.01).fit(X[:100], y[:100], groups=groups[:100])
    print(f"2. all of {m} items")
    fit, _ = timed(lambda: model.fit(X, y, groups=groups))
    floor = bare(1, model.system_["gram"])
    decompose, _ = timed(lambda: model.path(ALPHAS[:1]))
    print(f"   fit {fit:.2f} s, decomposition {decompose:.2f} s, path {fastest(lambda: model.path(ALPHAS), 3):.4f} s")
    good = verdict("both over the floor", (fit + decompose) / (floor["potrf"] + floor["eigh"]), 1.6, "times")
    return quick or good & verdict("fit", fit, RLSCORE["full"] / 4)


def linear_rank_rls(quick):
    m = 1000 if quick else 10_000
    X, y, groups = items(m, 100)
    model = RankRLS().fit(X[:100], y[:100], groups=groups[:100])
    fit = fastest(lambda: model.fit(X, y, groups=groups), 3)
    path = min(timed(lambda: model.fit(X, y, groups=groups).path(ALPHAS))[0] for _ in range(3)) - fit
    print(f"3. linear, {m} items, 100 features")
    good = verdict("fit", fit, RLSCORE["linear"])
    return good & verdict("path with its decomposition", path, RLSCORE_LINEAR_PATH) or quick


def peak(kind, m, r):
    """Peak memory in MB of a separate process; its CPU seconds are printed for kind "time"."""
    command = [sys.executable, __file__, "--child", kind, str(m), str(r)]
    words = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(words[0]) if kind == "memory" else (float(words[0]), float(words[1]))


def child(kind, m, r):
    X, y, groups = items(m, 50 if kind == "memory" else 20)
    RankRLS(kernel="rbf", n_basis=9).fit(X[:99], y[:99], groups=None)
    model = RankRLS(kernel="rbf", gamma=0.01, n_basis=r, random_state=0)
    seconds, _ = timed(lambda: model.fit(X, y, groups=groups))
    if kind == "memory":
        model.path(ALPHAS)
        leave_out(model, X, y, groups)
    # Not ru_maxrss: on Linux it starts with that of the parent.
    with open("/proc/self/status") as status:
        used = next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024
    print(used, seconds)


def many_items(quick):
    small, large, r = (2000, 20_000, 100) if quick else (100_000, 1_000_000, 500)
    print(f"4. {small} and {large} items, {r} basis vectors")
    (_, first), (memory, second) = peak("time", small, r), peak("time", large, r)
    print(f"   {first:.2f} s and {second:.2f} s")
    good = verdict("ten times the items", second / first, 12, "times")
    return good & verdict("peak memory of the process", memory, 4096, "MB") or quick


def unseen_labels(quick):
    rng = np.random.default_rng(0)
    n, k, d = 200, 100, 5
    users, labels, B = rng.normal(size=(n, d)), rng.normal(size=(k, 4)), rng.normal(size=(d, 4))
    scores = users @ B @ labels.T
    noisy, truth = ranks_from_scores(scores + rng.normal(size=scores.shape)), ranks_from_scores(scores)
    unseen, train, test = np.arange(k) % 5 == 0, slice(0, 120), slice(120, None)
    print("5. 20 of 100 labels unseen in training")
    good = True
    for kernel in ("linear", "rbf"):
        params = {"label_kernel": kernel, "label_kernel_params": {"gamma": 0.1}}
        partly = KernelRidgeRanker(label_features=labels[~unseen], **params).fit(users[train], noisy[train][:, ~unseen])
        wholly = KernelRidgeRanker(label_features=labels, **params).fit(users[train], noisy[train])
        a, b = (
            kendall_tau(truth[test][:, unseen], model.predict(users[test], label_features=labels[unseen]))
            for model in (partly, wholly)
        )
        print(f"   {kernel} label kernel: tau {a:.3f}, trained on all {b:.3f}, share {a / b:.3f} (at least 0.9)")
        good &= a >= 0.9 * b
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, no verdict")
    parser.add_argument("--only", type=int, choices=(1, 2, 3, 4, 5), help="one of the claims")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    parts = {1: sparse_rank_rls, 2: full_rank_rls, 3: linear_rank_rls, 4: many_items, 5: unseen_labels}
    with threadpool_limits(1):
        if options.child:
            child(options.child[0], int(options.child[1]), int(options.child[2]))
            return 0
        chosen = [options.only] if options.only else list(parts)
        good = [parts[number](options.quick) for number in chosen]
    return 0 if options.quick or all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
