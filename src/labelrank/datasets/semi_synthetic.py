"""Rankings from classes and from numeric columns: the two constructions of the label ranking benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from labelrank._arrays import FloatArray
from labelrank._compat import validate_params
from labelrank.datasets._bunch import make_bunch
from labelrank.datasets._checks import COUNT, NOMINAL
from labelrank.datasets._columns import (
    Column,
    Nominal,
    column_of_series,
    columns_of_frame,
    features_from_columns,
)
from labelrank.supervision import ranks_from_scores


def rankings_from_classification(X: Any, y: Any, *, estimator: Any = None) -> Bunch:
    """Turn a classification problem into a label ranking problem.

    A classifier is fitted to all of the data, and the classes are ranked for each instance by decreasing posterior
    probability: the construction of the "type A" benchmark sets [1]_. Posteriors are compared on the log scale, so that
    probabilities that round to zero are told apart.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Instances, in any form that the classifier accepts.
    y : array-like of shape (n_samples,)
        Classes.
    estimator : classifier, default=None
        Classifier with ``predict_joint_log_proba``, ``predict_log_proba`` or ``predict_proba``, which is cloned. By
        default :class:`~sklearn.naive_bayes.GaussianNB`.

    Returns
    -------
    Bunch
        - ``data``: `X`, unchanged;
        - ``target``: ndarray of shape (n_samples, n_classes), complete rankings without ties. Classes with equal
          posteriors are ranked in the order of ``label_names``, as in the benchmark sets;
        - ``feature_names``: the column names of `X`, or ``x0``, ``x1``, …;
        - ``label_names``: the classes, sorted;
        - ``DESCR``: description.

    References
    ----------
    .. [1] W. Cheng, J. Hühn, E. Hüllermeier. Decision tree and instance-based learning for label ranking. ICML 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from labelrank.datasets import rankings_from_classification
    >>> iris = rankings_from_classification(*load_iris(return_X_y=True))
    >>> iris.target[[0, 50, 100]]
    array([[1., 2., 3.],
           [3., 1., 2.],
           [3., 2., 1.]])
    """
    from sklearn.base import clone
    from sklearn.utils.multiclass import check_classification_targets

    y = np.asarray(y)
    if y.ndim != 1:
        raise ValueError(f"y must be a vector of classes, got an array of shape {y.shape}")
    check_classification_targets(y)
    if estimator is None:
        from sklearn.naive_bayes import GaussianNB

        estimator = GaussianNB()
    classifier = clone(estimator).fit(X, y)
    scores = _log_posteriors(classifier, X)
    # A stable sort leaves exact ties in the order of the classes.
    order = np.argsort(-scores, axis=1, kind="stable")
    target = np.empty(scores.shape)
    np.put_along_axis(target, order, np.arange(1.0, scores.shape[1] + 1)[np.newaxis, :], axis=1)
    descr = (
        f"{len(target)} instances, {len(classifier.classes_)} labels: the classes of a classification problem, "
        f"ranked by the posterior probabilities of {type(classifier).__name__}, fitted to all instances."
    )
    return make_bunch(X, target, _column_names(X), classifier.classes_.tolist(), descr)


def _log_posteriors(classifier: Any, X: Any) -> FloatArray:
    for method in ("predict_joint_log_proba", "predict_log_proba", "predict_proba"):
        if hasattr(classifier, method):
            with np.errstate(divide="ignore"):
                scores = np.asarray(getattr(classifier, method)(X), dtype=np.float64)
            break
    else:
        raise TypeError(
            f"estimator must have predict_joint_log_proba, predict_log_proba or predict_proba, and "
            f"{type(classifier).__name__} has none of them"
        )
    if np.isnan(scores).any():
        row = int(np.argwhere(np.isnan(scores))[0][0])
        raise ValueError(f"{type(classifier).__name__} gives NaN as a posterior, first for row {row} of X")
    return scores


def _column_names(X: Any) -> list[str]:
    columns = getattr(X, "columns", None)
    if columns is not None:
        return [str(column) for column in columns]
    return [f"x{i}" for i in range(X.shape[1] if hasattr(X, "shape") else len(X[0]))]


@validate_params(nominal=NOMINAL, max_categories=COUNT)
def rankings_from_table(
    table: Any,
    label_columns: Sequence[Any],
    *,
    largest_first: bool = True,
    nominal: Nominal = "onehot",
    max_categories: int = 50,
) -> Bunch:
    """Turn some columns of a table into labels, ranked within each row by the size of their values.

    The columns are standardized (mean 0, variance 1) to make them comparable, then ranked within each row: the
    construction of the "type B" benchmark sets [1]_. The remaining columns are the features. For columns that are
    comparable as they are, such as ratings, use :func:`labelrank.ranks_from_scores`.

    Parameters
    ----------
    table : data frame or array-like of shape (n_samples, n_columns)
        A data frame (pandas, polars or another library that narwhals supports), or a matrix of numbers.
    label_columns : sequence
        Names (positions, for a matrix) of the columns that become labels. They must be numeric.
    largest_first : bool, default=True
        Whether the largest standardized value is the best (rank 1) or the worst.
    nominal : {"onehot", "keep"}, default="onehot"
        Treatment of text features; see :func:`read_csv`. With ``"keep"``, ``data`` is a frame of the same library.
    max_categories : int, default=50
        Maximum number of values of a text feature for one-hot encoding.

    Returns
    -------
    Bunch
        - ``data``: ndarray of shape (n_samples, n_features), the other columns, in their order;
        - ``target``: ndarray of shape (n_samples, n_labels), ranks. Equal standardized values are tied; a missing value
          in a label column is a label that was not observed (NaN);
        - ``feature_names``, ``label_names``: column names;
        - ``DESCR``: description.

    References
    ----------
    .. [1] W. Cheng, J. Hühn, E. Hüllermeier. Decision tree and instance-based learning for label ranking. ICML 2009.

    Examples
    --------
    >>> import polars as pl
    >>> from labelrank.datasets import rankings_from_table
    >>> table = pl.DataFrame({"age": [30, 40, 50], "weight": [60.0, 90.0, 60.0], "height": [1.6, 1.7, 1.8]})
    >>> rankings_from_table(table, ["weight", "height"]).target
    array([[1., 2.],
           [1., 2.],
           [2., 1.]])
    """
    import narwhals as nw

    columns: dict[Any, Column]
    if hasattr(table, "columns"):
        frame = nw.from_native(table, eager_only=True)
        labels = _check_label_columns(label_columns, list(frame.columns))
        values = np.column_stack([_label_values(frame.get_column(label)) for label in labels])
        rest = frame.drop(labels)
        columns, kept = columns_of_frame(rest), rest.to_native()
    else:
        matrix = np.asarray(table)
        if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
            raise ValueError(
                f"table must be a data frame or a matrix of numbers, got an array of shape {matrix.shape} and type "
                f"{matrix.dtype}"
            )
        matrix = matrix.astype(np.float64)
        names = list(range(matrix.shape[1]))
        labels = _check_label_columns(label_columns, names)
        values = matrix[:, labels]
        columns, kept = {f"x{i}": matrix[:, i] for i in names if i not in labels}, None
    data, feature_names = features_from_columns(columns, len(values), nominal, max_categories, frame=kept)
    target = ranks_of_columns(values, largest_first=largest_first)
    descr = (
        f"{len(target)} instances, {target.shape[1]} labels: columns of a table, standardized, then ranked "
        f"within each row, the {'largest' if largest_first else 'smallest'} value first."
    )
    return make_bunch(data, target, feature_names, labels, descr)


def _check_label_columns(label_columns: Any, names: list[Any]) -> list[Any]:
    if isinstance(label_columns, (str, bytes)) or not len(label_columns):
        raise ValueError(f"label_columns must be a non-empty list of columns, got {label_columns!r}")
    labels = list(label_columns)
    unknown = [label for label in labels if label not in names]
    if unknown:
        raise ValueError(f"label_columns names {unknown[0]!r}, which is not a column of the table: {names}")
    if len(set(labels)) < len(labels):
        raise ValueError(f"label_columns names a column twice: {labels}")
    return labels


def _label_values(series: Any) -> FloatArray:
    column = column_of_series(series)
    if not isinstance(column, np.ndarray):
        raise ValueError(f"the label column {series.name!r} must be numeric to be ranked, and holds {series.dtype}")
    return column


def ranks_of_columns(values: FloatArray, *, largest_first: bool = True) -> FloatArray:
    """Standardize each column (a constant one becomes 0), then rank within the rows."""
    if np.isinf(values).any():
        row, column = np.argwhere(np.isinf(values))[0]
        raise ValueError(f"the label columns hold an infinity, first in row {row} of label column {column}")
    observed = ~np.isnan(values)
    counts = np.maximum(observed.sum(axis=0), 1)
    centered = values - np.where(observed, values, 0.0).sum(axis=0) / counts
    spread = np.sqrt(np.where(observed, centered**2, 0.0).sum(axis=0) / counts)
    # Rounding leaves a constant column a spread of the order of its last digit, not zero.
    largest = np.max(np.where(observed, np.abs(values), 0.0), axis=0, initial=0.0)
    constant = spread <= 1e-14 * largest
    standardized = np.where(constant & observed, 0.0, centered / np.where(constant, 1.0, spread))
    return ranks_from_scores(standardized if largest_first else -standardized)
