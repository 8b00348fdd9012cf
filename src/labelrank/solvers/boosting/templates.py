r"""Templates of boosting: which coefficients move together, and how far.

A template b has one non-negative length per hypothesis. In each round every label uses the template with the largest
guaranteed decrease, :math:`\sum_j b_j (\sqrt{W_j^+} - \sqrt{W_j^-})^2` without a penalty or smoothing, and moves its
coefficients by :math:`b_j` times their best step. The bound on the loss holds if :math:`\sum_j b_j |h_j(x)| \le 1` for
every example.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank._arrays import FloatArray


class UserTemplates:
    """Choice of the template with the largest guaranteed decrease, for each label.

    Parameters
    ----------
    templates : ndarray of shape (n_templates, n_hypotheses)
        Lengths.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.solvers.boosting.templates import UserTemplates
    >>> gain = np.array([[4.0, 0.0], [0.0, 1.0]])  # two hypotheses, two labels
    >>> choose = UserTemplates(np.array([[0.5, 0.5], [0.0, 1.0]]))
    >>> choose(lambda length: length * gain)
    array([[0.5, 0. ],
           [0.5, 1. ]])
    """

    def __init__(self, templates: FloatArray) -> None:
        self.templates = templates

    def __call__(self, promise: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Lengths of the steps, of shape (n_hypotheses, n_labels)."""
        best: Any = np.argmax([promise(template[:, None]).sum(axis=0) for template in self.templates], axis=0)
        return np.ascontiguousarray(self.templates[best].T)


def check_templates(templates: Any, n_features: int, fit_intercept: bool) -> FloatArray:
    """Validate templates; return a copy as floats, of shape (n_templates, n_features [+ 1]).

    Examples
    --------
    >>> from labelrank.solvers.boosting.templates import check_templates
    >>> check_templates([[1, 0], [0, 1]], 2, False)
    array([[1., 0.],
           [0., 1.]])
    """
    if templates is None:
        raise ValueError('templates must be "parallel", "sequential" or an array, got None')
    try:
        lengths = np.array(templates, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"templates must be an array of numbers with a row for each template: {error}") from None
    n_hypotheses = n_features + bool(fit_intercept)
    if lengths.ndim != 2 or lengths.shape[1] != n_hypotheses or not len(lengths):
        what = "one column per feature" + " and a last one for the intercept" * bool(fit_intercept)
        raise ValueError(f"templates has shape {lengths.shape}, expected (n_templates, {n_hypotheses}): {what}")
    if not (np.isfinite(lengths) & (lengths >= 0)).all():
        raise ValueError("templates must be finite and ≥ 0")
    norms = lengths.sum(axis=1)
    if norms.max() > 1 + 1e-9:
        row = int(np.argmax(norms))
        raise ValueError(f"templates[{row}] has the 1-norm {norms[row]:g}; at most 1 is allowed")
    return lengths


def largest_values(X: Any, fit_intercept: bool, counted: npt.NDArray[np.bool_] | None = None) -> FloatArray:
    """Largest absolute value of each hypothesis, at least 1; a sparse `X` must have no duplicate entries.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Examples.
    fit_intercept : bool
        Whether there is a last, constant hypothesis.
    counted : bool ndarray of shape (n_samples,), optional
        Examples to use; by default all.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.solvers.boosting.templates import largest_values
    >>> largest_values(np.array([[0.5, -3.0], [0.1, 2.0]]), True)
    array([1., 3., 1.])
    """
    if counted is not None and counted.any() and not counted.all():
        X = X[counted]
    largest: Any = abs(X).max(axis=0)
    largest = np.asarray(largest.toarray() if hasattr(largest, "toarray") else largest).ravel()
    return np.maximum(np.append(largest, 1.0) if fit_intercept else largest, 1.0)
