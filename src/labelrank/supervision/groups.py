"""Names of groups of items: sentences, queries."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def group_codes(groups: Any, n: int) -> npt.NDArray[np.intp]:
    """An integer for each group, whatever the groups are called."""
    if not hasattr(groups, "__len__") or isinstance(groups, str) or len(groups) != n:
        found = f"{len(groups)} entries" if hasattr(groups, "__len__") and not isinstance(groups, str) else repr(groups)
        raise ValueError(f"groups must name the group of each of the {n} items, got {found}")
    if hasattr(groups, "__array__"):
        array = np.asarray(groups)
        if array.ndim == 1 and array.dtype.kind != "O":
            if array.dtype.kind == "f" and np.isnan(array).any():
                row = int(np.flatnonzero(np.isnan(array))[0])
                raise ValueError(f"groups has NaN (first: row {row}); name each group")
            return np.unique(array, return_inverse=True)[1].astype(np.intp)
        groups = array.tolist() if array.ndim == 1 else [tuple(row) for row in array.tolist()]
    codes: dict[Any, int] = {}  # not by an array of a list: it would make "1" of 1 beside "a"
    for i, group in enumerate(groups):
        try:
            hash(group)
        except TypeError:
            raise TypeError(
                f"groups must hold names that can be hashed, such as numbers, strings or tuples; row {i} is a "
                f"{type(group).__name__}"
            ) from None
        if group is None or group != group:
            raise ValueError(f"groups has a missing entry (first: row {i}); name each group")
    return np.array([codes.setdefault(group, len(codes)) for group in groups], dtype=np.intp)
