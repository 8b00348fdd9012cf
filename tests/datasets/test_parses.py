"""Parses of sentences, and the words that their links end at."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from labelrank.datasets.parses import links_of_words, read_parses

COSTS = {"unused": 0, "disjunct": 1.5, "link_cost": 7}


def parse(words, links, f1=0.5, index=0, **changes):
    return {"words": words, "links": links, "f1": f1, "lg_index": index, **COSTS, **changes}


PLAIN = parse(
    ["LEFT-WALL", "dogs.n", "bark.v", "RIGHT-WALL"], [[0, 1, "Wd", 1], [1, 2, "Sp", 1], [2, 0, "RW", 1]], 0.75
)
OTHER = parse(["LEFT-WALL", "dogs.n", "[bark]", "RIGHT-WALL"], [[0, 1, "Wd", 1], [1, 0, "RW", 2]], 0, 3, unused=1)
CLITIC = parse(
    ["LEFT-WALL", "it", "'s.v", "here", "RIGHT-WALL"],
    [[0, 1, "WV", 2], [0, 1, "Wd", 1], [1, 1, "Ss", 1], [1, 3, "Pp", 1], [0, 0, "RW", 4]],
    1,
)
SENTENCES = [
    {"sent_id": "a", "text": "Dogs bark", "tokens": ["Dogs", "bark"], "parses": [PLAIN, OTHER]},
    {"sent_id": "b", "text": "It's here", "tokens": ["It", "'s", "here"], "parses": [CLITIC]},
]


def lines(*sentences):
    return "".join(json.dumps(sentence) + "\n" for sentence in sentences)


def test_what_comes_out(write):
    bunch = read_parses(write("parses.jsonl", lines(*SENTENCES) + "\n"))
    assert [p["words"] for p in bunch.data] == [PLAIN["words"], OTHER["words"], CLITIC["words"]]
    assert bunch.data[0]["links"] == [(0, 1, "Wd"), (1, 2, "Sp"), (2, 3, "RW")]
    assert bunch.data[1]["links"] == [(0, 1, "Wd"), (1, 3, "RW")]
    assert bunch.data[2]["links"] == [(0, 2, "WV"), (0, 1, "Wd"), (1, 2, "Ss"), (2, 3, "Pp"), (0, 4, "RW")]
    np.testing.assert_array_equal(bunch.target, [0.75, 0, 1])
    np.testing.assert_array_equal(bunch.groups, [0, 0, 1])
    np.testing.assert_array_equal(bunch.costs, [[0, 1.5, 7], [1, 1.5, 7], [0, 1.5, 7]])
    np.testing.assert_array_equal(bunch.parser_rank, [0, 3, 0])
    assert bunch.cost_names == ["unused", "disjunct", "link_cost"]
    assert bunch.text == ["Dogs bark", "It's here"]
    assert bunch.sample_id.tolist() == ["a", "b"]
    assert "parses.jsonl: 2 sentences, 3 parses" in bunch.DESCR


def test_gzip_and_a_sentence_without_parses(write):
    empty = {"sent_id": "c", "text": "", "tokens": [], "parses": []}
    bunch = read_parses(write("parses.jsonl.gz", gzip.compress(lines(SENTENCES[0], empty, SENTENCES[1]).encode())))
    np.testing.assert_array_equal(bunch.groups, [0, 0, 2])


def test_a_word_of_many_tokens():
    words = ["LEFT-WALL", "two-year-old.a", "girl.n", "RIGHT-WALL"]
    tokens = ["two", "-", "year", "-", "old", "girl"]
    found = links_of_words(words, tokens, [(0, 6, "Wd", 2), (3, 6, "A", 1), (0, -1, "RW", 3)])
    assert found == [(0, 2, "Wd"), (1, 2, "A"), (0, 3, "RW")]


def test_of_several_readings_the_one_that_looks_like_the_tokens():
    # Two words go by one token: [x 's] [y] and [x] ['s y] have the same distances.
    words = ["LEFT-WALL", "x", "'s.v", "y", "RIGHT-WALL"]
    links = [(0, 1, "WV", 2), (0, 1, "Wd", 1), (1, 3, "O", 1), (0, -1, "RW", 4)]
    assert links_of_words(words, ["x", "'s", "y"], links) == [(0, 2, "WV"), (0, 1, "Wd"), (2, 3, "O"), (0, 4, "RW")]
    both = [(0, 1, "Wd", 1), (1, 3, "S", 1), (1, 3, "O", 2), (0, -1, "RW", 4)]
    assert links_of_words(words, ["x", "q", "y"], both)[1:3] == [(2, 3, "S"), (1, 3, "O")]
    assert links_of_words(words, ["x", "q", "'s y"], both)[1:3] == [(1, 2, "S"), (1, 3, "O")]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"f1": "high"}, r"line 1: expected the field 'f1' of parse 0, a number, found \"'high'\""),
        ({"f1": True}, r"the field 'f1' of parse 0"),
        ({"link_cost": None}, r"the field 'link_cost' of parse 0, a number"),
        ({"links": [[0, 1, "Wd"]]}, r"links \[left, right, type, distance\] between tokens 0 to 2 of parse 0"),
        ({"links": [[0, 7, "Wd", 1]]}, r"between tokens 0 to 2 of parse 0"),
        ({"links": [[0, 1, "Wd", 0]]}, r"between tokens 0 to 2 of parse 0"),
        ({"links": [[0, 1, "Wd", 3], [1, 2, "Sp", 1]]}, r"links whose distances fit the words of parse 0"),
        ({"links": [[0, 1, "Wd", 1]]}, r"links whose distances fit the words of parse 0"),
        ({"links": [[0, 0, "RW", 2]]}, r"links whose distances fit the words of parse 0"),
    ],
)
def test_malformed_parse(write, changes, message):
    path = write("parses.jsonl", lines({**SENTENCES[0], "parses": [{**PLAIN, **changes}]}))
    with pytest.raises(ValueError, match=message):
        read_parses(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "expected a sentence, found an empty file"),
        ("{", r"line 1: expected a JSON object, found '\{'"),
        ("[]", "line 1: expected a JSON object"),
        ('{"sent_id": "a"}', "expected the field 'text', a text, found 'None'"),
        (lines(SENTENCES[0], {**SENTENCES[1], "parses": [3]}), "line 2: expected a JSON object for parse 0, found '3'"),
    ],
)
def test_malformed_file(write, content, message):
    with pytest.raises(ValueError, match=message):
        read_parses(write("parses.jsonl", content))


@pytest.mark.data
def test_the_parses(data_dir):
    bunch = read_parses(data_dir / "parse" / "pud_linkgrammar_parses_1-500.jsonl")
    assert len(bunch.data) == len(bunch.target) == 8962
    assert len(np.unique(bunch.groups)) == 500
    assert ((bunch.target >= 0) & (bunch.target <= 1)).all()
    # The grammar allows no links that cross; words that were found wrongly would have some.
    for found in bunch.data:
        ends = np.array([link[:2] for link in found["links"]])
        left, right = ends[:, 0], ends[:, 1]
        crossing = (left[:, None] < left) & (left < right[:, None]) & (right[:, None] < right)
        assert not crossing.any()
