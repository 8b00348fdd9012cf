"""The timing studies of Shalev-Shwartz and Singer: the problems, the solvers, and what is made of the times."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

from papers.frame import Outcome
from papers.sopopo2006 import EXPERIMENT
from papers.sopopo2006.pictures import plot_times
from papers.sopopo2006.problems import PROBLEMS
from papers.sopopo2006.report import report, slope
from papers.sopopo2006.solvers import NAMES, SOLVERS, installed
from papers.sopopo2006.timing import Protocol, Study, cells, compute, cpu_seconds

TINY = Protocol(
    studies=(
        Study("original", (4, 6), dict.fromkeys(SOLVERS, 6)),
        Study("reduced", (4, 8, 16), dict.fromkeys(SOLVERS, 8)),
        Study("batch", (4,), dict.fromkeys(SOLVERS, 4), C=(1.0,)),
    ),
    n_features=3,
    repeats=1,
)
CASES = [(study, k, C) for study in ("original", "reduced") for k in (2, 5, 8) for C in (0.01, 1.0, 8.0)]
CASES += [("batch", 4, 0.01), ("batch", 5, 1.0)]


def make(study, n_labels, C, seed=0):
    return PROBLEMS[study](n_labels, 3, C, seed, 1e-6)


def objective(program, z):
    return 0.5 * z @ (program.P @ z) + program.q @ z


def constant(study, problem):
    """What the objective has more than the program: half of the squared norm of what is projected."""
    projected = {"original": problem.program.q[:-1], "reduced": problem.program.q, "batch": np.zeros(0)}[study]
    return 0.5 * float(projected @ projected)


@pytest.mark.parametrize(("study", "n_labels", "C"), CASES)
def test_ours_is_the_optimum_of_the_program(study, n_labels, C):
    """By SciPy's sequential quadratic programming, which knows the program alone."""
    problem = make(study, n_labels, C)
    program = problem.program
    constraints = [LinearConstraint(program.G.toarray(), -np.inf, program.h)]
    if len(program.b):
        constraints.append(LinearConstraint(program.A.toarray(), program.b, program.b))
    found = minimize(
        lambda z: objective(program, z),
        np.zeros(len(program.q)),
        jac=lambda z: program.P @ z + program.q,
        bounds=[(bound if np.isfinite(bound) else None, None) for bound in program.l],
        constraints=constraints,
        method="SLSQP",
        options={"maxiter": 2000, "ftol": 1e-13},
    )
    exact = problem.vector((problem.solve_exactly or problem.solve)())
    optimum = problem.value(exact)
    assert found.fun + constant(study, problem) == pytest.approx(optimum, rel=1e-6, abs=1e-7)
    assert problem.value(found.x) == pytest.approx(optimum, rel=1e-5, abs=1e-6)
    if study != "batch":  # whose solution leaves out the slacks
        assert objective(program, exact) + constant(study, problem) == pytest.approx(optimum)


@pytest.mark.parametrize(("study", "n_labels", "C"), CASES)
def test_no_point_is_below_the_optimum(study, n_labels, C):
    """The value is that of a feasible point, wherever it is taken."""
    problem = make(study, n_labels, C)
    exact = problem.vector((problem.solve_exactly or problem.solve)())
    optimum = problem.value(exact)
    rng = np.random.RandomState(0)
    for scale in (1e-4, 1e-2, 1.0):
        for _ in range(20):
            z = np.append(exact, np.zeros(len(problem.program.q) - len(exact)))
            assert problem.value(z + scale * rng.standard_normal(len(z))) >= optimum - 1e-7 * (1 + optimum)
    assert problem.value(np.zeros(len(problem.program.q))) >= optimum


@pytest.mark.parametrize("name", list(SOLVERS))
@pytest.mark.parametrize(("study", "n_labels", "C"), CASES)
def test_solvers_agree(name, study, n_labels, C):
    pytest.importorskip(name)
    problem = make(study, n_labels, C)
    optimum = problem.value(problem.vector((problem.solve_exactly or problem.solve)()))
    z = SOLVERS[name](problem.program, 1e-9)()
    assert z.shape == problem.program.q.shape
    assert problem.value(z) == pytest.approx(optimum, rel=1e-6, abs=1e-6)
    assert objective(problem.program, z) + constant(study, problem) == pytest.approx(optimum, rel=1e-5, abs=1e-5)


def test_many_problems_at_once():
    problem = make("reduced", 2000, 1.0)
    assert problem.n_many == 500
    alphas, betas = problem.solve_many()
    assert alphas.shape == betas.shape == (500, 1000)
    alpha, beta = problem.solve()
    np.testing.assert_array_equal(alphas[0], alpha)
    np.testing.assert_array_equal(betas[0], beta)
    assert len(np.unique(alphas.max(axis=1))) > 50  # not the same problem again and again


def test_the_problems_are_the_same_projection():
    """Each weight vector moves by its variable of the reduced problem times the instance."""
    original = make("original", 6, 1.0)
    W, _ = original.solve()
    reduced = make("reduced", 6, 1.0)
    alpha, beta = reduced.solve()
    moved = W + original.program.q[:-1].reshape(6, 3)  # W - U
    np.testing.assert_allclose(
        np.sort(np.linalg.norm(moved, axis=1)),
        np.sort(np.concatenate([alpha, beta])) * np.linalg.norm(_instance(6)),
        atol=1e-12,
    )


def _instance(n_labels):
    rng = np.random.RandomState(0)
    rng.standard_normal((n_labels, 3))
    return rng.standard_normal(3)


@pytest.fixture(scope="module")
def outcome():
    versions = installed()
    listed = EXPERIMENT.cells_of(versions, TINY)
    return Outcome(versions, TINY, listed, [compute(cell, versions) for cell in listed])


def test_cells():
    listed = cells({"osqp": "1.0", "daqp": "2.0"}, TINY)
    assert len(listed) == 2 * 2 + 3 * 2 + 1
    assert [cell["C"] for cell in listed if cell["study"] == "original"] == [1.0, 4.0, 1.0, 6.0]
    assert listed[0]["solvers"] == {"osqp": "1.0", "daqp": "2.0"}
    assert [cell["solvers"] for cell in listed if cell["n_labels"] == 16] == [{}, {}]
    assert cells({"osqp": "1.1"}, TINY)[0] != cells({"osqp": "1.0"}, TINY)[0]


def test_what_a_cell_gives(outcome):
    for cell, numbers in zip(outcome.cells, outcome.results, strict=True):
        expected = {"sopopo", *cell["solvers"]} | ({"sopopo_many"} if cell["study"] == "reduced" else set())
        assert set(numbers["times"]) == expected
        for each in numbers["times"].values():
            assert each["seconds"] > 0
            assert abs(each["difference"]) <= 1e-6
            assert each["tolerance"] in (1e-6, 1e-8, 1e-10)
        assert json.loads(json.dumps(numbers)) == numbers


def test_no_program_where_no_solver_runs():
    """It has a constraint for each pair: 25 million at this size, more than fit into memory."""
    protocol = Protocol(studies=(Study("original", (10_000,), {}, C=(1.0,)),), repeats=1)
    [cell] = cells({"osqp": "0"}, protocol)
    assert set(compute(cell, {})["times"]) == {"sopopo"}


def test_the_loosest_tolerance_that_is_enough(monkeypatch):
    problem = make("reduced", 6, 1.0)
    exact = problem.vector(problem.solve())
    tried = []

    def coarse(program, tol):
        tried.append(tol)
        return lambda: exact + (1.0 if tol > 1e-8 else 0.0)

    monkeypatch.setitem(SOLVERS, "osqp", coarse)
    protocol = Protocol(studies=(Study("reduced", (6,), {"osqp": 6}, C=(1.0,)),), n_features=3, repeats=1)
    [cell] = cells({"osqp": "0"}, protocol)
    times = compute(cell, {})["times"]["osqp"]
    assert tried == [1e-6, 1e-8]
    assert times["tolerance"] == 1e-8
    assert times["difference"] == pytest.approx(0, abs=1e-14)
    for wrong in (exact + 1.0, np.full_like(exact, np.nan)):
        monkeypatch.setitem(SOLVERS, "osqp", lambda program, tol, wrong=wrong: lambda: wrong)
        numbers = compute(cell, {})
        assert numbers["times"]["osqp"]["seconds"] is None
        assert json.loads(json.dumps(numbers, allow_nan=False)) == numbers
    text = report(Outcome({"osqp": "0"}, protocol, [cell], [numbers])).render()
    assert "6 labels: OSQP is not within 1e-06 at any tolerance" in text


def test_the_tables(outcome):
    made = report(outcome)
    assert len(made.tables) == 3 * 3 + 1
    times, ratios, agreement = made.tables[3:6]
    assert times.title == "CPU milliseconds, the reduced projection"
    assert list(times.rows) == ["4", "8", "16"]
    assert list(times.columns) == ["SOPOPO", "SOPOPO, many at once", *NAMES.values()]
    assert times.values.shape == (3, 6, 2)
    assert np.isnan(times.values[2, 2:]).all()
    seconds = [result["times"]["sopopo"]["seconds"] for result in outcome.of(study="reduced")]
    np.testing.assert_allclose(times.values[:, 0].ravel(), 1000 * np.array(seconds))
    np.testing.assert_allclose(ratios.values, times.values / times.values[:, :1])
    assert np.nanmax(np.abs(agreement.values)) <= 1
    np.testing.assert_allclose(
        made.tables[-1].mean()[1, :2],
        [slope([4, 8, 16], times.values[:, j]) for j in (0, 1)],
    )
    missing = [line for line in made.findings if "labelrank[qp]" in line]
    assert bool(missing) == (set(outcome.problem) != set(SOLVERS))


def test_without_the_solvers():
    listed = cells({}, TINY)
    made = report(Outcome({}, TINY, listed, [compute(cell, {}) for cell in listed]))
    assert made.protocol[0] == "general solvers: none installed"
    assert made.findings[-1].startswith("not installed, so not compared: Clarabel, PIQP, OSQP, DAQP; pip install")
    assert np.isnan(made.tables[0].values[:, 1:]).all()
    assert (made.tables[0].values[:, 0] > 0).all()
    assert len(plot_times(made).axes[0].lines) == 1


@pytest.mark.parametrize("power", [0.0, 1.0, 3.3])
def test_slope(power):
    sizes = np.array([1, 2, 10, 100, 1000])
    seconds = 1e-6 * sizes[:, None] ** power * np.array([1.0, 7.0])
    seconds[:2] *= 50  # the small sizes do not count
    assert slope(sizes, seconds) == pytest.approx(power, abs=1e-12)
    seconds[3:] = np.nan
    assert slope(sizes[1:], seconds[1:]) != pytest.approx(power)  # the two that are left
    seconds[:2] = np.nan
    assert np.isnan(slope(sizes, seconds))


def test_cpu_seconds(monkeypatch):
    clock = iter(np.cumsum([0.0, 0.002, 0.0, 0.009, 0.0, 0.0045]).tolist())  # one call, then three, then three
    monkeypatch.setattr("time.process_time", lambda: next(clock))
    calls = []
    found, seconds = cpu_seconds(lambda: calls.append(1) or len(calls), repeats=2)
    assert found == len(calls) == 7
    assert seconds == pytest.approx(0.0015)
    calls.clear()
    assert cpu_seconds(lambda: calls.append(1), repeats=5, first=1.5) == (None, 1.5)
    assert not calls


def test_plot(outcome):
    made = report(outcome)
    axes = plot_times(made).axes
    titles = ["the original projection", "the reduced projection", "batch learning"]
    assert [axis.get_title() for axis in axes] == titles
    line = axes[1].lines[0]
    assert axes[1].get_xscale() == axes[1].get_yscale() == "log"
    assert line.get_label() == f"SOPOPO: {slope([4, 8, 16], made.tables[3].values[:, 0]):.1f}"
    assert list(line.get_xdata()) == [4, 8, 16]
    np.testing.assert_allclose(
        line.get_ydata(), np.exp(np.log(made.tables[3].values[:, 0] / 1000).mean(axis=1)), rtol=1e-12
    )
