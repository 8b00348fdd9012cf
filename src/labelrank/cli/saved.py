"""Model files on the command line, and reading data with the options of the training data."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from labelrank import inspect_file, load
from labelrank.cli.columns import NoSuchColumn, closest, missing_columns
from labelrank.cli.data import check_form, fingerprint, on_the_command_line, read_data
from labelrank.cli.failure import Failure
from labelrank.cli.tables import NUMBER, TEXT, Table, read_tables, table_suffix
from labelrank.cli.target import MEANINGS
from labelrank.datasets._files import DataFile, DataFileError, excerpt
from labelrank.supervision.names import labels_of

_BATCH = 20_000  # rows
_READING = {"labels", "kind", "text", "ignore", "unsolved", "separator", "encoding"}  # options kept with a model
_ENTRIES = 2**23  # largest number of pair probabilities, or feature values, in a batch


@dataclass(frozen=True)
class SavedModel:
    """A model file."""

    path: Path
    about: dict[str, Any]

    @cached_property
    def model(self) -> Any:
        """The model."""
        with _reading(self.path):
            return load(self.path)

    @cached_property
    def labels(self) -> Any:
        """Names of the labels."""
        labels = labels_of(self.model)
        if labels is None or not hasattr(self.model, "decision_function"):
            raise Failure(f"{self.path} contains a {self.about['type']}, which does not score labels")
        return labels

    @property
    def reading(self) -> dict[str, Any]:
        """Options that the data were read with."""
        return dict(self.notes.get("reading", {}))

    @property
    def notes(self) -> dict[str, Any]:
        """Notes of `fit` about the data."""
        return dict(self.about["notes"])

    def _form(self, path: Path, separator: str | None, encoding: str | None) -> dict[str, str]:
        """Separator and encoding of a file: those given, or, for text formats, those of the training data."""
        given = {"separator": separator, "encoding": encoding}
        known = self.reading if table_suffix(path) in (".csv", ".tsv") else {}
        return {name: value for name in given if (value := given[name] or known.get(name))}

    @property
    def schema(self) -> dict[str, Any] | None:
        """Types of the features by name; None if the model was fitted without names."""
        schema = self.about.get("schema")
        if schema:
            return {name: TEXT if dtype.startswith(("String", "Categ", "Enum", "Object")) else NUMBER
                    for name, dtype in schema.items()}  # fmt: skip
        names = self.about.get("features")
        return None if names is None else dict.fromkeys(names)

    @property
    def batch(self) -> int:
        """Number of rows to predict at once."""
        per_row = max(len(self.labels) ** 2, self.about.get("n_features") or 1)
        return max(1, min(_BATCH, _ENTRIES // per_row))

    def instances(self, table: Table) -> Any:
        """Return the rows of a table as instances of the model."""
        if self.schema is None:
            return pl.DataFrame([table.series(name) for name in table.columns]).to_numpy()
        if wrong := missing_columns(self.schema, list(table.columns), table.name):
            raise ValueError(wrong)
        return pl.DataFrame([table.series(name, dtype) for name, dtype in self.schema.items()])

    def read(self, data: str, **options: Any) -> Any:
        """Read instances and rankings, with the options of the training data."""
        form = self._form(Path(data), options.pop("separator", None), options.pop("encoding", None))
        given = {name: value for name, value in options.items() if value is not None}
        known = {name: value for name, value in self.reading.items() if name not in ("separator", "encoding")}
        if {"labels", "kind"} <= known.keys() and table_suffix(Path(data)) is None:
            known = {}  # the model was fitted on a table, but the format of these data defines the labels
        n_features = self.about.get("n_features")
        try:
            of_model: dict[str, Any] = {"names": list(self.labels), "types": self.schema, "n_features": n_features}
            problem = read_data(data, **(known | given | form), **of_model)
        except NoSuchColumn as error:
            if error.option != "--labels" or "labels" in given:
                raise
            lacks = "none of them" if error.part == known["labels"] else f"no column {error.part!r}"
            name = Path(data).name
            raise Failure(
                f"the model was fitted with the label columns {known['labels']}; {name} has {lacks}"
            ) from error
        if isinstance(problem.data, pl.DataFrame):
            columns = {series.name: series for series in problem.data}
            table = Table(problem.name, columns, range(len(problem.data)), "row")
            return problem.with_data(self.instances(table))
        return problem

    def was_fitted_on(self, data: str) -> bool:
        """Whether the model was fitted on these data, as far as is known."""
        known = self.notes.get("fingerprint")
        return known is not None and known == fingerprint(data)

    def batches(self, data: str, separator: str | None, encoding: str | None) -> Iterator[tuple[Table | None, Any]]:
        """Batches of rows of a file, with the instances of the model in them."""
        check_form(separator, encoding)
        path = Path(data)
        if not (path.is_file() and table_suffix(path)):
            problem = self.read(data, encoding=encoding)
            for start in range(0, len(problem.target), self.batch):
                yield None, problem.data[start : start + self.batch]
            return
        for table in self._tables(path, separator, encoding):
            yield table, self.instances(table)

    def _tables(self, path: Path, separator: str | None, encoding: str | None) -> Iterator[Table]:
        packed = path.suffix.lower() in (".gz", ".bz2")  # compressed files have a size limit
        how: dict[str, Any] = {} if packed else {"max_bytes": 2**62}
        try:
            form = self._form(path, separator, encoding)
            with DataFile(path, encoding=form.get("encoding", "utf-8"), **how) as file:
                yield from read_tables(file, form.get("separator"), self.batch, list(self.schema or ()))
        except DataFileError as error:
            raise DataFileError(on_the_command_line(str(error))) from error


def open_model(path: Path) -> SavedModel:
    """Read the description of a model file."""
    if not path.is_file():
        beside = [p.name for p in path.parent.glob("*.lrk")] if path.parent.is_dir() else []
        near = closest(path.name, beside) or "."
        raise ValueError(f"there is no model file {str(path)!r}{near} Use `labelrank fit` to write one")
    with _reading(path):
        about = inspect_file(path)
        _check_reading(about["notes"].get("reading", {}), path)
    return SavedModel(path, about)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Raise errors in a model file as a :class:`Failure`."""
    try:
        yield
    except (ImportError, MemoryError):
        raise
    except OSError as error:
        raise Failure(f"{path}: {error.strerror or error}") from error
    except ValueError as error:
        raise Failure(str(error)) from error
    except Exception as error:
        raise Failure(f"{path}: damaged ({type(error).__name__}: {error})") from error


def _check_reading(reading: Any, path: Path) -> None:
    """Raise ValueError if the options in a file are not valid options of `fit`."""
    known = {"kind": set(MEANINGS), "unsolved": {"last", "missing"}}
    if not isinstance(reading, dict):
        raise ValueError(f"{path}: 'reading' in the notes must map options of `labelrank fit` to strings")
    for name, value in reading.items():
        if name not in _READING or not isinstance(value, str) or value not in known.get(name, {value}):
            raise ValueError(
                f"{path}: 'reading' in the notes must map options of `labelrank fit` to strings; found "
                f"{excerpt(str(name))} = {excerpt(str(value))}"
            )
