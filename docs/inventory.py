"""Write docs/scikit-learn.inv, the addresses of scikit-learn's pages, for links that need no network to build.

python docs/inventory.py
"""

from __future__ import annotations

import itertools
import zlib
from pathlib import Path

import sklearn
import sklearn.model_selection
from sklearn.base import BaseEstimator
from sklearn.utils import Bunch
from sklearn.utils.discovery import all_estimators, all_functions
from sklearn.utils.estimator_checks import check_estimator


def public_name(module: str, name: str) -> str:
    """The module under which scikit-learn documents a name: up to its first private part."""
    parts = module.split(".")
    return ".".join([*itertools.takewhile(lambda part: not part.startswith("_"), parts), name])


def main() -> None:
    head = f"# Sphinx inventory version 2\n# Project: scikit-learn\n# Version: {sklearn.__version__}\n"
    head += "# The remainder of this file is compressed using zlib.\n"
    splitters = [
        getattr(sklearn.model_selection, name)
        for name in sklearn.model_selection.__all__
        if name[-4:] in ("Fold", "plit")
    ]
    classes = [cls for _, cls in all_estimators()] + splitters + [BaseEstimator, Bunch]
    kinds = [("class", classes), ("function", [check_estimator, *(func for _, func in all_functions())])]
    lines = set()
    for kind, found in kinds:
        for what in found:
            name = public_name(what.__module__, what.__name__)
            lines.add(f"{name} py:{kind} 1 modules/generated/{name}.html#$ -\n")
    body = zlib.compress("".join(sorted(lines)).encode(), 9)
    (Path(__file__).parent / "scikit-learn.inv").write_bytes(head.encode() + body)


if __name__ == "__main__":
    main()
