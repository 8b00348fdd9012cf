"""The soft projection in its reduced form: two vectors, one level each, no sort.

    min  ½‖α − μ‖² + ½‖β − ν‖²   s.t.  α, β ≥ 0,  Σα = Σβ ≤ C

Both vectors are measured from their largest entries, a = max μ − μ and b = max ν − ν, so that entries that nearly tie
keep all their digits however large they are. The solution is α = [t_a − a]₊, β = [t_b − b]₊ for two levels:

- s = max μ + max ν ≤ 0: both are zero;
- Σ[t − a]₊ = Σ[s − t − b]₊ has one root t in (0, s). If that sum is at most C, then t_a = t and t_b = s − t;
- otherwise each level is by itself the one that makes its sum C.

All three are roots of increasing, piecewise linear functions. A Newton step from t is the exact root of the line that
the entries active at t make, so once a step leaves the active entries as they are, it has found the root exactly.

The levels are at most C and at most s. In large problems, which do not fit the nearest caches, the entries that can be
active are copied first where they are few, and the others are not read again.
"""

from labelrank._kernels.compile import kernel

# Sums may run in several lanes and maxima too, since no entry is NaN.
FAST = {"reassoc", "contract", "nnan", "nsz"}
MAX_STEPS = 200  # far more than bisection to the last bit takes
BLOCK = 64  # entries
LARGE = 4096  # entries from which on it pays to copy those that matter
FEW = 8  # an eighth of the entries is worth copying


@kernel(fastmath=FAST)
def largest(values):
    """The largest entry.

    A maximum goes one entry at a time, a count several: only blocks that have something larger are looked through.
    """
    top = values[0]
    for i in range(1, min(len(values), BLOCK)):
        top = max(top, values[i])
    for first in range(BLOCK, len(values), BLOCK):
        block = values[first : first + BLOCK]
        larger = 0
        for i in range(len(block)):
            larger += block[i] > top
        if larger:
            for i in range(len(block)):
                top = max(top, block[i])
    return top


# Not reassociated: level − top + value would round away what the difference of top and value keeps.
@kernel(fastmath={"nnan", "nsz"})
def above(level, top, value):
    """[level − (top − value)]₊."""
    return max(level - (top - value), 0.0)


@kernel(fastmath=FAST)
def mass(values, top, level):
    """The sum of [level − (top − values)]₊, and how many terms are positive."""
    total, count = 0.0, 0.0
    for i in range(len(values)):
        inside = above(level, top, values[i])  # no branch, so that several entries go at once
        total += inside
        count += 1.0 if inside > 0.0 else 0.0
    return total, count


@kernel
def level_of_mass(values, top, level, size):
    """The level of the given mass, from a level of at least that mass.

    The mass is convex in the level, so Newton's steps go down and never past the root.
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
    """The t at which the masses at t and at s − t are equal, and that mass; `low` and `high` enclose it.

    Any t will do at which both masses are larger than C: one of them increases, the other decreases in t, so the common
    one is larger as well.
    """
    t = low + 0.5 * (high - low)
    z, last = 0.0, 0.5  # no difference of two counts
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
        # i falls and j rises as t goes down, so i - j tells the active entries of two levels apart.
        if i - j == last or step == 0.0:
            return new, z_a - i * step
        last = i - j
        if not low <= new <= high:  # the line leads away: halve instead
            new = low + 0.5 * (high - low)
            last = 0.5
            if new in (low, high):
                break
        t = new
    return t, z


@kernel(inline="always")
def levels_below(mu, top_mu, nu, top_nu, C):
    """The levels t_a and t_b, where max μ + max ν and C are positive. Entries that are C or more below go unused."""
    s = top_mu + top_nu
    if len(mu) == 1 and len(nu) == 1:
        z = min(0.5 * s, C)
        return z, z
    low, high = 0.0, s
    if s >= C:
        # C is likely reached. The mass at level C is at least C, for the largest entry alone gives as much.
        t_a, t_b = level_of_mass(mu, top_mu, C, C), level_of_mass(nu, top_nu, C, C)
        if t_a + t_b <= s:
            return t_a, t_b
        low, high = max(s - t_b, 0.0), min(t_a, s)
    t, z = common_level(mu, top_mu, nu, top_nu, s, low, high, C)
    if z <= C:
        return t, s - t
    return level_of_mass(mu, top_mu, t, C), level_of_mass(nu, top_nu, s - t, C)


@kernel
def levels(mu, nu, C):
    """Where α and β begin: max μ, t_a, max ν, t_b; the levels are 0 where both are zero."""
    top_mu, top_nu = largest(mu), largest(nu)
    if top_mu + top_nu <= 0.0 or C <= 0.0:
        return top_mu, 0.0, top_nu, 0.0
    t_a, t_b = levels_below(mu, top_mu, nu, top_nu, C)
    return top_mu, t_a, top_nu, t_b


@kernel
def keep(values, top, level, out):
    """Copy the entries that are active at the level; gives up when they are many. Returns what to go on with."""
    n, most = 0, len(values) // FEW
    for first in range(0, len(values), BLOCK):
        block = values[first : first + BLOCK]
        wanted = 0
        for i in range(len(block)):
            wanted += top - block[i] < level
        if n + wanted > most:
            return values
        if wanted:
            for i in range(len(block)):
                out[n] = block[i]  # no branch: the next one overwrites what is not wanted
                n += top - block[i] < level
    return out[:n]


@kernel
def levels_of_few(mu, nu, C, alpha, beta):
    """The same as `levels` for large problems, with few entries where few can be active; α and β are scratch."""
    top_mu, top_nu = largest(mu), largest(nu)
    s = top_mu + top_nu
    if s <= 0.0 or C <= 0.0:
        return top_mu, 0.0, top_nu, 0.0
    # No level is above C, nor above s.
    some_mu, some_nu = keep(mu, top_mu, min(s, C), alpha), keep(nu, top_nu, min(s, C), beta)
    t_a, t_b = levels_below(some_mu, top_mu, some_nu, top_nu, C)
    return top_mu, t_a, top_nu, t_b


@kernel
def fill(values, top, level, out):
    """Write [level − (top − values)]₊."""
    for i in range(len(values)):
        out[i] = above(level, top, values[i])


@kernel
def project_one(mu, nu, C, alpha, beta):
    """Write the solution of one problem; returns θ_α + θ_β where it is positive, else 0."""
    if len(mu) == 0 or len(nu) == 0:
        alpha[:] = 0.0
        beta[:] = 0.0
        return 0.0
    if len(mu) + len(nu) < LARGE:
        top_mu, t_a, top_nu, t_b = levels(mu, nu, C)
    else:
        top_mu, t_a, top_nu, t_b = levels_of_few(mu, nu, C, alpha, beta)
    fill(nu, top_nu, t_b, beta)  # first what was read last
    fill(mu, top_mu, t_a, alpha)
    return max(top_mu + top_nu - t_a - t_b, 0.0)


@kernel
def project_ragged(mu, mu_ptr, nu, nu_ptr, C, alpha, beta, theta):
    """Solve many problems; problem r has mu[mu_ptr[r]:mu_ptr[r + 1]] and nu[nu_ptr[r]:nu_ptr[r + 1]]."""
    for r in range(len(theta)):
        a0, a1, b0, b1 = mu_ptr[r], mu_ptr[r + 1], nu_ptr[r], nu_ptr[r + 1]
        theta[r] = project_one(mu[a0:a1], nu[b0:b1], C[r], alpha[a0:a1], beta[b0:b1])


@kernel
def project_rows(mu, nu, C, alpha, beta, theta):
    """Solve many problems of the same size, one per row."""
    for r in range(len(theta)):
        theta[r] = project_one(mu[r], nu[r], C[r], alpha[r], beta[r])
