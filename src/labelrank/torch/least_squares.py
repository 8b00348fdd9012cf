r"""Least squares of items in groups, and of complete rankings, on a device, all in float64.

The expensive parts run there: kernel values, the products of centered features, the factor of the basis and the
solution of the system :math:`(G + \lambda I) z = b` or the eigenvectors of G.
See :mod:`labelrank.solvers.least_squares`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from labelrank._arrays import FloatArray, row_blocks
from labelrank.losses.squared import GroupedSquaredLoss, SquaredLoss
from labelrank.models.gram import Kernel
from labelrank.solvers.least_squares.basis import basis_factor
from labelrank.solvers.least_squares.items import IntArray, ItemSystem, Rows, between_parts
from labelrank.solvers.least_squares.ridge import check_finite, shrink
from labelrank.torch.device import entries_of_block, memory_errors, tensor_of
from labelrank.torch.features import DeviceFeatures

BLOCK = {"cuda": 2**28, "cpu": 2**21}  # entries of a block of features, where there is room for it


def kernel_values(kernel: Kernel, X: Tensor, Z: Tensor) -> Tensor:
    """Return the kernel values of the rows of two matrices."""
    if kernel.name == "rbf":
        # As in Kernel: near the rows, less of the squares cancels.
        some = Z[:: 1 + len(Z) // 100].sort(0).values  # median() is not deterministic on a GPU
        origin = some[(len(some) - 1) // 2]
        X, Z = X - origin, Z - origin
    values = X @ Z.T
    if kernel.name == "rbf":
        values.mul_(-2).add_((X * X).sum(1)[:, None]).add_((Z * Z).sum(1))
        values.clamp_(min=0).mul_(-float(kernel.gamma)).exp_()
    elif kernel.name != "linear":
        values.mul_(float(kernel.gamma)).add_(kernel.coef0)
        values = values.tanh_() if kernel.name == "sigmoid" else values.pow_(kernel.degree)
    kernel.check_finite(bool(torch.isfinite(values).all()))
    return values


def problem_with_kernel(kernel: Kernel, X: Any) -> str | None:
    """Return what part of a kernel or of the features is not supported on a device; None if all is."""
    thin: bool = X.is_sparse if isinstance(X, DeviceFeatures) else sparse.issparse(X)
    if thin:
        return "least squares of sparse features"
    return "a kernel that is precomputed or a function" if callable(kernel.name) or kernel.is_precomputed else None


def primal_system(X: Any, loss: GroupedSquaredLoss, device: torch.device) -> tuple[ItemSystem, Rows]:
    """System of the features of the items."""
    gram, target = _products(lambda part: _features(X[part], device).clone(), loss, X.shape[1], None, device)
    return ItemSystem(gram, target, X.shape[1], np.arange(X.shape[1])), lambda part: np.array(_host(X[part]))


def basis_system(
    kernel: Kernel, X: Any, basis: FloatArray, gram: FloatArray, loss: GroupedSquaredLoss, device: torch.device
) -> tuple[ItemSystem, Rows]:
    """System of the kernel values of the items with a basis, whose kernel matrix is `gram`."""
    with _of_square_matrices(device, len(gram)):
        factor, kept = _basis_factor(gram, device)
        independent = torch.as_tensor(basis[kept], device=device)
    inner, target = _products(
        lambda part: kernel_values(kernel, _features(X[part], device), independent), loss, len(kept), factor, device
    )
    system = ItemSystem(inner, target, len(gram), kept, np.asfortranarray(factor.cpu().numpy()))
    return system, lambda part: kernel(_host(X[part]), basis[kept])


def kernel_scores(kernel: Kernel, X: DeviceFeatures, basis: FloatArray, coefficients: FloatArray) -> FloatArray:
    """Return the scores of features on a device: their kernel values with a basis times coefficients."""
    device = X.device
    with X.memory_errors("kernel values of", 8.0 * basis.size + 24.0 * min(len(X) * len(basis), _entries(device))):
        Z, right = tensor_of(basis, device), tensor_of(coefficients, device)
        blocks = row_blocks(len(X), len(basis), _entries(device))
        values = (kernel_values(kernel, _features(X[b], device), Z) for b in blocks)
        return np.concatenate([(part @ right).cpu().numpy() for part in values])


def solve(system: ItemSystem, alpha: float, device: torch.device) -> FloatArray:
    """Return the coefficients for one penalty."""
    if system.gram is None:
        return system.solve(alpha)
    with _of_square_matrices(device, len(system.gram)):
        gram, target = torch.as_tensor(system.gram, device=device), torch.as_tensor(system.target, device=device)
        z = _by_factor(gram, target[:, None], alpha)
        if z is not None:
            return system._coefficients(_solve_factor(system, z).cpu().numpy())[:, 0]
        del gram
        decompose(system, device)
    return system.path(np.array([alpha]))[:, 0]


def solve_rankings(
    kernel: Kernel, X: Any, loss: SquaredLoss, alpha: float, constant: bool, device: torch.device
) -> tuple[FloatArray, float]:
    """Coefficients of features or, with a kernel, of instances, and the objective; for complete rankings.

    With `constant`, 1 is added to the kernel.
    """
    n, d = X.shape
    side = min(n, d + constant) if kernel.is_linear else n
    what = f"least squares of {n} rankings and {d} features, with a matrix of {side} x {side},"
    with memory_errors(device, 24.0 * (n * d + side**2), what):
        root = torch.as_tensor(np.where(loss.counted[:, np.newaxis], loss.scale, 0.0), device=device)
        features, target = _features(X, device), torch.as_tensor(loss.target, device=device)
        if kernel.is_linear:
            features = torch.cat([features, torch.ones_like(root)], 1) if constant else features
            features = features * root
        if kernel.is_linear and features.shape[1] <= n:
            right = features.T @ target
            coef = _ridge(features.T @ features, right, alpha)
            return coef.cpu().numpy(), float(target.square().sum() - (right * coef).sum())
        gram = features @ features.T if kernel.is_linear else kernel_values(kernel, features, features).add_(constant)
        z = _ridge(gram if kernel.is_linear else gram.mul_(root).mul_(root.T), target, alpha)
        coef = features.T @ z if kernel.is_linear else root * z
        return coef.cpu().numpy(), alpha * float((target * z).sum())


def _entries(device: torch.device) -> int:
    """Numbers of a block of features, of which there are a few copies."""
    return entries_of_block(device, BLOCK[device.type])


def _features(X: Any, device: torch.device) -> Tensor:
    """Dense features, float64, on a device."""
    found: Tensor = X.values.to(torch.float64) if isinstance(X, DeviceFeatures) else tensor_of(X, device)
    return found


def _host(X: Any) -> FloatArray:
    return X.numpy() if isinstance(X, DeviceFeatures) else X


def _ridge(gram: Tensor, target: Tensor, alpha: float) -> Tensor:
    """Solve (G + αI) z = b, by eigenvectors if `alpha` is too small for a factor."""
    check_finite(target.cpu().numpy(), gram.abs().max().cpu().numpy())
    z = _by_factor(gram, target, alpha)
    if z is None:
        values, vectors = _eigenvectors(gram, 0.0)
        shrunk = shrink(values.cpu().numpy(), np.array([alpha]))
        z = vectors @ (vectors.T @ target * torch.as_tensor(shrunk, device=target.device))
    return z


def _by_factor(gram: Tensor, target: Tensor, alpha: float) -> Tensor | None:
    """Solve by a Cholesky factor; None if `alpha` is below the rounding error of the matrix."""
    n = len(target)
    if not n or not alpha > n * np.finfo(float).eps * np.sqrt(2) * float(torch.tril(gram).norm()):
        return None
    gram = gram.clone()
    gram.diagonal().add_(alpha)
    factor, info = torch.linalg.cholesky_ex(gram)
    return None if int(info) else torch.cholesky_solve(target, factor)


def _eigenvectors(gram: Tensor, size: float) -> tuple[Tensor, Tensor]:
    values, vectors = torch.linalg.eigh(gram)
    n = len(values)
    if n and float(values[0]) < -n * 1e3 * np.finfo(float).eps * max(float(values.abs().max()), size):
        raise ValueError(
            f"the kernel is not positive semi-definite: its smallest eigenvalue is {float(values[0]):.3g}, its largest "
            f"{float(values[-1]):.3g}"
        )
    return values.clamp(min=0), vectors


def decompose(system: ItemSystem, device: torch.device) -> None:
    """Find the eigenvalues and eigenvectors of a system, once."""
    if system.gram is None:
        return
    with _of_square_matrices(device, len(system.gram)):
        values, vectors = _eigenvectors(torch.as_tensor(system.gram, device=device), system.size)
        target = vectors.T @ torch.as_tensor(system.target, device=device)
        directions = _solve_factor(system, vectors)
        found = tuple(part.cpu().numpy() for part in (values, target, directions))
    system.values, system.target, system.directions = found
    system.gram = system.factor = None


def _of_square_matrices(device: torch.device, n: int) -> Any:
    """Context for work on some matrices of n x n."""
    return memory_errors(device, 32.0 * n**2, f"least squares with {n} coefficients")


def _solve_factor(system: ItemSystem, z: Tensor) -> Tensor:
    if system.factor is None or not len(system.factor):
        return z
    factor = torch.as_tensor(system.factor, device=z.device)
    return torch.linalg.solve_triangular(factor.T, z, upper=True)


def _basis_factor(gram: FloatArray, device: torch.device) -> tuple[Tensor, IntArray]:
    """Return the Cholesky factor of a basis; with pivots, on the processor, if its members depend on each other."""
    n = len(gram)
    factor, info = torch.linalg.cholesky_ex(torch.as_tensor(gram, device=device))
    smallest = float(factor.diagonal().square().min()) if n and not int(info) else 0.0
    if smallest > n * np.finfo(float).eps * float(np.diag(gram).max(initial=0.0)):
        return factor, np.arange(n)
    found, kept = basis_factor(gram)
    return torch.as_tensor(np.tril(found), device=device), kept


def _products(
    rows: Any, loss: GroupedSquaredLoss, n: int, factor: Tensor | None, device: torch.device
) -> tuple[FloatArray, FloatArray]:
    r"""G and b of features or, with the factor C of a basis, of :math:`K_{MR} C^{-\top}`."""
    gram = torch.zeros((n, n), dtype=torch.float64, device=device)
    target = torch.zeros(n, dtype=torch.float64, device=device)
    size = 8.0 * (2 * n**2 + 3 * min(len(loss) * n, _entries(device)))
    with memory_errors(device, size, f"least squares of {len(loss)} items with {n} coefficients"):
        for block, y in _centered_blocks(rows, loss, n, device) if n else ():
            if factor is not None:
                block = torch.linalg.solve_triangular(factor.T, block, upper=True, left=False)
            gram.addmm_(block.T, block)
            target.addmv_(block.T, y)
    found = gram.cpu().numpy(), target.cpu().numpy()
    check_finite(*found)
    return found


def _centered_blocks(
    rows: Any, loss: GroupedSquaredLoss, n: int, device: torch.device
) -> Iterator[tuple[Tensor, Tensor]]:
    """Blocks of centered features and scores; a group that is cut is centered in parts, whose means follow."""
    scale, y = torch.as_tensor(loss.scale, device=device), torch.as_tensor(loss.target, device=device)
    code = torch.as_tensor(loss.code, dtype=torch.int64, device=device)
    cut: list[tuple[int, float, float, FloatArray]] = []
    for part in row_blocks(len(loss), n, _entries(device)):
        block = rows(part)
        first = int(loss.code[part.start])
        means = _center(block, code[part] - first, scale[part])
        yield block, y[part]
        for group in {first, int(loss.code[part.stop - 1])}:
            a, b = max(loss.start[group], part.start), min(loss.start[group + 1], part.stop)
            weight = loss.scale[a:b] ** 2
            if b - a < loss.start[group + 1] - loss.start[group] and weight.sum() > 0:
                mean_y = float(np.average(loss.y[a:b], weights=weight))
                cut.append((group, float(weight.sum()), mean_y, means[group - first].cpu().numpy().copy()))
    if cut:
        means_of_parts, mean_y_of_parts = between_parts(cut)
        yield torch.as_tensor(means_of_parts, device=device), torch.as_tensor(mean_y_of_parts, device=device)


def _center(block: Tensor, code: Tensor, scale: Tensor) -> Tensor:
    """Subtract the weighted mean of each group from its rows, and scale them, in place; return the means."""
    weight = scale.square()
    n_groups = int(code.max()) + 1
    total = torch.zeros(n_groups, dtype=block.dtype, device=block.device).index_add_(0, code, weight)
    share = weight / torch.where(total > 0, total, 1.0)[code]
    means = torch.zeros((n_groups, block.shape[1]), dtype=block.dtype, device=block.device)
    means.index_add_(0, code, block * share[:, None])
    block -= means[code]
    block *= scale[:, None]
    return means
