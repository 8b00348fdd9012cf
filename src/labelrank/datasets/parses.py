"""Link-grammar parses of sentences, several a sentence, each with its score: the parse-ranking task."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from labelrank.datasets._bunch import make_bunch
from labelrank.datasets._files import PathLike, excerpt, malformed, read_lines

COSTS = ("unused", "disjunct", "link_cost")
_SENTENCE = {"sent_id": "a text", "text": "a text", "tokens": "a list", "parses": "a list"}
_PARSE = {"words": "a list", "links": "a list", "f1": "a number", "lg_index": "a number"}
_KINDS: dict[str, Any] = {"a text": str, "a list": list, "a number": (int, float)}
_RIGHT_WALL = -1  # in place of the 0 that stands in the file for the right wall, and for the left one too

FileLink = tuple[int, int, str, int]  # token, token, type, distance in words
Link = tuple[int, int, str]  # word, word, type
Places = dict[int, list[int]]  # token -> its words


def read_parses(path: PathLike) -> Bunch:
    r"""Read parses of sentences from a file of JSON lines.

    Parameters
    ----------
    path : str or path-like
        One sentence a line, with ``sent_id``, ``text``, ``tokens`` and ``parses``. A parse has ``words`` (the words of
        the parser, a wall at each end, in brackets what it could not use), ``f1`` (its score against the correct
        parse), ``lg_index`` (its place in the order of the parser), the costs ``unused``, ``disjunct`` and
        ``link_cost``, and ``links``: left end, right end, type, distance in words. The ends are numbers of tokens from
        1, with 0 for both walls. One that ends in ``.gz`` is unpacked.

    Returns
    -------
    Bunch
        - ``data``: list of parses, each a dict with ``words``, a list of texts, and ``links``, a list of (left word,
          right word, type), numbered from 0 as in ``words``. For :class:`~labelrank.features.ParsePathVectorizer`;
        - ``target``: array of the scores, larger is better;
        - ``groups``: array, for each parse the number of its sentence;
        - ``costs``: array of shape (n_parses, 3), what the parser has to say, smaller is better; ``cost_names`` are
          ``unused``, ``disjunct`` and ``link_cost``;
        - ``parser_rank``: array, the place of each parse in the order of the parser, from 0;
        - ``text``, ``sample_id``: of each sentence;
        - ``feature_names``, ``label_names``: empty;
        - ``DESCR``: where it comes from.

    Notes
    -----
    Tokens are not the words of the parser: ``two-year-old`` is five tokens and one word, ``it's`` has two words that
    both go by the first token. Which word a link ends at follows from the distances, since the words of a token are
    neighbours and every word that is not in brackets has a link. Where several readings are left, the one is taken
    whose words look most like their tokens.

    Examples
    --------
    >>> import json, tempfile, pathlib
    >>> from labelrank.datasets import read_parses
    >>> words = ["LEFT-WALL", "it", "'s.v", "late.a", "RIGHT-WALL"]
    >>> links = [[0, 1, "Wd", 1], [1, 1, "Ss", 1], [1, 3, "Pa", 1], [0, 0, "RW", 4]]
    >>> costs = {"unused": 0, "disjunct": 0.5, "link_cost": 4}
    >>> parse = {"words": words, "links": links, "f1": 0.9, "lg_index": 0, **costs}
    >>> sentence = {"sent_id": "s1", "text": "It's late", "tokens": ["It", "'s", "late"], "parses": [parse]}
    >>> path = pathlib.Path(tempfile.mkdtemp(), "parses.jsonl")
    >>> _ = path.write_text(json.dumps(sentence))
    >>> read_parses(path).data[0]["links"]
    [(0, 1, 'Wd'), (1, 2, 'Ss'), (2, 3, 'Pa'), (0, 4, 'RW')]
    """
    sentences = [_object(path, number, line) for number, line in read_lines(path) if line.strip()]
    if not sentences:
        raise malformed(path, None, "a sentence", "an empty file")
    parses = [parse for sentence in sentences for parse in sentence["parses"]]
    sizes = [len(sentence["parses"]) for sentence in sentences]
    descr = f"Link-grammar parses, read from {Path(path).name}: {len(sentences)} sentences, {len(parses)} parses."
    return make_bunch(
        [{"words": parse["words"], "links": parse["links"]} for parse in parses],
        np.array([parse["f1"] for parse in parses], dtype=np.float64),
        [],
        [],
        descr,
        groups=np.repeat(np.arange(len(sentences)), sizes),
        costs=np.array([[parse[name] for name in COSTS] for parse in parses], dtype=np.float64).reshape(-1, len(COSTS)),
        cost_names=list(COSTS),
        parser_rank=np.array([parse["lg_index"] for parse in parses], dtype=np.int64),
        text=[sentence["text"] for sentence in sentences],
        sample_id=np.array([sentence["sent_id"] for sentence in sentences], dtype=object),
    )


# --- What a line must hold


def _object(path: PathLike, number: int, line: str) -> dict[str, Any]:
    try:
        sentence = json.loads(line)
    except json.JSONDecodeError as error:
        raise malformed(path, number, "a JSON object", f"{excerpt(line)} ({error.msg})") from error
    if not isinstance(sentence, dict):
        raise malformed(path, number, "a JSON object", excerpt(line))
    _check_fields(path, number, sentence, _SENTENCE, "")
    for place, parse in enumerate(sentence["parses"]):
        where = f" of parse {place}"
        if not isinstance(parse, dict):
            raise malformed(path, number, f"a JSON object for parse {place}", excerpt(repr(parse)))
        _check_fields(path, number, parse, {**_PARSE, **dict.fromkeys(COSTS, "a number")}, where)
        links = []
        for link in parse["links"]:
            if not _is_link(link, len(sentence["tokens"])):
                expected = f"links [left, right, type, distance] between tokens 0 to {len(sentence['tokens'])}"
                raise malformed(path, number, expected + where, excerpt(repr(link)))
            # A link goes to the right, so a right end of 0 is the wall at that end.
            links.append((link[0], link[1] or _RIGHT_WALL, link[2], link[3]))
        try:
            parse["links"] = links_of_words(parse["words"], sentence["tokens"], links)
        except ValueError as error:
            raise malformed(path, number, "links whose distances fit the words" + where, str(error)) from error
    return sentence


def _check_fields(path: PathLike, number: int, found: dict[str, Any], fields: dict[str, str], where: str) -> None:
    for name, kind in fields.items():
        value = found.get(name)
        if not isinstance(value, _KINDS[kind]) or isinstance(value, bool):
            raise malformed(path, number, f"the field {name!r}{where}, {kind}", excerpt(repr(value)))


def _is_link(link: Any, n_tokens: int) -> bool:
    if not isinstance(link, list) or len(link) != 4 or not isinstance(link[2], str):
        return False
    numbers = (link[0], link[1], link[3])
    whole = all(isinstance(number, int) and not isinstance(number, bool) for number in numbers)
    return whole and 0 <= link[0] <= n_tokens and 0 <= link[1] <= n_tokens and link[3] > 0


# --- From tokens to words


def links_of_words(words: Sequence[str], tokens: Sequence[str], links: Sequence[FileLink]) -> list[Link]:
    """The links between words, given those between tokens and their distances in words.

    Examples
    --------
    >>> from labelrank.datasets.parses import links_of_words
    >>> words = ["LEFT-WALL", "[oh]", "no", "RIGHT-WALL"]
    >>> links_of_words(words, ["Oh", "no"], [(0, 2, "W", 2), (2, -1, "RW", 1)])  # -1 is the right wall
    [(0, 2, 'W'), (2, 3, 'RW')]
    """
    best: Places | None = None
    most = -1
    for places in _readings(words, links):
        likeness = _likeness(places, words, tokens)
        if likeness > most:
            best, most = places, likeness
    if best is None:
        raise ValueError(f"{len(words)} words and {len(links)} links that do not fit")
    return [(*_ends(best, link), link[2]) for link in links]


def _readings(words: Sequence[str], links: Sequence[FileLink]) -> Iterator[Places]:
    """Ways to give each token that has a link its words, one after the other, so that all distances are right."""
    last = len(words) - 1
    places: Places = {0: [0], _RIGHT_WALL: [last]}
    linked = [i for i in range(1, last) if not is_unused(words[i])]
    inner = sorted({token for link in links for token in link[:2]} - set(places))
    ready = defaultdict(list)  # links by the end that gets its words last; the walls have theirs
    for link in links:
        ready[max(link[:2])].append(link)
    if not all(_ends_or_none(places, link) for link in ready[0]):
        return

    def place(k: int, start: int) -> Iterator[Places]:
        if k == len(inner):
            if start == len(linked) and _all_linked(places, links, linked):
                yield dict(places)
            return
        token = inner[k]
        for stop in range(start + 1, len(linked) - (len(inner) - k - 1) + 1):
            places[token] = linked[start:stop]
            if all(_ends_or_none(places, link) for link in ready[token]):
                yield from place(k + 1, stop)
        places.pop(token, None)

    yield from place(0, 0)


def _ends_or_none(places: Places, link: FileLink) -> tuple[int, int] | None:
    left, right, _, distance = link
    return next(((a, b) for a in places[left] for b in places[right] if b - a == distance), None)


def _ends(places: Places, link: FileLink) -> tuple[int, int]:
    found = _ends_or_none(places, link)
    assert found is not None  # a reading has both ends of every link
    return found


def _all_linked(places: Places, links: Sequence[FileLink], linked: Sequence[int]) -> bool:
    return set(linked) <= {word for link in links for word in _ends(places, link)}


def _likeness(places: Places, words: Sequence[str], tokens: Sequence[str]) -> int:
    """How many tokens begin like the first of their words; two letters tell neighbours apart."""
    return sum(
        words[placed[0]][:2].lower() == tokens[token - 1][:2].lower() for token, placed in places.items() if token > 0
    )


def is_unused(word: str) -> bool:
    """Whether the parser found no place for a word; it writes such words in brackets.

    Examples
    --------
    >>> from labelrank.datasets.parses import is_unused
    >>> is_unused("[the]"), is_unused("Obama[!<CAPITALIZED-WORDS>]"), is_unused("[")
    (True, False, False)
    """
    return len(word) > 2 and word.startswith("[") and word.endswith("]")
