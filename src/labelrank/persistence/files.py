"""Write, read and inspect model files.

A file is a ZIP archive of two entries: ``labelrank.json``, which says what the model is, and ``model.skops``, the model
as skops writes it.
"""

from __future__ import annotations

import copy
import hashlib
import os
import stat
import tempfile
import warnings
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.utils.validation import check_is_fitted

from labelrank.persistence.audit import RefusedError, audit
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

FORMAT = 1  # raised when older versions of the library cannot read the file any more
MAX_BYTES = 4 * 2**30  # of the unpacked model

_MODEL = "model.skops"
_VERSION = version("labelrank")
_LONG = 500  # characters of a message
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

    The file appears under its name when it is complete; if writing fails, a file that was there stays as it was. A new
    one has the permissions of the one that it replaces; if `path` is a symbolic link, what it leads to is replaced.
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
        Results of an evaluation, kept with the model; those that are not finite are kept as None.
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
        "metrics": checked_metrics(metrics),
        "notes": checked_notes(notes),
    }
    text = sealed(about)
    target = Path(os.path.realpath(path))  # a link stays, and what it names is replaced
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot save {target}: there is no folder {target.parent}")
    handle, partial = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr(ABOUT, text)
                archive.writestr(_MODEL, data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(partial, _mode(target))
        os.replace(partial, target)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise


def load(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> Any:
    """Load a model that `save` has written.

    Nothing in the file is run: functions and types other than those a fitted ranker consists of are refused.

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
        raise ValueError(f"{path}: the model does not have the checksum in the file; it is damaged, get a new copy")
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
        other = "" if writer == _VERSION else f"; it was written by labelrank {writer}, and this is {_VERSION}"
        raise ValueError(
            f"{path}: refused, since the file contains {_short(error)}; functions and types other than those a fitted "
            f"ranker consists of are refused{other}"
        ) from error
    except Exception as error:
        raise ValueError(
            f"{path}: not a model that this version can load ({type(error).__name__}: {_short(error)})"
        ) from error
    saved_with = about["scikit-learn"][:20]
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


def _read(path: str | os.PathLike[str], max_bytes: int, *, with_model: bool) -> tuple[dict[str, Any], bytes]:
    """What the file says about the model, and the model."""
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


def _entry(archive: zipfile.ZipFile, name: str, max_bytes: int, advice: str) -> bytes:
    """An entry of an archive, if it is not larger than it should be when it is unpacked."""
    found = archive.getinfo(name)
    if found.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # others are unpacked without a limit
        raise ValueError(f"{name} is compressed by a method that is not used for model files")
    if found.file_size > max_bytes:
        raise ValueError(f"{name} is larger than {max_bytes:,} bytes; {advice}")
    with archive.open(found) as entry:
        return entry.read(found.file_size + 1)  # a number limits what is unpacked at a time


def _dumped(skops: Any, model: Any) -> bytes:
    """The model as skops writes it, if it could be loaded again."""
    advice = "functions and types other than those a fitted ranker consists of cannot be saved, so replace them"
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


def _mode(target: Path) -> int:
    """Permissions of a file: those that it has, or else those of any new one."""
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _skops() -> Any:
    try:
        import skops.io
    except ImportError as error:
        raise ImportError("model files need skops; install it with: pip install labelrank[cli]") from error
    return skops.io
