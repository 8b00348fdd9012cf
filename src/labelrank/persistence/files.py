"""Write, read and inspect model files.

A file is a ZIP archive of two entries: ``labelrank.json``, which says what the model is, and ``model.skops``, the model
as skops writes it.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
import tempfile
import warnings
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.utils.validation import check_is_fitted

from labelrank.persistence.audit import RefusedError, audit, parsed
from labelrank.persistence.structure import check_structure, parts_of
from labelrank.supervision.frames import frame_of
from labelrank.supervision.names import labels_of
from labelrank.supervision.stacklevel import stacklevel_of_user

FORMAT = 1  # raised when older versions of the library cannot read the file any more
MAX_BYTES = 4 * 2**30  # of the unpacked model

_ABOUT, _MODEL = "labelrank.json", "model.skops"
_VERSION = version("labelrank")
_LONG = 500  # characters of a message
_MAX_ABOUT = 2**24  # bytes of what is said about the model, notes included


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    X: Any = None,
    metrics: dict[str, float] | None = None,
    notes: dict[str, Any] | None = None,
) -> None:
    """Save a fitted model to a file.

    The file appears under its name when it is complete; if writing fails, a file that was there stays as it was.
    Requests for metadata (`set_fit_request` and the like) are not kept.

    Parameters
    ----------
    model : fitted estimator
        A ranker, or a pipeline, search or other meta-estimator around one.
    path : str or path-like
        The file, by convention with the suffix ``.lrk``.
    X : data frame, optional
        Instances as the model takes them; their column names and types become the schema in the file.
    metrics : dict of str to float, optional
        Results of an evaluation, kept with the model.
    notes : dict, optional
        What else to keep with the model: text, numbers, lists and dicts of them, as JSON has them.

    See Also
    --------
    load : Load a model.
    inspect_file : What a file says about its model.

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
    data = _dumped(skops, model)
    about = describe(model, X) | {
        "format": FORMAT,
        "labelrank": _VERSION,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
        "sha256": hashlib.sha256(data).hexdigest(),
        "metrics": {name: float(value) for name, value in (metrics or {}).items()},
        "notes": {} if notes is None else _checked_notes(notes),
    }
    text = json.dumps(about, indent=1, ensure_ascii=False)
    if len(text.encode()) > _MAX_ABOUT:
        raise ValueError(f"notes, with the names of labels and columns, are larger than {_MAX_ABOUT:,} bytes")
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot save {target}: there is no folder {target.parent}")
    handle, partial = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr(_ABOUT, text)
                archive.writestr(_MODEL, data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(partial, 0o666 & ~_umask())
        os.replace(partial, target)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise


def load(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> Any:
    """Load a model that `save` has written.

    Nothing in the file is run: it may contain types of labelrank, scikit-learn and NumPy only.

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
    if hashlib.sha256(data).hexdigest() != about.get("sha256"):
        raise ValueError(f"{path}: the model does not have the checksum in the file; it is damaged, get a new copy")
    try:
        trusted = audit(data, max_bytes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the versions are compared below
            model = skops.loads(data, trusted=trusted)
        check_structure(model)
        check_is_fitted(model)
    except RefusedError as error:
        writer = str(about.get("labelrank"))[:20]
        other = "" if writer == _VERSION else f"; it was written by labelrank {writer}, and this is {_VERSION}"
        raise ValueError(
            f"{path}: refused, since the file contains {_short(error)}; a model file may contain types of labelrank, "
            f"scikit-learn and NumPy only{other}"
        ) from error
    except Exception as error:
        raise ValueError(
            f"{path}: not a model that this version can load ({type(error).__name__}: {_short(error)})"
        ) from error
    saved_with = str(about.get("scikit-learn"))[:20]
    if saved_with != sklearn.__version__:
        warnings.warn(
            f"{path} was saved with scikit-learn {saved_with}, and {sklearn.__version__} is installed; check its "
            "predictions, or fit it anew",
            UserWarning,
            stacklevel=stacklevel_of_user(),
        )
    return model


def inspect_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what a model file says about its model, without loading the model.

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


def describe(model: Any, X: Any = None) -> dict[str, Any]:
    """Labels, features and schema of a model, as they are kept in its file."""
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
    return label if isinstance(label, (str, int, float, bool)) else str(label)


def _read(path: str | os.PathLike[str], max_bytes: int, *, with_model: bool) -> tuple[dict[str, Any], bytes]:
    """What the file says about the model, and the model."""
    with open(path, "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                about = parsed(_entry(archive, _ABOUT, _MAX_ABOUT), _ABOUT)
                if not isinstance(about, dict) or not isinstance(about.get("format"), int):
                    raise ValueError(f"{_ABOUT} has no format")
                if about["format"] <= FORMAT:
                    return about, _entry(archive, _MODEL, max_bytes) if with_model else b""
        except (zipfile.BadZipFile, KeyError, ValueError, EOFError, OSError, RuntimeError, RecursionError) as error:
            raise ValueError(f"{path}: not a model file of labelrank, or damaged ({_short(error)})") from error
        except Exception as error:  # zlib, lzma and bz2 have errors of their own
            raise ValueError(f"{path}: damaged ({type(error).__name__}: {_short(error)})") from error
    raise ValueError(
        f"{path} was written by labelrank {str(about.get('labelrank'))[:20]} in format {about['format']}, and "
        f"labelrank {_VERSION} reads formats up to {FORMAT}; install a newer version"
    )


def _short(error: Exception) -> str:
    """The text of an error that may repeat what is in the file."""
    text = str(error)
    return text if len(text) < _LONG else f"{text[:_LONG]}…"


def _entry(archive: zipfile.ZipFile, name: str, max_bytes: int) -> bytes:
    """An entry of an archive, if it is not larger than it should be when it is unpacked."""
    found = archive.getinfo(name)
    if found.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # others are unpacked without a limit
        raise ValueError(f"{name} is compressed by a method that is not used for model files")
    if found.file_size > max_bytes:
        raise ValueError(f"{name} is larger than {max_bytes:,} bytes; if you trust the file, raise max_bytes of load")
    with archive.open(found) as entry:
        return entry.read(found.file_size + 1)  # a number limits what is unpacked at a time


def _dumped(skops: Any, model: Any) -> bytes:
    """The model as skops writes it, if it could be loaded again."""
    advice = "only types of labelrank, scikit-learn and NumPy can be saved, so replace functions and classes of others"
    try:
        data: bytes = skops.dumps(_without_requests(model))
        audit(data, MAX_BYTES)
    except RefusedError as error:
        raise ValueError(f"the model holds objects that a model file may not contain: {error}; {advice}") from error
    except Exception as error:
        raise ValueError(f"the model cannot be saved ({type(error).__name__}: {error}); {advice}") from error
    return data


def _without_requests(model: Any) -> Any:
    """The model, or a copy of it without requests for metadata, which matter to `fit` only and refer to their owner."""
    name = "_metadata_request"
    if not any(name in getattr(part, "__dict__", {}) for part in parts_of(model)):
        return model
    model = copy.deepcopy(model)
    for part in parts_of(model):
        getattr(part, "__dict__", {}).pop(name, None)
    return model


def _checked_notes(notes: dict[str, Any]) -> dict[str, Any]:
    """The notes, if they come back from JSON as they are."""
    if not isinstance(notes, dict):
        raise TypeError(f"notes must be a dict, got {type(notes).__name__}")
    try:
        text = json.dumps(notes, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"notes must be text, numbers, lists and dicts, as in JSON ({error})") from error
    found: dict[str, Any] = json.loads(text)
    return found


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _skops() -> Any:
    try:
        import skops.io
    except ImportError as error:
        raise ImportError("model files need skops; install it with: pip install labelrank[cli]") from error
    return skops.io
