"""Reuters-21578: documents as JSON lines, and the groups of their topics as a tree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch

from labelrank.datasets._bunch import make_bunch
from labelrank.datasets._files import PathLike, excerpt, malformed, read_lines
from labelrank.datasets.rcv1 import read_topic_tree

_DOCUMENTS = ("reuters21578_topics.jsonl.gz", "reuters21578_topics.jsonl")
_GROUPS = "reuters21578_topic_groups.tsv"
_NO_GROUP = "ROOT-MISC"
_FIELDS = {"id": int, "split": str, "title": str, "body": str, "topics": list}


def read_reuters21578(folder: PathLike) -> Bunch:
    r"""Read Reuters-21578 from a folder with its documents and the groups of its topics.

    Parameters
    ----------
    folder : str or path-like
        Holds ``reuters21578_topics.jsonl`` (or ``.jsonl.gz``), one document a line with ``id``, ``split``, ``title``,
        ``body`` and ``topics``; and ``reuters21578_topic_groups.tsv``, a table with the columns ``group`` and
        ``topic``. Topics of the group ``ROOT-MISC`` have no group and hang below the root.

    Returns
    -------
    Bunch
        - ``data``: list of texts, the title and the body on the lines after it;
        - ``target``: csr_array of shape (n_samples, n_labels), uint8, 1 for each topic of a document;
        - ``feature_names``: empty;
        - ``label_names``: the topics that occur, sorted;
        - ``parents``: mapping from each topic to its group or None, for
          :meth:`labelrank.PreferenceGraphs.from_hierarchy`;
        - ``split``: array of ``"train"`` and ``"test"``;
        - ``sample_id``: numbers of the documents;
        - ``DESCR``: where it comes from.

    References
    ----------
    D. D. Lewis. Reuters-21578 text categorization test collection, distribution 1.0, 1997.

    Examples
    --------
    >>> import json, tempfile, pathlib
    >>> from labelrank.datasets import read_reuters21578
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> document = {"id": 1, "split": "train", "title": "GRAIN", "body": "Wheat rose.", "topics": ["wheat", "ship"]}
    >>> _ = (folder / "reuters21578_topics.jsonl").write_text(json.dumps(document))
    >>> groups = "group\ttopic\ncommodity\twheat\nROOT-MISC\tship\n"
    >>> _ = (folder / "reuters21578_topic_groups.tsv").write_text(groups)
    >>> reuters = read_reuters21578(folder)
    >>> reuters.label_names.tolist(), reuters.parents
    (['ship', 'wheat'], {'wheat': 'commodity', 'ship': None})
    """
    folder = Path(folder)
    path = _file_of(folder, *_DOCUMENTS)
    tree = read_topic_tree(_file_of(folder, _GROUPS))
    parents = {topic: None if group == _NO_GROUP else group for topic, group in tree.items()}
    documents = [_document(path, number, line, parents) for number, line in read_lines(path) if line.strip()]
    if not documents:
        raise malformed(path, None, "a document", "an empty file")
    names = sorted({topic for document in documents for topic in document["topics"]})
    column = {name: j for j, name in enumerate(names)}
    sets = [sorted(column[topic] for topic in set(document["topics"])) for document in documents]
    indptr = np.concatenate([[0], np.cumsum([len(s) for s in sets])])
    indices = np.array([j for s in sets for j in s], dtype=np.int32)
    target = sparse.csr_array((np.ones(len(indices), dtype=np.uint8), indices, indptr), (len(sets), len(names)))
    descr = f"Reuters-21578, read from {path.name}: {len(sets)} documents, {len(names)} topics."
    return make_bunch(
        [f"{document['title']}\n{document['body']}" for document in documents],
        target,
        [],
        names,
        descr,
        parents=parents,
        split=np.array([document["split"] for document in documents], dtype=object),
        sample_id=np.array([document["id"] for document in documents]),
    )


def _file_of(folder: Path, *names: str) -> Path:
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise FileNotFoundError(f"there is no file {' or '.join(names)} in {folder}")


def _document(path: Path, number: int, line: str, parents: dict[str, str | None]) -> dict[str, Any]:
    try:
        document = json.loads(line)
    except json.JSONDecodeError as error:
        raise malformed(path, number, "a JSON object", f"{excerpt(line)} ({error.msg})") from error
    if not isinstance(document, dict):
        raise malformed(path, number, "a JSON object", excerpt(line))
    for name, kind in _FIELDS.items():
        if not isinstance(document.get(name), kind):
            found = f"{document[name]!r}" if name in document else "none"
            raise malformed(path, number, f"the field {name!r}, {_WORDS[kind]}", excerpt(found))
    for topic in document["topics"]:
        if topic not in parents:
            raise malformed(path, number, f"topics of {_GROUPS}", repr(topic))
    return document


_WORDS = {int: "a whole number", str: "a text", list: "a list of topics"}
