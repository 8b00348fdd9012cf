r"""Templates of boosting: which coefficients move together, and how far.

A template b has one non-negative length per hypothesis. On each round every label takes the template of the set with
the largest :math:`\sum_j b_j (\sqrt{W_j^+} - \sqrt{W_j^-})^2` and moves its coefficients by :math:`b_j` times their
best step. The bound on the loss holds when :math:`\sum_j b_j |h_j(x)| \le 1` for every example.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from labelrank.solvers.state import FloatArray


class UserTemplates:
    """The template of the set that promises most, label by label.

    Parameters
    ----------
    templates : ndarray of shape (n_templates, n_hypotheses)
        Lengths.
    smoothing : float
        Of the boosting: with 0, a coefficient of which one weight is zero does not move and promises nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.solvers.templates import UserTemplates
    >>> choose = UserTemplates(np.array([[0.5, 0.5], [0.0, 1.0]]))
    >>> choose(np.array([[9.0], [1.0]]), np.array([[1.0], [1.0]]))
    array([[0.5],
           [0.5]])
    """

    def __init__(self, templates: FloatArray, smoothing: float = 0.0) -> None:
        self.templates, self.smoothing = templates, smoothing

    def __call__(self, plus: FloatArray, minus: FloatArray) -> FloatArray:
        """Lengths of the steps, of shape (n_hypotheses, n_labels)."""
        gain = (np.sqrt(plus) - np.sqrt(minus)) ** 2
        if not self.smoothing:
            gain[(plus == 0) | (minus == 0)] = 0
        best: Any = np.argmax(self.templates @ gain, axis=0)
        return np.ascontiguousarray(self.templates[best].T)
