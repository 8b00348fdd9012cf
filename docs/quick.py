"""Gallery: the order of the scripts, and their arguments: quick, unless ``LABELRANK_GALLERY=full`` is set."""

import os
from pathlib import Path
from typing import Any

from sphinx_gallery.sorting import ExampleTitleSortKey

FIRST = ["tickets", "language_models", "solvers", "comparison", "covering"]


class UsersFirst(ExampleTitleSortKey):
    """Sort the examples in FIRST before all others, and these by title."""

    def __call__(self, filename: Any) -> Any:
        """Return the position in FIRST and the title."""
        name = Path(filename).stem
        return FIRST.index(name) if name in FIRST else len(FIRST), super().__call__(filename)


def arguments(gallery_conf: dict[str, Any], script_vars: dict[str, Any]) -> list[str]:
    """Return the arguments of a script."""
    return [] if os.environ.get("LABELRANK_GALLERY") == "full" else ["--quick"]
