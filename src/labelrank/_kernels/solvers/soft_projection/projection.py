"""The reduced problem of a soft projection: two vectors, each with a level, without sorting.

    min  ½‖α − μ‖² + ½‖β − ν‖²   s.t.  α, β ≥ 0,  Σα = Σβ ≤ C

Both vectors are measured from their largest entries, a = max μ − μ and b = max ν − ν, so that entries that nearly tie
keep all their digits however large they are. The solution is α = [t_a − a]₊, β = [t_b − b]₊ for two levels:

- s = max μ + max ν ≤ 0: both are zero;
- Σ[t − a]₊ = Σ[s − t − b]₊ has one root t in (0, s). If that sum is at most C, then t_a = t and t_b = s − t;
- otherwise each level is the one for which its sum is C.

All three are roots of increasing, piecewise linear functions. A Newton step from t goes to the root of the linear piece
of the entries active at t, so a step that does not change the active entries has found the root exactly.
"""

from labelrank._kernels.compile import kernel

# Sums may be reassociated, and no entry is NaN.
FAST = {"reassoc", "contract", "nnan", "nsz"}
MAX_STEPS = 200  # far more than bisection needs


@kernel(fastmath=FAST)
def largest(values):
    """Return the largest entry."""
    top = values[0]
    for i in range(1, len(values)):
        top = max(top, values[i])
    return top


# Not reassociated: level − top + value would lose digits that the difference of top and value keeps.
@kernel(fastmath={"nnan", "nsz"})
def above(level, top, value):
    """Return [level − (top − value)]₊."""
    return max(level - (top - value), 0.0)


@kernel(fastmath=FAST)
def mass(values, top, level):
    """Return the sum of [level − (top − values)]₊ and the number of positive terms."""
    total, count = 0.0, 0.0
    for i in range(len(values)):
        inside = above(level, top, values[i])  # no branch, so that the loop is vectorized
        total += inside
        count += 1.0 if inside > 0.0 else 0.0
    return total, count


@kernel
def level_of_mass(values, top, level, size):
    """Return the level of the given mass, starting from a level of at least that mass.

    The mass is convex in the level, so Newton's steps decrease and never pass the root.
    """
    last = 0.0
    for _ in range(MAX_STEPS):
        total, count = mass(values, top, level)
        if count == 0.0:
            break
        level -= (total - size) / count
        if count == last:
            break
        last = count
    return level


@kernel
def common_level(mu, top_mu, nu, top_nu, s, low, high, C):
    """Return the t between `low` and `high` at which the masses at t and at s − t are equal, and that mass.

    Any t at which both masses exceed C is sufficient: one of them increases, the other decreases in t, so the common
    one exceeds C as well.
    """
    t = low + 0.5 * (high - low)
    z, last = 0.0, 0.5  # not a difference of two counts
    for _ in range(MAX_STEPS):
        z_a, i = mass(mu, top_mu, t)
        z_b, j = mass(nu, top_nu, s - t)
        z = min(z_a, z_b)
        if i + j == 0.0 or z > C:
            break
        if z_a > z_b:
            high = t
        else:
            low = t
        step = (z_a - z_b) / (i + j)
        new = t - step
        # As t decreases, i decreases and j increases, so i - j identifies the active entries.
        if i - j == last or step == 0.0:
            return new, z_a - i * step
        last = i - j
        if not low <= new <= high:  # bisect
            new = low + 0.5 * (high - low)
            last = 0.5
            if new in (low, high):
                break
        t = new
    return t, z


@kernel
def levels(mu, nu, C):
    """Return max μ, t_a, max ν, t_b; the levels are 0 if both solutions are zero."""
    top_mu, top_nu = largest(mu), largest(nu)
    s = top_mu + top_nu
    if s <= 0.0 or C <= 0.0:
        return top_mu, 0.0, top_nu, 0.0
    if len(mu) == 1 and len(nu) == 1:
        z = min(0.5 * s, C)
        return top_mu, z, top_nu, z
    low, high = 0.0, s
    if s >= C:
        # C is likely reached. The mass at level C is at least C, which is that of the largest entry alone.
        t_a, t_b = level_of_mass(mu, top_mu, C, C), level_of_mass(nu, top_nu, C, C)
        if t_a + t_b <= s:
            return top_mu, t_a, top_nu, t_b
        low, high = max(s - t_b, 0.0), min(t_a, s)
    t, z = common_level(mu, top_mu, nu, top_nu, s, low, high, C)
    if z <= C:
        return top_mu, t, top_nu, s - t
    return top_mu, level_of_mass(mu, top_mu, t, C), top_nu, level_of_mass(nu, top_nu, s - t, C)


@kernel
def project_one(mu, nu, C, alpha, beta):
    """Write the solution of one problem; return θ_α + θ_β if it is positive, else 0."""
    if len(mu) == 0 or len(nu) == 0:
        alpha[:] = 0.0
        beta[:] = 0.0
        return 0.0
    top_mu, t_a, top_nu, t_b = levels(mu, nu, C)
    for i in range(len(mu)):
        alpha[i] = above(t_a, top_mu, mu[i])
    for i in range(len(nu)):
        beta[i] = above(t_b, top_nu, nu[i])
    return max(top_mu + top_nu - t_a - t_b, 0.0)


@kernel
def project_many(mu, mu_ptr, nu, nu_ptr, C, alpha, beta):
    """Solve many problems; problem r has mu[mu_ptr[r]:mu_ptr[r + 1]] and nu[nu_ptr[r]:nu_ptr[r + 1]]."""
    for r in range(len(C)):
        a0, a1, b0, b1 = mu_ptr[r], mu_ptr[r + 1], nu_ptr[r], nu_ptr[r + 1]
        project_one(mu[a0:a1], nu[b0:b1], C[r], alpha[a0:a1], beta[b0:b1])
