"""An objective whose data, scores and coefficients are on a device."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from labelrank._arrays import FloatArray, row_blocks
from labelrank.losses.base import Loss
from labelrank.models import LinearModel, Objective
from labelrank.models.base import CURVATURE_ROWS
from labelrank.solvers import LBFGS, Boosting, SequentialBoosting, Solver
from labelrank.supervision import stacklevel_of_user
from labelrank.torch.device import first_line, free_memory, memory_errors
from labelrank.torch.features import DeviceFeatures
from labelrank.torch.losses import RowLoss, has_version, row_loss, width
from labelrank.torch.matrix import DenseMatrix, Flowing, SparseMatrix, matrix_on, padded_width

BLOCK = {"cuda": 2**27, "cpu": 2**20}  # numbers of an intermediate result
COMPILED = 2**24  # scores from which on compiling a loss pays
VARIANTS = 64  # of the compiled function: each loss, number of levels and kind of sums is one, or two if sizes differ
COPIES = 26  # of the coefficients in float64, in L-BFGS
NONZEROS = 2**30  # of a part: PyTorch sorts at most 2**31 - 1 numbers on a GPU, and rows differ
SCALE = 2.0**14  # that the largest flow has in 16 bits: smaller ones keep their digits down to 4e-9 of it

Result = TypeVar("Result")


class Part(NamedTuple):
    """Some rows on a device: features, and the loss of blocks of them."""

    matrix: DenseMatrix | SparseMatrix
    losses: list[tuple[slice, RowLoss]]


class TorchObjective(Objective):
    """An objective on a device; coefficients are float64 tensors there.

    Data that do not fit the memory of the device are sent there in parts, again in every evaluation.

    Parameters
    ----------
    whole : Objective
        The objective, of a linear model and a log-linear or covering loss.
    device : torch.device
        Where it is evaluated.
    dtype : torch.dtype
        Type of features and scores: float32, or float64.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from labelrank import as_graphs
    >>> from labelrank.losses import LogLinearLoss
    >>> from labelrank.models import LinearModel, Objective
    >>> from labelrank.torch.objective import TorchObjective
    >>> model = LinearModel(np.array([[1.0], [-1.0]]), 2, fit_intercept=False)
    >>> objective = Objective(model, LogLinearLoss(as_graphs([[1, 2], [2, 1]])), alpha=1.0)
    >>> on_device = TorchObjective(objective, torch.device("cpu"))
    >>> value, gradient = on_device.value_and_gradient(on_device.asarray(np.zeros((1, 2))))
    >>> round(value, 4), gradient
    (1.3863, tensor([[-1.,  1.]], dtype=torch.float64))
    """

    model: LinearModel

    def __init__(self, whole: Objective, device: torch.device, dtype: torch.dtype = torch.float32) -> None:
        super().__init__(whole.model, whole.loss, alpha=whole.alpha)
        self.device, self.dtype = device, dtype
        self.unit = float(self.loss.weight.max(initial=0.0)) or 1.0  # of weights, which float32 may not have room for
        n, k = self.loss.shape
        X: Any = self.model.X
        if isinstance(X, DeviceFeatures):
            entries, thin = X.values.numel(), X.is_sparse
        else:
            entries, thin = (X.nnz, True) if self.model.is_sparse else (X.size, False)
        # Features and their transpose, and scores, flows and levels.
        self.n_bytes = ((16.0 if thin else 4.0) * entries + 24.0 * n * k) * dtype.itemsize / 4
        self.slices: list[slice] = []
        self._resident: list[Part] | None = None
        for_memory = np.ceil(self.n_bytes / max(0.6 * free_memory(device), 1.0))
        self._cut(int(min(n, max(for_memory, np.ceil(entries / NONZEROS) if thin else 1))))
        if for_memory <= 1:
            self._keep()

    def _cut(self, n_parts: int) -> None:
        n, n_parts = self.loss.shape[0], max(n_parts, 1)
        self.slices = [slice(n * p // n_parts, n * (p + 1) // n_parts) for p in range(n_parts)]

    def _keep(self) -> None:
        """Keep all parts on the device; where it has no room for them, smaller ones are made in every evaluation."""
        try:
            with self.guarded():
                self._resident = [self._part(rows) for rows in self.slices]
        except MemoryError:
            self._cut(min(4 * len(self.slices), self.loss.shape[0]))

    def _in_memory(self, work: Callable[[], Result]) -> Result:
        """Return what `work` returns; where the device has no room for it, the data are cut into smaller parts."""
        while True:
            try:
                with self.guarded():
                    return work()
            except MemoryError:
                if len(self.slices) >= self.loss.shape[0]:
                    raise
            self._resident = None  # here, since the error has held the tensors that it has met
            self._cut(min(4 * len(self.slices), self.loss.shape[0]))

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Context in which a failed allocation is an error that says how much the data and coefficients need.

        The autocast of the caller, which would round products to 16 bits, is disabled.
        """
        (n, d), k = self.model.X.shape, self.loss.shape[1]
        n_bytes = self.n_bytes + 8.0 * COPIES * (d + 1) * k
        what = f"learning from {n} x {d} data and {k} labels"
        with memory_errors(self.device, n_bytes, what), torch.autocast(self.device.type, enabled=False):
            yield

    def _part(self, rows: slice) -> Part:
        X = self.model.X if len(self.slices) == 1 else self.model.X[rows]
        matrix = matrix_on(X, self.model.fit_intercept, self.device, self.loss.shape[1], self.dtype)
        blocks = self._blocks(rows)
        return Part(
            matrix, [(block, row_loss(self.loss, at, self.device, self.dtype, self.unit)) for block, at in blocks]
        )

    def _blocks(self, rows: slice) -> Iterator[tuple[slice, slice]]:
        """Blocks of some rows that a loss is evaluated on, counted from the first of them and from that of all."""
        for block in row_blocks(rows.stop - rows.start, width(self.loss), BLOCK[self.device.type]):
            yield block, slice(rows.start + block.start, rows.start + block.stop)

    def _over_parts(self, function: Callable[[slice, Part], Result]) -> list[Result]:
        """Return the results of a function of each part; parts that the device has no room for are made in turn."""
        parts = self._resident
        return [function(rows, self._part(rows) if parts is None else parts[at]) for at, rows in enumerate(self.slices)]

    def in_float64(self) -> TorchObjective:
        """Return the objective with features and scores in float64: slower, for the last steps to a minimum."""
        self._resident = None
        return TorchObjective(self, self.device, torch.float64)

    def asarray(self, values: Any) -> Any:
        """A copy of coefficients, float64, on the device."""
        return torch.tensor(np.asarray(values), dtype=torch.float64, device=self.device)

    def penalty(self, coef: Any) -> float:
        """Penalty of the coefficients."""
        return 0.5 * self.alpha * float(coef[: self.model.n_penalized].square().sum()) if self.alpha else 0.0

    def loss_and_gradient(self, coef: Any) -> tuple[float, Any]:
        """Loss without the penalty, and its gradient."""
        value, (gradient,) = self._in_memory(lambda: self._sums(coef, 1))
        return value, gradient

    def loss_and_weights(self, coef: Any) -> tuple[float, Any, Any]:
        """Loss without the penalty, and the two weights of boosting."""
        value, (plus, minus) = self._in_memory(lambda: self._sums(coef, 2))
        return value, plus, minus

    def _sums(self, coef: Tensor, n_sums: int) -> tuple[float, list[Tensor]]:
        d, k = self.model.n_penalized, self.model.n_labels
        small = coef.to(self.dtype).contiguous()
        intercept = small[d] if self.model.fit_intercept else small.new_zeros(k)
        sums: list[Tensor] = []
        value = torch.zeros((), dtype=torch.float64, device=self.device)

        def add(_: slice, part: Part) -> None:
            scores = part.matrix.scores(small[:d], intercept)
            flows, scale, found = _flows(part, scores, n_sums == 1)
            value.add_(found)
            products = [part.matrix.transposed(flows.first, k)] if n_sums == 1 else part.matrix.weights(flows, k)
            new = [product.to(torch.float64).mul_(self.unit / scale) for product in products]
            sums[:] = [a + b for a, b in zip(sums, new, strict=True)] if sums else new

        self._over_parts(add)
        return float(value) * self.unit, sums

    @cached_property
    def largest_change(self) -> float:
        """Largest 1-norm of the change, along an edge, of what the coefficients are multiplied with."""
        counted = torch.as_tensor(self.loss.counted, device=self.device)
        if not counted.any():
            return 1.0

        largest = self._in_memory(lambda: self._over_parts(lambda rows, part: part.matrix.largest_norm(counted[rows])))
        return self.loss.blocks_per_edge * (max(largest) + self.model.fit_intercept) or 1.0

    def root_mean_square(self) -> FloatArray:
        """Root of the weighted mean square of what each row of the coefficients is multiplied with."""
        share = np.where(self.loss.counted, self.loss.weight, 0.0) / self.total_weight

        def squares(rows: slice, part: Part) -> FloatArray:
            found: FloatArray = part.matrix.mean_squares(torch.as_tensor(share[rows], device=self.device)).cpu().numpy()
            return found

        total = sum(self._in_memory(lambda: self._over_parts(squares)))
        return np.append(np.sqrt(total), [1.0] * bool(self.model.fit_intercept))

    def mean_curvature(self) -> float:
        """Mean of half of the flow through a label at scores of zero, of the first counted rows."""
        rows = np.flatnonzero(self.loss.counted)[:CURVATURE_ROWS]
        if not len(rows):
            return 0.25

        def flow() -> float:
            total = 0.0
            for _, at in self._blocks(slice(int(rows[0]), int(rows[-1]) + 1)):
                shape = (at.stop - at.start, self.loss.shape[1])
                zeros = torch.zeros(shape, dtype=torch.float32, device=self.device)
                _, inflow, outflow = row_loss(self.loss, at, self.device, unit=self.unit).flows(zeros)
                total += float((inflow + outflow).sum(dtype=torch.float64))
            return total

        total = 0.5 * self.unit * self._in_memory(flow)
        return total / float(self.loss.weight[rows].sum() * self.loss.shape[1]) or 0.25


def _flows(part: Part, scores: Tensor, gradient: bool) -> tuple[Flowing, float, Tensor]:
    """Flows of all rows as products take them, their scale, and the loss."""
    bound = max((loss.largest_flow for _, loss in part.losses), default=0.0)
    scale = SCALE / max(bound, 1e-30) if part.matrix.halves else 1.0  # float32 has room for it
    # A tensor, so that another number is no reason to compile again.
    factor = torch.tensor(scale, dtype=torch.float32, device=scores.device)
    one_sided = gradient or all(loss.one_sided for _, loss in part.losses)
    to_compile = part.matrix.halves and scores.numel() >= COMPILED
    found = []
    for rows, loss in part.losses:
        evaluate = _compiled if to_compile and loss.compiles else _evaluate
        found.append(evaluate(loss, scores[rows], factor, part.matrix.halves, one_sided))
    value, first, second = found[0]
    if len(found) > 1:
        first = torch.cat([f[1] for f in found])
        second = None if second is None else torch.cat([f[2] for f in found])
        value = torch.stack([f[0] for f in found]).sum()
    return Flowing(first, second), scale, value


def _evaluate(loss: RowLoss, scores: Tensor, scale: Tensor, halves: bool, one_sided: bool) -> tuple[Any, ...]:
    """Loss and flows of a block of rows, the flows in 16 bits if `halves`, as T − I alone if `one_sided`."""
    value, inflow, outflow = loss.flows(scores)
    if one_sided:
        return value, _stored(inflow - outflow, scale, halves), None
    return value, _stored(inflow, scale, halves), _stored(outflow, scale, halves)


def _stored(flow: Tensor, scale: Tensor, halves: bool) -> Tensor:
    if not halves:
        return flow
    k = flow.shape[1]
    return pad((flow * scale).to(torch.float16), (0, padded_width(k) - k))


@cache
def _compiler() -> Any:
    return torch.compile(_evaluate)


def _compiled(loss: RowLoss, *arguments: Any) -> tuple[Any, ...]:
    """Loss and flows by a compiled function, or by single operations of PyTorch if it cannot be compiled."""
    try:
        # A search over decompositions needs more than the 8 variants after which PyTorch stops compiling.
        with torch._dynamo.config.patch(recompile_limit=VARIANTS):
            found: tuple[Any, ...] = _compiler()(loss, *arguments)
            return found
    except torch.OutOfMemoryError:
        raise
    except RuntimeError as error:
        found = _evaluate(loss, *arguments)  # raises an error that is not of the compiler
        type(loss).compiles = False  # it would fail again in every iteration
        warnings.warn(
            f"PyTorch cannot compile {type(loss).__name__} ({first_line(error)}); it is evaluated by slower operations",
            UserWarning,
            stacklevel=stacklevel_of_user(),
        )
        return found


def problem_with(objective: Objective, solver: Solver) -> str | None:
    """Return what part of an objective or a solver is not supported on a device; None if all is."""
    loss: Loss = objective.loss
    if not objective.is_whole:
        return "data in partitions"
    if type(objective.model) is not LinearModel:
        return f"the scores of {type(objective.model).__name__}, only linear ones"
    if not has_version(loss):
        return f"the loss {loss.name!r} ({type(loss).__name__}), only LogLinearLoss and CoveringLoss"
    if type(solver) is Boosting:
        return None if solver.templates is None else "your own templates"
    name = "sequential boosting" if isinstance(solver, SequentialBoosting) else f"the solver {solver.name!r}"
    return None if type(solver) is LBFGS else f"{name}, only L-BFGS and parallel boosting"
