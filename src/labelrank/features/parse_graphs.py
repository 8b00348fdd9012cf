"""Paths in the graph of a parse as features: an explicit graph kernel on link-grammar linkages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from labelrank._compat import Interval, StrOptions, fit_context

Link = tuple[int, int, str]

_WORD = re.compile(r"(?P<form>.+?)(\[(?P<guess>[!?~&][^\]]*)\])?(\.(?P<subscript>[a-z#][a-z0-9_#-]*))?")
_CLASS = re.compile(r"[A-Z]+")
_LENGTHS = ("1", "2-3", "4-7", "8-15", "16-")


class ParsePathVectorizer(TransformerMixin, BaseEstimator):
    r"""Counts of the paths in a parse, as rows of length 1, so that their products are a graph kernel.

    A parse is a graph: its words are the vertices, its links the edges. Two parses are alike if they have many paths in
    common,

    .. math:: k(x, z) = \frac{\sum_p n_p(x) \, n_p(z)}{\sqrt{\sum_p n_p(x)^2} \sqrt{\sum_p n_p(z)^2}} ,

    where :math:`n_p(x)` is the number of times that path p appears in x. The counts are given explicitly, as a sparse
    matrix: the kernel is the linear one, and learners need no matrix of kernel values.

    A path visits different words. It is described by its links, from its left end on: ``D>`` is a link of class D to
    the right, ``<D`` one to the left. A single link also counts with its length in words (``D:2-3``), and with
    `words` each path counts a second time with the categories of its words, and so does each word.

    Parameters
    ----------
    max_links : int, default=2
        Number of links of the longest paths.
    words : bool, default=False
        Whether paths are also counted with the categories of their words; see :func:`word_category`.
    lengths : bool, default=True
        Whether single links are also counted with their lengths: 1, 2-3, 4-7, 8-15, 16 or more words.
    norm : {"l2", None}, default="l2"
        Whether rows are divided by their length.

    Attributes
    ----------
    vocabulary_ : dict
        Column of each path.

    Notes
    -----
    The class of a link is the capital letters of its type: ``Ss*s`` and ``Sp`` are of class S, the links of idioms of
    class ``_``. The link between the walls or to the right wall that ends every parse, ``RW``, is left out. Paths that
    were not seen by `fit` are not counted, nor do they count in the length of a row.

    References
    ----------
    Pahikkala, Tsivtsivadze, Boberg, Salakoski: Graph kernels versus graph representations: a case study in parse
    ranking. Mining and Learning with Graphs, 2006.

    Examples
    --------
    >>> from labelrank.features import ParsePathVectorizer
    >>> words = ["LEFT-WALL", "the", "cat.n", "slept.v-d", "RIGHT-WALL"]
    >>> parse = {"words": words, "links": [(0, 2, "Wd"), (1, 2, "Ds"), (2, 3, "Ss"), (0, 4, "RW")]}
    >>> paths = ParsePathVectorizer(lengths=False, norm=None)
    >>> paths.fit_transform([parse]).toarray()
    array([[1., 1., 1., 1., 1., 1.]])
    >>> print(*paths.get_feature_names_out(), sep=", ")
    D>, D> S>, S>, W>, W> <D, W> S>
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "max_links": [Interval(Integral, 1, None, closed="left")],
        "words": ["boolean"],
        "lengths": ["boolean"],
        "norm": [StrOptions({"l2"}), None],
    }

    def __init__(
        self,
        max_links: int = 2,
        *,
        words: bool = False,
        lengths: bool = True,
        norm: Literal["l2"] | None = "l2",
    ) -> None:
        self.max_links = max_links
        self.words = words
        self.lengths = lengths
        self.norm = norm

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.dict = True
        tags.no_validation = True
        return tags

    def fit(self, X: Iterable[Mapping[str, Any]], y: Any = None) -> ParsePathVectorizer:
        """Learn which paths there are.

        Parameters
        ----------
        X : iterable of mappings
            Parses with ``words``, a list of texts, and ``links``, a list of (left word, right word, type), numbered
            from 0; as :func:`~labelrank.datasets.read_parses` gives them.
        y : ignored

        Returns
        -------
        self
        """
        self.fit_transform(X)
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X: Iterable[Mapping[str, Any]], y: Any = None) -> sparse.csr_array:
        """Learn which paths there are, and count them.

        Parameters
        ----------
        X : iterable of mappings
            Parses.
        y : ignored

        Returns
        -------
        csr_array of shape (n_parses, n_paths)
        """
        counts = [self._count(i, parse) for i, parse in enumerate(_parses(X))]
        names = sorted(set().union(*counts))
        if not names:
            raise ValueError("X has no path: there is no parse, or none has a link")
        self.vocabulary_ = {name: column for column, name in enumerate(names)}
        return self._matrix(counts)

    def transform(self, X: Iterable[Mapping[str, Any]]) -> sparse.csr_array:
        """Count paths.

        Parameters
        ----------
        X : iterable of mappings
            Parses.

        Returns
        -------
        csr_array of shape (n_parses, n_paths)
        """
        check_is_fitted(self)
        return self._matrix([self._count(i, parse) for i, parse in enumerate(_parses(X))])

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Descriptions of the paths.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str objects
        """
        check_is_fitted(self)
        return np.array(list(self.vocabulary_), dtype=object)

    def _count(self, number: int, parse: Mapping[str, Any]) -> Counter[str]:
        words, links = _checked(number, parse)
        counts: Counter[str] = Counter()
        steps: list[list[tuple[str, int]]] = [[] for _ in words]
        for left, right, kind in links:
            name = link_class(kind)
            steps[left].append((f"{name}>", right))
            steps[right].append((f"<{name}", left))
            if self.lengths:
                counts[f"{name}:{_LENGTHS[min((right - left).bit_length(), len(_LENGTHS)) - 1]}"] += 1
        categories = [word_category(word) for word in words]
        if self.words:
            counts.update(categories)
        for path, visited in _paths(steps, self.max_links):
            counts[" ".join(path)] += 1
            if self.words:
                inner = (f"{step} {categories[word]}" for step, word in zip(path, visited[1:], strict=True))
                counts[" ".join([categories[visited[0]], *inner])] += 1
        return counts

    def _matrix(self, counts: Sequence[Counter[str]]) -> sparse.csr_array:
        known = [[(self.vocabulary_[p], n) for p, n in row.items() if p in self.vocabulary_] for row in counts]
        columns = np.array([column for row in known for column, _ in row], dtype=np.int32)
        values = np.array([n for row in known for _, n in row], dtype=np.float64)
        indptr = np.concatenate([[0], np.cumsum([len(row) for row in known], dtype=np.int64)]).astype(np.int64)
        X = sparse.csr_array((values, columns, indptr), shape=(len(known), len(self.vocabulary_)))
        X.sort_indices()
        if self.norm is not None:
            lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)))
            X.data /= np.repeat(lengths, np.diff(X.indptr))
        return X


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


def _parses(X: Any) -> Iterable[Mapping[str, Any]]:
    if isinstance(X, (str, bytes, Mapping)):
        raise TypeError(f"X must be a list of parses, got a single {type(X).__name__}")
    parses: Iterable[Mapping[str, Any]] = X
    return parses


def _checked(number: int, parse: Any) -> tuple[Sequence[str], list[Link]]:
    """Words, and links from left to right without the last one; an error names the parse."""
    if not isinstance(parse, Mapping) or not {"words", "links"} <= set(parse):
        raise ValueError(f"parse {number} must be a mapping with words and links, got {str(parse)[:60]}")
    words = parse["words"]
    links = []
    for left, right, kind in parse["links"]:
        if not 0 <= left < right < len(words):
            raise ValueError(
                f"parse {number} has {len(words)} words and a link from word {left} to word {right}; links go from "
                f"left to right, between words 0 to {len(words) - 1}"
            )
        if kind != "RW":
            links.append((left, right, kind))
    return words, links


def link_class(kind: str) -> str:
    """The class of a link: the capital letters that its type begins with, ``_`` for links of idioms.

    Examples
    --------
    >>> from labelrank.features.parse_graphs import link_class
    >>> link_class("Ss*s"), link_class("MVp"), link_class("_IBWO")
    ('S', 'MV', '_')
    """
    found = _CLASS.match(kind)
    return found[0] if found else kind[:1]


def word_category(word: str) -> str:
    """The category that the parser gives to a word, the word itself in lower case if none.

    That is the subscript (``n-u`` of ``power.n-u``), or what an unknown word was guessed to be
    (``!<CAPITALIZED-WORDS>`` of ``Obama[!<CAPITALIZED-WORDS>]``), or ``[]`` for a word that was not used.

    Examples
    --------
    >>> from labelrank.features.parse_graphs import word_category
    >>> [word_category(word) for word in ("power.n-u", "Kori[!<CAPITALIZED-WORDS>]", "The", "[of]")]
    ['n-u', '!<CAPITALIZED-WORDS>', 'the', '[]']
    """
    if len(word) > 2 and word.startswith("[") and word.endswith("]"):
        return "[]"
    found = _WORD.fullmatch(word)
    if found is None:
        return word.lower()
    return found["subscript"] or found["guess"] or word.lower()
