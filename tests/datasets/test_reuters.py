from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from labelrank import PreferenceGraphs
from labelrank.datasets import read_reuters21578, read_topic_tree

GROUPS = "group\ttopic\ncommodity\twheat\ncommodity\tcorn\ncommodity\tsilk\nROOT-MISC\tship\nenergy\tgas\n"
DOCUMENTS = [
    {"id": 1, "split": "train", "title": "WHEAT", "body": "Wheat rose.", "topics": ["wheat", "ship"], "places": []},
    {"id": 7, "split": "test", "title": "", "body": "Gas\nfell.", "topics": ["gas"]},
    {"id": 9, "split": "train", "title": "CORN", "body": "", "topics": ["corn", "corn"]},
]


def lines(*documents):
    return "\n".join(map(json.dumps, documents)) + "\n"


@pytest.fixture
def folder(tmp_path, write):
    write("reuters21578_topic_groups.tsv", GROUPS)
    write("reuters21578_topics.jsonl", lines(*DOCUMENTS))
    return tmp_path


def test_documents(folder):
    bunch = read_reuters21578(folder)
    assert bunch.data == ["WHEAT\nWheat rose.", "\nGas\nfell.", "CORN\n"]
    assert bunch.label_names.tolist() == ["corn", "gas", "ship", "wheat"]  # those that occur
    np.testing.assert_array_equal(bunch.target.toarray(), [[0, 0, 1, 1], [0, 1, 0, 0], [1, 0, 0, 0]])
    assert bunch.target.dtype == np.uint8
    assert bunch.split.tolist() == ["train", "test", "train"]
    assert bunch.sample_id.tolist() == [1, 7, 9]
    assert bunch.parents == {
        "wheat": "commodity",
        "corn": "commodity",
        "silk": "commodity",
        "ship": None,
        "gas": "energy",
    }
    assert "3 documents, 4 topics" in bunch.DESCR


def test_the_tree_makes_layers(folder):
    bunch = read_reuters21578(folder)
    graphs = PreferenceGraphs.from_hierarchy(bunch.target, bunch.parents, labels=bunch.label_names.tolist())
    np.testing.assert_array_equal(graphs.levels, [[1, 2, 0, 0], [2, 0, 2, 2], [0, 2, 2, 1]])


def test_gzip_comes_first(folder):
    (folder / "reuters21578_topics.jsonl.gz").write_bytes(gzip.compress(lines(DOCUMENTS[1]).encode()))
    assert read_reuters21578(folder).sample_id.tolist() == [7]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{not json", r"reuters21578_topics.jsonl, line 2: expected a JSON object, found '\{not json'"),
        ("[1]", r"line 2: expected a JSON object, found '\[1\]'"),
        ('{"id": 1}', r"line 2: expected the field 'split', a text, found 'none'"),
        (json.dumps({**DOCUMENTS[0], "topics": "wheat"}), r"line 2: expected the field 'topics', a list of topics"),
        (json.dumps({**DOCUMENTS[0], "topics": ["moon"]}), r"line 2: expected topics of .*groups.tsv, found 'moon'"),
    ],
)
def test_malformed(folder, write, line, message):
    write("reuters21578_topics.jsonl", lines(DOCUMENTS[0]) + line + "\n")
    with pytest.raises(ValueError, match=message):
        read_reuters21578(folder)


def test_missing_and_empty_files(tmp_path, write):
    with pytest.raises(FileNotFoundError, match=r"no file reuters21578_topics\.jsonl\.gz or .*\.jsonl in"):
        read_reuters21578(tmp_path)
    write("reuters21578_topics.jsonl", "\n")
    with pytest.raises(FileNotFoundError, match=r"no file reuters21578_topic_groups\.tsv"):
        read_reuters21578(tmp_path)
    write("reuters21578_topic_groups.tsv", GROUPS)
    with pytest.raises(ValueError, match="expected a document, found an empty file"):
        read_reuters21578(tmp_path)


@pytest.mark.data
def test_the_collection(data_dir):
    bunch = read_reuters21578(data_dir / "text")
    assert bunch.target.shape == (10377, 119)
    assert (bunch.target.sum(axis=1) > 0).all()
    assert dict(zip(*np.unique(bunch.split, return_counts=True), strict=True)) == {"train": 7195, "test": 3182}
    graphs = PreferenceGraphs.from_hierarchy(bunch.target, bunch.parents, labels=bunch.label_names.tolist())
    assert graphs.edge_counts().min() > 0
    assert set(graphs.levels.max(axis=1)) == {2}


@pytest.mark.data
def test_topics_with_two_parents_are_no_tree(data_dir):
    with pytest.raises(ValueError, match=r"line 14: expected one line for each child, .* found 'sorghum' again"):
        read_topic_tree(data_dir / "text" / "reuters21578_derived_hierarchy.tsv")
