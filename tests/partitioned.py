"""Data of the tests, local and in partitions."""

import warnings

import dask.array as da
import numpy as np
import pandas as pd
from numpy.testing import assert_allclose

import labelrank
import labelrank.dask


def rankings(n=60, d=4, k=5, seed=0):
    """Features and rankings with ties, missing labels and an empty row."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.argsort(np.argsort(X @ rng.normal(size=(d, k)) + rng.normal(size=(n, k)), axis=1), axis=1) + 1.0
    y[rng.random(y.shape) < 0.2] = np.nan
    y[3] = 2.0
    return X, y


def chunked(array, sizes):
    """Rows in partitions of the given sizes, some of which may be 0."""
    array = np.asarray(array)
    return da.from_array(array, chunks=(tuple(sizes), *((n,) for n in array.shape[1:])))


def frame(array, prefix):
    """A pandas frame with names for its columns."""
    return pd.DataFrame(array, columns=[f"{prefix}{i}" for i in range(array.shape[1])])


def both(name, params, local, partitioned):
    """An estimator fitted on a cluster, and the local one."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(?s).*did not converge")
        found = getattr(labelrank.dask, name)(**params).fit(*partitioned)
        return found, getattr(labelrank, name)(**params).fit(*local)


def assert_same(found, expected):
    """Fitted attributes agree to 1e-8."""
    names = {name for name in vars(expected) if name.endswith("_")}
    assert names == {name for name in vars(found) if name.endswith("_")}
    for name in names:
        value, wanted = getattr(found, name), getattr(expected, name)
        if isinstance(wanted, np.ndarray) and wanted.dtype.kind in "OU":
            assert value.tolist() == wanted.tolist()
        else:
            assert_allclose(value, wanted, rtol=1e-8, atol=1e-9, err_msg=name)
