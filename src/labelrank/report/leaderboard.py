"""Section on the leaderboard of candidates."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from labelrank.report.parts import (
    Cell,
    Section,
    Table,
    bars,
    compact,
    count_cell,
    number,
    number_cell,
    plus_minus,
)
from labelrank.supervision.frames import frame_of

_NAMES = ("name", "ranker", "model", "candidate", "learner")
_FOLDS = ("folds", "n_folds")
_MEANS = ("mean", "score", "kendall_tau", "tau")
_ERRORS = {
    "standard_error": "standard error",
    "se": "standard error",
    "sem": "standard error",
    "std": "standard deviation",
}


def leaderboard_section(leaderboard: Any, weights: Any = None) -> Section:
    """Candidates with their scores and errors as bars."""
    title = "Leaderboard"
    if leaderboard is None:
        return Section("leaderboard", title, "No leaderboard was given: the report is about a single model.")
    entries = _entries(leaderboard)
    if not entries:
        return Section("leaderboard", title, "The leaderboard is empty.")
    keys = list(dict.fromkeys(key for entry in entries for key in entry))
    name = next((key for key in _NAMES if key in keys), keys[0])
    numbers = [key for key in keys if any(math.isfinite(_float(entry.get(key))) for entry in entries)]
    mean = next((key for key in (*_MEANS, *numbers) if key in numbers), None)
    folds = next((key for key in _FOLDS if key in numbers), None)
    entries.sort(key=lambda entry: (-_float(entry.get(folds, 0)), _descending(_float(entry.get(mean)))))
    means, (kind, errors) = [_float(entry.get(mean)) for entry in entries], _errors(entries, numbers, folds)
    shown = [key for key in keys if key not in (name, mean, *_ERRORS)]
    rows = [
        [
            Cell(compact(entry.get(name, ""))),
            Cell(f"{number(value)} {plus_minus(off)}".strip(), value if math.isfinite(value) else None, bar),
            *(_cell(key, entry.get(key)) for key in shown),
        ]
        for entry, value, off, bar in zip(entries, means, errors, bars(means, errors), strict=True)
    ]
    columns = [str(key).replace("_", " ") for key in (name, mean or "score", *shown)]
    scored = sum(map(math.isfinite, means))
    lead = f"{len(rows)} candidate{'s' * (len(rows) != 1)}, the best first."
    lead += f" ± and the line on each bar are the {kind} over the folds." if kind else ""
    best = f"“{rows[0][0].text}” is the best of {scored} candidates, with {rows[0][1].text}." if scored > 1 else ""
    tables = [Table("Candidates", columns, rows), *([] if "weight" in keys else _weights(weights))]
    return Section("leaderboard", title, lead, tables, best)


def _errors(entries: list[dict[Any, Any]], numbers: list[Any], folds: Any) -> tuple[str, list[float]]:
    """Kind and values of the errors; standard deviations become standard errors if the number of folds is known."""
    key = next((key for key in _ERRORS if key in numbers), None)
    errors = [_float(entry.get(key)) for entry in entries]
    if key != "std" or folds is None:
        return ("" if key is None else _ERRORS[key]), errors
    counts = [_float(entry.get(folds)) for entry in entries]
    return "standard error", [e / math.sqrt(n) if n > 1 else math.nan for e, n in zip(errors, counts, strict=True)]


def _weights(weights: Any) -> list[Table]:
    """Members of an ensemble with their weights, if there is one."""
    if not isinstance(weights, Mapping):
        return []
    members = {name: float(value) for name, value in weights.items() if value}
    drawn = bars(list(members.values()), [0.0] * len(members))
    rows = [
        [Cell(compact(name)), number_cell(value, bar=bar)]
        for (name, value), bar in zip(members.items(), drawn, strict=True)
    ]
    return [Table("Ensemble", ["member", "weight"], rows)] if len(rows) > 1 else []


def _entries(leaderboard: Any) -> list[dict[Any, Any]]:
    frame = frame_of(leaderboard)
    entries = leaderboard if frame is None else list(frame.iter_rows(named=True))
    if not isinstance(entries, Sequence) or not all(isinstance(entry, Mapping) for entry in entries):
        raise TypeError(f"leaderboard must be a data frame or a list of dicts, got {reprlib.repr(leaderboard)}")
    return [dict(entry) for entry in entries]


def _descending(value: float) -> float:
    return -value if math.isfinite(value) else math.inf


def _float(value: Any) -> float:
    is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    return float(value) if is_number else math.nan


def _cell(key: Any, value: Any) -> Cell:
    if math.isfinite(_float(value)) and any(word in str(key) for word in ("time", "seconds")):
        return Cell(f"{_float(value):.3g} s", _float(value))
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return count_cell(int(value))
    return number_cell(_float(value)) if isinstance(value, (float, np.floating)) else Cell(compact(value))
