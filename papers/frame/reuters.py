"""Reuters-21578: documents as JSON lines, and the groups of their topics as a tree."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.utils import Bunch

from labelrank.datasets import read_topic_tree
from papers.frame.json_lines import checked, read_json_lines

DOCUMENTS = ("reuters21578_topics.jsonl.gz", "reuters21578_topics.jsonl")
GROUPS = "reuters21578_topic_groups.tsv"
NO_GROUP = "ROOT-MISC"


def read_reuters(folder: Path) -> Bunch:
    """Read Reuters-21578 from a folder with its documents and the groups of its topics.

    Parameters
    ----------
    folder : Path
        Holds ``reuters21578_topics.jsonl`` (or ``.jsonl.gz``), one document a line with ``split``, ``title``, ``body``
        and ``topics``; and ``reuters21578_topic_groups.tsv``, a table with the columns ``group`` and ``topic``. Topics
        of the group ``ROOT-MISC`` have no group and are children of the root.

    Returns
    -------
    Bunch
        - ``data``: list of texts, each a title and, from the next line on, a body;
        - ``target``: csr_array of shape (n_samples, n_labels), uint8, 1 for each topic of a document;
        - ``label_names``: the topics that occur, sorted;
        - ``parents``: mapping from each topic to its group or None;
        - ``split``: array of ``"train"`` and ``"test"``.

    References
    ----------
    D. D. Lewis. Reuters-21578 text categorization test collection, distribution 1.0, 1997.
    """
    path = next((folder / name for name in DOCUMENTS if (folder / name).is_file()), None)
    if path is None:
        raise FileNotFoundError(f"there is no file {' or '.join(DOCUMENTS)} in {folder}")
    groups = read_topic_tree(folder / GROUPS)
    documents = list(read_json_lines(path, _document))
    topics = MultiLabelBinarizer(sparse_output=True)
    target = topics.fit_transform([document.topics for document in documents])
    return Bunch(
        data=[document.text for document in documents],
        target=sparse.csr_array(target, dtype=np.uint8),
        label_names=topics.classes_,
        parents={topic: None if group == NO_GROUP else group for topic, group in groups.items()},
        split=np.array([document.split for document in documents], dtype=object),
    )


class _Document(NamedTuple):
    text: str
    topics: list[str]
    split: str


def _document(found: Any) -> _Document:
    found = checked(found, dict, "a document")
    title, body, split = (checked(found.get(key), str, key) for key in ("title", "body", "split"))
    topics = [checked(topic, str, "a topic") for topic in checked(found.get("topics"), list, "topics")]
    return _Document(f"{title}\n{body}", topics, split)
