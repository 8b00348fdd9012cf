"""Matrices of features from the attributes of an ARFF file."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrank.datasets._arff import Arff
from labelrank.datasets._columns import one_hot


def features_from_arff(arff: Arff, wanted: list[int]) -> tuple[Any, list[str]]:
    """Matrix of the wanted attributes (an array, or CSR of a sparse file), and the names of its columns.

    Numbers and {0, 1} take one column; other nominal attributes one column ``name=value`` per declared value.
    """
    names: list[str] = []
    starts = np.zeros(len(arff.attributes), dtype=np.intp)
    for place in wanted:
        attribute = arff.attributes[place]
        starts[place] = len(names)
        names += (
            [attribute.name] if attribute.is_number else [f"{attribute.name}={value}" for value in attribute.values]
        )
    numbers = [place for place in wanted if arff.attributes[place].is_number]
    nominal = [place for place in wanted if not arff.attributes[place].is_number]
    shape = (len(arff.lines), len(names))
    if arff.is_sparse:
        return _sparse_features(arff, numbers, nominal, starts, shape), names
    arff.file.require(8 * shape[0] * shape[1], "the matrix of features")
    data = np.empty(shape)
    data[:, starts[numbers]] = arff.values[:, numbers]
    for place in nominal:
        codes, n_values = np.nan_to_num(arff.column(place), nan=-1).astype(np.intp), len(arff.attributes[place].values)
        data[:, starts[place] : starts[place] + n_values] = one_hot(codes, n_values)
    return data, names


def _sparse_features(
    arff: Arff, numbers: list[int], nominal: list[int], starts: npt.NDArray[np.intp], shape: tuple[int, int]
) -> sparse.csr_array:
    kept = arff.values[:, numbers].tocoo()
    rows, columns, values = [kept.row], [starts[numbers][kept.col]], [kept.data]
    n_entries = 0
    for place in nominal:
        codes, n_values = arff.column(place), len(arff.attributes[place].values)
        unknown, known = np.flatnonzero(np.isnan(codes)), np.flatnonzero(~np.isnan(codes))
        n_entries += len(known) + len(unknown) * n_values
        arff.file.require(24 * n_entries, "the matrix of features")
        rows += [known, np.repeat(unknown, n_values)]
        columns += [
            starts[place] + codes[known].astype(np.intp),
            starts[place] + np.tile(np.arange(n_values), len(unknown)),
        ]
        values += [np.ones(len(known)), np.full(len(unknown) * n_values, np.nan)]
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    data = sparse.csr_array(entries, shape=shape)
    data.eliminate_zeros()
    return data
