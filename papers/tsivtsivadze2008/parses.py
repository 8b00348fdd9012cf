"""Link-grammar parses of sentences, several per sentence, each with its score."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from papers.frame.json_lines import read_json_lines

RIGHT_WALL = -1  # in place of the 0 that stands in the file for both walls

FileLink = tuple[int, int, str, int]  # token, token, type, distance in words
Link = tuple[int, int, str]  # word, word, type
Places = dict[int, list[int]]  # token -> its words


class Parse(NamedTuple):
    """Words, and links between them, numbered from 0."""

    words: Sequence[str]
    links: Sequence[Link]


def read_parses(path: Path) -> tuple[list[Parse], npt.NDArray[np.float64], npt.NDArray[np.intp]]:
    """Read parses, their scores, and the number of the sentence of each.

    A line of the file is a sentence with ``tokens`` and ``parses``. A parse has ``words`` (the words of the parser, a
    wall at each end, in brackets those that it could not use), ``f1`` (its score against the correct parse) and
    ``links``: left end, right end, type, distance in words. The ends are numbers of tokens from 1, with 0 for both
    walls.
    """
    parses, scores, groups = [], [], []
    for sentence, (number, found) in enumerate(read_json_lines(path)):
        for parse in found["parses"]:
            # A link goes to the right, so a right end of 0 is the wall at that end.
            links = [(left, right or RIGHT_WALL, kind, distance) for left, right, kind, distance in parse["links"]]
            try:
                parses.append(Parse(parse["words"], links_of_words(parse["words"], found["tokens"], links)))
            except ValueError as error:
                raise ValueError(f"{path.name}, line {number}: {error}") from error
            scores.append(parse["f1"])
            groups.append(sentence)
    return parses, np.array(scores, dtype=np.float64), np.array(groups, dtype=np.intp)


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
    places: Places = {0: [0], RIGHT_WALL: [last]}
    linked = [i for i in range(1, last) if not is_unused(words[i])]
    inner = sorted({token for link in links for token in link[:2]} - set(places))
    ready = defaultdict(list)  # links by the end that gets its words last; the walls have theirs
    for link in links:
        ready[max(link[:2])].append(link)
    if not all(_ends(places, link) for link in ready[0]):
        return

    def place(k: int, start: int) -> Iterator[Places]:
        if k == len(inner):
            ends = {word for link in links for word in _ends(places, link) or ()}
            if start == len(linked) and set(linked) <= ends:
                yield dict(places)
            return
        token = inner[k]
        for stop in range(start + 1, len(linked) - (len(inner) - k - 1) + 1):
            places[token] = linked[start:stop]
            if all(_ends(places, link) for link in ready[token]):
                yield from place(k + 1, stop)
        places.pop(token, None)

    yield from place(0, 0)


def _ends(places: Places, link: FileLink) -> tuple[int, int] | None:
    left, right, _, distance = link
    return next(((a, b) for a in places[left] for b in places[right] if b - a == distance), None)


def _likeness(places: Places, words: Sequence[str], tokens: Sequence[str]) -> int:
    """How many tokens begin like the first of their words; two letters tell neighbors apart."""
    return sum(
        words[placed[0]][:2].lower() == tokens[token - 1][:2].lower() for token, placed in places.items() if token > 0
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
