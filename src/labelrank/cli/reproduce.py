"""``labelrank reproduce``: a published table, made again."""

from __future__ import annotations

import difflib
from importlib import import_module
from typing import Any

from labelrank.experiments import EXPERIMENTS


def experiment(name: str) -> Any:
    """The module of an experiment; a name that is none is an error with the nearest one."""
    wanted = name.strip().lower()
    if wanted not in EXPERIMENTS:
        near = difflib.get_close_matches(wanted, EXPERIMENTS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise ValueError(f"there is no experiment {name!r}{hint} Known: {', '.join(EXPERIMENTS)}")
    return import_module(f"labelrank.experiments.{wanted}")


def check_data(module: Any, data: str | None) -> str:
    """The data set to run on, the first that the experiment knows by default."""
    if data is None:
        return str(module.DATA[0])
    if data not in module.DATA:
        raise ValueError(f"{module.NAME} has no data set {data!r}; known: {', '.join(module.DATA)}")
    return data
