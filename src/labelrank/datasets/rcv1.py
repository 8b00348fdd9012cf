"""RCV1: the documents of :func:`sklearn.datasets.fetch_rcv1` with the tree of their topics; files of topic trees."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch, check_random_state

from labelrank.datasets._bunch import make_bunch
from labelrank.datasets._csv import read_text_table
from labelrank.datasets._files import MAX_BYTES, DataFile, PathLike, excerpt, listing, malformed

_HIER = re.compile(r"parent:\s*(\S+)\s+child:\s*(\S+)\s+child-description:.*")
_COLUMNS = (("parent", "child"), ("group", "topic"))


def read_topic_tree(path: PathLike, *, encoding: str = "utf-8", max_bytes: int = MAX_BYTES) -> dict[str, str | None]:
    r"""Read a tree of topics from a ``rcv1.topics.hier.*`` file or a table.

    Parameters
    ----------
    path : str or path-like
        The file, packed if its name ends in ``.gz`` or ``.bz2``. Either every line reads ``parent: C15  child: C151
        child-description: …``, or the file is a table with tabs that has the columns ``parent`` and ``child``, or
        ``group`` and ``topic``.
    encoding : str, default="utf-8"
        Encoding of the file. A byte order mark is ignored.
    max_bytes : int, default=2**30
        Limit of the unpacked file.

    Returns
    -------
    dict
        The parent of each topic, None where the file says ``None``; the `parents` of
        :meth:`labelrank.PreferenceGraphs.from_hierarchy`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from labelrank.datasets import read_topic_tree
    >>> path = pathlib.Path(tempfile.mkdtemp(), "tree.tsv")
    >>> _ = path.write_text("parent\tchild\nNone\tanimal\nanimal\tcat\n")
    >>> read_topic_tree(path)
    {'animal': None, 'cat': 'animal'}
    """
    with DataFile(path, encoding=encoding, max_bytes=max_bytes) as file:
        first = next((line for _, line in file.lines() if line.strip()), None)
        if first is None:
            raise malformed(file, None, "lines of a topic tree", "an empty file")
        pairs = _pairs_of_lines(file) if _HIER.fullmatch(first.strip()) else _pairs_of_table(file)
        parents: dict[str, str | None] = {}
        line_of: dict[str, int] = {}
        for number, parent, child in pairs:
            if child in parents:
                expected = f"one line for each child, and line {line_of[child]} has {excerpt(child)}"
                raise malformed(file, number, expected, f"{excerpt(child)} again")
            line_of[child] = number
            parents[child] = None if parent == "None" else parent
        return parents


def _pairs_of_lines(file: DataFile) -> Iterator[tuple[int, str, str]]:
    for number, line in file.lines():
        match = _HIER.fullmatch(line.strip())
        if match:
            yield number, match[1], match[2]
        elif line.strip():
            raise malformed(file, number, "parent: X  child: Y  child-description: Z", excerpt(line))


def _pairs_of_table(file: DataFile) -> Iterator[tuple[int, str, str]]:
    table = read_text_table(file, separator="\t")
    names = next((pair for pair in _COLUMNS if set(pair) <= set(table.columns)), None)
    if names is None:
        expected = "parent: X  child: Y  child-description: Z, or a header with the columns parent and child"
        raise malformed(file, 1, f"{expected}, or group and topic", f"the columns {listing(table.columns)}")
    for number, parent, child in zip(table.lines, *(table.columns[name] for name in names), strict=True):
        if parent is None or child is None:
            raise malformed(file, number, f"a {names[0]} and a {names[1]}", f"{parent!r} and {child!r}")
        yield number, parent, child


def topics_of_rcv1(rcv1: Any, tree: PathLike | Mapping[str, str | None] | None = None) -> Bunch:
    """Join the result of :func:`sklearn.datasets.fetch_rcv1` with the tree of the topics.

    Parameters
    ----------
    rcv1 : Bunch
        With ``data``, ``target`` (sparse indicator of the topics), ``target_names`` and ``sample_id``.
    tree : str, path-like or mapping {child: parent}, optional
        The topic tree, or its file ``rcv1.topics.hier.orig``. By default it is derived from the codes: the parent of a
        topic is the topic with the longest proper prefix of its code (C1511 → C151), else the category of its first
        letter (C15 → CCAT). For the 103 topics of RCV1 this is the tree of that file.

    Returns
    -------
    Bunch
        - ``data``: csr_array of shape (n_samples, n_features), cosine-normalized log TF-IDF as distributed;
        - ``target``: csr_array of shape (n_samples, n_labels), uint8, 1 for each topic of a document;
        - ``feature_names``: ``x0``, ``x1``, …, since the files do not name the terms;
        - ``label_names``: codes of the topics;
        - ``parents``: dict from each topic to its parent, for :meth:`labelrank.PreferenceGraphs.from_hierarchy`;
        - ``sample_id``: numbers of the documents;
        - ``DESCR``: description.

    Examples
    --------
    >>> from sklearn.utils import Bunch
    >>> from labelrank.datasets import topics_of_rcv1
    >>> rcv1 = Bunch(data=[[0.6, 0.8]], target=[[1, 1, 1]], target_names=["C15", "C151", "CCAT"], sample_id=[2286])
    >>> topics_of_rcv1(rcv1).parents
    {'C15': 'CCAT', 'C151': 'C15', 'CCAT': None}
    """
    names = [str(name) for name in rcv1.target_names]
    if tree is None:
        parents = _tree_of_codes(names)
    elif isinstance(tree, Mapping):
        parents = dict(tree)
    else:
        parents = read_topic_tree(tree)
    lost = [name for name in names if name not in parents]
    if lost:
        raise ValueError(f"the topic tree lacks {len(lost)} of {len(names)} topics (first: {lost[0]!r})")
    data = sparse.csr_array(rcv1.data, dtype=np.float64)
    target = sparse.csr_array(rcv1.target, dtype=np.uint8)
    descr = f"RCV1-v2: {data.shape[0]} documents, {data.shape[1]} terms, {len(names)} topics."
    features = [f"x{i}" for i in range(data.shape[1])]
    sample_id = np.asarray(rcv1.sample_id)
    return make_bunch(data, target, features, names, descr, parents=parents, sample_id=sample_id)


def _tree_of_codes(names: list[str]) -> dict[str, str | None]:
    known = set(names)

    def parent(code: str) -> str | None:
        if code.endswith("CAT"):
            return None
        prefixes = [code[:length] for length in range(len(code) - 1, 1, -1)]
        found = next((above for above in [*prefixes, f"{code[0]}CAT"] if above in known), None)
        if found is None:
            raise ValueError(f"the code {code!r} has no topic above it among the target names; pass tree=")
        return found

    return {code: parent(code) for code in names}


def fetch_rcv1_topics(
    tree: PathLike | Mapping[str, str | None] | None = None,
    *,
    n_samples: int | None = None,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    random_state: Any = 0,
) -> Bunch:
    """Load RCV1 with the tree of its topics, by :func:`sklearn.datasets.fetch_rcv1`.

    The first call downloads about 650 MB, which scikit-learn keeps in its data folder.

    Parameters
    ----------
    tree : str, path-like or mapping {child: parent}, optional
        See :func:`topics_of_rcv1`.
    n_samples : int, optional
        Number of documents to draw at random; by default all 804,414.
    data_home, download_if_missing
        See :func:`sklearn.datasets.fetch_rcv1`.
    random_state : int, RandomState instance or None, default=0
        Seed of the draw.

    Returns
    -------
    Bunch
        See :func:`topics_of_rcv1`.

    Examples
    --------
    >>> from labelrank.datasets import fetch_rcv1_topics
    >>> rcv1 = fetch_rcv1_topics(n_samples=66_000)  # doctest: +SKIP
    >>> rcv1.data.shape, rcv1.target.shape  # doctest: +SKIP
    ((66000, 47236), (66000, 103))
    """
    from sklearn.datasets import fetch_rcv1

    rcv1 = fetch_rcv1(data_home=data_home, download_if_missing=download_if_missing)
    if n_samples is not None and n_samples < rcv1.data.shape[0]:
        order = check_random_state(random_state).permutation(rcv1.data.shape[0])
        rows = np.sort(order[:n_samples])
        rcv1.update({name: rcv1[name][rows] for name in ("data", "target", "sample_id")})
    return topics_of_rcv1(rcv1, tree)
