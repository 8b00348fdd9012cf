"""The reader of Reuters-21578."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from papers.frame.reuters import read_reuters

GROUPS = "group\ttopic\ncommodity\twheat\ncommodity\tcorn\nROOT-MISC\tship\n"
DOCUMENTS = [
    {"id": 5, "split": "train", "title": "GRAIN", "body": "Wheat rose.\nA lot.", "topics": ["wheat", "ship"]},
    {"id": 7, "split": "test", "title": "Corn", "body": "", "topics": []},
]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "reuters21578_topic_groups.tsv").write_text(GROUPS)
    (tmp_path / "reuters21578_topics.jsonl").write_text("\n".join(map(json.dumps, DOCUMENTS)) + "\n")
    return tmp_path


def test_documents_and_topics(folder):
    reuters = read_reuters(folder)
    assert reuters.data == ["GRAIN\nWheat rose.\nA lot.", "Corn\n"]
    assert reuters.label_names.tolist() == ["ship", "wheat"]
    np.testing.assert_array_equal(reuters.target.toarray(), [[1, 1], [0, 0]])
    assert reuters.target.dtype == np.uint8
    assert reuters.parents == {"wheat": "commodity", "corn": "commodity", "ship": None}
    assert reuters.split.tolist() == ["train", "test"]


def test_a_packed_file_comes_first(folder):
    packed = gzip.compress(json.dumps(DOCUMENTS[1]).encode())
    (folder / "reuters21578_topics.jsonl.gz").write_bytes(packed)
    assert len(read_reuters(folder).data) == 1


def test_what_is_wrong(folder, tmp_path):
    with (folder / "reuters21578_topics.jsonl").open("a") as file:
        file.write("{not json\n")
    with pytest.raises(ValueError, match=r"reuters21578_topics\.jsonl, line 3: expected JSON"):
        read_reuters(folder)
    with pytest.raises(FileNotFoundError, match=r"no file reuters21578_topics\.jsonl\.gz or .*\.jsonl in"):
        read_reuters(tmp_path / "empty")


@pytest.mark.data
def test_the_collection(data_dir):
    reuters = read_reuters(data_dir / "text")
    assert reuters.target.shape[0] == len(reuters.data) > 10_000
    assert {reuters.parents[name] for name in reuters.label_names} >= {"commodity", None}
    assert set(reuters.split) == {"train", "test"}
