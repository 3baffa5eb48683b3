"""The answers that must not be shown, and a quick search for all of them in everything a site says."""

import html
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from rlx.errors import BadInput

CANARY = re.compile(r"RLX-CANARY-[A-Z0-9-]{6,}")
"""Planted in fixtures where answers stand."""
_ALMOST = re.compile(r"RLX[-_ ]?CANARY[A-Z0-9_-]*", re.IGNORECASE)
SHORTEST = 8
"""Characters of an answer. Shorter texts stand everywhere by chance."""
_STEP = 8


@dataclass(frozen=True, slots=True)
class Answer:
    """A text that must never be shown."""

    text: str
    repo: str = ""
    where: str = ""
    """A path or a row. Where it stands, for the report."""


def load(path: Path) -> list[Answer]:
    """The answers of a list: JSON objects with `text` and, for the report, `repo` and `where`. Raises `BadInput`."""
    try:
        rows = json.loads(path.read_text("utf-8"))
        return [Answer(str(row["text"]), str(row.get("repo", "")), str(row.get("where", ""))) for row in rows]
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadInput(f"{path} is no list of answers.", hint="It is a JSON list of {repo, where, text}.") from error


def planted(hub_root: Path) -> list[Answer]:
    """Every canary that stands in a file below `hub_root`, once for each repository."""
    return _standing(CANARY, hub_root)


def almost_planted(hub_root: Path) -> list[Answer]:
    """What was meant as a canary and is none, such as one in lower case or too short: nobody looks for it."""
    return [answer for answer in _standing(_ALMOST, hub_root) if not CANARY.match(answer.text)]


def too_short(answers: Iterable[Answer]) -> list[Answer]:
    """Those that `Needles` does not look for."""
    return [answer for answer in answers if len(answer.text) < SHORTEST]


def _standing(pattern: re.Pattern[str], hub_root: Path) -> list[Answer]:
    found: dict[tuple[str, str], Answer] = {}
    for path in sorted(hub_root.rglob("*")):
        if path.is_file():
            parts = path.relative_to(hub_root).parts
            repo, where = "/".join(parts[1:3]), "/".join(parts[3:])
            for match in pattern.finditer(path.read_bytes().decode("utf-8", "replace")):
                found.setdefault((repo, match[0]), Answer(match[0], repo, where))
    return list(found.values())


class Needles:
    """Finds any of many texts, in the forms in which a site may write them, in one pass over a page.

    A page is cut at every eighth character into pieces of eight; a text of 15 characters or more holds one of its own
    pieces whole, at one of eight shifts, so a table of pieces tells where to look closely. Shorter texts are searched.
    """

    def __init__(self, answers: Iterable[Answer]) -> None:
        self._pieces: dict[str, list[tuple[str, int, Answer]]] = {}
        self._short: list[tuple[str, Answer]] = []
        seen: set[str] = set()
        for answer in answers:
            for form in dict.fromkeys(forms(answer.text)):
                if len(form) < SHORTEST or form in seen:
                    continue
                seen.add(form)
                if len(form) < 2 * _STEP - 1:
                    self._short.append((form, answer))
                else:
                    for shift in range(_STEP):
                        self._pieces.setdefault(form[shift : shift + _STEP], []).append((form, shift, answer))

    def find(self, text: str) -> list[Answer]:
        found = {id(answer): answer for form, answer in self._short if form in text}
        pieces = self._pieces
        for at in range(0, len(text) - _STEP + 1, _STEP):
            candidates = pieces.get(text[at : at + _STEP])
            if candidates:
                for form, shift, answer in candidates:
                    if id(answer) not in found and text.startswith(form, at - shift) and at >= shift:
                        found[id(answer)] = answer
        return list(found.values())


def forms(text: str) -> Iterator[str]:
    """The ways a site may write a text: raw, HTML-escaped, JSON-escaped, URL-escaped."""
    yield text
    yield text.replace("\r\n", "\n")
    escaped = html.escape(text)
    yield from (escaped, html.escape(text, quote=False), escaped.replace("&#x27;", "&#39;"))
    yield escaped.replace("&#x27;", "&#39;").replace("&quot;", "&#34;")
    for ascii_only in (True, False):
        written = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        yield written
        yield written.replace("/", "\\/")
        yield html.escape(written)
        yield json.dumps(written, ensure_ascii=ascii_only)[1:-1]
    yield quote(text)
    yield quote(text, safe="")
    yield quote(text).replace("%20", "+")
