"""Checkpoints of a fit: what an iterative learner has learned so far, in a file that a later ``fit`` resumes from."""

from __future__ import annotations

import io
import json
import os
import re
import zipfile
from numbers import Integral
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from labelrank._atomic import atomic_path, target_of

CHECKPOINT = "no_validation"  # constraint of the parameter: Checkpoint.of says more
EVERY = 10  # iterations between two files
_FORMAT = 1
# Parameters that change neither the objective nor the steps: a fit may be resumed with others.
_FREE = {"checkpoint", "client", "device", "max_iter", "n_jobs", "on_empty", "tol", "warm_start"}
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


class Checkpoint:
    """The file of a fit.

    Parameters
    ----------
    estimator : estimator
        The estimator, of which a checkpoint records class and parameters; parameters that do not change what is learned
        in an iteration, such as `max_iter` and `tol`, may differ when a fit is resumed.
    path : str or path-like
        The file.
    every : int
        Iterations between two files.
    """

    def __init__(self, estimator: Any, path: str | os.PathLike[str], every: int = EVERY) -> None:
        self.path, self.every, self.estimator = Path(path), every, estimator
        self.name = getattr(type(estimator), "_local", type(estimator)).__name__
        params = estimator.get_params(deep=False)
        self.params = {name: _text(value) for name, value in params.items() if name not in _FREE}
        self.saved: int | None = None  # iterations in the file that was written last
        target_of(self.path)

    @classmethod
    def of(cls, estimator: Any) -> Self | None:
        """The checkpoint of the parameter of an estimator: a path, a path with a number of iterations, or None."""
        value = estimator.checkpoint
        if value is None:
            return None
        path, every = value if isinstance(value, tuple) and len(value) == 2 else (value, EVERY)
        is_path = isinstance(path, str | os.PathLike) and os.fspath(path)
        if not is_path or not isinstance(every, Integral) or isinstance(every, bool) or every < 1:
            raise ValueError(f"checkpoint must be a path, or a path and a number of iterations ≥ 1, got {value!r}")
        return cls(estimator, path, int(every))

    def save(self, n_iter: int, **arrays: Any) -> None:
        """Write the state after some iterations; the file is replaced when the new one is complete."""
        about = {"format": _FORMAT, "learner": self.name, "params": self.params, "labels": _labels(self.estimator)}
        with atomic_path(self.path) as partial, open(partial, "wb") as file:
            np.savez(file, about=json.dumps(about), n_iter=n_iter, **arrays)
        self.saved = n_iter

    def is_due(self, n_iter: int) -> bool:
        """Whether the number of iterations is a multiple of ``every``."""
        return n_iter % self.every == 0

    def load(self) -> dict[str, npt.NDArray[Any]] | None:
        """The arrays of the file, None if there is no file; raise if the learner or the parameters differ."""
        if not self.path.exists():
            return None
        content = io.BytesIO(self.path.read_bytes())  # an OSError from here on would be about the archive
        try:
            with np.load(content) as file:
                arrays = dict(file)
                about = json.loads(str(arrays.pop("about")))
                found = about["format"], about["learner"], about["params"], about["labels"]
        except (zipfile.BadZipFile, KeyError, ValueError, TypeError, EOFError) as error:
            raise ValueError(f"{self.path} is not a checkpoint, or is damaged ({error}); {_ADVICE}") from error
        if found[0] != _FORMAT:
            raise ValueError(f"the checkpoint {self.path} has format {found[0]}, expected {_FORMAT}; {_ADVICE}")
        if found[1] != self.name:
            self.refuse(f"it was written by {found[1]}, not by {self.name}")
        for name in {**found[2], **self.params}:
            before, now = found[2].get(name), self.params.get(name)
            if before != now:
                self.refuse(f"it was written with {name}={before}, but {name} is now {now}")
        if found[3] != (labels := _labels(self.estimator)):
            self.refuse(f"its labels are {found[3]}, but y has {labels}")
        if self.estimator.max_iter < arrays["n_iter"]:
            raise ValueError(
                f"max_iter={self.estimator.max_iter} is smaller than the {arrays['n_iter']} iterations of the "
                f"checkpoint {self.path}; increase max_iter, or {_ADVICE}"
            )
        return arrays

    def check_same(self, what: str, before: float, now: float, rtol: float = 1e-7) -> None:
        """Raise if a number computed from the data differs from its value when the file was written."""
        if not np.isclose(before, now, rtol=rtol, atol=1e-12):
            self.refuse(f"{what} is {now:.12g}, but was {before:.12g} when it was written")

    def refuse(self, why: str) -> None:
        """Raise because the file was written with other data or parameters."""
        raise ValueError(f"the checkpoint {self.path} does not match this fit: {why}; {_ADVICE}")


_ADVICE = "pass another path as checkpoint, or delete the file to start anew"


def _text(value: Any) -> str:
    """A parameter as text that is the same in another process."""
    if callable(value) and hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    with np.printoptions(threshold=1000):
        return _ADDRESS.sub("", repr(value))


def _labels(estimator: Any) -> list[str]:
    labels = getattr(estimator, "labels_", None)
    return [str(name) for name in (labels if labels is not None else estimator.classes_)]
