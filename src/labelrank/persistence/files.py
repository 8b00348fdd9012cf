"""Write, read and inspect model files.

A file is a ZIP archive with two entries: ``labelrank.json``, the description of the model, and ``model.skops``, the
model in the format of skops.
"""

from __future__ import annotations

import copy
import hashlib
import os
import warnings
import zipfile
from typing import Any

import numpy as np
import sklearn
from sklearn.utils.validation import check_is_fitted

from labelrank import __version__
from labelrank._atomic import atomic_path
from labelrank.persistence.audit import RefusedError, audit, check_compression
from labelrank.persistence.description import (
    ABOUT,
    MAX_ABOUT,
    DescriptionError,
    check_described,
    checked_metrics,
    checked_notes,
    describe,
    sealed,
    unsealed,
)
from labelrank.persistence.structure import check_structure, parts_of
from labelrank.supervision.stacklevel import stacklevel_of_user

FORMAT = 1  # to be increased when older versions of the library cannot read new files
MAX_BYTES = 4 * 2**30  # of the unpacked model

_MODEL = "model.skops"
_LONG = 500  # largest number of characters of a message
_DAMAGED = "the description of the model is damaged"


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    X: Any = None,
    metrics: dict[str, float] | None = None,
    notes: dict[str, Any] | None = None,
) -> None:
    """Save a fitted model to a file.

    The file is written atomically: if writing fails, an existing file is kept. The permissions of a replaced file are
    kept; if `path` is a symbolic link, its target is replaced. Metadata requests (`set_fit_request` and similar) and
    the parameter `checkpoint` are not saved.

    Parameters
    ----------
    model : fitted estimator
        A ranker, or a pipeline, search or other meta-estimator around one.
    path : str or path-like
        The file, by convention with the suffix ``.lrk``.
    X : data frame, optional
        Instances; their column names and types are saved as the schema.
    metrics : dict of str to float, optional
        Results of an evaluation to save with the model; values that are not finite become None.
    notes : dict, optional
        Other information to save with the model: any JSON values.

    See Also
    --------
    load : Load a model.
    inspect_file : Read the description of a model file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import labelrank
    >>> from labelrank.datasets import load_iris_rankings
    >>> X, y = load_iris_rankings(return_X_y=True)
    >>> model = labelrank.LogLinearRanker().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     labelrank.save(model, Path(folder, "iris.lrk"), metrics={"kendall_tau": 0.98})
    ...     loaded = labelrank.load(Path(folder, "iris.lrk"))
    >>> bool((loaded.predict(X) == model.predict(X)).all())
    True
    """
    skops = _skops()
    check_is_fitted(model)
    if any(hasattr(part, "to_local") for part in parts_of(model)):
        model = copy.deepcopy(model)  # copies of models fitted on a cluster are local
    data = _dumped(skops, model)
    about = describe(model, X) | {
        "format": FORMAT,
        "labelrank": __version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
        "sha256": hashlib.sha256(data).hexdigest(),
        "metrics": checked_metrics(metrics),
        "notes": checked_notes(notes),
    }
    text = sealed(about)
    with atomic_path(path) as partial, zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(ABOUT, text)
        archive.writestr(_MODEL, data)


def load(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> Any:
    """Load a model written by `save`.

    No code in the file is run: functions and types other than those of fitted rankers are refused.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int, default=4 GiB
        Largest size of the unpacked model.

    Returns
    -------
    fitted estimator

    Examples
    --------
    >>> import labelrank
    >>> labelrank.load("no_such_file.lrk")
    Traceback (most recent call last):
    ...
    FileNotFoundError: [Errno 2] No such file or directory: 'no_such_file.lrk'
    """
    skops = _skops()
    about, data = _read(path, max_bytes, with_model=True)
    if hashlib.sha256(data).hexdigest() != about["sha256"]:
        raise ValueError(f"{path}: the checksum of the model does not match; the file is damaged, get a new copy")
    try:
        trusted = audit(data, max_bytes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the versions are compared below
            model = skops.loads(data, trusted=trusted)
        check_structure(model)
        check_is_fitted(model)
        check_described(about, model)
    except DescriptionError as error:
        raise ValueError(f"{path}: {_DAMAGED}: {_short(error)}") from error
    except RefusedError as error:
        writer = about["labelrank"][:20]
        other = "" if writer == __version__ else f"; it was written by labelrank {writer}, and this is {__version__}"
        raise ValueError(
            f"{path}: refused, since the file contains {_short(error)}; functions and types other than those of fitted "
            f"rankers are refused{other}"
        ) from error
    except Exception as error:
        raise ValueError(
            f"{path}: not a model that this version can load ({type(error).__name__}: {_short(error)})"
        ) from error
    saved_with = about["scikit-learn"][:20]
    if saved_with != sklearn.__version__:
        warnings.warn(
            f"{path} was saved with scikit-learn {saved_with}, but {sklearn.__version__} is installed; check the "
            "predictions, or fit the model again",
            UserWarning,
            stacklevel=stacklevel_of_user(),
        )
    return model


def inspect_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the description of a model file, without loading the model.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    dict
        ``model`` (its parameters as text), ``type``, ``labels``, ``features``, ``schema``, ``metrics``, ``notes``, and
        the versions of the file format, labelrank, scikit-learn and NumPy.
    """
    return _read(path, MAX_BYTES, with_model=False)[0]


def _read(path: str | os.PathLike[str], max_bytes: int, *, with_model: bool) -> tuple[dict[str, Any], bytes]:
    """Read the description and, if wanted, the model."""
    with open(path, "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                about = unsealed(_entry(archive, ABOUT, MAX_ABOUT, "no description of a model is that long"), FORMAT)
                if about["format"] <= FORMAT:
                    advice = "if you trust the file, raise max_bytes of load"
                    return about, _entry(archive, _MODEL, max_bytes, advice) if with_model else b""
        except DescriptionError as error:
            raise ValueError(f"{path}: {_DAMAGED}: {_short(error)}") from error
        except (zipfile.BadZipFile, KeyError, ValueError, EOFError, OSError, RuntimeError, RecursionError) as error:
            raise ValueError(f"{path}: not a model file of labelrank, or damaged ({_short(error)})") from error
        except Exception as error:  # zlib, lzma and bz2 raise their own errors
            raise ValueError(f"{path}: damaged ({type(error).__name__}: {_short(error)})") from error
    raise ValueError(
        f"{path} was written by labelrank {str(about.get('labelrank'))[:20]} in format {about['format']}, but "
        f"labelrank {__version__} reads formats up to {FORMAT}; install a newer version"
    )


def _short(error: Exception) -> str:
    """Truncate the text of an error, which may contain long parts of the file."""
    text = str(error)
    return text if len(text) < _LONG else f"{text[:_LONG]}…"


def _entry(archive: zipfile.ZipFile, name: str, max_bytes: int, advice: str) -> bytes:
    """Read an entry of an archive; raises ValueError if it is larger than `max_bytes` when unpacked."""
    found = archive.getinfo(name)
    check_compression(name, [found])
    if found.file_size > max_bytes:
        raise ValueError(f"{name} is larger than {max_bytes:,} bytes; {advice}")
    with archive.open(found) as entry:
        return entry.read(found.file_size + 1)  # the argument limits the unpacked size


def _dumped(skops: Any, model: Any) -> bytes:
    """Serialize the model with skops, and check that it can be loaded again."""
    advice = "functions and types other than those of fitted rankers cannot be saved, so replace them"
    try:
        data: bytes = skops.dumps(_without_what_fit_needs(model))
        audit(data, MAX_BYTES)
    except RefusedError as error:
        raise ValueError(f"the model has objects that are not allowed in model files: {error}; {advice}") from error
    except Exception as error:
        raise ValueError(f"the model cannot be saved ({type(error).__name__}: {error}); {advice}") from error
    return data


def _without_what_fit_needs(model: Any) -> Any:
    """The model, or a copy without metadata requests, which refer to their owner, and paths of checkpoints."""
    request, checkpoint = "_metadata_request", "checkpoint"
    states = [getattr(part, "__dict__", {}) for part in parts_of(model)]
    if not any(request in state or state.get(checkpoint) is not None for state in states):
        return model
    model = copy.deepcopy(model)
    for part in parts_of(model):
        state = getattr(part, "__dict__", {})
        state.pop(request, None)
        if checkpoint in state:
            state[checkpoint] = None
    return model


def _skops() -> Any:
    try:
        import skops.io
    except ImportError as error:
        raise ImportError('model files need skops; install it with: pip install "labelrank[cli]"') from error
    return skops.io
