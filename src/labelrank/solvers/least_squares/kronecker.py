r"""Least squares on pairs of labels, where the kernel is that of the instances times that of the labels.

The scores are :math:`F = K_x A K_l`, a row for each instance. What is paid in row i is

.. math:: \frac{w_i}{k_i} \sum_{a, b} c_{ab} \bigl( \Delta_{ab} - (F_{ia} - F_{ib}) \bigr)^2

over its observed pairs, with their target differences :math:`\Delta` and the number :math:`k_i` of its labels. The
Laplacians of the rows have roots, :math:`L = S S^\top`, so that with :math:`A = S z` the minimum is the solution of a
symmetric system,

.. math:: (S^\top (K_x \otimes K_l) S + \lambda I) z = S^\top t .

- All labels observed in all rows: S is the same centring everywhere, :math:`C = I - \frac1k 1 1^\top`. From the
  eigenvectors of :math:`K_x` and of :math:`C K_l C` follows z at once, with :math:`e_i e'_j + \lambda` to divide by.
- Otherwise: conjugate gradients, which need products with :math:`K_x` and :math:`K_l` only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank.solvers.least_squares.groups import FloatArray
from labelrank.solvers.least_squares.iterative import Iterations, conjugate_gradients
from labelrank.solvers.least_squares.systems import RidgeSystem, Spectrum, decompose, shrink, solve
from labelrank.supervision import PreferenceGraphs

Product = Callable[[FloatArray], FloatArray]

# --- What is observed


@dataclass
class LabelPairs:
    r"""Observed pairs: what the root S of their Laplacian does, and the targets.

    Attributes
    ----------
    shape : tuple
        ``(n_samples, n_labels)``.
    root : callable
        :math:`S z`, of the given shape.
    differences : callable
        :math:`S^\top F`.
    target : ndarray of shape (n_pairs,)
        :math:`S^\top t`.
    scores : ndarray of the given shape, or None
        t, where all labels of all rows that count are observed.
    weight : ndarray of shape (n_samples,)
        Weights of the rows that count, 0 for those without pairs.
    """

    shape: tuple[int, int]
    root: Product
    differences: Product
    target: FloatArray
    scores: FloatArray | None
    weight: FloatArray


def label_pairs(graphs: PreferenceGraphs, weight: FloatArray) -> LabelPairs:
    """The pairs of graphs.

    A graph of levels has all pairs of its labels, ties included, and the target of a label is less its expected rank
    among all labels when others are missing at random, :math:`r (k + 1) / (k_i + 1)` for the rank r among :math:`k_i`
    observed of k labels. Of a graph of edges only the direction of each edge is known; its target difference is the
    expected one of two labels, :math:`(k + 1) / 3`.
    """
    return _edge_pairs(graphs, weight) if graphs.storage == "edges" else _level_pairs(graphs.levels, weight)


def expected_scores(levels: npt.NDArray[Any]) -> FloatArray:
    """Less the expected rank of each label, centred within the row; NaN for absent labels.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.solvers.least_squares.kronecker import expected_scores
    >>> expected_scores(np.array([[0, 1, 1, 2], [1, -1, 0, -1]])).round(2)
    array([[ 1.5 ,  0.  ,  0.  , -1.5 ],
           [-0.83,   nan,  0.83,   nan]])
    """
    n, k = levels.shape
    present = levels >= 0
    size = present.sum(axis=1)
    rows = np.arange(n)[:, np.newaxis] * np.ones((1, k), dtype=np.intp)
    n_levels = int(levels.max(initial=0)) + 1
    flat = (rows * n_levels + levels)[present]
    counts = np.bincount(flat, minlength=n * n_levels).reshape(n, n_levels)
    rank = np.cumsum(counts, axis=1) - counts + (counts + 1) / 2
    scores = np.full((n, k), np.nan)
    scores[present] = -rank[rows[present], levels[present]]
    return (scores + (size[:, np.newaxis] + 1) / 2) * ((k + 1) / (size[:, np.newaxis] + 1))


def _level_pairs(levels: npt.NDArray[Any], weight: FloatArray) -> LabelPairs:
    present = levels >= 0
    size = present.sum(axis=1, keepdims=True)
    weight = np.where(size[:, 0] > 1, weight, 0.0)
    root_weight = np.sqrt(weight)[:, np.newaxis]
    scores = np.where(present, expected_scores(levels), 0.0)
    count = np.maximum(size, 1)

    def centre(F: FloatArray) -> FloatArray:
        F = np.where(present, F, 0.0)
        F -= F.sum(axis=1, keepdims=True) / count
        F[~present] = 0.0
        return F

    def root(z: FloatArray) -> FloatArray:
        return root_weight * centre(z.reshape(levels.shape))

    def differences(F: FloatArray) -> FloatArray:
        return (root_weight * centre(F)).ravel()

    complete = bool(((size[:, 0] == levels.shape[1]) | (weight == 0)).all())
    return LabelPairs(levels.shape, root, differences, differences(scores), scores if complete else None, weight)


def _edge_pairs(graphs: PreferenceGraphs, weight: FloatArray) -> LabelPairs:
    n, k = graphs.shape
    row, better, worse = graphs.to_edges()
    votes = np.ones(len(row)) if graphs.weight is None else graphs.weight
    touched = np.zeros((n, k), dtype=bool)
    touched[row, better] = touched[row, worse] = True
    size = np.maximum(touched.sum(axis=1), 1)
    scale = np.sqrt(weight[row] * votes / size[row])
    first, second = row * k + better, row * k + worse

    def root(z: FloatArray) -> FloatArray:
        flow = scale * z
        flat = np.bincount(first, flow, n * k) - np.bincount(second, flow, n * k)
        return np.asarray(flat, dtype=np.float64).reshape(n, k)

    def differences(F: FloatArray) -> FloatArray:
        flat = F.ravel()
        return scale * (flat[first] - flat[second])

    return LabelPairs((n, k), root, differences, scale * ((k + 1) / 3), None, weight)


# --- Closed forms, for complete rows


def solve_complete(system: RidgeSystem, label_gram: FloatArray | None, alpha: float) -> FloatArray:
    """Coefficients (n, n_labels) from the instances' system, whose target has a centred column for each label.

    Parameters
    ----------
    system : RidgeSystem
        In the primal or in the dual; it may be overwritten.
    label_gram : ndarray of shape (n_labels, n_labels), optional
        Kernel of the labels; None is the identity, so that the labels are separate problems.
    alpha : float
        Penalty.
    """
    if label_gram is None:
        z = solve(system, alpha)
        if z is not None:
            return z
        spectrum = decompose(system)
        return np.asarray(spectrum.vectors @ (spectrum.target * shrink(spectrum.values, np.array([alpha]))))
    k = len(label_gram)
    centring = np.eye(k) - 1 / k
    labels = _semi_definite(centring @ label_gram @ centring)
    spectrum = decompose(system)
    products = np.outer(spectrum.values, labels.values)
    shrunk = shrink(products.ravel(), np.array([alpha])).reshape(products.shape)
    # The target is centred already, so nothing leaves the space of centred rows.
    return np.asarray(spectrum.vectors @ (spectrum.target @ labels.vectors * shrunk) @ labels.vectors.T)


def _semi_definite(gram: FloatArray) -> Spectrum:
    return decompose(RidgeSystem(np.array((gram + gram.T) / 2, order="F"), np.zeros(len(gram))))


# --- Conjugate gradients, for the rest


def solve_incomplete(
    pairs: LabelPairs,
    instance_product: Product,
    label_gram: FloatArray | None,
    alpha: float,
    *,
    tol: float,
    max_iter: int,
) -> Iterations:
    """A by conjugate gradients, `instance_product` being the product of K_x with a matrix (n_samples, n_labels)."""

    def product(z: FloatArray) -> FloatArray:
        F = instance_product(pairs.root(z))
        if label_gram is not None:
            F = F @ label_gram
        return pairs.differences(F) + alpha * z

    found = conjugate_gradients(product, pairs.target, tol=tol, max_iter=max_iter)
    return Iterations(pairs.root(found.solution), found.n_iter, found.gap)
