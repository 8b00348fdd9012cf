"""Pipelines that prepare raw instances for a ranker: numbers, missing values, categories and text."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import narwhals as nw
import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.utils import get_tags

from labelrank._arrays import is_missing
from labelrank.supervision.frames import frame_of

Kind = Literal["number", "category", "text"]
_WORDS = 3.0  # mean number of words from which on a string column with mostly distinct values is text
_SAMPLE = 1000  # rows that are looked at to tell text from categories


class TextVectorizer(TfidfVectorizer):
    """TF-IDF of a text column in which documents may be missing: they are empty, and have no word.

    It takes the parameters of :class:`sklearn.feature_extraction.text.TfidfVectorizer`.

    Examples
    --------
    >>> from labelrank.auto import TextVectorizer
    >>> TextVectorizer().fit_transform(["printer on fire", None]).toarray().round(2)
    array([[0.58, 0.58, 0.58],
           [0.  , 0.  , 0.  ]])
    """

    def decode(self, doc: Any) -> str:
        """Return a document as a string, the empty one if it is missing."""
        if is_missing(doc):
            return ""
        decoded: str = super().decode(doc if isinstance(doc, str | bytes) else str(doc))
        return decoded


def pipeline_for(ranker: Any, X: Any, *, text_columns: Sequence[Any] | None = None) -> Any:
    """Return a pipeline that prepares raw instances for a ranker, or the ranker alone if nothing has to be done.

    Trees take missing values and categories as they are. For all other rankers, missing numbers are replaced by the
    median, with a column that says so, numbers are scaled to a variance of one, and categories become a column each.
    Text columns become TF-IDF weights of their words.

    Parameters
    ----------
    ranker : ranker or Pipeline
        The ranker, which is cloned. The steps of a pipeline follow those of the preparation.
    X : data frame, array-like or sparse matrix of shape (n_samples, n_features)
        Instances, of which only the types of the columns, the missing values and the kind of text are looked at.
    text_columns : sequence of column names or indices, optional
        Columns with text. By default they are the columns of strings that are mostly distinct and have three words or
        more on average.

    Returns
    -------
    Pipeline or ranker
        Not fitted.

    Examples
    --------
    >>> import polars as pl
    >>> from labelrank import GradientBoostingRanker, LogLinearRanker
    >>> from labelrank.auto import pipeline_for
    >>> X = pl.DataFrame({"age": [20, None, 60], "city": ["Ulm", "Bonn", "Ulm"]})
    >>> pipeline_for(GradientBoostingRanker(), X)
    GradientBoostingRanker(categorical_features=['city'])
    >>> [name for name, _ in pipeline_for(LogLinearRanker(), X).steps]
    ['columntransformer', 'loglinearranker']
    """
    ranker = clone(ranker)
    steps = [step for _, step in ranker.steps] if isinstance(ranker, Pipeline) else [ranker]
    first, last = steps[0], steps[-1]
    if getattr(get_tags(last), "no_validation", False):
        return ranker
    is_sparse: bool = sparse.issparse(X)
    if is_sparse:
        _check_text_columns(text_columns, range(X.shape[1]), sparse_X=True)
        return ranker if _takes_missing(first) else make_pipeline(MaxAbsScaler(), *steps)
    kinds, is_frame = column_kinds(X, text_columns)
    found = {kind: [column for column, of in kinds.items() if of == kind] for kind in ("number", "category", "text")}
    native = _takes_missing(first)
    if native and not found["text"]:
        if found["category"] and is_frame:
            first.set_params(categorical_features=found["category"])
        if is_frame or not found["category"]:
            return ranker
    if not (found["category"] or found["text"]):
        impute = [_imputer()] if is_frame or _has_missing(X) else []
        return make_pipeline(*impute, StandardScaler(), *steps)
    parts: list[tuple[str, Any, Any]] = []
    if found["category"]:
        parts.append(("categories", _ordinal() if native else _one_hot(), found["category"]))
        if native:
            first.set_params(categorical_features=list(range(len(found["category"]))))
    if found["number"]:
        as_floats = StandardScaler(with_mean=False, with_std=False)  # "passthrough" would keep the NA of pandas
        numeric = as_floats if native else make_pipeline(_imputer(), StandardScaler())
        parts.append(("numbers", numeric, found["number"]))
    parts += [(f"text {column}", TextVectorizer(sublinear_tf=True), column) for column in found["text"]]
    threshold = 0.3 if get_tags(first).input_tags.sparse else 0.0
    return make_pipeline(ColumnTransformer(parts, sparse_threshold=threshold), *steps)


def column_kinds(X: Any, text_columns: Sequence[Any] | None = None) -> tuple[dict[Any, Kind], bool]:
    """Return for each column, by name or index, whether it has numbers, categories or text; and whether X is a frame.

    Raises a ValueError for columns of other types, such as dates.
    """
    frame = frame_of(X)
    kinds: dict[Any, Kind] = {}
    if frame is None:
        array = np.asarray(X)
        if array.ndim != 2:
            raise ValueError(f"X must have two dimensions, rows and features, got shape {array.shape}")
        wanted = _check_text_columns(text_columns, range(array.shape[1]))
        for i in range(array.shape[1]):
            plain = array.dtype.kind in "biuf"
            kinds[i] = "text" if i in wanted else "number" if plain else _kind_of(array[:, i].tolist(), text_columns)
        return kinds, False
    wanted = _check_text_columns(text_columns, frame.columns)
    for name, dtype in frame.schema.items():
        if name in wanted:
            kinds[name] = "text"
        elif dtype.is_numeric() or dtype == nw.Boolean:
            kinds[name] = "number"
        elif dtype in (nw.Categorical, nw.Enum):
            kinds[name] = "category"
        elif dtype in (nw.String, nw.Object):
            kinds[name] = _kind_of(frame.get_column(name).to_list(), text_columns)
        else:
            raise ValueError(
                f"the column {name!r} of X has the type {dtype}, which no ranker takes; leave it out, or make it "
                "numbers or strings"
            )
    return kinds, True


def _kind_of(values: list[Any], text_columns: Sequence[Any] | None) -> Kind:
    """Kind of a column of Python objects; text only if the text columns were not named."""
    known = [value for value in values if not is_missing(value)]
    if all(isinstance(value, numbers.Real) for value in known):
        return "number"
    if text_columns is not None:
        return "category"
    known = known[:: 1 + len(known) // _SAMPLE]
    n_words = [len(value.split()) if isinstance(value, str) else 1 for value in known]
    return "text" if 2 * len(set(known)) > len(known) and np.mean(n_words) >= _WORDS else "category"


def _check_text_columns(text_columns: Sequence[Any] | None, columns: Iterable[Any], sparse_X: bool = False) -> set[Any]:
    if isinstance(text_columns, str):
        raise ValueError(f"text_columns must be a list of columns, got the string {text_columns!r}")
    wanted, known = set(text_columns or ()), list(columns)
    if wanted and sparse_X:
        raise ValueError(f"text_columns are {sorted(map(str, wanted))}, but X is a sparse matrix, which has no text")
    unknown = [column for column in wanted if column not in known]
    if unknown:
        raise ValueError(f"text_columns has {unknown[0]!r}, which is not a column of X; it has {known}")
    return wanted


def _takes_missing(ranker: Any) -> bool:
    """Whether an estimator takes missing values and categories as they are."""
    return bool(get_tags(ranker).input_tags.allow_nan) and hasattr(ranker, "categorical_features")


def _has_missing(X: Any) -> bool:
    array = np.asarray(X)
    return array.dtype.kind not in "biu" and bool(np.isnan(np.asarray(array, dtype=np.float64)).any())


def _imputer() -> SimpleImputer:
    # Columns of which a fold knows nothing stay, so that all folds have the same features.
    return SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)


def _one_hot() -> OneHotEncoder:
    # What occurs once, as names of rows do, says nothing about other rows.
    return OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=2)


def _ordinal() -> OrdinalEncoder:
    return OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=np.nan)
