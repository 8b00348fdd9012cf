"""Paths of parses against NetworkX-free enumeration, and what a vectorizer owes."""

from __future__ import annotations

import itertools
import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from labelrank.features.parse_graphs import ParsePathVectorizer, link_class, word_category
from labelrank.rankers.rank_rls import RankRLS

CAT = {
    "words": ["LEFT-WALL", "The", "cat.n", "[oh]", "slept.v-d", "RIGHT-WALL"],
    "links": [(0, 2, "Wd"), (1, 2, "Ds"), (2, 4, "Ss*s"), (0, 5, "RW")],
}
DOG = {"words": ["LEFT-WALL", "dogs.n", "bark.v", "RIGHT-WALL"], "links": [(0, 1, "Wd"), (1, 2, "Sp"), (2, 3, "RW")]}


def counts(vectorizer, parse):
    row = vectorizer.transform([parse]).toarray()[0]
    return {name: n for name, n in zip(vectorizer.get_feature_names_out(), row, strict=True) if n}


def paths_by_permutations(parse, max_links, words):
    """Every ordered choice of words that is a path, read from its left end."""
    steps = {}
    for left, right, kind in parse["links"]:
        if kind != "RW":
            steps.setdefault((left, right), []).append(link_class(kind) + ">")
            steps.setdefault((right, left), []).append("<" + link_class(kind))
    found = Counter()
    for n in range(2, max_links + 2):
        for visited in itertools.permutations(range(len(parse["words"])), n):
            if visited[0] > visited[-1]:
                continue
            for path in itertools.product(*[steps.get(pair, []) for pair in itertools.pairwise(visited)]):
                found[" ".join(path)] += 1
                if words:
                    inner = [f"{s} {word_category(parse['words'][w])}" for s, w in zip(path, visited[1:], strict=True)]
                    found[" ".join([word_category(parse["words"][visited[0]]), *inner])] += 1
    if words:
        found.update(word_category(word) for word in parse["words"])
    return dict(found)


def test_by_hand():
    vectorizer = ParsePathVectorizer(norm=None).fit([CAT, DOG])
    assert counts(vectorizer, CAT) == {
        **{"W>": 1, "D>": 1, "S>": 1, "W> <D": 1, "W> S>": 1, "D> S>": 1},
        **{"W:2-3": 1, "D:1": 1, "S:2-3": 1},
    }
    assert counts(vectorizer, DOG) == {"W>": 1, "S>": 1, "W> S>": 1, "W:1": 1, "S:1": 1}
    with_words = ParsePathVectorizer(1, words=True, lengths=False, norm=None).fit([DOG])
    assert counts(with_words, DOG) == {
        **{"left-wall": 1, "n": 1, "v": 1, "right-wall": 1, "W>": 1, "S>": 1},
        **{"left-wall W> n": 1, "n S> v": 1},
    }


@st.composite
def parses(draw):
    n = draw(st.integers(2, 6))
    words = draw(st.lists(st.sampled_from(["a.n", "b.v", "c", "[d]"]), min_size=n, max_size=n))
    pair = st.tuples(st.integers(0, n - 2), st.integers(1, n - 1)).filter(lambda p: p[0] < p[1])
    links = draw(st.lists(st.tuples(pair, st.sampled_from(["Ss", "Op", "_IB", "RW"])), min_size=1, max_size=7))
    return {"words": words, "links": [(*ends, kind) for ends, kind in links]}


@given(parses(), st.integers(1, 4), st.booleans())
def test_paths_of_any_graph_cycles_and_double_links_too(parse, max_links, words):
    vectorizer = ParsePathVectorizer(max_links, words=words, lengths=False, norm=None)
    expected = paths_by_permutations(parse, max_links, words)
    if not expected:
        with pytest.raises(ValueError, match="X has no path"):
            vectorizer.fit([parse])
    else:
        assert counts(vectorizer.fit([parse]), parse) == expected


@pytest.mark.parametrize(("length", "name"), [(1, "1"), (2, "2-3"), (3, "2-3"), (4, "4-7"), (8, "8-15"), (16, "16-")])
def test_lengths(length, name):
    parse = {"words": ["w"] * 120, "links": [(0, length, "A"), (1, 118, "B")]}
    names = ParsePathVectorizer(1).fit([parse]).get_feature_names_out()
    assert {f"A:{name}", "B:16-"} <= set(names)


def test_rows_have_length_one_and_products_are_the_normalised_kernel():
    X = ParsePathVectorizer(words=True).fit_transform([CAT, DOG])
    raw = ParsePathVectorizer(words=True, norm=None).fit_transform([CAT, DOG]).toarray()
    assert sparse.issparse(X)
    assert X.format == "csr"
    expected = raw @ raw.T / np.sqrt(np.outer((raw**2).sum(1), (raw**2).sum(1)))
    assert_allclose((X @ X.T).toarray(), expected)
    assert_allclose(expected.diagonal(), 1)


def test_unknown_paths_and_parses_without_any():
    vectorizer = ParsePathVectorizer().fit([DOG])
    X = vectorizer.transform([CAT, {"words": ["LEFT-WALL"], "links": []}])
    assert_array_equal(X.toarray()[1], 0)
    assert_allclose(sparse.linalg.norm(X, axis=1), [1, 0])
    assert X.shape == (2, len(vectorizer.vocabulary_))
    assert vectorizer.transform([]).shape == (0, len(vectorizer.vocabulary_))


def test_order_of_links_and_parses_does_not_matter():
    first = ParsePathVectorizer(3, words=True).fit([CAT, DOG])
    turned = {**CAT, "links": CAT["links"][::-1]}
    second = ParsePathVectorizer(3, words=True).fit(iter([DOG, turned]))
    assert first.vocabulary_ == second.vocabulary_
    assert_array_equal(first.transform([CAT]).toarray(), second.transform([turned]).toarray())


def test_pickle_clone_and_pipeline():
    vectorizer = ParsePathVectorizer(1, lengths=False)
    again = pickle.loads(pickle.dumps(clone(vectorizer).fit([CAT, DOG])))
    assert_array_equal(again.transform([CAT]).toarray(), vectorizer.fit_transform([CAT, DOG]).toarray()[:1])
    model = make_pipeline(ParsePathVectorizer(), RankRLS()).fit([CAT, DOG], [1.0, 0.0])
    assert model.predict([CAT])[0] > model.predict([DOG])[0]
    with pytest.raises(NotFittedError):
        ParsePathVectorizer().transform([CAT])


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (CAT, TypeError, "X must be a list of parses, got a single dict"),
        ("text", TypeError, "got a single str"),
        ([CAT, 3], ValueError, "parse 1 must be a mapping with words and links, got 3"),
        ([{"words": ["a"]}], ValueError, "parse 0 must be a mapping with words and links"),
        ([{"words": ["a", "b"], "links": [(0, 2, "S")]}], ValueError, "2 words and a link from word 0 to word 2"),
        ([{"words": ["a", "b"], "links": [(1, 0, "S")]}], ValueError, "links go from left to right"),
        ([], ValueError, "X has no path"),
    ],
)
def test_errors(X, error, message):
    with pytest.raises(error, match=message):
        ParsePathVectorizer().fit(X)


@pytest.mark.parametrize("parameters", [{"max_links": 0}, {"norm": "l1"}, {"words": "yes"}])
def test_parameters_are_checked(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        ParsePathVectorizer(**parameters).fit([CAT])


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
