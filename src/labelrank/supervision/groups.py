"""Names of groups of items: sentences, queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank._arrays import is_missing


def group_codes(groups: Any, n: int) -> npt.NDArray[np.intp]:
    """Return an integer for each item, equal for items of the same group; names may be anything that can be hashed.

    The integers follow the order of the names or, if names cannot be compared, of their first items: the same names
    give the same integers as a list, an array or a column of a frame.
    """
    if not _is_column(groups) or len(groups) != n:
        found = f"{len(groups)} entries" if _is_column(groups) else repr(groups)
        raise ValueError(f"groups must name the group of each of the {n} items, got {found}")
    if np.ma.is_masked(groups):
        raise ValueError("groups has masked entries; name each group")
    if hasattr(groups, "__array__"):
        array = np.asarray(groups)
        if array.ndim == 1 and array.dtype.kind != "O":
            missing = np.isnat(array) if array.dtype.kind in "mM" else array != array
            if missing.any():
                name = "NaT" if array.dtype.kind in "mM" else "NaN"
                raise ValueError(f"groups has {name} (first: row {int(np.argmax(missing))}); name each group")
            return np.unique(array, return_inverse=True)[1].astype(np.intp)
        groups = array.tolist() if array.ndim == 1 else [tuple(row) for row in array.tolist()]
    codes: dict[Any, int] = {}  # an array of the list would turn 1 beside "a" into "1"
    for i, group in enumerate(groups):
        try:
            hash(group)
        except TypeError:
            raise TypeError(
                f"groups must hold names that can be hashed, such as numbers, strings or tuples; row {i} is a "
                f"{type(group).__name__}"
            ) from None
        if any(is_missing(part) for part in (group if isinstance(group, tuple) else (group,))):
            raise ValueError(f"groups has a missing entry (first: row {i}); name each group")
    seen = np.array([codes.setdefault(group, len(codes)) for group in groups], dtype=np.intp)
    try:
        place = {name: code for code, name in enumerate(sorted(codes))}
    except TypeError:  # names of different kinds
        return seen
    return np.asarray(np.array([place[name] for name in codes], dtype=np.intp)[seen])


def _is_column(groups: Any) -> bool:
    """Whether this is a sequence of names: no set, no mapping, no single name."""
    if isinstance(groups, str | bytes | set | frozenset | Mapping) or getattr(groups, "ndim", 1) == 0:
        return False
    return hasattr(groups, "__len__")
