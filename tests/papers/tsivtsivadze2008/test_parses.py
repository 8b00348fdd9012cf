"""Parses of sentences, and the words that their links end at."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from papers.tsivtsivadze2008.parses import links_of_words, read_parses


def parse(words, links, f1=0.5):
    return {"words": words, "links": links, "f1": f1}


PLAIN = parse(
    ["LEFT-WALL", "dogs.n", "bark.v", "RIGHT-WALL"], [[0, 1, "Wd", 1], [1, 2, "Sp", 1], [2, 0, "RW", 1]], 0.75
)
OTHER = parse(["LEFT-WALL", "dogs.n", "[bark]", "RIGHT-WALL"], [[0, 1, "Wd", 1], [1, 0, "RW", 2]], 0)
CLITIC = parse(
    ["LEFT-WALL", "it", "'s.v", "here", "RIGHT-WALL"],
    [[0, 1, "WV", 2], [0, 1, "Wd", 1], [1, 1, "Ss", 1], [1, 3, "Pp", 1], [0, 0, "RW", 4]],
    1,
)
SENTENCES = [
    {"tokens": ["Dogs", "bark"], "parses": [PLAIN, OTHER]},
    {"tokens": [], "parses": []},
    {"tokens": ["It", "'s", "here"], "parses": [CLITIC]},
]


def lines(*sentences):
    return "".join(json.dumps(sentence) + "\n" for sentence in sentences).encode()


@pytest.mark.parametrize(("name", "pack"), [("parses.jsonl", bytes), ("parses.jsonl.gz", gzip.compress)])
def test_parses_scores_and_sentences(tmp_path, name, pack):
    (tmp_path / name).write_bytes(pack(lines(*SENTENCES) + b"\n"))
    parses, scores, groups = read_parses(tmp_path / name)
    assert [found.words for found in parses] == [PLAIN["words"], OTHER["words"], CLITIC["words"]]
    assert parses[0].links == [(0, 1, "Wd"), (1, 2, "Sp"), (2, 3, "RW")]
    assert parses[1].links == [(0, 1, "Wd"), (1, 3, "RW")]
    assert parses[2].links == [(0, 2, "WV"), (0, 1, "Wd"), (1, 2, "Ss"), (2, 3, "Pp"), (0, 4, "RW")]
    np.testing.assert_array_equal(scores, [0.75, 0, 1])
    np.testing.assert_array_equal(groups, [0, 0, 2])


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
    "links", [[[0, 1, "Wd", 3], [1, 2, "Sp", 1]], [[0, 1, "Wd", 1]], [[0, 0, "RW", 2]]], ids=["far", "few", "walls"]
)
def test_links_that_do_not_fit(tmp_path, links):
    path = tmp_path / "parses.jsonl"
    path.write_bytes(lines(SENTENCES[0], {**SENTENCES[0], "parses": [{**PLAIN, "links": links}]}))
    with pytest.raises(ValueError, match=r"parses\.jsonl, line 2: 4 words and . links whose distances do not fit"):
        read_parses(path)


@pytest.mark.data
def test_the_parses(data_dir):
    parses, scores, groups = read_parses(data_dir / "parse" / "pud_linkgrammar_parses_1-500.jsonl")
    assert len(parses) == len(scores) == 8962
    assert len(np.unique(groups)) == 500
    assert ((scores >= 0) & (scores <= 1)).all()
    # The grammar allows no links that cross; words that were found wrongly would have some.
    for found in parses:
        left, right = np.array([link[:2] for link in found.links]).T
        crossing = (left[:, None] < left) & (left < right[:, None]) & (right[:, None] < right)
        assert not crossing.any()
