"""The text of a Dockerfile as instructions: directives, continued lines, comments, heredocs, flags, JSON forms.

Follows the parser of BuildKit's Dockerfile frontend. Reads any text: what it cannot read is a fault with its line.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from rlx.sandboxes.dockerfile.refusals import Refusal, Refused
from rlx.sandboxes.dockerfile.words import split

_WORDS = (
    "ADD ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL MAINTAINER ONBUILD RUN SHELL STOPSIGNAL USER VOLUME"
    " WORKDIR"
)
INSTRUCTIONS = frozenset(_WORDS.split())
_JSON = frozenset(("ADD", "CMD", "COPY", "ENTRYPOINT", "RUN", "SHELL", "VOLUME"))
_HEREDOCS = frozenset(("ADD", "COPY", "RUN"))
_MAY_BE_EMPTY = frozenset(("CMD", "ENTRYPOINT"))
_LARGEST = 1 << 20
_DIRECTIVE = re.compile(r"#\s*([a-zA-Z][a-zA-Z0-9]*)\s*=\s*(\S.*?)\s*")
_HEREDOC = re.compile(r"(\d*)<<(-?)\s*([^<\s][^<]*)")
_TABS = re.compile(r"^\t+", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Heredoc:
    name: str
    text: str
    """As in the file; `plain` is without what `<<-` takes away."""
    expand: bool
    chomp: bool

    @property
    def plain(self) -> str:
        return _TABS.sub("", self.text) if self.chomp else self.text


@dataclass(frozen=True, slots=True)
class Instruction:
    line: int
    """1-based, of its first line."""
    word: str
    flags: tuple[str, ...]
    """`--name=value` or `--name`, quotes taken away."""
    rest: str
    """What follows the flags, continued lines joined."""
    words: tuple[str, ...] | None
    """Of the JSON form; None: the shell form."""
    heredocs: tuple[Heredoc, ...]
    lines: tuple[str, ...]
    """As in the file, comments and heredocs included."""

    @property
    def text(self) -> str:
        return self.lines[0].strip()


@dataclass(frozen=True, slots=True)
class Dockerfile:
    instructions: tuple[Instruction, ...]
    escape: str
    syntax: str | None
    """The frontend that a `# syntax=` line asks for."""
    faults: tuple[Refusal, ...]


def parse(text: str) -> Dockerfile:
    """Never raises. Instructions that are unknown or cannot be read are faults, in the order of the file."""
    if len(text) > _LARGEST:
        return Dockerfile((), "\\", None, (Refused("unsupported", "file.large").at(None, ""),))
    lines = text.removeprefix("\ufeff").split("\n")
    faults: list[Refusal] = []
    escape, syntax = _directives(lines, faults)
    found: list[Instruction] = []
    cursor = _Lines(lines, escape)
    while cursor.at < len(lines):
        joined = cursor.joined()
        if joined is None:
            continue
        number = cursor.first
        try:
            found.append(_instruction(joined, number, cursor))
        except Refused as refused:
            faults.append(refused.at(number + 1, lines[number].strip()))
    return Dockerfile(tuple(found), escape, syntax, tuple(faults))


class _Lines:
    """A walk over the lines of a file."""

    def __init__(self, lines: list[str], escape: str) -> None:
        self.lines = lines
        self.at = 0
        self.first = 0
        self._continued = re.compile(rf"(^|[^{re.escape(escape)}]){re.escape(escape)}[ \t]*$")
        self.escape = escape

    def joined(self) -> str | None:
        """The next instruction on one line; None for a line that holds none."""
        self.first = self.at
        line, more = self._line(strip=True)
        if not line and not more:
            return None
        parts = [line]
        while more and self.at < len(self.lines):
            bare = self.lines[self.at].strip()
            if not bare or bare.startswith("#"):
                self.at += 1
                continue
            line, more = self._line(strip=False)
            parts.append(line)
        return "".join(parts)

    def _line(self, *, strip: bool) -> tuple[str, bool]:
        line = self.lines[self.at].rstrip("\r")
        self.at += 1
        if line.lstrip().startswith("#"):
            return "", False
        if strip:
            line = line.lstrip()
        # A pattern with `$` looks at every blank of a line; the last character that is none decides as well.
        if not line.rstrip(" \t").endswith(self.escape):
            return line if line.strip() else "", False
        cut, count = self._continued.subn(r"\1", line)
        return cut, count > 0

    def until(self, name: str, *, chomp: bool) -> str | None:
        """The lines before the one that ends a heredoc, line ends included; None when nothing ends it."""
        body: list[str] = []
        while self.at < len(self.lines):
            line = self.lines[self.at]
            self.at += 1
            bare = line.rstrip("\r")
            if (bare.lstrip("\t") if chomp else bare) == name:
                return "".join(body)
            body.append(f"{line}\n")
        return None


def _directives(lines: list[str], faults: list[Refusal]) -> tuple[str, str | None]:
    said: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        match = _DIRECTIVE.fullmatch(line.strip())
        name = match[1].lower() if match else ""
        if match is None or name not in ("syntax", "escape", "check"):
            break
        if name in said:
            faults.append(Refused("syntax", "directive.twice", name=name).at(number, line.strip()))
        said[name] = match[2]
        if name == "escape" and match[2] not in ("\\", "`"):
            faults.append(Refused("syntax", "directive.escape", text=match[2]).at(number, line.strip()))
            said[name] = "\\"
    return said.get("escape", "\\"), said.get("syntax")


def _instruction(line: str, first: int, cursor: _Lines) -> Instruction:
    word, *more = line.split(None, 1) or [cursor.escape]
    word, rest = word.upper(), "".join(more)
    if word not in INSTRUCTIONS:
        raise Refused("syntax", "instruction.unknown", name=word)
    flags, rest = _flags(rest.strip())
    words = _json(rest) if word in _JSON else None
    heredocs = tuple(_heredocs(line, cursor)) if word in _HEREDOCS and words is None and "<<" in line else ()
    if not rest and not (words or word in _MAY_BE_EMPTY):
        raise Refused("syntax", "instruction.empty", name=word)
    return Instruction(first + 1, word, flags, rest, words, heredocs, tuple(cursor.lines[first : cursor.at]))


def _flags(rest: str) -> tuple[tuple[str, ...], str]:
    """The words in front that begin with `--`, and what follows them."""
    found: list[str] = []
    at = 0
    while rest.startswith("--", at):
        word: list[str] = []
        quote = ""
        while at < len(rest):
            char = rest[at]
            if not quote and char.isspace():
                break
            at += 1
            if char == "\\" and at < len(rest):
                word.append(rest[at])
                at += 1
            elif char == quote:
                quote = ""
            elif not quote and char in "'\"":
                quote = char
            else:
                word.append(char)
        while at < len(rest) and rest[at].isspace():
            at += 1
        if word == ["-", "-"]:
            break
        found.append("".join(word))
    return tuple(found), rest[at:]


def _json(rest: str) -> tuple[str, ...] | None:
    if not rest.startswith("["):
        return None
    try:
        value = json.loads(rest)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise Refused("syntax", "json.strings")
    return tuple(value)


def _heredocs(line: str, cursor: _Lines) -> Iterator[Heredoc]:
    try:
        words = split(line, quotes=True, escapes=True)
    except Refused:
        return
    for word in words:
        if opened := heredoc_word(word):
            name, expand, chomp = opened
            body = cursor.until(name, chomp=chomp)
            if body is None:
                raise Refused("syntax", "heredoc.open", name=name)
            yield Heredoc(name, body, expand, chomp)


def heredoc_word(word: str) -> tuple[str, bool, bool] | None:
    """Name, whether variables are filled in, and whether tabs are taken away, of a word that opens a heredoc."""
    match = _HEREDOC.fullmatch(word)
    if match is None:
        return None
    try:
        plain, raw = split(match[3]), split(match[3], quotes=True)
    except Refused:
        return None
    if len(plain) != 1 or len(raw) != 1:
        return None
    quotes = [sum(map(word.count, "'\"")) for word in (plain[0], raw[0])]
    return plain[0], quotes[0] == quotes[1], match[2] == "-"
