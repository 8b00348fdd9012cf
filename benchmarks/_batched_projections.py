"""Mini-batch dual ascent by soft projections in PyTorch: a rival on the GPU of the solver ``"soft_projection"``.

For sets of relevant labels, one subgraph A x B in each row. The rows of a batch are projected at once by one sort and
cumulative sums, independently but with their squared norms times kappa; an exact line search along the sum of the steps
guarantees that every batch increases the dual objective. Kappa decreases after full steps and increases otherwise. On a
GPU a batch is one CUDA graph, so that the CPU launches nothing in between.
"""

import time

import numpy as np
import torch
from torch.nn.functional import embedding_bag


def project(mu, inside, bound):
    """Solve min ½‖α − μ_A‖² + ½‖β − μ_B‖², α, β ≥ 0, Σα = Σβ ≤ bound, in every row; A is where `inside`.

    Returns α and β at the positions of the labels. Levels are measured from the largest entries: a = max μ_A − μ, and
    b = max μ_B − μ; α = [t_a − a]₊, β = [t_b − b]₊. As functions of t the sums over A and B change their slopes at the
    points a and s − b, with s = max μ_A + max μ_B.
    """
    low = torch.finfo(mu.dtype).min / 4
    top_a = torch.where(inside, mu, low).amax(1, keepdim=True)
    top_b = torch.where(inside, low, mu).amax(1, keepdim=True)
    s = top_a + top_b
    points, order = torch.where(inside, top_a - mu, s - (top_b - mu)).sort(1)
    of_a = inside.gather(1, order).to(mu.dtype)
    of_b = 1 - of_a
    n_a, sum_a = of_a.cumsum(1), (of_a * points).cumsum(1)  # up to a point
    n_b, sum_b = of_b.flip(1).cumsum(1).flip(1), (of_b * points).flip(1).cumsum(1).flip(1)  # from a point on
    mass_a, mass_b = n_a * points - sum_a, sum_b - n_b * points

    def at(values, index):
        return values.gather(1, index)

    last = mu.shape[1] - 1
    # The common level: the root is after the last point where the sum over A is not larger.
    m = ((mass_a <= mass_b).sum(1, keepdim=True) - 1).clamp(0, last)
    after = (m + 1).clamp(max=last)
    is_end = m == last
    n_after = torch.where(is_end, 0.0, at(n_b, after))
    sum_after = torch.where(is_end, 0.0, at(sum_b, after))
    count = at(n_a, m) + n_after
    t = (at(sum_a, m) + sum_after) / count.clamp(min=1)
    z = at(n_a, m) * t - at(sum_a, m)
    # Each side by itself, for a sum of `bound`.
    i = ((mass_a <= bound).sum(1, keepdim=True) - 1).clamp(0, last)
    t_a = (bound + at(sum_a, i)) / at(n_a, i).clamp(min=1)
    j = (last + 1 - (mass_b <= bound).sum(1, keepdim=True)).clamp(0, last)
    t_b = s - (at(sum_b, j) - bound) / at(n_b, j).clamp(min=1)
    free = z <= bound
    t_a, t_b = torch.where(free, t, t_a), torch.where(free, s - t, t_b)
    step = torch.where(inside, t_a - (top_a - mu), t_b - (top_b - mu)).clamp(min=0)
    return torch.where((s > 0) & (bound > 0), step, 0.0)


class BatchedAscent:
    """Dual ascent on ½‖W‖² + C Σᵢ max (1 − f_a + f_b)₊ over a in A and b in B.

    Rows are padded to the same number of entries, so that all batches have one shape.
    """

    def __init__(self, X, relevant, C, device, batch):
        n, self.d = X.shape
        sizes = np.diff(X.indptr)
        most = max(int(sizes.max(initial=1)), 1)
        there = np.arange(most) < sizes[:, np.newaxis]
        columns, values = np.zeros((n, most), np.int64), np.zeros((n, most), np.float32)
        columns[there], values[there] = X.indices, X.data
        self.columns, self.values = (torch.as_tensor(part, device=device) for part in (columns, values))
        self.inside = torch.as_tensor(np.asarray(relevant, bool), device=device)
        self.norm = self.values.square().sum(1, keepdim=True).clamp(min=1e-30)
        self.C, self.device, self.batch = float(C), device, min(batch, n)
        k = self.inside.shape[1]
        self.W = torch.zeros((self.d, k), device=device)
        self.duals = torch.zeros((n, k), device=device)
        self.kappa = torch.ones((), device=device)
        self.rows = torch.arange(self.batch, device=device)
        self.graph = None

    def scores(self, rows):
        return embedding_bag(self.columns[rows], self.W, mode="sum", per_sample_weights=self.values[rows])

    def transposed(self, rows, held):
        entries = (self.values[rows][:, :, None] * held[:, None, :]).reshape(-1, held.shape[1])
        return torch.zeros_like(self.W).index_add_(0, self.columns[rows].reshape(-1), entries)

    def step(self):
        """Process the batch ``rows``."""
        rows, sign = self.rows, torch.where(self.inside[self.rows], 1.0, -1.0)
        f, old, inside = self.scores(rows), self.duals[rows], self.inside[rows]
        short = torch.where(inside, 1 - f, f)
        norm = self.norm[rows] * self.kappa
        change = project(short + old * norm, inside, self.C * norm) / norm - old
        along = self.transposed(rows, sign * change)
        rise = (change * short).sum(dtype=torch.float64)
        curvature = along.square().sum(dtype=torch.float64)
        best = rise / curvature.clamp(min=1e-30)
        length = best.clamp(0, 1).float()
        self.duals[rows] = old + length * change
        self.W += length * along
        self.kappa.copy_((self.kappa * torch.where(best < 1, 1.1, 0.95)).clamp(min=1))

    def run(self, rows):
        self.rows.copy_(rows)
        if self.device.type != "cuda":
            return self.step()
        if self.graph is None:
            self.capture()
        return self.graph.replay() if self.graph else self.step()

    def capture(self):
        """Record a step as a CUDA graph, after a first step on a separate stream."""
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            self.step()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph):
                self.step()
        except RuntimeError as error:
            print("no CUDA graph:", error, flush=True)
            graph = False
        self.graph = graph

    def objectives(self):
        """Primal and dual objective, with coefficients recomputed from the duals."""
        n = len(self.inside)
        blocks = [slice(a, min(a + 16384, n)) for a in range(0, n, 16384)]
        self.W.zero_()
        for rows in blocks:
            self.W += self.transposed(rows, torch.where(self.inside[rows], 1.0, -1.0) * self.duals[rows])
        loss = torch.zeros((), dtype=torch.float64, device=self.device)
        for rows in blocks:
            f, inside = self.scores(rows), self.inside[rows]
            lowest = torch.where(inside, f, torch.inf).amin(1)
            worst = torch.where(inside, -torch.inf, f).amax(1)
            loss += (1 - lowest + worst).clamp(min=0).sum(dtype=torch.float64)
        half = 0.5 * self.W.square().sum(dtype=torch.float64)
        gain = torch.where(self.inside, self.duals, 0.0).sum(dtype=torch.float64)
        return float(half + self.C * loss), float(gain - half)

    def solve(self, tol, seconds, epochs=10_000):
        """Return epochs, seconds and the relative gap; stop at `tol` or when the time is over."""
        begin, gap, n = time.perf_counter(), np.inf, len(self.inside)
        done = 0
        while done < epochs and gap > tol and time.perf_counter() - begin < seconds:
            order = torch.randperm(n, device=self.device)
            for first in range(0, n - self.batch + 1, self.batch):
                self.run(order[first : first + self.batch])
            done += 1
            primal, dual = self.objectives()
            gap = (primal - dual) / abs(primal)
        return done, time.perf_counter() - begin, gap
