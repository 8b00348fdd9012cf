"""Descriptions of models in model files, with a checksum."""

from __future__ import annotations

import hashlib
import json
import math
import reprlib
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from labelrank.persistence.audit import parsed
from labelrank.supervision.frames import frame_of
from labelrank.supervision.names import labels_of

ABOUT = "labelrank.json"
MAX_ABOUT = 2**24  # bytes, notes included

_CHECKSUM = "sha256_about"


class DescriptionError(ValueError):
    """A description is invalid."""


def describe(model: Any, X: Any = None) -> dict[str, Any]:
    """Labels, features and schema of a model, as stored in its file."""
    labels, names = labels_of(model), getattr(model, "feature_names_in_", None)
    frame = None if X is None else frame_of(X)
    return {
        "type": type(model).__name__,
        "model": repr(model),
        "labels": None if labels is None else [_plain(label) for label in labels.tolist()],
        "features": None if names is None else [str(name) for name in names],
        "n_features": getattr(model, "n_features_in_", None),
        "schema": None if frame is None else {str(name): str(dtype) for name, dtype in frame.schema.items()},
    }


def _plain(label: Any) -> Any:
    return label if isinstance(label, (str, int)) or (isinstance(label, float) and math.isfinite(label)) else str(label)


def checked_metrics(metrics: dict[str, float] | None) -> dict[str, float | None]:
    """Validate metrics; values that are not finite become None."""
    if metrics is not None and not isinstance(metrics, dict):
        raise TypeError(f"metrics must be a dict, got {type(metrics).__name__}")
    values = {}
    for name, value in (metrics or {}).items():
        try:
            values[str(name)] = float(value) if math.isfinite(value) else None
        except (TypeError, ValueError) as error:
            raise TypeError(f"metrics must be numbers, got {name!r}: {value!r}") from error
    return values


def checked_notes(notes: dict[str, Any] | None) -> dict[str, Any]:
    """Validate notes; raises ValueError unless they can be represented as JSON."""
    if notes is None:
        return {}
    if not isinstance(notes, dict):
        raise TypeError(f"notes must be a dict, got {type(notes).__name__}")
    try:
        text = json.dumps(notes, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"notes must be text, finite numbers, lists and dicts, as in JSON ({error})") from error
    found: dict[str, Any] = json.loads(text)
    return found


def sealed(about: dict[str, Any]) -> str:
    """Serialize a description with its checksum."""
    about = about | {_CHECKSUM: _checksum(about)}
    _check(about)
    text = json.dumps(about, indent=1, ensure_ascii=False, allow_nan=False)
    if len(text.encode()) > MAX_ABOUT:
        raise ValueError(f"notes, with the names of labels and columns, are larger than {MAX_ABOUT:,} bytes")
    return text


def unsealed(text: bytes, newest: int) -> dict[str, Any]:
    """Read a description, and check it if its format is not newer than `newest`.

    Raises
    ------
    DescriptionError
        If it is damaged.
    ValueError
        If it is not JSON.
    """
    about = parsed(text, ABOUT, parse_constant=_refuse)
    if not isinstance(about, dict):
        raise ValueError(f"{ABOUT} is not a description of a model")
    if not _is_count(about.get("format")) or about["format"] <= newest:
        _check(about)
    return about


def check_described(about: dict[str, Any], model: Any) -> None:
    """Raise DescriptionError unless labels and features of a description are those of the model."""
    found = describe(model)
    for name in ("labels", "features", "n_features"):
        if json.dumps(about[name]) != json.dumps(found[name]):
            raise DescriptionError(f"{name!r} are not those of the model")


def _refuse(name: str) -> NoReturn:
    raise DescriptionError(f"{name} is not JSON")


def _checksum(about: dict[str, Any]) -> str:
    """Checksum of all other entries."""
    others = {name: value for name, value in about.items() if name != _CHECKSUM}
    return hashlib.sha256(json.dumps(others, sort_keys=True, allow_nan=False).encode()).hexdigest()


def _is_count(value: Any) -> bool:
    return type(value) is int and value > 0


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _mapping(of: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and all(map(of, value.values()))


def _optional(of: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or of(value)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _labels(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str | bool) or _is_number(item) for item in value)


_ENTRIES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "format": (_is_count, "a positive integer"),
    **dict.fromkeys(("labelrank", "scikit-learn", "numpy", "type", "model", "sha256", _CHECKSUM), (_text, "text")),
    "labels": (_optional(_labels), "a list of names, or null"),
    "features": (_optional(_texts), "a list of names, or null"),
    "n_features": (_optional(lambda value: type(value) is int and value >= 0), "a number of features, or null"),
    "schema": (_optional(_mapping(_text)), "the names of types by column, or null"),
    "metrics": (_mapping(_optional(_is_number)), "numbers or nulls by name"),
    "notes": (_mapping(lambda _: True), "values by name"),
}


def _check(about: dict[str, Any]) -> None:
    """Raise DescriptionError unless all entries exist, have valid types, and match the checksum."""
    for name, (holds, expected) in _ENTRIES.items():
        if name not in about:
            raise DescriptionError(f"it has no {name!r}")
        if not holds(about[name]):
            raise DescriptionError(f"{name!r} must be {expected}, got {reprlib.repr(about[name])}")
    try:
        checksum = _checksum(about)
    except ValueError as error:  # 1e999 is parsed as infinity
        raise DescriptionError(str(error)) from error
    if checksum != about[_CHECKSUM]:
        raise DescriptionError("its checksum does not match")
