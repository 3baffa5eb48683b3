"""How tasks are searched: what their words are, and which of them a query asks for.

A word is a run of letters and digits, folded. Chinese, Japanese and Korean are written without spaces, or with endings
that grow onto words, so their runs are indexed as single characters and pairs, and found inside longer runs.
"""

import re
import unicodedata
from collections.abc import Iterable

MAX_WORDS = 8
"""Words of a query; more are ignored."""
MAX_WORD = 40
"""Characters of a word; the rest are ignored, in tasks and in queries."""

_JOINED = (
    r"\u1100-\u11ff\u3005\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    r"\U00020000-\U0003ffff"
)
_RUNS = re.compile(rf"([{_JOINED}]+)|((?:(?![{_JOINED}])[^\W_])+)")
_ASCII_WORDS = re.compile(rf"([a-z0-9]{{1,{MAX_WORD}}})[a-z0-9]*")

# Private characters, which no word holds, make tokens that are no words of the text. One character is all a token of
# that kind needs, and then no index of beginnings knows it.
_TITLE = "\ue000"
_FACETS = 0xF0000
_ENVS = 0x100000
_PLANE = 0xFFFD
"""Characters of a plane that may be used."""


def tokens(text: str) -> set[str]:
    """Everything by which a text can be found."""
    if text.isascii():
        return set(_ASCII_WORDS.findall(text.lower()))
    found: set[str] = set()
    for joined, word in _RUNS.findall(_folded(text)):
        if word:
            found.add(word[:MAX_WORD])
        else:
            found.update(joined)
            found.update(_pairs(joined))
    return found


def asked(text: str) -> tuple[str, ...]:
    """The tokens a query asks for, each once: all must occur. One with `*` at its end may go on."""
    found: dict[str, None] = {}
    for joined, word in _RUNS.findall(_folded(text)):
        if word:
            word = word[:MAX_WORD]
            found[f"{word}*" if len(word) > 1 else word] = None
        else:
            found |= dict.fromkeys(_pairs(joined) or [joined])
    return tuple(found)[:MAX_WORDS]


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
    found: list[tuple[int, int]] = []
    heads = [token.removesuffix("*") for token in wanted if token.isascii()]
    if heads:
        head = "|".join(re.escape(word) for word in sorted(heads, key=len, reverse=True))
        found += [item.span() for item in re.finditer(rf"(?<![^\W_])(?:{head})", text, re.IGNORECASE | re.ASCII)]
    for token in wanted:
        if not token.isascii():
            found += [item.span() for item in re.finditer(re.escape(token.removesuffix("*")), text, re.IGNORECASE)]
    return _joined(sorted(found))


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


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _pairs(run: str) -> list[str]:
    return [run[place : place + 2] for place in range(len(run) - 1)]
