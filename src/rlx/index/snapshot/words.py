"""How tasks are searched: what their words are, and which of them a query asks for.

A word is a run of letters and digits with the marks on them, folded. Chinese, Japanese, Korean, Thai, Lao, Khmer and
Burmese are written without spaces, or with endings that grow onto words, so their runs are indexed as single characters
and pairs, and found inside longer runs.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache

from rlx.index.folding import fold

MAX_WORDS = 8
"""Words of a query, runs of unspaced writing among them; more are ignored."""
MAX_WORD = 40
"""Characters of a word; the rest are ignored, in tasks and in queries."""
SHORTEST = 3
"""Characters of a word that may go on in what it finds; a shorter one finds whole words alone."""

_JOINED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u312f\u3130-\u318f\u31a0-\u31bf\u31f0-\u31ff"
    r"\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9ff\uaa60-\uaa7f\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_SELECTORS = range(0xFE00, 0xFE10)
"""They choose how a character is drawn, and are marks by name alone."""
_ASCII = str.maketrans({chr(code): chr(code).lower() if chr(code).isalnum() else " " for code in range(128)})
"""Folds a text of few kinds of characters, and parts its words by spaces: much faster than a pattern."""

# Private characters, which no word holds, make tokens that are no words of the text. One character is all a token of
# that kind needs, and then no index of beginnings knows it.
_TITLE = "\ue000"
_FACETS = 0xF0000
_ENVS = 0x100000
_PLANE = 0xFFFD
"""Characters of a plane that may be used."""


@cache
def _runs() -> re.Pattern[str]:
    """Runs of joined writing, and words with their marks, which the pattern language cannot name.

    Made when the first text asks for it: it takes longer than a search.
    """
    letters = rf"[^\W_{_JOINED}]"
    return re.compile(rf"([{_JOINED}]+)|({letters}+(?:(?:(?![{_JOINED}])[{_marks()}])+{letters}*)*)")


@cache
def _clusters() -> re.Pattern[str]:
    """Pieces of a text that are folded each by itself: a character and those that join it."""
    return re.compile(rf".[{_marks()}\u1160-\u11ff\uff9e\uff9f]*", re.DOTALL)


@cache
def _marks() -> str:
    codes = (code for code in range(0x300, 0x1F000) if code not in _SELECTORS)
    return "".join(chr(code) for code in codes if unicodedata.category(chr(code)) in {"Mn", "Mc"})


def tokens(text: str) -> set[str]:
    """Everything by which a text can be found."""
    if text.isascii():
        words = set(text.translate(_ASCII).split())
        return words if max(map(len, words), default=0) <= MAX_WORD else {word[:MAX_WORD] for word in words}
    found: set[str] = set()
    for joined, word in _runs().findall(fold(text)):
        if word:
            found.add(word[:MAX_WORD])
        else:
            found.update(joined)
            found.update(_pairs(joined))
    return found


def asked(text: str) -> tuple[str, ...]:
    """The tokens a query asks for, each once: all must occur. One with `*` at its end may go on."""
    if text.isascii():
        runs = [("", word) for word in text.translate(_ASCII).split()]
    else:
        runs = _runs().findall(fold(text))
    found: dict[str, None] = {}
    for joined, word in runs[:MAX_WORDS]:
        if word:
            word = word[:MAX_WORD]
            found[f"{word}*" if len(word) >= SHORTEST else word] = None
        else:
            found |= dict.fromkeys(_pairs(joined[:MAX_WORD]) or [joined])
    return tuple(found)


def title_tokens(tokens: Iterable[str]) -> str:
    """The tokens of what a task is called, kept apart from the others; separated by spaces."""
    return " ".join([_TITLE + token for token in tokens])


def facet_token(number: int) -> str:
    """The token of one value of a facet; `number` counts the values of all facets."""
    return _private(_FACETS, number)


def env_token(place: int) -> str:
    """The token of one environment, by its place in the listing."""
    return _private(_ENVS, place)


def match(wanted: tuple[str, ...], *, called: bool = False, whole: bool = False) -> str:
    """The words of an FTS5 query: each a quoted string, so that none is an operator.

    `called` asks for tasks that are called so, `whole` for words that do not go on.
    """
    mark = _TITLE if called else ""
    return " AND ".join(
        f'"{mark}{token.removesuffix("*")}"{"*" if token.endswith("*") and not whole else ""}' for token in wanted
    )


def spans(text: str, wanted: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    """Where in `text` the words of a query stand, as start and end, in order and apart."""
    if not wanted:
        return ()
    if text.isascii():
        return tuple(found.span() for found in _ascii_spans(wanted).finditer(text.lower()))
    folded, starts = _mapped(text)
    whole = {token for token in wanted if not token.endswith("*")}
    heads = tuple(token.removesuffix("*") for token in wanted if token.endswith("*"))
    found: list[tuple[int, int]] = []
    for run in _runs().finditer(folded):
        joined, word = run.groups()
        first = run.start()
        if word:
            sizes = [len(word)] if word in whole else [len(head) for head in heads if word.startswith(head)]
            found += [(first, first + max(sizes))] if sizes else []
        else:
            found += [
                (first + place, first + place + size)
                for size in (1, 2)
                for place in range(len(joined) - size + 1)
                if joined[place : place + size] in whole
            ]
    return _joined(sorted((starts[start], _after(starts, end)) for start, end in found))


@lru_cache(64)
def _ascii_spans(wanted: tuple[str, ...]) -> re.Pattern[str]:
    """What stands where a word begins; the longest first. In a text of few kinds of characters that says it all."""
    heads = sorted((token for token in wanted if token.isascii()), key=len, reverse=True)
    parts = [re.escape(token[:-1]) if token.endswith("*") else rf"{re.escape(token)}(?![a-z0-9])" for token in heads]
    return re.compile(rf"(?<![a-z0-9])(?:{'|'.join(parts) or '(?!)'})")


def _mapped(text: str) -> tuple[str, Sequence[int]]:
    """A text folded, and where each of its characters begins in what was not; at the end, where that ends."""
    folded = fold(text)
    if len(folded) == len(text.casefold()) == len(text) and unicodedata.is_normalized("NFKC", text):
        return folded, range(len(text) + 1)
    parts: list[str] = []
    starts: list[int] = []
    for cluster in _clusters().finditer(text):
        part = fold(cluster[0])
        parts.append(part)
        starts += [cluster.start()] * len(part)
    return "".join(parts), [*starts, len(text)]


def _after(starts: Sequence[int], end: int) -> int:
    """Where the character before the folded `end` ends: many may be of one."""
    last = starts[end - 1]
    return next(start for start in starts[end:] if start > last) if starts[-1] > last else last


def _joined(found: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    apart: list[tuple[int, int]] = []
    for start, end in found:
        if apart and start <= apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return tuple(apart)


def _private(plane: int, number: int) -> str:
    high, low = divmod(number, _PLANE)
    return (chr(plane + high - 1) if high else "") + chr(plane + low)


def _pairs(run: str) -> list[str]:
    return [run[place : place + 2] for place in range(len(run) - 1)]
