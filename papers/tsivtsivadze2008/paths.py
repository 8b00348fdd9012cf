"""Counts of the paths in parses: a graph kernel with explicit features."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from scipy import sparse
from sklearn.feature_extraction import DictVectorizer
from sklearn.preprocessing import normalize

from papers.tsivtsivadze2008.parses import Parse, is_unused

_WORD = re.compile(r"(?P<form>.+?)(\[(?P<guess>[!?~&][^\]]*)\])?(\.(?P<subscript>[a-z#][a-z0-9_#-]*))?")
_CLASS = re.compile(r"[A-Z]+")
_LENGTHS = ("1", "2-3", "4-7", "8-15", "16-")


def path_counts(parses: Sequence[Parse], max_links: int, *, words: bool = False) -> sparse.csr_array:
    r"""Count the paths of up to `max_links` links in each parse, and divide each row by its length.

    A parse is a graph: its words are the vertices, its links the edges. Two parses are alike if they have many paths in
    common,

    .. math:: k(x, z) = \frac{\sum_p n_p(x) \, n_p(z)}{\sqrt{\sum_p n_p(x)^2} \sqrt{\sum_p n_p(z)^2}} ,

    where :math:`n_p(x)` is the number of times that path p appears in x: the product of two rows.

    References
    ----------
    Pahikkala, Tsivtsivadze, Boberg, Salakoski: Graph kernels versus graph representations: a case study in parse
    ranking. Mining and Learning with Graphs, 2006.

    Examples
    --------
    >>> from papers.tsivtsivadze2008.parses import Parse
    >>> from papers.tsivtsivadze2008.paths import path_counts
    >>> cat = Parse(["LEFT-WALL", "the", "cat.n", "slept.v-d"], [(0, 2, "Wd"), (1, 2, "Ds"), (2, 3, "Ss")])
    >>> dog = Parse(["LEFT-WALL", "dogs.n", "bark.v"], [(0, 1, "Wd"), (1, 2, "Sp")])
    >>> (path_counts([cat, dog], 1) @ path_counts([cat, dog], 1).T).toarray().round(2)
    array([[1.  , 0.61],
           [0.61, 1.  ]])
    """
    counts = [paths_of(parse, max_links, words=words) for parse in parses]
    return sparse.csr_array(normalize(DictVectorizer().fit_transform(counts)))


def paths_of(parse: Parse, max_links: int, *, words: bool = False) -> Counter[str]:
    """Count the paths of a parse.

    A path visits different words. It is described by its links, from its left end on: ``D>`` is a link of class D to
    the right, ``<D`` one to the left. A single link also counts with its length in words (``D:2-3``), and with `words`
    each path counts a second time with the categories of its words, and so does each word. The link ``RW`` that ends
    every parse is left out.

    Examples
    --------
    >>> from papers.tsivtsivadze2008.parses import Parse
    >>> from papers.tsivtsivadze2008.paths import paths_of
    >>> parse = Parse(["LEFT-WALL", "the", "cat.n", "RIGHT-WALL"], [(0, 2, "Wd"), (1, 2, "Ds"), (0, 3, "RW")])
    >>> dict(paths_of(parse, 2))
    {'W:2-3': 1, 'D:1': 1, 'W>': 1, 'W> <D': 1, 'D>': 1}
    """
    counts: Counter[str] = Counter()
    steps: list[list[tuple[str, int]]] = [[] for _ in parse.words]
    for left, right, kind in parse.links:
        if kind != "RW":
            name = link_class(kind)
            steps[left].append((f"{name}>", right))
            steps[right].append((f"<{name}", left))
            counts[f"{name}:{_LENGTHS[min((right - left).bit_length(), len(_LENGTHS)) - 1]}"] += 1
    categories = [word_category(word) for word in parse.words]
    if words:
        counts.update(categories)
    for path, visited in _paths(steps, max_links):
        counts[" ".join(path)] += 1
        if words:
            inner = (f"{step} {categories[word]}" for step, word in zip(path, visited[1:], strict=True))
            counts[" ".join([categories[visited[0]], *inner])] += 1
    return counts


def _paths(steps: Sequence[Sequence[tuple[str, int]]], max_links: int) -> Iterator[tuple[list[str], list[int]]]:
    """Paths of 1 to `max_links` links between different words, each once: from its left end."""

    def extend(path: list[str], visited: list[int]) -> Iterator[tuple[list[str], list[int]]]:
        for step, word in steps[visited[-1]]:
            if word in visited:
                continue
            longer, further = [*path, step], [*visited, word]
            if word > visited[0]:
                yield longer, further
            if len(longer) < max_links:
                yield from extend(longer, further)

    for start in range(len(steps)):
        yield from extend([], [start])


def link_class(kind: str) -> str:
    """Return the class of a link: the capital letters that its type begins with, ``_`` for links of idioms.

    Examples
    --------
    >>> from papers.tsivtsivadze2008.paths import link_class
    >>> link_class("Ss*s"), link_class("MVp"), link_class("_IBWO")
    ('S', 'MV', '_')
    """
    found = _CLASS.match(kind)
    return found[0] if found else kind[:1]


def word_category(word: str) -> str:
    """Return the category that the parser gives to a word, the word itself in lower case if none.

    That is the subscript (``n-u`` of ``power.n-u``), or the guess for an unknown word (``!<CAPITALIZED-WORDS>`` of
    ``Obama[!<CAPITALIZED-WORDS>]``), or ``[]`` for a word that was not used.

    Examples
    --------
    >>> from papers.tsivtsivadze2008.paths import word_category
    >>> [word_category(word) for word in ("power.n-u", "Kori[!<CAPITALIZED-WORDS>]", "The", "[of]")]
    ['n-u', '!<CAPITALIZED-WORDS>', 'the', '[]']
    """
    if is_unused(word):
        return "[]"
    found = _WORD.fullmatch(word)
    if found is None:
        return word.lower()
    return found["subscript"] or found["guess"] or word.lower()
