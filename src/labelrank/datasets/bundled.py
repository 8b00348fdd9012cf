"""Data sets that need no download."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from labelrank._compat import validate_params
from labelrank.datasets._bunch import make_bunch
from labelrank.datasets._checks import COUNT
from labelrank.datasets.semi_synthetic import rankings_from_classification, ranks_of_columns


def load_iris_rankings(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load iris as a label ranking problem: 150 instances, 4 features, 3 labels.

    The features are those of :func:`sklearn.datasets.load_iris`. The classes are ranked by their posterior probability
    under Gaussian naive Bayes; see :func:`rankings_from_classification`. The benchmark set of the same
    name has other rankings for a third of the instances: results are not comparable.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Return ``data`` and ``target`` as data frames with the names as columns (polars, or pandas if polars is not
        installed).

    Returns
    -------
    Bunch or (data, target)
        With ``data``, ``target`` (ranks), ``feature_names``, ``label_names`` and ``DESCR``.

    Examples
    --------
    >>> from labelrank.datasets import load_iris_rankings
    >>> iris = load_iris_rankings()
    >>> iris.target[0], iris.label_names.tolist()
    (array([1., 2., 3.]), ['setosa', 'versicolor', 'virginica'])
    """
    from sklearn.datasets import load_iris

    return _from_classes(load_iris(), "Iris plants", return_X_y, as_frame)


def load_wine_rankings(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load wine as a label ranking problem: 178 instances, 13 features, 3 labels.

    The features are those of :func:`sklearn.datasets.load_wine`. The classes are ranked by their posterior probability
    under Gaussian naive Bayes; see :func:`rankings_from_classification`. The benchmark set of the same
    name has other rankings for a third of the instances: results are not comparable.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Return ``data`` and ``target`` as data frames with the names as columns (polars, or pandas if polars is not
        installed).

    Returns
    -------
    Bunch or (data, target)
        With ``data``, ``target`` (ranks), ``feature_names``, ``label_names`` and ``DESCR``.

    Examples
    --------
    >>> from labelrank.datasets import load_wine_rankings
    >>> X, y = load_wine_rankings(return_X_y=True)
    >>> X.shape, y.shape
    ((178, 13), (178, 3))
    """
    from sklearn.datasets import load_wine

    return _from_classes(load_wine(), "Wines of three growers", return_X_y, as_frame)


def load_digits_rankings(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load digits as a label ranking problem: 1797 instances, 64 features, 10 labels.

    The features are those of :func:`sklearn.datasets.load_digits`. The classes are ranked by their posterior
    probability under Gaussian naive Bayes; see :func:`rankings_from_classification`.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Return ``data`` and ``target`` as data frames with the names as columns (polars, or pandas if polars is not
        installed).

    Returns
    -------
    Bunch or (data, target)
        With ``data``, ``target`` (ranks), ``feature_names``, ``label_names`` and ``DESCR``.

    Examples
    --------
    >>> from labelrank.datasets import load_digits_rankings
    >>> X, y = load_digits_rankings(return_X_y=True)
    >>> X.shape, y.shape
    ((1797, 64), (1797, 10))
    """
    from sklearn.datasets import load_digits

    return _from_classes(load_digits(), "Handwritten digits", return_X_y, as_frame)


def _from_classes(classes: Bunch, title: str, return_X_y: bool, as_frame: bool) -> Any:
    rankings = rankings_from_classification(classes.data, classes.target)
    descr = f"{title}, as label rankings\n\n{rankings.DESCR}\n\nThe classification data:\n\n{classes.DESCR}"
    names = [str(name) for name in classes.target_names]
    features = list(classes.feature_names)
    bunch = make_bunch(rankings.data, rankings.target, features, names, descr, as_frame=as_frame)
    return (bunch.data, bunch.target) if return_X_y else bunch


@validate_params(n_samples=COUNT)
def load_fried(n_samples: int = 40_768, *, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load a Friedman label ranking problem: 40,768 instances, 9 features, 5 labels.

    The features x0, …, x8 are independent and uniform on [0, 1]. The value of label j is f(xj, …, x(j+4)) plus standard
    normal noise, where f(a, b, c, d, e) = 10 sin(π a b) + 20 (c - 0.5)² + 10 d + 5 e is Friedman's function [1]_. The
    five columns of values are standardized and ranked within each row, the largest first. The data are the same in each
    call, and the features and noisy values of a smaller set are the first rows of a larger one. It has the size of the
    benchmark set "fried" and is built in the same way, but it is not that set: results are not comparable.

    Parameters
    ----------
    n_samples : int, default=40768
        Number of instances.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Return ``data`` and ``target`` as data frames with the names as columns (polars, or pandas if polars is not
        installed).

    Returns
    -------
    Bunch or (data, target)
        With ``data``, ``target`` (ranks), ``feature_names``, ``label_names`` and ``DESCR``.

    References
    ----------
    .. [1] J. H. Friedman. Multivariate adaptive regression splines. The Annals of Statistics 19(1), 1991.

    Examples
    --------
    >>> from labelrank.datasets import load_fried
    >>> X, y = load_fried(n_samples=500, return_X_y=True)
    >>> X.shape, y.shape
    ((500, 9), (500, 5))
    """
    X = np.random.RandomState(0).random_sample((n_samples, 9))
    noise = np.random.RandomState(1).standard_normal((n_samples, 5))
    values = np.column_stack([_friedman(X[:, j : j + 5]) for j in range(5)]) + noise
    target = ranks_of_columns(values)
    descr = str(inspect.getdoc(load_fried)).partition("\n\nParameters")[0]
    names = [f"x{i}" for i in range(9)], [f"f{j}" for j in range(5)]
    bunch = make_bunch(X, target, *names, descr, as_frame=as_frame)
    return (bunch.data, bunch.target) if return_X_y else bunch


def _friedman(x: Any) -> Any:
    a, b, c, d, e = x.T
    return 10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e
