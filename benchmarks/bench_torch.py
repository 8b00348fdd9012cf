"""Learning on a GPU by PyTorch: passes over documents of the size of RCV1, and whole fits.

Claims, on an H200, medians of warm runs with the data on the device:

passes
   one boosting pass over 804,414 documents x 47,236 terms (97 nonzeros in a row, Zipf) x 103 labels in at most 12 ms,
   its weights within 1e-3 of the largest; one gradient for L-BFGS in at most 8 ms;
boosting
   20 iterations of AdaBoost.LC at the size of the paper (590,000 x 6,270 x 103) in at most 0.4 s;
lbfgs
   L-BFGS at the size of RCV1 to tolerance 1e-4 in at most 5 s;
rank_rls
   sparse RankRLS with 1,000,000 items and 5,000 basis vectors in at most 5 s, decomposition included;
steps
   the same steps of boosting as without PyTorch, on data that are large enough for 16 bits: coefficients to 1e-3 of the
   largest after 20 iterations, each of which lowers the float64 loss by what was guaranteed, to 1e-3 of that; the same
   rankings of 99.9 % of test rows;
agreement
   the same minimum by L-BFGS as without PyTorch: the loss to 1e-5 at a tolerance of 1e-5; at one of 1e-7, the same
   rankings of 99.9 % of test rows. The rankings at the tolerances of a user are compared with those of the minimum, on
   the device and without;
soft
   no claim: soft projections of batches of rows on the device against the solver without PyTorch, to the same duality
   gap.

The ceilings (a copy, a gather of rows, a matrix product) are measured in the same run, and so is a core of the
processor: passes and iterations on a part of the rows, times the number of parts. Exit status 1 when a claim does not
hold on a GPU; ``--quick`` takes small sizes and only reports, on the processor if there is no GPU. Without a GPU,
``--only agreement`` takes a size for the processor. Without PyTorch the script says so.

    python benchmarks/bench_torch.py [--quick] [--only passes lbfgs] [--out TABLE]
"""

import argparse
import statistics
import sys
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from labelrank import LabelCoveringClassifier, PreferenceGraphs, RankRLS, ranks_from_scores
from labelrank.losses import CoveringLoss, LogLinearLoss, SoftMarginLoss
from labelrank.models import LinearModel, Objective
from labelrank.solvers import LBFGS, Boosting, SoftProjection, Stop

try:
    import torch
except ImportError:
    torch = None

CLAIMS = ["passes", "boosting", "lbfgs", "rank_rls", "steps", "agreement", "soft"]


class Table:
    """Lines of results, and whether all claims hold."""

    def __init__(self, device):
        self.lines, self.holds = [], True
        self.add("what", "one core", "GPU" if device.type == "cuda" else "PyTorch", "at most")

    def add(self, what, core, device, claim=""):
        """Add and print a line."""
        self.lines.append(f"{what:<62} {core:>12} {device:>12} {claim:>10}")
        print(self.lines[-1], flush=True)

    def compare(self, what, error, claim):
        """Add a line with an error, and note whether it is small enough."""
        self.holds &= bool(error <= claim)
        self.add(what, "", f"{error:.1e}", f"{claim:g}")

    def check(self, what, core, device, claim, unit="s"):
        """Add a line with seconds, and note whether a claim holds."""
        factor = 1e3 if unit == "ms" else 1.0
        self.holds &= device <= claim
        shown = f"{core * factor:,.3g} {unit}" if core else ""
        self.add(what, shown, f"{device * factor:,.3g} {unit}", f"{claim * factor:g} {unit}")


def synchronize(device):
    if device.type == "cuda":
        torch.cuda.synchronize()


def median(function, device, repeat=9):
    """Median of the seconds that a function takes, after two runs to warm up."""
    times = []
    for run in range(repeat + 2):
        synchronize(device)
        start = time.perf_counter()
        function()
        synchronize(device)
        if run >= 2:
            times.append(time.perf_counter() - start)
    return statistics.median(times)


def documents(n, d, k, device, seed=0, tokens=100):
    """Zipf-distributed terms with unit rows, and topics that depend on them; CSR float64, and a boolean matrix."""
    torch.manual_seed(seed)
    p = torch.cumsum(1 / (torch.arange(d, device=device, dtype=torch.float64) + 30), 0)
    keys = []
    for a in range(0, n, 50_000):
        m = min(50_000, n - a)
        term = torch.searchsorted(p / p[-1], torch.rand((m, tokens), device=device, dtype=torch.float64)).clamp_(
            max=d - 1
        )
        keys.append(torch.unique(term + (torch.arange(m, device=device)[:, None] + a) * d))
    key = torch.cat(keys)
    row, column = key // d, key % d
    value = torch.exp(0.7 * torch.randn(len(key), device=device))
    value /= torch.zeros(n, device=device).index_add_(0, row, value * value).sqrt()[row]
    pointers = np.concatenate([[0], np.cumsum(np.bincount(row.cpu().numpy(), minlength=n))])
    X = sparse.csr_array((value.double().cpu().numpy(), column.int().cpu().numpy(), pointers.astype(np.int32)), (n, d))
    topics = torch.randn((d, k), device=device) * (torch.rand((d, k), device=device) < 0.1)
    from torch.nn.functional import embedding_bag

    offsets = torch.as_tensor(pointers, device=device)
    scores = embedding_bag(column, topics, offsets, mode="sum", per_sample_weights=value, include_last_offset=True)
    scores += 0.3 * scores.std() * torch.randn_like(scores)
    share = torch.clamp(0.5 / (torch.arange(k, device=device) + 1), 0.003, 0.47)  # of the documents with a topic
    limit = torch.stack([torch.quantile(scores[:100_000, j], 1 - share[j]) for j in range(k)])
    relevant = scores > limit
    relevant[torch.arange(n, device=device), (scores - limit).argmax(1)] = True
    return X, relevant.cpu().numpy()


def on_device(X, loss, device, alpha=0.0):
    from labelrank.torch.objective import TorchObjective

    return TorchObjective(Objective(LinearModel(X, loss.shape[1]), loss, alpha=alpha), device)


def ceilings(device, table, quick):
    n = 2**20 if quick else 2**28
    numbers = torch.randn(n, device=device)
    seconds = median(numbers.clone, device)
    table.add("ceiling: copy, read and written", "", f"{8 * n / seconds / 1e12:.2f} TB/s")
    if device.type != "cuda":
        return
    side = 1024 if quick else 8192
    a = torch.randn((side, side), device=device, dtype=torch.float16)
    table.add("ceiling: 16-bit product", "", f"{2 * side**3 / median(lambda: a @ a, device) / 1e12:.0f} TFLOP/s")
    from labelrank.torch.gathers import add_pieces

    rows, pieces = 804_414, 2**17  # of 512 entries
    source = torch.randn((rows, 112), device=device).half()
    at = torch.randint(0, rows, (512 * pieces,), device=device, dtype=torch.int32)
    starts = torch.arange(0, 512 * pieces, 512, device=device, dtype=torch.int32)
    lists = (starts // 512 % 47_000, starts, starts + 512, at, torch.ones(512 * pieces, device=device))
    out = torch.zeros((47_000, 103), device=device)
    seconds = median(lambda: add_pieces(lists, source, out), device)
    table.add(
        "ceiling: gather of random rows of 103 16-bit numbers", "", f"{206 * 512 * pieces / seconds / 1e12:.2f} TB/s"
    )


def core_seconds(X, make_loss, parts, evaluate):
    """Seconds of a core for all rows, from a part of them."""
    some = slice(0, max(1, X.shape[0] // parts))
    objective = Objective(LinearModel(X[some], make_loss(slice(0, 1)).shape[1]), make_loss(some))
    coef = np.random.default_rng(0).normal(size=objective.coef_shape)
    seconds = median(partial(evaluate, objective, coef), torch.device("cpu"), 1)
    return seconds * X.shape[0] / (some.stop - some.start)


def passes(X, Y, device, table, parts):
    graphs = PreferenceGraphs.from_multilabel(Y)
    for name, loss_class, cut in (
        ("log-linear, domination", LogLinearLoss, "domination"),
        ("covering, Hamming", CoveringLoss, "hamming"),
    ):
        start = time.perf_counter()
        objective = on_device(X, loss_class(graphs, cut), device)
        synchronize(device)
        table.add(f"{name}: sent to the device", "", f"{time.perf_counter() - start:.2f} s")
        coef = objective.asarray(np.random.default_rng(0).normal(size=objective.coef_shape))
        make = partial(part_of_loss, loss_class, graphs, cut)
        core = core_seconds(X, make, parts, Objective.value_and_weights)
        seconds = median(partial(objective.value_and_weights, coef), device, 25)
        table.check(f"{name}: a boosting pass", core, seconds, 12e-3, "ms")
        core = core_seconds(X, make, parts, Objective.value_and_gradient)
        seconds = median(partial(objective.value_and_gradient, coef), device, 25)
        table.check(f"{name}: a gradient", core, seconds, 8e-3, "ms")
        check_errors(objective, coef, name, table)
        if device.type == "cuda":
            stages(objective, coef, name, table)


def part_of_loss(loss_class, graphs, cut, rows):
    return loss_class(graphs[rows], cut)


def check_errors(objective, coef, name, table):
    """Compare the weights with those of float32 numbers and products by PyTorch alone."""
    from labelrank.torch import matrix as matrices

    value, *weights = objective.value_and_weights(coef)
    part = objective._resident[0]
    if not part.matrix.halves:
        return
    plain = matrices.SparseMatrix(
        (part.matrix.pointers, part.matrix.columns, part.matrix.values), part.matrix.shape[1], True
    )
    objective._resident[0] = part._replace(matrix=plain)
    exact, *others = objective.value_and_weights(coef)
    objective._resident[0] = part
    largest = max(float(w.max()) for w in others)
    error = max(float((w - o).abs().max()) for w, o in zip(weights, others, strict=True)) / largest
    table.holds &= error <= 1e-3
    table.add(f"{name}: largest error of a weight, of the largest", "", f"{error:.1e}", "1e-3")
    table.add(f"{name}: relative error of the loss", "", f"{abs(value / exact - 1):.1e}")


def stages(objective, coef, name, table):
    from labelrank.torch.objective import _flows

    part, k = objective._resident[0], objective.model.n_labels
    small = coef.float()
    scores = part.matrix.scores(small[:-1], small[-1])
    flows = _flows(part, scores, False)[0]
    for what, function in (
        ("scores", lambda: part.matrix.scores(small[:-1], small[-1])),
        ("loss and flows", lambda: _flows(part, scores, False)),
        ("two weights", lambda: part.matrix.weights(flows, k)),
        ("transposed product", lambda: part.matrix.transposed(flows.first, k)),
    ):
        seconds = median(function, objective.device, 15)
        table.add(f"  {name}: {what} (dense block of {len(part.matrix.head_columns)})", "", f"{1e3 * seconds:.2f} ms")


def boosting(X, Y, device, table, parts):
    from labelrank.torch.solvers import TorchBoosting

    graphs = PreferenceGraphs.from_multilabel(Y)

    def core(objective, coef):
        Boosting().solve(objective, np.zeros_like(coef), Stop(20, 0.0))

    seconds_of_core = core_seconds(X, lambda rows: CoveringLoss(graphs[rows], "hamming"), parts, core)
    objective = on_device(X, CoveringLoss(graphs, "hamming"), device)
    start = np.zeros(objective.coef_shape)
    seconds = median(partial(TorchBoosting().solve, objective, start, Stop(20, 0.0)), device, 3)
    table.check("20 iterations of AdaBoost.LC at the size of the paper", seconds_of_core, seconds, 0.4)
    del objective
    where = device.type
    model = LabelCoveringClassifier(solver="boosting", alpha=0, max_iter=20, tol=0, device=where)
    seconds = median(partial(model.fit, X, graphs), device, 1)
    table.add("  the whole fit, checks of the data and transfer included", "", f"{seconds:.3g} s")


def lbfgs(X, Y, device, table, parts):
    from labelrank.torch.solvers import TorchLBFGS

    graphs = PreferenceGraphs.from_multilabel(Y)
    objective = on_device(X, CoveringLoss(graphs, "hamming"), device, alpha=1.0)
    start, stop = np.zeros(objective.coef_shape), Stop(1000, 1e-4)
    objective.value_and_gradient(objective.asarray(start))
    begin = time.perf_counter()
    state = TorchLBFGS().solve(objective, start, stop)
    seconds = time.perf_counter() - begin
    some = slice(0, X.shape[0] // parts)
    one = Objective(LinearModel(X[some], Y.shape[1]), CoveringLoss(graphs[some], "hamming"), alpha=1.0 / parts)
    processor = torch.device("cpu")
    gradient = median(partial(one.value_and_gradient, start), processor, 1)
    few = LBFGS().solve(one, start, Stop(4, 0.0))
    begin = time.perf_counter()
    LBFGS().solve(one, few.coef, Stop(4, 0.0))
    # Of the solver alone: they do not grow with the rows.
    steps = max((time.perf_counter() - begin) / 4 - gradient, 0.0)
    core = state.n_iter * (parts * gradient + steps)
    what = f"L-BFGS to 1e-4: {state.n_iter} iterations, gap {state.gap:.1e}, converged {state.converged}"
    table.check(what, core, seconds, 5.0)


def both_objectives(X, Y, n, device, alpha):
    """The objective of the first rows without PyTorch, by all cores, and on the device."""
    loss = LogLinearLoss(PreferenceGraphs.from_multilabel(Y[:n]), "domination")
    exact = Objective(LinearModel(X[:n], Y.shape[1]), loss, alpha=alpha, n_jobs=-1)
    return exact, on_device(X[:n], loss, device, alpha)


def other_rankings(X, first, second):
    """Shares of rows with another ranking of the labels, and with another best label."""
    first, second = (ranks_from_scores(X @ coef[:-1] + coef[-1]) for coef in (first, second))
    best = first.argmin(axis=1) == second.argmin(axis=1)
    return 1 - (first == second).all(axis=1).mean(), 1 - best.mean()


def steps(X, Y, device, table):
    from labelrank.torch import as_numpy
    from labelrank.torch.solvers import TorchBoosting

    split = X.shape[0] * 9 // 10
    exact, objective = both_objectives(X, Y, split, device, 0.0)
    start, steps = np.zeros(exact.coef_shape), []
    expected = Boosting().solve(exact, start, Stop(20, 0.0)).coef
    state = TorchBoosting().solve(objective, start, Stop(20, 0.0), lambda coef, _: steps.append(as_numpy(coef)))
    error = abs(steps[-1] - expected).max() / abs(expected).max()
    table.compare("20 iterations of boosting: largest error of a coefficient", error, 1e-3)
    table.compare("  share of test rows with another ranking", other_rankings(X[split:], expected, steps[-1])[0], 1e-3)
    values = np.array([exact.value_and_gradient(coef)[0] for coef in [start, *steps]])
    short = 1 + np.diff(values) / state.bound_curve
    table.compare("  missing of the guaranteed decrease, in float64", short.max(), 1e-3)


def agreement(X, Y, device, table, split):
    """Rankings of the rows after the first, by the minimum and by where L-BFGS stops."""
    from labelrank.torch import as_numpy
    from labelrank.torch.solvers import TorchLBFGS

    test, found = X[split:], {}
    for tol in (1e-4, 1e-5, 1e-6, 1e-7):
        exact, objective = both_objectives(X, Y, split, device, 1.0)  # anew, since the last one may be in float64
        start = np.zeros(exact.coef_shape)
        begin = time.perf_counter()
        first = LBFGS().solve(exact, start, Stop(5000, tol))
        core = time.perf_counter() - begin
        begin = time.perf_counter()
        second = TorchLBFGS().solve(objective, start, Stop(5000, tol))
        seconds = time.perf_counter() - begin
        found[tol] = first.coef, as_numpy(second.coef)
        sizes = f"{first.n_iter} and {second.n_iter} iterations, gaps {first.gap:.1e} and {second.gap:.1e}"
        table.add(f"L-BFGS to {tol:g}, all cores: {sizes}", f"{core:.3g} s", f"{seconds:.3g} s")
        whole, best = other_rankings(test, *found[tol])
        if tol == 1e-5:
            values = [exact.value_and_gradient(coef)[0] for coef in found[tol]]
            table.compare("  error of the loss, in float64", abs(values[1] / values[0] - 1), 1e-5)
        what = f"  other rankings of {test.shape[0]:,} test rows on the device"
        if tol == 1e-7:
            table.compare(what, whole, 1e-3)
        else:
            table.add(what, "", f"{whole:.1e}")
        table.add("  other best labels", "", f"{best:.1e}")
    minimum = found[1e-7][0]
    for tol in (1e-4, 1e-5, 1e-6):
        shares = [other_rankings(test, minimum, coef)[0] for coef in found[tol]]
        table.add(f"other rankings than the minimum's, at {tol:g}", *(f"{share:.1e}" for share in shares))


def soft(X, Y, device, table, tol):
    from _batched_projections import BatchedAscent

    graphs, k = PreferenceGraphs.from_multilabel(Y), Y.shape[1]
    few = slice(0, 100)  # to compile
    for rows in (few, slice(None)):
        loss = SoftMarginLoss(graphs[rows])
        objective = Objective(LinearModel(X[rows], k, fit_intercept=False), loss, alpha=1.0)
        begin = time.perf_counter()
        state = SoftProjection(random_state=0).solve(objective, np.zeros(objective.coef_shape), Stop(1000, tol))
        core = time.perf_counter() - begin
    what = f"soft projections to a gap of {tol:g}: {state.n_iter} epochs, gap {state.gap:.1e}"
    table.add(what, f"{core:.3g} s", "")
    for batch in (256, 128, 512, 1024):
        ascent = BatchedAscent(X, Y, 1.0, device, batch)
        ascent.run(torch.arange(ascent.batch, device=device))  # to warm up
        epochs, taken, gap = ascent.solve(tol, max(core, 2.0))
        what = f"  batches of {batch}: {epochs} epochs, gap {gap:.1e}, kappa {float(ascent.kappa):.1f}"
        table.add(what, "", f"{taken:.3g} s")


def rank_rls(n, r, device, table):
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(n, 20)), rng.integers(0, n // 20, size=n)
    y = np.tanh(X @ rng.normal(size=20)) + 0.1 * rng.normal(size=n)
    model = RankRLS(kernel="rbf", n_basis=r, random_state=0, device="cuda" if device.type == "cuda" else "cpu")
    model.fit(X[: 4 * r], y[: 4 * r], groups=groups[: 4 * r])
    begin = time.perf_counter()
    model.fit(X, y, groups=groups)
    fitted = time.perf_counter() - begin
    model.path([0.1, 1.0, 10.0])
    seconds = time.perf_counter() - begin
    table.add(f"sparse RankRLS, {n:,} items, {r:,} basis vectors: one penalty", "", f"{fitted:.3g} s")
    small = model.set_params(device=None, n_basis=max(r // 5, 2))
    few = slice(0, n // 20)
    begin = time.perf_counter()
    with threadpool_limits(1):
        small.fit(X[few], y[few], groups=groups[few])
    core = 25 * 20 * (time.perf_counter() - begin)  # grows with the items and the square of the basis
    table.check("  with the eigenvectors for all penalties", core, seconds, 5.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, and no verdict")
    parser.add_argument("--only", choices=CLAIMS, nargs="+", default=CLAIMS, help="claims to look at")
    parser.add_argument("--out", type=Path, help="file to write the table to")
    arguments = parser.parse_args()
    if torch is None:
        print('PyTorch is not installed (pip install "labelrank[torch]"); nothing to measure')
        return 0
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if device.type == "cpu" and not arguments.quick and arguments.only != ["agreement"]:
        print("there is no GPU; use --quick to try the script on the processor, or --only agreement")
        return 0
    quick = arguments.quick
    warnings.simplefilter("ignore", ConvergenceWarning)
    table = Table(device)
    n, d, k = (1000, 300, 8) if quick else (804_414, 47_236, 103)
    parts = 1 if quick else 10
    only = set(arguments.only)
    if {"passes", "boosting", "lbfgs"} & only:
        ceilings(device, table, quick)
    if {"passes", "lbfgs"} & only:
        X, Y = documents(n, d, k, device, tokens=20 if quick else 100)
        table.add(
            f"{n:,} x {d:,} documents, {X.nnz / n:.1f} nonzeros in a row, {Y.sum() / n:.1f} labels of {k}", "", ""
        )
        if "passes" in only:
            passes(X, Y, device, table, parts)
        if "lbfgs" in only:
            lbfgs(X, Y, device, table, parts)
    if "boosting" in only:
        X, Y = documents(*((1000, 100, 8) if quick else (590_000, 6_270, 103)), device, tokens=20 if quick else 60)
        table.add(f"{X.shape[0]:,} x {X.shape[1]:,} documents, {X.nnz / X.shape[0]:.1f} nonzeros in a row", "", "")
        boosting(X, Y, device, table, parts)
    if "rank_rls" in only:
        rank_rls(*((400, 20) if quick else (1_000_000, 5_000)), device, table)
    medium = (30_000, 5_000, 30) if device.type == "cuda" else (20_000, 2_000, 20)
    for name, size in (
        ("steps", (1200, 300, 8) if quick else (400_000, 10_000, 30)),
        ("agreement", (1500, 300, 8) if quick else medium),
        ("soft", (1500, 300, 8) if quick else (50_000, 10_000, 103)),
    ):
        if name not in only:
            continue
        X, Y = documents(*size, device, tokens=20 if quick else 60 if name == "soft" else 100)
        in_a_row = f"{X.nnz / X.shape[0]:.1f} nonzeros in a row"
        table.add(f"{X.shape[0]:,} x {X.shape[1]:,} documents, {in_a_row}, {Y.shape[1]} labels", "", "")
        if name == "steps":
            steps(X, Y, device, table)
        elif name == "agreement":
            agreement(X, Y, device, table, size[0] * 2 // 3)
        else:
            soft(X, Y, device, table, 1e-3)
    if arguments.out:
        arguments.out.write_text("\n".join(table.lines) + "\n", encoding="utf-8")
    return 0 if table.holds or quick else 1


if __name__ == "__main__":
    sys.exit(main())
