"""Reading counts of terms in documents."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data


def check_counts(estimator: Any, X: Any, *, reset: bool) -> tuple[Any, bool]:
    """Counts as a CSR matrix of its own, one positive entry per term of a document, and whether `X` was dense."""
    # Other formats are turned into CSR here, after the change to float: small integers must not overflow on the way.
    checks: dict[str, Any] = {"accept_sparse": ("csr", "csc", "coo"), "dtype": [np.float64, np.float32]}
    X = validate_data(estimator, X, reset=reset, **checks)
    dense = not sparse.issparse(X)
    counts = sparse.csr_array(X) if dense else X.tocsr(copy=True)
    counts.sum_duplicates()
    counts.eliminate_zeros()
    if counts.nnz and counts.data.min() < 0:
        entry = int(np.argmax(counts.data < 0))
        row = int(np.searchsorted(counts.indptr, entry, side="right")) - 1
        raise ValueError(
            f"Negative values in data passed to {type(estimator).__name__}: X holds {counts.data[entry]} in row {row}, "
            f"column {counts.indices[entry]}; counts start at 0"
        )
    return counts, dense
