"""Answers that are said again: where a record withholds a text, its occurrences in other texts are withheld too.

What a model tried is shown, and may have come upon the reference: printed by a tool, quoted by a user, handed in as the
patch that it is. A patch at the end of a conversation is what was handed in. A text is an echo whole, or as two or more
of its lines together. Short ones are as often a coincidence, but for tokens that no chance writes twice, as flags.
What was given to the agent, in its prompt or as a choice, is a choice among others, which hiding it would tell.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, takewhile
from typing import Final

from rlx.answers import keys
from rlx.answers.shown import MARK, Json

LEAST: Final = 12
"""Characters from which a text is told apart from a coincidence."""
TEXTS: Final = 20_000
"""Texts of one record whose echoes are sought; with more, whatever might hold one is withheld."""
WORK: Final = 64_000_000
"""Steps of comparing for one record; past these, texts are withheld."""
_FEW: Final = 100
"""Beginnings of texts up to which each is sought by itself."""
_SLOW: Final = 8
"""Steps that looking at each character of a text takes."""
_FAST: Final = 16
"""Characters of what the agent was given that are searched for a text in a step."""
_DEPTH: Final = 100
_PARSED: Final = 16 * 1024 * 1024
_AGENTS: Final = keys.names("assistant gpt model ai agent bot")
_ATTEMPTS: Final = keys.names(
    "output outputs outputtext completion completions response responses modelresponse modeltext modeloutput modelcode "
    "modelpatch policyresponse generatedresponse submission delegatedresponse opencoderunstdout opencoderunstderr"
)
"""Keys of what a model handed in: what it says is shown."""
_TOKEN: Final = re.compile(r"(?=[^A-Za-z]*[A-Za-z])(?=.*[\d{}_])[^\s\"'`<>]{6,200}")
"""A word that is told apart from a coincidence by what is in it beside letters, however short."""
_FLAG: Final = re.compile(r"\w{2,30}\{[^\s{}]{2,200}\}")

_DIFF: Final = re.compile(r"^(?:diff --git |--- \S.*\n\+\+\+ |@@ -\d)", re.MULTILINE)
_DIFF_LINE: Final = re.compile(r"(?:diff |index |new |deleted |old |similarity |rename |Binary |@@ |[-+ \\\\]|$)")
_LAST: Final = 2
"""Turns at the end of a conversation in which a patch is what the agent handed in."""


def patch_at(text: str) -> int | None:
    """Where a unified diff begins in `text`."""
    found = _DIFF.search(text) if "@@ -" in text else None
    return None if found is None else found.start()


@dataclass(slots=True)
class Echoes:
    """What was withheld of one record, gathered while it is masked, then sought in what is shown."""

    texts: dict[str, None] = field(default_factory=dict)
    hidden: int = 0
    """Occurrences that were replaced."""
    _work: int = WORK
    _tokens: dict[str, None] = field(default_factory=dict)
    """Texts shorter than `LEAST`, sought as whole words."""
    _token: re.Pattern[str] | None = None
    """Any of them."""
    _parsed: int = _PARSED
    _overflow: bool = False
    _starts: dict[str, list[str]] = field(default_factory=dict)
    """The texts by their first characters, the longest first."""
    _lines: set[tuple[str, str]] = field(default_factory=set)
    """Neighbouring lines of the texts that have some."""

    @property
    def sought(self) -> bool:
        """Whether there is anything to seek."""
        return bool(self.texts) or self._token is not None

    def gather(self, path: str, value: object) -> None:
        """Remember the texts of a value that is withheld at `path`; of what was made of an attempt, patches, flags and
        the token that was submitted alone."""
        *above, key = path.split(".")
        if isinstance(value, str) and len(value.strip()) < LEAST and _TOKEN.fullmatch(value.strip()):
            self._token_of(key, value.strip())
        patches_only = keys.flat(key) in _ATTEMPTS or keys.hold(key) == "attempt" or "scores" in above
        for text in strings(value):
            stripped = text.strip()
            if len(stripped) < LEAST or not any(map(str.isalnum, stripped)) or stripped in self.texts:
                continue
            if patches_only and "@@ -" not in stripped and not _is_handed_in(key, stripped):
                continue
            if len(self.texts) >= TEXTS:
                self._overflow = True
                return
            self.texts[stripped] = None

    def _token_of(self, key: str, token: str) -> None:
        attempt = keys.flat(key) in _ATTEMPTS or keys.hold(key) == "attempt"
        if (not attempt or _is_handed_in(key, token)) and len(self._tokens) < _FEW:
            self._tokens[token] = None

    def settle(self, values: Sequence[Json], beside: Iterable[Json] = ()) -> None:
        """Know of `values`, in which echoes are sought then, the patches at their ends; leave out what the agent was
        given, there and in the values `beside`: choices, of which hiding one would tell that it is the right one."""
        for value in values:
            for text in strings(value[-_LAST:] if isinstance(value, list) else None):
                begin = patch_at(text)
                if begin is not None:
                    self.gather("patch", "\n".join(takewhile(_DIFF_LINE.match, text[begin:].split("\n"))))
        told_first = (text for value in values for text in _given(value))
        given = "\n".join([*told_first, *(text for value in beside for text in strings(value))])
        for text in list(self.texts):
            self._work -= len(given) // _FAST
            if self._work < 0:
                break
            if text in given:
                del self.texts[text]
        tokens = [token for token in sorted(self._tokens, key=len, reverse=True) if token not in given]
        if tokens:
            self._token = re.compile("|".join(rf"(?<!\w){re.escape(token)}(?!\w)" for token in tokens))
        for text in sorted(self.texts, key=len, reverse=True):
            self._starts.setdefault(text[:LEAST], []).append(text)
            told = [line.rstrip() for line in text.split("\n")]
            self._lines.update(pair for pair in pairwise(told) if _tells(pair))
        if self._lines:
            self._lines.difference_update(pairwise(line.rstrip() for line in given.split("\n")))

    def masked(self, value: Json, depth: int = 0) -> Json:
        """`value` with what it repeats of the texts replaced by `MARK`."""
        if isinstance(value, str):
            return self._string(value, depth)
        if isinstance(value, dict) and depth <= _DEPTH:
            return {key: self.masked(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list) and depth <= _DEPTH:
            return [self.masked(item, depth + 1) for item in value]
        return value

    def _string(self, text: str, depth: int) -> str:
        """JSON in a string is looked into: its texts are written otherwise there, with their line ends spelled out."""
        if text.lstrip()[:1] in ("{", "[", '"') and depth <= _DEPTH and len(text) <= self._parsed:
            self._parsed -= len(text)
            try:
                inner = json.loads(text)
            except (ValueError, RecursionError):
                return self._text(text)
            before = self.hidden
            shown = self.masked(inner, depth + 1)
            if self.hidden > before:
                return json.dumps(shown, ensure_ascii=False)
        return self._text(text)

    def _text(self, text: str) -> str:
        if self._token is not None:
            self._work -= len(text)
            text, found = self._token.subn(MARK, text)
            self.hidden += found
        if len(text) < LEAST or not (self.texts or self._overflow):
            return text
        self._work -= len(text)
        if self._overflow or self._work < 0:
            self.hidden += 1
            return MARK
        text = self._without_texts(text)
        return self._without_lines(text) if self._lines and "\n" in text else text

    def _without_texts(self, text: str) -> str:
        out: list[str] = []
        done = 0
        for at in self._places(text):
            if at < done:
                continue
            starting = self._starts[text[at : at + LEAST]]
            self._work -= len(starting)
            length = next((len(item) for item in starting if text.startswith(item, at)), 0)
            if length:
                self.hidden += 1
                out += [text[done:at], MARK]
                done = at + length
        return "".join([*out, text[done:]])

    def _places(self, text: str) -> list[int]:
        """Where one of the texts may begin, in order."""
        if len(self._starts) > _FEW:
            self._work -= _SLOW * len(text)
            return [at for at in range(len(text) - LEAST + 1) if text[at : at + LEAST] in self._starts]
        found: list[int] = []
        for start in self._starts:
            at = text.find(start)
            while at >= 0:
                found.append(at)
                at = text.find(start, at + 1)
        return sorted(found)

    def _without_lines(self, text: str) -> str:
        """Runs of two or more lines that stand so in a withheld text, as one mark each."""
        told = text.split("\n")
        pairs = enumerate(pairwise(line.rstrip() for line in told))
        echoed = {at + step for at, pair in pairs if pair in self._lines for step in (0, 1)}
        out: list[str] = []
        for at, line in enumerate(told):
            if at not in echoed:
                out.append(line)
            elif at - 1 not in echoed:
                self.hidden += 1
                out.append(MARK)
        return "\n".join(out)


def _is_handed_in(key: str, text: str) -> bool:
    """Whether what an attempt came to is a token that would give the answer away."""
    return bool(_FLAG.fullmatch(text) or (keys.flat(key) == "submission" and _TOKEN.fullmatch(text)))


def _tells(pair: tuple[str, str]) -> bool:
    """Whether two lines together say more than brackets and blanks do."""
    return sum(map(str.isalnum, "".join(pair))) >= LEAST


def strings(value: object, depth: int = 0) -> Iterator[str]:
    """Texts of a value, and of JSON in them."""
    if isinstance(value, str):
        yield value
        if value.lstrip()[:1] in ("{", "[") and len(value) <= _PARSED and depth <= _DEPTH:
            try:
                inner = json.loads(value)
            except (ValueError, RecursionError):
                return
            yield from strings(inner, depth + 1)
    elif depth <= _DEPTH and isinstance(value, Mapping):
        for item in value.values():
            yield from strings(item, depth + 1)
    elif depth <= _DEPTH and isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from strings(item, depth + 1)


def _given(value: Json) -> Iterator[str]:
    """What an agent was told before it first spoke, where `value` is a conversation."""
    if isinstance(value, str) and value.lstrip()[:1] == "[":
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return
    for item in value if isinstance(value, list) else ():
        told = item if isinstance(item, dict) else {}
        role = next((told[key] for key in ("role", "from", "source") if key in told), None)
        if not isinstance(role, str) or role.lower() in _AGENTS:
            return
        yield from strings(item)
