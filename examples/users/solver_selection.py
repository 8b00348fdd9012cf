"""Solver selection: choose a solver for each new instance and measure the saved time as PAR10.

Reads the given scenario or ``aslib/SAT11-RAND.csv.gz`` from the folder given by LABELRANK_DATA (600 SAT instances, 9
solvers, stopped after 5,000 seconds), or generates one. Runtimes are used directly as `y`, since only their order
within a row matters. A run without a result costs ten times the cutoff, which ranks it last.

    python examples/users/solver_selection.py [scenario.csv]
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.model_selection import KFold, cross_validate

from labelrank import RandomForestRanker, predict_frame
from labelrank.datasets import read_aslib
from labelrank.metrics import get_scorer


def select(path: Path, quick: bool) -> None:
    scenario = read_aslib(path, unsolved="last", as_frame=True)
    X, cutoff = scenario.data, scenario.cutoff
    par10 = pl.DataFrame(scenario.performance, schema=list(scenario.label_names)).fill_nan(10 * cutoff)
    model = RandomForestRanker(20 if quick else 200, random_state=0, on_empty="ignore")
    print(predict_frame(model.fit(X[5:], par10[5:]), X[:5], kind="order", k=3))
    scorers = {name: get_scorer(name, cutoff=cutoff) for name in ("mean_cost", "closed_gap")}
    found = cross_validate(model, X, par10, scoring=scorers, cv=KFold(10, shuffle=True, random_state=0))
    print(f"{path.name}, PAR10: single best solver {min(par10.mean().row(0)):.0f}")
    print(f"best solver of each instance (virtual best) {par10.min_horizontal().mean():.0f}")
    print(f"solver that is ranked first, in ten folds {-found['test_mean_cost'].mean():.0f}")
    print(f"closed gap {found['test_closed_gap'].mean():.0%}")


def make_scenario(folder: Path, n_instances: int) -> Path:
    """Generate runtimes of four solvers that depend on two of three features, stopped after 600 seconds."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(n_instances, 3))
    weights = rng.normal(size=(2, 4))
    runtimes = np.exp(3.5 + 2 * features[:, :2] @ weights + 0.5 * rng.normal(size=(n_instances, 4)))
    columns = ["ratio", "variables", "noise", "perf|cdcl", "perf|lookahead", "perf|walksat", "perf|portfolio"]
    runtimes[runtimes >= 600] = np.nan
    table = pl.DataFrame(np.column_stack([features, runtimes]), schema=columns)
    table.fill_nan(None).write_csv(folder / "GENERATED.csv")
    (folder / "INDEX.csv").write_text("scenario,maximize,cutoff\nGENERATED,false,600\n")
    return folder / "GENERATED.csv"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", nargs="?", type=Path, help="a scenario: a CSV file with its INDEX.csv, or a folder")
    parser.add_argument("--quick", action="store_true", help="200 generated instances and 20 trees only")
    options = parser.parse_args()
    real = Path(os.environ.get("LABELRANK_DATA", "."), "aslib", "SAT11-RAND.csv.gz")
    with tempfile.TemporaryDirectory() as folder:
        generated = make_scenario(Path(folder), 200 if options.quick else 1000)
        select(options.path or (real if real.exists() and not options.quick else generated), options.quick)


if __name__ == "__main__":
    main()
