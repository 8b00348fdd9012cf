"""Sets of instances and their rankings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from labelrank.datasets import load_iris_rankings, load_wine_rankings, make_label_ranking, read_csv, read_xarff
from papers.cheng2009.printed import RATES

READERS = {".csv": read_csv, ".xarff": read_xarff, ".arff": read_xarff}  # and each of them with .gz


@dataclass(frozen=True)
class Protocol:
    """Parameters of the experiment."""

    n_repeats: int = 5
    n_folds: int = 10
    seed: int = 0
    rates: tuple[float, ...] = RATES
    curve_rates: tuple[float, ...] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
    curve_sets: tuple[str, ...] = ("glass", "housing", "vowel")  # one repetition is enough for the curves
    n_trees: int | None = None  # of the forest; its default

    def curves(self, names: Sequence[str]) -> list[str]:
        """Return the sets that curves are drawn for: those of `curve_sets` that there are, or else the first."""
        return [name for name in names if name in self.curve_sets] or list(names[:1])


QUICK = Protocol(
    n_repeats=1, n_folds=3, rates=(0.0, 0.6), curve_rates=(0.0, 0.3, 0.6), curve_sets=("iris",), n_trees=10
)


@dataclass(frozen=True)
class Problem:
    """Instances and their rankings."""

    name: str
    X: Any
    y: Any
    scaled: bool = True

    @property
    def size(self) -> str:
        """The size in words."""
        return f"{self.name} ({len(self.y):,} instances, {self.X.shape[1]} features, {self.y.shape[1]} labels)"


Sets = dict[str, Problem]


def load(data: str, folder: Path | None, protocol: Protocol) -> Sets:
    """Read all CSV and XARFF files of a folder."""
    assert folder is not None
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {str(folder)!r}")
    sets: Sets = {}
    for path in sorted(folder.iterdir()):
        name, suffix = path.name.split(".")[0], Path(path.name.removesuffix(".gz")).suffix.lower()
        if not path.is_file() or suffix not in READERS:
            continue
        if name in sets:
            raise ValueError(f"there are two files for the set {name!r} in {str(folder)!r}; remove one of them")
        bunch = READERS[suffix](path)
        X = bunch.data.toarray() if hasattr(bunch.data, "toarray") else bunch.data  # trees take no sparse matrices
        sets[name] = Problem(name, np.asarray(X, dtype=np.float64), bunch.target, data != "raw")
    if not sets:
        raise ValueError(f"there is no CSV or XARFF file in {str(folder)!r}")
    return sets


def generate(protocol: Protocol) -> Sets:
    """Generate and load small sets for a quick run."""
    sets = {
        "generated": make_label_ranking(120, 4, n_labels=5, random_state=protocol.seed),
        "iris": load_iris_rankings(return_X_y=True),
        "wine": load_wine_rankings(return_X_y=True),
    }
    return {name: Problem(name, (X - X.mean(axis=0)) / X.std(axis=0), y) for name, (X, y) in sets.items()}
