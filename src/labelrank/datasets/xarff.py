"""XARFF: the label ranking extension of ARFF."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from labelrank.datasets._arff import Arff, read_arff, split_outside_quotes, unquote
from labelrank.datasets._arff_features import features_from_arff
from labelrank.datasets._bunch import make_bunch, read_from
from labelrank.datasets._files import MAX_BYTES, DataFile, PathLike, excerpt, listing, malformed
from labelrank.supervision import PreferenceGraphs

Chains = list[list[int]]


def read_xarff(
    path: PathLike,
    *,
    ignore: Sequence[str] = (),
    encoding: str = "utf-8",
    as_frame: bool = False,
    max_bytes: int = MAX_BYTES,
) -> Bunch:
    """Read an XARFF file, the extended ARFF of WEKA-LR.

    One attribute of the file, usually the last and called ``L``, is a ranking::

        @attribute L RANKING {tea, beer, milk}
        @data
        0.3, 1.5, tea>milk>beer
        0.1, 0.2, milk>tea
        0.7, 0.4, tea>beer|milk>beer

    Labels are given from best to worst; labels that are left out were not observed. Several chains, separated by ``|``,
    are a partial order: only labels of the same chain are compared. ``?`` is a missing ranking.

    Parameters
    ----------
    path : str or path-like
        The file, packed if its name ends in ``.gz`` or ``.bz2``.
    ignore : sequence of str, default=()
        Attributes that are not features. String and date attributes must be listed here.
    encoding : str, default="utf-8"
        Encoding of the file. A byte order mark is ignored.
    as_frame : bool, default=False
        Return ``data`` and ``target`` as data frames, see :func:`read_csv`. Graphs stay graphs, which have the names.
    max_bytes : int, default=2**30
        Limit of the unpacked file and of each matrix that is made of it.

    Returns
    -------
    Bunch
        - ``data``: ndarray of shape (n_samples, n_features). Numeric attributes and nominal ones declared ``{0,1}``
          have one column; other nominal attributes a column of zeros and ones ``name=value`` per declared value. NaN
          where a value is missing;
        - ``target``: ndarray of shape (n_samples, n_labels), ranks, NaN for labels that were not observed;
          :class:`~labelrank.PreferenceGraphs` of the same shape if an instance has several chains;
        - ``feature_names``, ``label_names``: names of the features and labels;
        - ``DESCR``: the comments at the top of the file, and a description.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from labelrank.datasets import read_xarff
    >>> path = pathlib.Path(tempfile.mkdtemp(), "drinks.xarff")
    >>> _ = path.write_text('''@relation drinks
    ... @attribute age numeric
    ... @attribute L RANKING {tea, beer, milk}
    ... @data
    ... 30, tea>milk>beer
    ... 40, milk>tea
    ... ''')
    >>> read_xarff(path).target
    array([[ 1.,  3.,  2.],
           [ 2., nan,  1.]])
    """
    with DataFile(path, encoding=encoding, max_bytes=max_bytes) as file:
        arff = read_arff(file, ignore=ignore)
        place = _ranking_attribute(arff, ignore)
        labels = arff.attributes[place].values
        place_of = {label: i for i, label in enumerate(labels)}
        rankings = [_chains(file, line, text, place_of) for line, text in zip(arff.lines, arff.rankings, strict=True)]
        target: Any
        if any(len(chains) > 1 for chains in rankings):
            target = _graphs(arff, rankings, labels)
        else:
            file.require(8 * len(rankings) * len(labels), "the matrix of ranks")
            target = np.full((len(rankings), len(labels)), np.nan)
            for row, chains in enumerate(rankings):
                for chain in chains:
                    target[row, chain] = np.arange(1, len(chain) + 1)
        left_out = {arff.attributes[place].name, *ignore}
        wanted = [i for i, attribute in enumerate(arff.attributes) if attribute.name not in left_out]
        data, feature_names = features_from_arff(arff, wanted)
        descr = arff.description(read_from(file, len(rankings), len(feature_names), len(labels)))
        return make_bunch(data, target, feature_names, labels, descr, as_frame=as_frame, file=file)


def _ranking_attribute(arff: Arff, ignore: Sequence[str]) -> int:
    found = [i for i, a in enumerate(arff.attributes) if a.kind == "ranking"]
    if len(found) != 1:
        line = arff.attributes[found[1] if found else -1].line
        names = [arff.attributes[i].name for i in found]
        count = f"{len(found)}: {names}" if names else "none"
        raise malformed(arff.file, line, "one attribute of type RANKING {labels}", count)
    if arff.attributes[found[0]].name in ignore:
        raise ValueError(f"ignore names {arff.attributes[found[0]].name!r}, the ranking itself")
    if arff.is_sparse:
        raise malformed(arff.file, arff.lines[0], "a dense instance, values with commas", "a sparse instance in braces")
    return found[0]


def _chains(file: DataFile, line: int, text: str | None, place_of: dict[str, int]) -> Chains:
    """The chains of a value as label indices."""
    if text is None:
        return []
    chains: Chains = []
    for part in split_outside_quotes(file, line, unquote(text), "|"):  # the value as a whole may be in quotes
        chain: dict[int, None] = {}
        for piece in split_outside_quotes(file, line, part, ">"):
            label = unquote(piece)
            if label not in place_of:
                known = f"labels of {listing(place_of)} with > between them"
                found = excerpt(label) if label else f"nothing beside a > in {excerpt(text)}"
                raise malformed(file, line, known, found)
            if place_of[label] in chain:
                raise malformed(file, line, "each label once in a chain", f"{excerpt(label)} twice in {excerpt(text)}")
            chain[place_of[label]] = None
        chains.append(list(chain))
    return chains


def _graphs(arff: Arff, rankings: list[Chains], labels: tuple[str, ...]) -> PreferenceGraphs:
    """Edges between all labels of a chain."""
    n_pairs = sum(len(chain) * (len(chain) - 1) // 2 for chains in rankings for chain in chains)
    arff.file.require(200 * n_pairs, f"the list of {n_pairs} pairs of labels")
    edges: list[tuple[int, int, int]] = []
    for row, chains in enumerate(rankings):
        pairs = {pair for chain in chains for pair in combinations(chain, 2)}
        for better, worse in sorted(pairs):
            if (worse, better) in pairs:
                found = f"{labels[better]}>{labels[worse]} and {labels[worse]}>{labels[better]}"
                raise malformed(arff.file, arff.lines[row], "chains that agree on each pair of labels", found)
            edges.append((row, better, worse))
    instance, winner, loser = np.array(edges, dtype=np.intp).reshape(-1, 3).T
    return PreferenceGraphs.from_pairs(
        instance, winner, loser, n_instances=len(rankings), n_labels=len(labels), labels=list(labels)
    )
