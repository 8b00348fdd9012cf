"""Paths of parses, against an enumeration of all orders of words."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from papers.tsivtsivadze2008.parses import Parse
from papers.tsivtsivadze2008.paths import link_class, path_counts, paths_of, word_category

CAT = Parse(
    ["LEFT-WALL", "The", "cat.n", "[oh]", "slept.v-d", "RIGHT-WALL"],
    [(0, 2, "Wd"), (1, 2, "Ds"), (2, 4, "Ss*s"), (0, 5, "RW")],
)
DOG = Parse(["LEFT-WALL", "dogs.n", "bark.v", "RIGHT-WALL"], [(0, 1, "Wd"), (1, 2, "Sp"), (2, 3, "RW")])


def paths_by_permutations(parse, max_links, words):
    """Every ordered choice of words that is a path, read from its left end."""
    steps = {}
    for left, right, kind in parse.links:
        if kind != "RW":
            steps.setdefault((left, right), []).append(link_class(kind) + ">")
            steps.setdefault((right, left), []).append("<" + link_class(kind))
    found = Counter()
    for n in range(2, max_links + 2):
        for visited in itertools.permutations(range(len(parse.words)), n):
            if visited[0] > visited[-1]:
                continue
            for path in itertools.product(*[steps.get(pair, []) for pair in itertools.pairwise(visited)]):
                found[" ".join(path)] += 1
                if words:
                    inner = [f"{s} {word_category(parse.words[w])}" for s, w in zip(path, visited[1:], strict=True)]
                    found[" ".join([word_category(parse.words[visited[0]]), *inner])] += 1
    if words:
        found.update(word_category(word) for word in parse.words)
    return dict(found)


def test_by_hand():
    assert paths_of(CAT, 2) == {
        **{"W>": 1, "D>": 1, "S>": 1, "W> <D": 1, "W> S>": 1, "D> S>": 1},
        **{"W:2-3": 1, "D:1": 1, "S:2-3": 1},
    }
    assert paths_of(DOG, 1, words=True) == {
        **{"left-wall": 1, "n": 1, "v": 1, "right-wall": 1, "W>": 1, "S>": 1, "W:1": 1, "S:1": 1},
        **{"left-wall W> n": 1, "n S> v": 1},
    }


@st.composite
def parses(draw):
    n = draw(st.integers(2, 6))
    words = draw(st.lists(st.sampled_from(["a.n", "b.v", "c", "[d]"]), min_size=n, max_size=n))
    pair = st.tuples(st.integers(0, n - 2), st.integers(1, n - 1)).filter(lambda p: p[0] < p[1])
    links = draw(st.lists(st.tuples(pair, st.sampled_from(["Ss", "Op", "_IB", "RW"])), min_size=1, max_size=7))
    return Parse(words, [(*ends, kind) for ends, kind in links])


@given(parses(), st.integers(1, 4), st.booleans())
def test_paths_of_any_graph_cycles_and_double_links_too(parse, max_links, words):
    found = {name: n for name, n in paths_of(parse, max_links, words=words).items() if ":" not in name}
    assert found == paths_by_permutations(parse, max_links, words)


@pytest.mark.parametrize(("length", "name"), [(1, "1"), (2, "2-3"), (3, "2-3"), (4, "4-7"), (8, "8-15"), (16, "16-")])
def test_lengths(length, name):
    parse = Parse(["w"] * 120, [(0, length, "A"), (1, 118, "B")])
    assert {f"A:{name}", "B:16-"} <= set(paths_of(parse, 1))


def test_rows_have_length_one_and_products_are_the_normalized_kernel():
    X = path_counts([CAT, DOG, Parse(["LEFT-WALL"], [])], 2)
    assert sparse.issparse(X)
    cat, dog = paths_of(CAT, 2), paths_of(DOG, 2)
    product = sum(cat[path] * dog[path] for path in cat)
    lengths = [np.sqrt(sum(n * n for n in counts.values())) for counts in (cat, dog)]
    expected = product / np.prod(lengths)
    assert_allclose((X @ X.T).toarray(), [[1, expected, 0], [expected, 1, 0], [0, 0, 0]])


def test_the_order_of_links_does_not_matter():
    turned = CAT._replace(links=CAT.links[::-1])
    assert_array_equal(path_counts([CAT], 3, words=True).toarray(), path_counts([turned], 3, words=True).toarray())


@pytest.mark.parametrize(
    ("word", "category"),
    [
        ("power.n-u", "n-u"),
        ("two-year-old[!<HYPHENATED-WORDS>].a", "a"),
        ("Obama[!<CAPITALIZED-WORDS>]", "!<CAPITALIZED-WORDS>"),
        ("than.#then-ij", "#then-ij"),
        ("U.S", "u.s"),
        (".", "."),
        (",.j", "j"),
        ("[the]", "[]"),
        ("[", "["),
        ("", ""),
    ],
)
def test_word_categories(word, category):
    assert word_category(word) == category


@pytest.mark.parametrize(("kind", "name"), [("Ss*s", "S"), ("MVp", "MV"), ("A", "A"), ("_IBHE", "_"), ("", "")])
def test_link_classes(kind, name):
    assert link_class(kind) == name
