"""Weights of terms: the logarithm of the count, plus one."""

from __future__ import annotations

from typing import Any

import numpy as np

from labelrank.features._counts import CountTransformer


class LogCountTransformer(CountTransformer):
    r"""Weigh terms by :math:`\log(\text{count}) + 1`.

    .. math:: \phi_w(x) = \begin{cases} \log(\text{count of } w \text{ in } x) + 1 & \text{if it is positive,} \\
              0 & \text{otherwise.} \end{cases}

    The second occurrence of a word is less informative than the first. Nothing is learned; ``fit`` only validates `X`.

    Attributes
    ----------
    n_features_in_ : int
        Number of features.

    Notes
    -----
    Sparse `X` of any format gives CSR without explicit zeros (duplicate entries are summed before the logarithm), dense
    `X` a dense array; float32 stays float32. The formula is meant for counts; positive numbers below 1/e become
    negative.

    References
    ----------
    Dekel, Manning, Singer: Log-linear models for label ranking. NIPS 16, 2003. Equation 6.

    Examples
    --------
    >>> from labelrank.features import LogCountTransformer
    >>> LogCountTransformer().fit_transform([[0, 1, 2], [10, 0, 0]]).round(2)
    array([[0.  , 1.  , 1.69],
           [3.3 , 0.  , 0.  ]])
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags

    def fit(self, X: Any, y: Any = None) -> LogCountTransformer:
        """Validate the counts.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Counts of terms.
        y : ignored

        Returns
        -------
        self
        """
        self._check_counts(X, reset=True)
        return self

    def _weights(self, counts: Any) -> Any:
        return np.log(counts.data) + 1
