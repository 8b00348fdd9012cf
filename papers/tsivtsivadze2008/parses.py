"""Link-grammar parses of sentences, several per sentence, each with its score."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrank.datasets._files import MAX_BYTES
from papers.frame.json_lines import checked, read_json_lines

STEPS = 1000  # of the search for the words of a token, per word and link; real sentences take fewer than 10
RIGHT_WALL = -1  # in place of the 0 that stands in the file for both walls

FileLink = tuple[int, int, str, int]  # token, token, type, distance in words
Link = tuple[int, int, str]  # word, word, type
Places = dict[int, dict[int, None]]  # token -> its words, in order


class Parse(NamedTuple):
    """Words, and links between them, numbered from 0."""

    words: Sequence[str]
    links: Sequence[Link]


def read_parses(
    path: Path, max_bytes: int = MAX_BYTES
) -> tuple[list[Parse], npt.NDArray[np.float64], npt.NDArray[np.intp]]:
    """Read parses, their scores, and the number of the sentence of each.

    A line of the file is a sentence with ``tokens`` and ``parses``. A parse has ``words`` (the words of the parser, a
    wall at each end, in brackets those that it could not use), ``f1`` (its score against the correct parse) and
    ``links``: left end, right end, type, distance in words. The ends are numbers of tokens from 1, with 0 for both
    walls.
    """
    sentences = list(read_json_lines(path, _parses_of_sentence, max_bytes))
    parses = [parse for found in sentences for parse, _ in found]
    scores = np.array([score for found in sentences for _, score in found], dtype=np.float64)
    return parses, scores, np.repeat(np.arange(len(sentences)), [len(found) for found in sentences])


def _parses_of_sentence(found: Any) -> list[tuple[Parse, float]]:
    """The parses of a line and their scores, all types checked."""
    tokens = [checked(token, str, "a token") for token in checked(_part(found, "tokens"), list, "tokens")]
    parses = []
    for parse in checked(_part(found, "parses"), list, "parses"):
        words = [checked(word, str, "a word") for word in checked(_part(parse, "words"), list, "words")]
        links = [_link(link, len(tokens)) for link in checked(_part(parse, "links"), list, "links")]
        score = float(checked(_part(parse, "f1"), (int, float), "f1"))
        if not math.isfinite(score):
            raise ValueError(f"expected a finite f1, found {score}")
        parses.append((Parse(words, links_of_words(words, tokens, links)), score))
    return parses


def _part(found: Any, key: str) -> Any:
    return checked(found, dict, f"an object with {key}").get(key)


def _link(found: Any, n_tokens: int) -> FileLink:
    if len(checked(found, list, "a link")) != 4:
        raise ValueError(f"expected links of four parts, found {len(found)}")
    left, right, kind, distance = map(checked, found, (int, int, str, int), ["a part of a link"] * 4)
    if not (0 <= left <= n_tokens and 0 <= right <= n_tokens):
        raise ValueError(f"expected links between tokens from 0 to {n_tokens}")
    return left, right or RIGHT_WALL, kind, distance  # it goes to the right: there 0 is the wall at that end


def links_of_words(words: Sequence[str], tokens: Sequence[str], links: Sequence[FileLink]) -> list[Link]:
    """Return the links between words, given those between tokens and their distances in words.

    Tokens are not the words of the parser: ``two-year-old`` is five tokens and one word, ``it's`` has two words that
    both belong to the first token. Which word a link ends at follows from the distances, since the words of a token are
    neighbors and every word that is not in brackets has a link. If several readings remain, the one is taken whose
    words look most like their tokens.

    Examples
    --------
    >>> from papers.tsivtsivadze2008.parses import links_of_words
    >>> words = ["LEFT-WALL", "[oh]", "no", "RIGHT-WALL"]
    >>> links_of_words(words, ["Oh", "no"], [(0, 2, "W", 2), (2, -1, "RW", 1)])  # -1 is the right wall
    [(0, 2, 'W'), (2, 3, 'RW')]
    """
    best = max(_readings(words, links), key=lambda places: _likeness(places, words, tokens), default=None)
    if best is None:
        raise ValueError(f"{len(words)} words and {len(links)} links whose distances do not fit")
    return [(*ends, link[2]) for link in links if (ends := _ends(best, link))]


def _readings(words: Sequence[str], links: Sequence[FileLink]) -> Iterator[Places]:
    """Ways to give each token that has a link its words, one after the other, so that all distances are right."""
    last = len(words) - 1
    places: Places = {0: {0: None}, RIGHT_WALL: {last: None}}
    linked = [i for i in range(1, last) if not is_unused(words[i])]
    inner = sorted({token for link in links for token in link[:2]} - set(places))
    ready = defaultdict(list)  # links by the end that gets its words last; the walls have theirs
    for link in links:
        ready[max(link[:2])].append(link)
    steps_left = STEPS * (len(words) + len(links))

    def count(steps: int) -> None:
        nonlocal steps_left
        steps_left -= steps
        if steps_left < 0:
            raise ValueError(f"{len(words)} words and {len(links)} links that have too many readings to try")

    def place(k: int, start: int) -> Iterator[Places]:
        if k == len(inner):
            count(len(links))
            ends = {word for link in links for word in _ends(places, link) or ()}
            if start == len(linked) and set(linked) <= ends:
                yield dict(places)
            return
        token = inner[k]
        for stop in range(start + 1, len(linked) - (len(inner) - k - 1) + 1):
            count(stop - start + sum(len(places.get(link[0], ())) for link in ready[token]))
            places[token] = dict.fromkeys(linked[start:stop])
            if all(_ends(places, link) for link in ready[token]):
                yield from place(k + 1, stop)
        places.pop(token, None)

    if all(_ends(places, link) for link in ready[0]):
        yield from place(0, 0)


def _ends(places: Places, link: FileLink) -> tuple[int, int] | None:
    left, right, _, distance = link
    return next(((word, word + distance) for word in places[left] if word + distance in places[right]), None)


def _likeness(places: Places, words: Sequence[str], tokens: Sequence[str]) -> int:
    """How many tokens begin like the first of their words; two letters tell neighbors apart."""
    return sum(
        words[next(iter(placed))][:2].lower() == tokens[token - 1][:2].lower()
        for token, placed in places.items()
        if token > 0
    )


def is_unused(word: str) -> bool:
    """Return whether the parser found no place for a word; it writes such words in brackets.

    Examples
    --------
    >>> from papers.tsivtsivadze2008.parses import is_unused
    >>> is_unused("[the]"), is_unused("Obama[!<CAPITALIZED-WORDS>]"), is_unused("[")
    (True, False, False)
    """
    return len(word) > 2 and word.startswith("[") and word.endswith("]")
