"""The official folder of an algorithm selection scenario: a description, runs, features and folds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from labelrank._arrays import FloatArray
from labelrank.datasets._arff import Arff, read_arff
from labelrank.datasets._files import DataFile, excerpt, listing, malformed

_KEYS = ("instance_id", "repetition")


@dataclass
class Scenario:
    """Instances, their features, and the performance of the algorithms on them, NaN for runs that failed."""

    data: FloatArray
    features: list[str]
    performance: FloatArray
    algorithms: list[str]
    instances: Sequence[str | None] | None
    maximize: bool
    cutoff: float | None
    observed: npt.NDArray[np.bool_] | None = None  # where there was a run, None if everywhere
    folds: npt.NDArray[np.intp] | None = None
    lines: list[int] | None = None  # of the instances in the file


def read_scenario(folder: DataFile) -> Scenario:
    """Read ``description.txt``, ``algorithm_runs.arff``, ``feature_values.arff`` and ``cv.arff`` if it is there."""

    def part(name: str) -> DataFile:
        return DataFile(folder.path / name, encoding=folder.encoding, max_bytes=folder.max_bytes)

    with part("description.txt") as file:
        description = _read_description(file)
        measure, maximize, cutoff = _measure(file, description)
    with part("algorithm_runs.arff") as file:
        runs = read_arff(file, texts=("instance_id", "algorithm"))
        instances, algorithms, performance, observed = _performance(runs, measure)
    place_of = {name: i for i, name in enumerate(instances)}
    with part("feature_values.arff") as file:
        values = read_arff(file, texts=("instance_id",))
        features = [attribute.name for attribute in values.attributes if attribute.name not in _KEYS]
        rows = _rows(values, place_of)
        data = np.column_stack([np.empty((len(rows), 0)), *(_column(values, name) for name in features)])
        data = _means(file, rows, data, len(instances))
    folds = None
    if (folder.path / "cv.arff").exists():
        with part("cv.arff") as file:
            folds = _folds(read_arff(file, texts=("instance_id",)), place_of)
    return Scenario(data, features, performance, algorithms, instances, maximize, cutoff, observed, folds)


def _read_description(file: DataFile) -> dict[str, tuple[int, list[str]]]:
    """The line and the values of each key: ``key: a, b``, or items ``- a`` on the lines below it."""
    found: dict[str, tuple[int, list[str]]] = {}
    values: list[str] = []
    for number, line in file.lines():
        text = line.split(" #", 1)[0].strip()  # a comment of YAML
        if line[:1] not in ("", " ", "\t", "-", "#") and ":" in text:
            key, _, rest = text.partition(":")
            values = [_plain(value) for value in rest.strip().strip("[]").split(",") if value.strip()]
            found[key.strip()] = (number, values)
        elif text.startswith("-"):
            values.append(_plain(text[1:]))
    return found


def _plain(text: str) -> str:
    return text.strip().strip("'\"")


def _measure(file: DataFile, description: dict[str, tuple[int, list[str]]]) -> tuple[str, bool, float | None]:
    """The first of the measures, whether it is maximized, and the cutoff."""
    for key in ("performance_measures", "maximize"):
        if not description.get(key, (0, []))[1]:
            raise malformed(file, None, f"a line {key}: with a value", f"the keys {listing(description)}")
    line, directions = description["maximize"]
    if directions[0].lower() not in ("true", "false"):
        raise malformed(file, line, "true or false for maximize", excerpt(directions[0]))
    line, limits = description.get("algorithm_cutoff_time", (0, []))
    cutoff = None
    if limits and limits[0] not in ("?", "NA", "null", ".inf"):
        try:
            cutoff = float(limits[0])
        except ValueError:
            raise malformed(file, line, "a number for algorithm_cutoff_time, or ?", excerpt(limits[0])) from None
    if cutoff is not None and not 0 < cutoff < math.inf:  # 0 stands for a scenario without a cutoff
        cutoff = None
    return description["performance_measures"][1][0], directions[0].lower() == "true", cutoff


def _performance(runs: Arff, measure: str) -> tuple[list[str], list[str], FloatArray, npt.NDArray[np.bool_]]:
    """Instances, algorithms, mean performances (NaN where a run failed), and where there was a run."""
    rows, instances = _codes(runs.texts("instance_id"))
    columns, algorithms = _codes(runs.texts("algorithm"))
    ok = np.array([status.lower() == "ok" for status in runs.texts("runstatus")], dtype=bool)
    values = np.where(ok, _column(runs, measure), np.nan)
    if (bad := ok & ~np.isfinite(values)).any():
        run = int(bad.argmax())
        raise malformed(runs.file, runs.lines[run], f"a finite {measure} of a run that is ok", str(values[run]))
    shape = (len(instances), len(algorithms))
    runs.file.require(24 * shape[0] * shape[1], "the matrix of performances")
    repetition = _column(runs, "repetition") if "repetition" in runs.places else np.zeros(len(rows))
    _refuse_repeats(runs, np.column_stack([rows, columns, repetition]), "one run of an algorithm in each repetition")
    sums, counts = np.zeros(shape), np.zeros(shape)
    np.add.at(sums, (rows, columns), values)
    np.add.at(counts, (rows, columns), 1)
    with np.errstate(invalid="ignore"):
        return instances, algorithms, sums / counts, counts > 0


def _means(file: DataFile, rows: npt.NDArray[np.intp], values: FloatArray, n_rows: int) -> FloatArray:
    """Mean of the values of each row that are not missing."""
    file.require(24 * n_rows * values.shape[1], "the matrix of features")
    known = ~np.isnan(values)
    sums, counts = np.zeros((n_rows, values.shape[1])), np.zeros((n_rows, values.shape[1]))
    np.add.at(sums, rows, np.where(known, values, 0.0))
    np.add.at(counts, rows, known)
    with np.errstate(invalid="ignore"):
        return sums / counts


def _folds(cv: Arff, place_of: dict[str, int]) -> npt.NDArray[np.intp]:
    rows, folds = _rows(cv, place_of), _column(cv, "fold")
    repetitions, columns = np.unique(_column(cv, "repetition"), return_inverse=True)
    cv.file.require(8 * len(place_of) * len(repetitions), "the matrix of folds")
    _refuse_repeats(cv, np.column_stack([rows, columns]), "one fold of an instance in each repetition")
    found = np.full((len(place_of), len(repetitions)), np.nan)
    found[rows, columns] = folds
    bad = ~((found >= 0) & (found < 2**31) & (found == np.floor(found)))
    if bad.any():
        instance, repetition = np.argwhere(bad)[0]
        what = f"{found[instance, repetition]} for {excerpt(list(place_of)[instance])}"
        raise malformed(cv.file, None, "a fold for each instance, an integer", what)
    return found.astype(np.intp)[:, 0] if len(repetitions) == 1 else found.astype(np.intp)


def _refuse_repeats(arff: Arff, keys: npt.NDArray[np.float64], expected: str) -> None:
    """Raise if two rows have the same keys."""
    _, first = np.unique(keys, axis=0, return_index=True)
    if len(first) < len(keys):
        row = int(np.setdiff1d(np.arange(len(keys)), first)[0])
        raise malformed(arff.file, arff.lines[row], expected, "a second one")


def _codes(texts: list[str]) -> tuple[npt.NDArray[np.intp], list[str]]:
    """The place of each text among the different ones, and these in the order in which they occur."""
    place_of = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    return np.array([place_of[text] for text in texts], dtype=np.intp), list(place_of)


def _rows(arff: Arff, place_of: dict[str, int]) -> npt.NDArray[np.intp]:
    instances = arff.texts("instance_id")
    for line, name in zip(arff.lines, instances, strict=True):
        if name not in place_of:
            raise malformed(arff.file, line, "an instance of algorithm_runs.arff", excerpt(name))
    return np.array([place_of[name] for name in instances], dtype=np.intp)


def _column(arff: Arff, name: str) -> FloatArray:
    place = arff.places.get(name)
    if place is None or arff.attributes[place].kind != "numeric":
        found = listing(a.name for a in arff.attributes if a.kind == "numeric")
        raise malformed(arff.file, None, f"a numeric attribute {name!r}", f"the numeric attributes {found}")
    return arff.column(place)
