r"""Templates of boosting: which coefficients move together, and how far.

A template b has one non-negative length per hypothesis. On each round every label takes the template of the set with
the largest guaranteed decrease, :math:`\sum_j b_j (\sqrt{W_j^+} - \sqrt{W_j^-})^2` without a penalty or smoothing, and
moves its coefficients by :math:`b_j` times their best step. The bound on the loss holds when
:math:`\sum_j b_j |h_j(x)| \le 1` for every example.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from labelrank.solvers.state import FloatArray


class UserTemplates:
    """The template of the set that promises most, label by label.

    Parameters
    ----------
    templates : ndarray of shape (n_templates, n_hypotheses)
        Lengths.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.solvers.templates import UserTemplates
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
