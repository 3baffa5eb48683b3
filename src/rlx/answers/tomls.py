"""task.toml: the text as it was written with answer values masked, and the parsed values.

The text is scanned by a reader of TOML's grammar that never gives up: where it does not understand a line it goes on
with the next, and from where it cannot tell what belongs to what it masks the rest. What it leaves is then parsed and
judged by the key policy as values, and if an answer is still there every value is masked.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rlx.answers import keys
from rlx.answers.comments import tells
from rlx.answers.records import VARIABLE, Policy, parse_json, record
from rlx.answers.shown import MARK, Masked, MaskedJson, show
from rlx.answers.spans import CONTINUED, Mask
from rlx.texts import say

LIMIT: Final = 256 * 1024
"""Characters of a task.toml that are looked at. The largest real one has about 60,000."""
_PARSED: Final = 64 * 1024
_PARTS: Final = 40
"""Parts of a dotted key. tomllib needs seconds for thousands."""
_DEPTH: Final = 40

_GIVEN: Final = ("solution", "env")
TOML = Policy("toml", look=frozenset({"solution", "solution.env"}), given=frozenset({".".join(_GIVEN)}))
"""`[solution]` is Harbor's table of settings; its keys are judged one by one. Its `env` goes to the solution alone."""

_BROKEN: Final = 2_000
"""Characters of a line that breaks the grammar and is still searched for names."""

_NAMED = re.compile(r"[\w.\"' -]{1,80}(?=\s*[=:])")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SPACE = re.compile(r"[ \t]*")
_GAP = re.compile(r"[ \t\r\n]*")
_LINE = re.compile(r"[^\n]*")
_PLAIN = re.compile(r"[^\s,\]}#]+(?: [0-9][^\s,\]}#]*)?")
_QUOTED = {'"': re.compile(r'"(?:[^"\\\n]|\\.)*"'), "'": re.compile(r"'[^'\n]*'")}
_LONG = {
    '"""': re.compile(r'"""(?:[^\\]|\\.)*?"""(?:"{0,2})', re.DOTALL),
    "'''": re.compile(r"'''.*?'''(?:'{0,2})", re.DOTALL),
}
_ESCAPED = {"n": "\n", "t": "\t"}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


def toml_values(table: Mapping[str, object], *, path: str) -> MaskedJson:
    """The parsed metadata with answers replaced."""
    return record(table, policy=TOML, at=path)


def toml_text(text: str, *, path: str) -> Masked:
    """The text with answer values masked, whether or not it parses. Never raises."""
    cut = text[:LIMIT]
    scan = _Scan(Mask(cut))
    scan.run()
    shown = scan.mask.apply(path)
    if not _settled(shown.text):
        mask = Mask(cut)
        _mask_every_value(mask)
        shown = mask.apply(path)
    if len(text) > LIMIT:
        note = MARK if cut.endswith("\n") else f"\n{MARK}"
        shown = Masked(show(shown.text + note), shown.masked, shown.withheld)
    return shown


def _settled(text: str) -> bool:
    """Whether the values that are left hold no answer. Text that does not parse has no values to ask."""
    if len(text) > _PARSED or max((line.count(".") for line in text.split("\n")), default=0) > 400:
        return True
    if any(line.split("=")[0].count(".") > _PARTS for line in text.split("\n")):
        return True
    try:
        written = text.replace("\r\n", "\n").replace(f"\n{CONTINUED}", "").lstrip("\ufeff")
        table = tomllib.loads(written.replace(MARK, f'"{MARK}"'))
    except (tomllib.TOMLDecodeError, RecursionError):
        return True
    return not record(_drop_marks(table), policy=TOML).withheld


def _drop_marks(value: object) -> object:
    if isinstance(value, dict):
        return {key: _drop_marks(inner) for key, inner in value.items() if inner != MARK}
    if isinstance(value, list):
        return [_drop_marks(inner) for inner in value if inner != MARK]
    return value


def _mask_every_value(mask: Mask) -> None:
    at = 0
    for line in mask.text.split("\n"):
        end = at + len(line.rstrip("\r"))
        if not line.lstrip().startswith("[") and line.strip():
            equals = line.find("=")
            mask.add(at + equals + 2 if equals >= 0 else at, end, say("answers.toml_unread"))
        at += len(line) + 1


class _Lost(Exception):
    """The grammar was left; `where` is how far the text is understood."""

    def __init__(self, where: int) -> None:
        self.where = where


@dataclass(slots=True)
class _Scan:
    mask: Mask
    at: int = 0
    table: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return self.mask.text

    def run(self) -> None:
        self.at = 1 if self.text.startswith("\ufeff") else 0
        while self.at < len(self.text):
            self.at = self._after(_GAP)
            if self.at >= len(self.text):
                return
            start = self.at
            try:
                self._statement()
            except _Lost as lost:
                self._lost(start, lost.where)

    def _statement(self) -> None:
        here = self.text[self.at]
        if here == "#":
            self._comment()
        elif here == "[":
            self._header()
        else:
            path = (*self.table, *self._key())
            self._expect("=")
            self._value(path, hidden=False, depth=0)
            self._rest_of_line()

    def _header(self) -> None:
        double = self.text.startswith("[[", self.at)
        self.at += 2 if double else 1
        self.table = tuple(self._key())
        self._expect("]]" if double else "]")
        self._rest_of_line()

    def _key(self) -> list[str]:
        parts: list[str] = []
        while True:
            self.at = self._after(_SPACE)
            quote = self.text[self.at : self.at + 1]
            match = _QUOTED[quote].match(self.text, self.at) if quote in _QUOTED else _BARE.match(self.text, self.at)
            if not match:
                raise _Lost(self.at)
            parts.append(_ESCAPE.sub(r"\1", match[0][1:-1]) if quote in _QUOTED else match[0])
            self.at = match.end()
            after = self._after(_SPACE)
            if not self.text.startswith(".", after):
                return parts
            self.at = after + 1

    def _value(self, path: tuple[str, ...], *, hidden: bool, depth: int) -> None:
        """Read one value and mask it when its path holds an answer."""
        self.at = self._after(_SPACE)
        if depth > _DEPTH or self.at >= len(self.text):
            raise _Lost(self.at)
        start, here = self.at, self.text[self.at]
        hide = not hidden and _hidden(path)
        if here == "[":
            self._array(path, hidden=hidden or hide, depth=depth)
        elif here == "{":
            self._inline(path, hidden=hidden or hide, depth=depth)
        else:
            self._scalar()
        raw = self.text[start : self.at]
        if path[:-1] == _GIVEN and VARIABLE.fullmatch(raw.strip("\"'")):
            return
        if not hidden and ((hide and not _empty(path[-1], raw)) or _json_with_answer(raw)):
            self.mask.add(start, self.at, say("answers.key"))

    def _scalar(self) -> None:
        for quotes in ('"""', "'''"):
            if self.text.startswith(quotes, self.at):
                match = _LONG[quotes].match(self.text, self.at)
                if not match:
                    raise _Lost(len(self.text))
                self.at = match.end()
                return
        quote = self.text[self.at]
        match = _QUOTED[quote].match(self.text, self.at) if quote in _QUOTED else _PLAIN.match(self.text, self.at)
        if not match:
            raise _Lost(self.at)
        self.at = match.end()

    def _array(self, path: tuple[str, ...], *, hidden: bool, depth: int) -> None:
        self.at += 1
        while True:
            self._gap()
            if self.text.startswith("]", self.at):
                self.at += 1
                return
            self._value(path, hidden=hidden, depth=depth + 1)
            self._gap()
            if self.text.startswith(",", self.at):
                self.at += 1
            elif not self.text.startswith("]", self.at):
                raise _Lost(self.at)

    def _inline(self, path: tuple[str, ...], *, hidden: bool, depth: int) -> None:
        self.at += 1
        while True:
            self._gap()
            if self.text.startswith("}", self.at):
                self.at += 1
                return
            inner = (*path, *self._key())
            self._expect("=")
            self._value(inner, hidden=hidden, depth=depth + 1)
            self._gap()
            if self.text.startswith(",", self.at):
                self.at += 1
            elif not self.text.startswith("}", self.at):
                raise _Lost(self.at)

    def _gap(self) -> None:
        """Blank space and comments between the elements of a list."""
        self.at = self._after(_GAP)
        while self.text.startswith("#", self.at):
            self._comment()
            self.at = self._after(_GAP)

    def _comment(self) -> None:
        end = self._after(_LINE)
        stretch = tells(self.text[self.at : end].rstrip("\r"))
        if stretch:
            self.mask.add(self.at + stretch[0], self.at + stretch[1], say("answers.comment"))
        self.at = end

    def _rest_of_line(self) -> None:
        self.at = self._after(_SPACE)
        if self.text.startswith("#", self.at):
            self._comment()
        elif self.at < len(self.text) and self.text[self.at] not in "\r\n":
            raise _Lost(self.at)

    def _expect(self, what: str) -> None:
        self.at = self._after(_SPACE)
        if not self.text.startswith(what, self.at):
            raise _Lost(self.at)
        self.at += len(what)

    def _after(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self.text, self.at)
        return match.end() if match else self.at

    def _lost(self, start: int, where: int) -> None:
        """Past the grammar. An answer's line is masked to its end; an unclosed list or text hides all that follows."""
        line_end = self.text.find("\n", where)
        line_end = len(self.text) if line_end < 0 else line_end
        if where > start and "\n" in self.text[start:where]:
            self.mask.add(start, len(self.text), say("answers.toml_unread"))
            self.at = len(self.text)
            return
        line = self.text[start:line_end]
        open_end = line.count("[") > line.count("]") or line.count("{") > line.count("}") or line.count('"""') % 2
        if open_end and not line.startswith("["):
            self.mask.add(start, len(self.text), say("answers.toml_unread"))
            self.at = len(self.text)
            return
        if len(line) > _BROKEN:
            self.mask.add(start, line_end, say("answers.toml_unread"))
            line = ""
        names = [word for word in _NAMED.findall(line) if keys.is_answer_key(word)]
        if names or _hidden(self.table):
            equals = re.search(r"[=:]\s*", line)
            self.mask.add(start + (equals.end() if equals else 0), start + len(line.rstrip("\r")), say("answers.key"))
        self.at = line_end + 1


def _hidden(path: tuple[str, ...]) -> bool:
    """Whether a key, or a table above it, holds an answer. `[solution]` at the top is Harbor's table of settings."""
    if len(path) > len(_GIVEN) and path[: len(_GIVEN)] == _GIVEN:
        return True
    return any(keys.is_answer_key(part) for at, part in enumerate(path) if at > 0 or part != "solution")


def _empty(key: str, raw: str) -> bool:
    return raw in {'""', "''", '""""""', "''''''"} or not raw.strip("[]{} \t\r\n")


def _json_with_answer(raw: str) -> bool:
    body = raw.strip("\"'")
    if not body.lstrip().startswith(("{", "[", '\\"')):
        return False
    text = body if raw.startswith("'") else _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), body)
    try:
        inner, _ = parse_json(text)
    except RecursionError:
        return True
    except ValueError:
        return any(keys.is_answer_key(match) for match in re.findall(r"[\"'](\w[\w -]*)[\"']\s*:", text))
    return bool(record(inner).withheld)
