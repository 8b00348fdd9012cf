"""One soft projection against the paper's knots, the optimality conditions and a general solver."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import soft_projection as oracle
from scipy.optimize import LinearConstraint, minimize

from labelrank.solvers.soft_projection.projection import project_polyhedron, soft_projection

NUMBERS = st.one_of(
    st.floats(-10, 10),
    st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 1.0, 2.0]),  # ties
    st.floats(-1e-300, 1e-300),  # some of them denormal
)
SIDES = st.lists(NUMBERS, min_size=1, max_size=9)
LIMITS = st.one_of(st.floats(0, 20), st.sampled_from([0.0, 1.0, np.inf]))


@settings(max_examples=500)
@given(SIDES, SIDES, LIMITS)
def test_optimality_conditions(mu, nu, C):
    mu, nu = np.array(mu), np.array(nu)
    alpha, beta = soft_projection(mu, nu, C)
    assert oracle.kkt_violation(mu, nu, C, alpha, beta) < 1e-12


@settings(max_examples=150)
@given(SIDES, SIDES, st.floats(0, 20))
def test_knots_of_the_paper(mu, nu, C):
    for found, expected in zip(soft_projection(mu, nu, C), oracle.knots(mu, nu, C), strict=True):
        assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("seed", range(12))
def test_general_solver(seed):
    rng = np.random.default_rng(seed)
    p, q = rng.integers(1, 6, 2)
    mu, nu, C = rng.normal(size=p), rng.normal(size=q), rng.exponential()
    if seed % 3 == 0:
        mu, nu = mu.round(), nu.round()
    v = np.r_[mu, nu]
    sums = np.vstack([np.r_[np.ones(p), -np.ones(q)], np.r_[np.ones(p), np.zeros(q)]])
    result = minimize(
        lambda x: 0.5 * ((x - v) ** 2).sum(),
        np.zeros(p + q),
        jac=lambda x: x - v,
        method="SLSQP",
        bounds=[(0, None)] * (p + q),
        constraints=[LinearConstraint(sums[:1], 0, 0), LinearConstraint(sums[1:], -np.inf, C)],
        options={"ftol": 1e-16, "maxiter": 1000},
    )
    assert_allclose(np.r_[soft_projection(mu, nu, C)], result.x, atol=1e-6)


def active_set(mu, nu, C):
    """The solution by DAQP, an exact method for small problems."""
    daqp = pytest.importorskip("daqp")
    p, q = len(mu), len(nu)
    A = np.vstack([np.r_[np.ones(p), -np.ones(q)], np.r_[np.ones(p), np.zeros(q)]])
    upper, lower = np.r_[np.full(p + q, 1e30), 0.0, C], np.r_[np.zeros(p + q), 0.0, -1e30]
    sense = np.r_[np.zeros(p + q), 5, 0].astype(np.intc)
    x, _, flag, _ = daqp.solve(np.eye(p + q), -np.r_[mu, nu], A, upper, lower, sense)
    assert flag == 1
    return x


def test_thousands_of_quadratic_programs():
    rng = np.random.default_rng(0)
    for case in range(3000):
        p, q = rng.integers(1, 13, 2)
        mu, nu, C = rng.normal(size=p) * 2, rng.normal(size=q), float(rng.exponential(2))
        if case % 4 == 0:  # ties
            mu, nu, C = mu.round(), nu.round(), float(np.ceil(C))
        if case % 5 == 0:  # hardly anything to do
            mu -= 2.0
        if case % 7 == 0:  # one side
            nu = nu[:1]
        assert_allclose(np.r_[soft_projection(mu, nu, C)], active_set(mu, nu, C), atol=1e-8, err_msg=str((mu, nu, C)))


@settings(max_examples=300)
@given(
    st.lists(st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 1.0, 2.0]), min_size=1, max_size=6),
    st.lists(st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 1.0, 2.0]), min_size=1, max_size=6),
    st.sampled_from([0.25, 1.0, 2.0, 7.0]),
)
def test_degenerate_quadratic_programs(mu, nu, C):
    assert_allclose(np.r_[soft_projection(mu, nu, C)], active_set(mu, nu, C), atol=1e-8)


def test_all_three_cases_by_hand():
    assert_array_equal(soft_projection([-1.0], [0.5], 3.0), ([0.0], [0.0]))  # nothing to do
    assert_allclose(soft_projection([2.0], [1.0], 9.0), ([1.5], [1.5]))  # meet in the middle
    assert_allclose(soft_projection([2.0], [1.0], 0.5), ([0.5], [0.5]))  # C
    assert_allclose(np.r_[soft_projection([1.0, 1.0], [1.0], 9.0)], [2 / 3, 2 / 3, 4 / 3])


def test_batches_equal_single_problems():
    rng = np.random.default_rng(0)
    mu, nu, C = rng.normal(size=(50, 7)), rng.normal(size=(50, 4)), rng.exponential(size=50)
    alpha, beta = soft_projection(mu, nu, C)
    for r in range(50):
        a, b = soft_projection(mu[r], nu[r], C[r])
        assert_array_equal(alpha[r], a)
        assert_array_equal(beta[r], b)
    a, b = soft_projection(mu.ravel(), nu.ravel(), C, mu_ptr=np.arange(51) * 7, nu_ptr=np.arange(51) * 4)
    assert_array_equal(a.reshape(alpha.shape), alpha)
    assert_array_equal(b.reshape(beta.shape), beta)
    assert soft_projection(np.empty((0, 3)), np.empty((0, 2)), 1.0)[0].shape == (0, 3)


def test_ragged_lists():
    mu, nu = [[1.0, 2.0], [], [0.5]], [[1.0], [2.0, 3.0], [0.5, 0.5]]
    alpha, beta = soft_projection(mu, nu, 1.0)
    assert [len(a) for a in alpha] == [2, 0, 1]
    for m, v, a, b in zip(mu, nu, alpha, beta, strict=True):
        expected = soft_projection(np.array(m), np.array(v), 1.0)
        assert_array_equal(a, expected[0])
        assert_array_equal(b, expected[1])


def test_empty_sides_and_no_room():
    alpha, beta = soft_projection(np.empty(0), [3.0, 1.0], 1.0)
    assert alpha.shape == (0,)
    assert_array_equal(beta, 0)
    assert_array_equal(soft_projection([3.0], [3.0], 0.0), ([0.0], [0.0]))


def test_the_order_of_the_entries_is_kept():
    rng = np.random.default_rng(1)
    mu, nu = rng.normal(size=20), rng.normal(size=30)
    order = rng.permutation(20)
    assert_allclose(soft_projection(mu[order], nu, 2.0)[0], soft_projection(mu, nu, 2.0)[0][order], atol=1e-15)


@pytest.mark.parametrize("size", [1e15, 1e-310, 1e160])
@pytest.mark.parametrize("C", [0.3, 1.0, 100.0])
def test_any_scale(size, C):
    rng = np.random.default_rng(2)
    mu, nu = rng.normal(size=6), rng.normal(size=5)
    plain = np.r_[soft_projection(mu, nu, C)]
    scaled = np.r_[soft_projection(mu * size, nu * size, C * size)]
    assert_allclose(scaled / size, plain, atol=1e-12)


def test_near_ties_of_huge_numbers_keep_their_digits():
    # 1e15 + {0, 1, 2} against -1e15: what counts are the small differences.
    alpha, beta = soft_projection([1e15, 1e15 + 1, 1e15 + 2], [-1e15], 100.0)
    assert_allclose(alpha, soft_projection([0.0, 1.0, 2.0], [0.0], 100.0)[0], rtol=1e-15)
    assert_allclose(beta, alpha.sum(), rtol=1e-15)


def test_the_largest_numbers():
    top = np.finfo(float).max
    alpha, beta = soft_projection([top, top], [top, top, -top], np.inf)
    assert_allclose(alpha / top, 1.0)
    assert_allclose(beta / top, [1.0, 1.0, 0.0])


def large_sides(kind, rng):
    """Problems beyond the size from which the entries that can be active are copied first."""
    mu, nu = rng.normal(size=5000), rng.normal(size=3001)
    if kind == "ties":
        mu, nu = mu.round(1), nu.round(1)
    elif kind == "one against many":
        mu = mu[:1]
    elif kind == "sorted":
        mu, nu = np.sort(mu), np.sort(nu)[::-1].copy()
    elif kind == "all equal":
        mu, nu = np.full(5000, 1.5), np.full(3001, -1.0)
    elif kind == "barely in touch":
        mu, nu = mu - mu.max() + 1e-3, nu - nu.max() + 1e-3
    elif kind == "apart":
        mu, nu = mu - 10, nu - 10
    elif kind == "few large":
        mu, nu = mu - 10 * (rng.random(5000) < 0.99), nu - 10 * (rng.random(3001) < 0.99)
    elif kind == "one side few":
        mu = mu - 10 * (rng.random(5000) < 0.99)
    return mu, nu


KINDS = ["plain", "ties", "one against many", "sorted", "all equal", "barely in touch", "apart", "few large"]


@pytest.mark.parametrize("C", [1e-9, 0.3, 4.0, 100.0, 2000.0, np.inf])
@pytest.mark.parametrize("kind", [*KINDS, "one side few"])
def test_large_problems_equal_their_definition(kind, C):
    mu, nu = large_sides(kind, np.random.default_rng(0))
    alpha, beta = soft_projection(mu, nu, C)
    assert oracle.kkt_violation(mu, nu, C, alpha, beta) < 1e-12 * max(1.0, alpha.sum())


@pytest.mark.parametrize("size", [63, 64, 65, 200, 2048, 5000])
@pytest.mark.parametrize("at", [0, 1, 62, -1])
def test_the_largest_entry_wherever_it_is(size, at):
    mu, nu = np.random.default_rng(size).uniform(size=(2, size))
    mu[at], nu[-1 - at if at >= 0 else 0] = 3.0, 2.5
    alpha, beta = soft_projection(mu, nu, 0.25)
    assert alpha[at] == beta[-1 - at if at >= 0 else 0] == 0.25
    assert np.count_nonzero(alpha) == np.count_nonzero(beta) == 1


@pytest.mark.parametrize("seed", range(20))
def test_large_problems_do_not_depend_on_copies(seed):
    """The same as for a problem with so many entries of no influence that all can be copied, or none."""
    rng = np.random.default_rng(seed)
    mu, nu, C = rng.normal(size=700), rng.normal(size=500), rng.choice([0.2, 3.0, 50.0, np.inf])
    alone = soft_projection(mu, nu, C)
    hidden = np.full(8000, -1e3)
    padded = soft_projection(np.r_[hidden, mu], np.r_[nu, hidden], C)
    assert_allclose(padded[0][8000:], alone[0], rtol=1e-13, atol=1e-15)
    assert_allclose(padded[1][:500], alone[1], rtol=1e-13, atol=1e-15)
    assert not padded[0][:8000].any()
    assert not padded[1][500:].any()


@pytest.mark.parametrize("k", [1000, 20001])
def test_many_entries(k):
    rng = np.random.default_rng(k)
    for C in (0.1, 1.0, 1e3, np.inf):
        mu, nu = rng.standard_t(2, size=k), rng.standard_t(2, size=k // 2)
        alpha, beta = soft_projection(mu, nu, C)
        assert oracle.kkt_violation(mu, nu, C, alpha, beta) < 1e-10 * max(1, alpha.sum())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([np.nan], [1.0], 1.0), "mu contains NaN"),
        (([1.0], [np.inf], 1.0), "nu contains NaN or infinity"),
        (([1.0], [1.0], np.nan), "C must be ≥ 0"),
        (([1.0], [1.0], -1.0), "C must be ≥ 0"),
        (([[1.0]], [1.0], 1.0), "expected two vectors, or two matrices"),
        (([[1.0]], [[1.0], [1.0]], 1.0), "expected two vectors, or two matrices"),
        (([1.0], [1.0], [1.0, 2.0]), "C has shape"),
        ((1.0, [1.0], 1.0), "mu must be an array"),
        (([[1.0], [1.0, 2.0]], [[1.0]], 1.0), "mu has 2 problems and nu has 1"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        soft_projection(*arguments)


def test_pointers_are_checked():
    with pytest.raises(ValueError, match="passed together"):
        soft_projection([1.0], [1.0], 1.0, mu_ptr=[0, 1])
    with pytest.raises(ValueError, match="must increase from 0 to 2"):
        soft_projection([1.0, 2.0], [1.0], 1.0, mu_ptr=[0, 1], nu_ptr=[0, 1])
    with pytest.raises(ValueError, match="mu_ptr has 2 entries and nu_ptr has 3"):
        soft_projection([1.0], [1.0], 1.0, mu_ptr=[0, 1], nu_ptr=[0, 1, 1])
    with pytest.raises(ValueError, match="flat vectors"):
        soft_projection([[1.0]], [[1.0]], 1.0, mu_ptr=[0, 1], nu_ptr=[0, 1])


# ---------------------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.01, 1.0, 100.0]), st.booleans())
def test_polyhedron_and_the_slack(seed, C, tied):
    rng = np.random.default_rng(seed)
    k, d = rng.integers(2, 7), rng.integers(1, 4)
    U, x, gamma = rng.normal(size=(k, d)), rng.normal(size=d), rng.normal(size=k)
    if tied:
        U, x, gamma = U.round(), x.round() + 1.0, gamma.round()
    order = rng.permutation(k)
    p = rng.integers(1, k)
    A, B = order[:p], order[p : p + rng.integers(1, k - p + 1)]
    W, xi = project_polyhedron(U, x, gamma, A, B, C)
    f = W @ x
    worst = max((gamma[a] - gamma[b] - f[a] + f[b] for a in A for b in B), default=0.0)
    assert xi == pytest.approx(max(worst, 0.0), abs=1e-10)  # ‖x‖²(θ_α + θ_β)₊ is the slack that is left
    others = np.setdiff1d(np.arange(k), np.r_[A, B])
    assert_array_equal(W[others], U[others])
    value = 0.5 * ((W - U) ** 2).sum() + C * xi
    # No nearby point is better, and neither are these.
    for _ in range(20):
        V = W + rng.normal(size=W.shape) * rng.choice([1e-4, 1e-2, 1.0])
        f = V @ x
        slack = max(0.0, max((gamma[a] - gamma[b] - f[a] + f[b] for a in A for b in B), default=0.0))
        assert value <= 0.5 * ((V - U) ** 2).sum() + C * slack + 1e-10


@pytest.mark.parametrize("seed", range(8))
def test_polyhedron_against_a_general_solver(seed):
    clarabel = pytest.importorskip("clarabel")
    from scipy import sparse

    rng = np.random.default_rng(seed)
    k, d, C = 6, 3, float(rng.choice([0.05, 1.0, 50.0]))
    U, x, gamma = rng.normal(size=(k, d)), rng.normal(size=d), rng.normal(size=k)
    A, B = [0, 4, 2], [1, 5]
    P, q, G, h = oracle.primal_program(x[None], [(0, A, B)], [(gamma[A], gamma[B])], [C], k)
    q[: k * d] = -U.ravel()
    settings_ = clarabel.DefaultSettings()
    settings_.verbose = False
    for name in ("tol_gap_abs", "tol_gap_rel", "tol_feas"):
        setattr(settings_, name, 1e-13)
    cones = [clarabel.NonnegativeConeT(len(h))]
    solved = clarabel.DefaultSolver(sparse.csc_matrix(P), q, sparse.csc_matrix(G), h, cones, settings_).solve()
    z = np.array(solved.x)
    W, xi = project_polyhedron(U, x, gamma, A, B, C)
    assert_allclose(W.ravel(), z[: k * d], atol=1e-7)
    assert xi == pytest.approx(z[-1], abs=1e-7)


def test_polyhedron_edge_cases():
    U, gamma = np.array([[1.0, 2.0], [0.0, 1.0], [3.0, -1.0]]), np.array([2.0, 0.0, np.nan])
    W, xi = project_polyhedron(U, np.zeros(2), gamma, [0], [1], 5.0)  # nothing moves without features
    assert_array_equal(W, U)
    assert xi == 2.0
    W, xi = project_polyhedron(U, [1.0, 0.0], gamma, [], [1], 5.0)
    assert_array_equal(W, U)
    assert xi == 0.0
    W, xi = project_polyhedron(U, [1.0, 0.0], gamma, [0], [1], 0.0)  # slack is free
    assert_array_equal(W, U)
    assert xi == pytest.approx(1.0)
    same = project_polyhedron(U, [1.0, 0.5], gamma, np.array([True, False, False]), [1], 1.0)
    assert_allclose(same[0], project_polyhedron(U, [1.0, 0.5], gamma, [0], [1], 1.0)[0])
    tiny, _ = project_polyhedron(U, [1e-170, 0.0], gamma, [0], [1], 1.0)
    assert np.isfinite(tiny).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"A": [0, 1], "B": [1]}, "label 1 appears twice in A and B"),
        ({"A": [0, 0]}, "label 0 appears twice in A and B"),
        ({"B": [7]}, "B has labels from 7 to 7; there are 3"),
        ({"gamma": [np.nan, 0, 0]}, "gamma of a label in A or B is NaN"),
        ({"x": [np.nan]}, "x contains NaN"),
        ({"x": [1.0, 2.0]}, "expected .n_labels, n_features."),
        ({"A": [0.5]}, "label indices or a mask"),
        ({"A": [True]}, "A is a mask of shape"),
        ({"C": -1}, "C must be ≥ 0"),
    ],
)
def test_polyhedron_refuses(changes, message):
    arguments = {"U": np.zeros((3, 1)), "x": [1.0], "gamma": [1, 0, 0], "A": [0], "B": [1], "C": 1.0} | changes
    with pytest.raises(ValueError, match=message):
        project_polyhedron(**arguments)


@pytest.mark.parametrize("large", [1e9, 1e12, 1e15])
def test_entries_that_nearly_tie_keep_their_digits(large):
    mu, nu = [large] * 3 + [large - 1] + [0.0] * 30, [large, large, 0.0, 0.0, 1.0] * 4
    alpha, beta = soft_projection(mu, nu, 1.0)
    np.testing.assert_allclose(alpha, [1 / 3] * 3 + [0.0] * 31, atol=1e-12)
    np.testing.assert_allclose(beta, [0.125, 0.125, 0.0, 0.0, 0.0] * 4, atol=1e-12)


@pytest.mark.parametrize(("mu", "nu"), [([1e16, 0.0], [0.5]), ([1e308, -1e308], [1e308])])
def test_huge_entries(mu, nu):
    alpha, beta = soft_projection(mu, nu, 1.0)
    np.testing.assert_array_equal(alpha, [1.0, 0.0])
    np.testing.assert_array_equal(beta, [1.0])


@pytest.mark.parametrize(
    ("size", "C"), [*((size, np.inf) for size in (1e-155, 1e-100, 1e100, 1e200, 1e300)), (1e-150, 1.0), (1e150, 1.0)]
)
@pytest.mark.filterwarnings("error")
def test_projections_of_instances_of_any_size(size, C):
    """The same up to the unit of x: w / size and C / size."""
    rng = np.random.default_rng(0)
    U, x, gamma = rng.normal(size=(4, 3)), rng.normal(size=3), np.array([2.0, 1.0, 0.0, -1.0])
    W, xi = project_polyhedron(U, x, gamma, [0, 1], [2, 3], C)
    scaled, slack = project_polyhedron(U / size, x * size, gamma, [0, 1], [2, 3], C / size / size)
    assert_allclose(scaled * size, W, rtol=1e-9, atol=1e-12)
    assert_allclose(slack, xi, atol=1e-12)


@pytest.mark.filterwarnings("error")
def test_projections_with_huge_targets():
    W, xi = project_polyhedron(np.zeros((3, 1)), [1.0], [1.7e308, -1.7e308, np.nan], [0], [1], 1.0)
    assert_allclose(W, [[1.0], [-1.0], [0.0]])
    assert xi == np.inf  # the difference of the targets is no number
    W, xi = project_polyhedron(np.zeros((2, 1)), [1.0], [0.8e308, -0.8e308], [0], [1], np.inf)
    assert_allclose(W, [[0.8e308], [-0.8e308]])
    assert xi == 0.0
    W, xi = project_polyhedron(np.ones((2, 1)), [0.0], [0.8e308, 0.0], [0], [1], np.inf)
    assert_allclose(W, np.ones((2, 1)))
    assert_allclose(xi, 0.8e308)
    with pytest.raises(ValueError, match="U @ x of some labels overflow"):
        project_polyhedron(np.full((2, 3), 1.7e308), [1.0, 1.0, 1.0], [1.0, 0.0], [0], [1], 1.0)
