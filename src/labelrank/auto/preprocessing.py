"""Pipelines that preprocess raw data for a ranker: numbers, missing values, categories and text."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from typing import Any, Literal, Self

import narwhals as nw
import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.utils import check_array, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from labelrank._arrays import is_missing
from labelrank._doc_links import DocLinkMixin
from labelrank.supervision.frames import frame_of

Kind = Literal["number", "category", "text"]
_WORDS = 3.0  # smallest mean number of words of a text column
_SAMPLE = 1000  # number of rows used to distinguish text from categories


class TextVectorizer(DocLinkMixin, TfidfVectorizer):
    """TF-IDF of a text column with missing values, which are treated as empty documents.

    The parameters are those of :class:`sklearn.feature_extraction.text.TfidfVectorizer`.

    Examples
    --------
    >>> from labelrank.auto import TextVectorizer
    >>> TextVectorizer().fit_transform(["printer on fire", None]).toarray().round(2)
    array([[0.58, 0.58, 0.58],
           [0.  , 0.  , 0.  ]])
    """

    def decode(self, doc: Any) -> str:
        """Return a document as a string, the empty string if it is missing."""
        if is_missing(doc):
            return ""
        decoded: str = super().decode(doc if isinstance(doc, str | bytes) else str(doc))
        return decoded


class MissingAsNaN(DocLinkMixin, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Categories of any data frame as an array in which every missing value is NaN.

    scikit-learn's encoders take None, NaN and ``pandas.NA`` for three categories, the last of which they cannot sort.

    Examples
    --------
    >>> from labelrank.auto import MissingAsNaN
    >>> MissingAsNaN().fit_transform([["red"], [None]])
    array([['red'],
           [nan]], dtype=object)
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the names of the columns.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Categories.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        self._checked(X, reset=True)
        return self

    def transform(self, X: Any) -> npt.NDArray[Any]:
        """Return the categories as an array.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Categories.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        frame = frame_of(X)
        if frame is None:
            found = np.array(X, dtype=object)
            found[np.frompyfunc(is_missing, 1, 1)(found).astype(bool)] = np.nan
            return found
        found = np.empty(frame.shape, dtype=object)
        for i, name in enumerate(frame.columns):
            column = frame.get_column(name)
            found[:, i] = column.to_list()
            found[column.is_null().to_numpy().astype(bool), i] = np.nan
        return found

    def _checked(self, X: Any, reset: bool) -> Any:
        if frame_of(X) is None:
            X = check_array(X, dtype=object, ensure_all_finite=False, estimator=self)
        return validate_data(self, X, reset=reset, skip_check_array=True)


def pipeline_for(ranker: Any, X: Any, *, text_columns: Sequence[Any] | None = None) -> Any:
    """Return a pipeline that preprocesses raw data for a ranker, or the ranker alone if no preprocessing is needed.

    Trees support missing values and categories natively. For other rankers, missing numbers are imputed by the median,
    with an indicator column, numbers are standardized, and categories are one-hot encoded. Text columns become TF-IDF
    weights of their words.

    Parameters
    ----------
    ranker : ranker or Pipeline
        The ranker, which is cloned. The steps of a pipeline follow the preprocessing.
    X : data frame, array-like or sparse matrix of shape (n_samples, n_features)
        Instances. Only used to determine the types of the columns, missing values, and which columns are text.
    text_columns : sequence of column names or indices, optional
        Columns with text. By default, the columns of strings that are mostly distinct and have at least three words on
        average.

    Returns
    -------
    Pipeline or ranker
        The unfitted pipeline or clone.

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
    _require_uniform(X, found["category"])
    if found["category"]:
        parts.append(("categories", _ordinal() if native else _one_hot(), found["category"]))
        if native:
            first.set_params(categorical_features=list(range(len(found["category"]))))
    if found["number"]:
        as_floats = StandardScaler(with_mean=False, with_std=False)  # "passthrough" would keep pandas.NA
        numeric = as_floats if native else make_pipeline(_imputer(), StandardScaler())
        parts.append(("numbers", numeric, found["number"]))
    parts += [(f"text {column}", TextVectorizer(sublinear_tf=True), column) for column in found["text"]]
    threshold = 0.3 if get_tags(first).input_tags.sparse else 0.0
    return make_pipeline(ColumnTransformer(parts, sparse_threshold=threshold), *steps)


def column_kinds(X: Any, text_columns: Sequence[Any] | None = None) -> tuple[dict[Any, Kind], bool]:
    """Return the kind of each column, by name or index, and whether X is a data frame.

    Raises ValueError for columns of other types, such as dates.
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
                f"the column {name!r} of X has the type {dtype}, which no ranker supports; drop it, or convert it to "
                "numbers or strings"
            )
    return kinds, True


def _kind_of(values: list[Any], text_columns: Sequence[Any] | None) -> Kind:
    """Kind of a column of Python objects; never text if `text_columns` is given."""
    known = [value for value in values if not is_missing(value)]
    if all(isinstance(value, numbers.Real) for value in known):
        return "number"
    if text_columns is not None:
        return "category"
    known = known[:: 1 + len(known) // _SAMPLE]
    n_words = [len(value.split()) if isinstance(value, str) else 1 for value in known]
    return "text" if 2 * len(set(known)) > len(known) and np.mean(n_words) >= _WORDS else "category"


def _require_uniform(X: Any, columns: Iterable[Any]) -> None:
    """Raise ValueError if a column of categories has strings and other values, which encoders cannot sort."""
    frame = frame_of(X)
    for name in columns:
        values = frame.get_column(name).to_list() if frame is not None else np.asarray(X)[:, name].tolist()
        known = {isinstance(value, str): value for value in values if not is_missing(value)}
        if len(known) > 1:
            raise ValueError(
                f"the column {name!r} of X has strings and other values, such as {known[True]!r} and {known[False]!r}; "
                "convert it to strings or numbers"
            )


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
    """Whether an estimator supports missing values and categories natively."""
    return bool(get_tags(ranker).input_tags.allow_nan) and hasattr(ranker, "categorical_features")


def _has_missing(X: Any) -> bool:
    array = np.asarray(X)
    return array.dtype.kind not in "biu" and bool(np.isnan(np.asarray(array, dtype=np.float64)).any())


def _imputer() -> SimpleImputer:
    # Keep columns without any value in a fold, so that all folds have the same features.
    return SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)


def _one_hot() -> Pipeline:
    # Values that occur once, such as identifiers, are not informative.
    return make_pipeline(MissingAsNaN(), OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=2))


def _ordinal() -> Pipeline:
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=np.nan)
    return make_pipeline(MissingAsNaN(), codes)
