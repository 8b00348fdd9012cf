"""Where a warning points to."""

import sys


def stacklevel_of_user() -> int:
    """Return the ``stacklevel`` for ``warnings.warn`` of the first frame that is neither ours nor scikit-learn's.

    Decorators and helpers put a varying number of frames between the line of the user and the warning.
    """
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("labelrank", "sklearn"):
        level, frame = level + 1, frame.f_back
    return level
