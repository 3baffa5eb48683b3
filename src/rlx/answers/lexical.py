"""Programs that are read by their letters: shell, Dockerfiles, JavaScript, Rust, Go and whatever does not parse.

Masked: literals assigned to an answer's name or entered under one, here-documents whose tag, target or first line says
answer, what is echoed into a file so named, and what a matcher of a test library compares with.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from rlx.answers import keys
from rlx.answers.comments import tells
from rlx.answers.python import mask_python
from rlx.answers.records import parse_json, record
from rlx.answers.spans import Mask
from rlx.texts import say

LONGEST_LINE: Final = 20_000
"""Characters. What is minified or longer than that is masked when an answer's name stands in it."""

_WORK: Final = 3_000_000
"""Characters read for literals in one program; what comes after is masked."""
_CALL: Final = 50

_ENTRY = re.compile(
    r"(?<![\w$-])(?P<name>[A-Za-z_$][\w$-]{0,80})(?P<quote>[\"'`]?\]?)\s*"
    r"(?::\s*[A-Za-z_][\w<>\[\]., &'|?*]{0,60}?\s*(?=[:=]))?(?P<by>::?=|\+=|=(?![=>~])|:(?!:)|=>)[ \t]*"
)
_OPEN = {"[": "]", "{": "}", "(": ")"}
_NUMBER = re.compile(r"-?\d[\w.]*")
_QUOTES = ('"""', "'''", '"', "'", "`")
_EMPTY_WORDS = keys.names("true false null none undefined nil True False None 0 0.0 1 -1")
_MATCHERS = re.compile(
    r"\b(?:toBe|toEqual|toStrictEqual|toMatchObject|toContain|toContainEqual|toMatch|toMatchInlineSnapshot|toThrow|"
    r"toThrowError|toHaveProperty|toHaveBeenCalledWith|toHaveBeenLastCalledWith|toBeCloseTo|"
    r"assert_(?:eq|ne)!|assert(?:\.\w+|Equals|_equal|Equal)|require\.\w+|expect\.\w+|"
    r"t\.(?:is|deepEqual|like|regex|throws|equal|same|strictSame|snapshot))\s*\("
)
_HEREDOC = re.compile(r"<<-?[ \t]*\\?([\"']?)([A-Za-z_][\w.-]*)\1")
_TARGET = re.compile(r"(?:>>?|\btee\s+(?:-a\s+)?)\s*[\"']?([^\s\"';|&<>]+)")
_ECHO = re.compile(
    r"\b(?:echo|printf)\s+(?:-\w+[ \t]+){0,3}(?P<what>[^\n>|;]{1,600}?)[ \t]*>>?\s*[\"']?(?P<file>[^\s\"';|&]+)"
)
_TEST = re.compile(
    r"(?:\[\[?|test)\s+\"?\$\{?(?P<name>\w+)[^}\s\"]*\}?\"?\s+(?:==?|!=|-eq|=~)\s+(?P<what>\"[^\"\n]*\"|'[^'\n]*'|[^\s\];]+)"
)
_PRINTED = re.compile(r"\$\([^\n]{1,400}?\)\"?\s+(?:==?|=~)\s+(?P<what>\"[^\"\n$]{2,}\"|'[^'\n]{2,}')")
_SHELL_NAME = re.compile(
    r"(?:^|[\s;&|(])(?:ENV\s+|ARG\s+|export\s+|local\s+|readonly\s+|declare\s+(?:-\w+\s+)*)?"
    r"(?P<name>[A-Za-z_]\w{0,80})(?:\+?=|(?<=ENV )\s+)",
    re.MULTILINE,
)
_CODES = keys.names("rc status code http exit")
_SPOKEN = keys.names("answer output result actual content got out stdout response value reply")


def mask_code(mask: Mask, start: int, end: int) -> None:
    """Mask by the letters of a C-like or scripting language."""
    text = mask.text
    spent = 0
    for match in _ENTRY.finditer(text, start, end):
        if not keys.is_answer_name(match["name"]):
            continue
        stop = _literal_end(text, match.end(), end)
        if stop is not None:
            spent += stop - match.end()
            if _is_plain(text[match.end() : stop]):
                mask.add(match.end(), stop, say("answers.literal"))
        if spent > _WORK:
            mask.add(match.start(), end, say("answers.too_deep"))
            return
    for match in _MATCHERS.finditer(text, start, end):
        few = 2 if "assert_" in match[0] else 9
        for left, right in islice(_arguments(text, match.end(), end), few):
            if _is_plain(text[left:right]):
                mask.add(left, right, say("answers.literal"))
            spent += right - left
        spent += _CALL
        if spent > _WORK:
            mask.add(match.start(), end, say("answers.too_deep"))
            return
    _mask_comments(mask, start, end, ("//", "#", "--", "*"))


def mask_shell(mask: Mask, start: int, end: int) -> None:
    """Mask a shell script, a Dockerfile or a batch file, with the programs in its here-documents."""
    bodies = list(_heredocs(mask.text, start, end))
    at = start
    for head, left, right in bodies:
        _mask_commands(mask, at, left)
        _mask_body(mask, head, left, right)
        at = right
    _mask_commands(mask, at, end)


def _mask_commands(mask: Mask, start: int, end: int) -> None:
    text = mask.text
    spent = 0
    for match in _SHELL_NAME.finditer(text, start, end):
        stretch = _shell_word(text, match.end(), end) if keys.is_answer_name(match["name"]) else None
        if stretch:
            mask.add(*stretch, say("answers.literal"))
            spent += stretch[1] - stretch[0]
        if spent > _WORK:
            mask.add(match.start(), end, say("answers.too_deep"))
            return
    for match in _ECHO.finditer(text, start, end):
        if names_answer_file(match["file"]) and not re.fullmatch(r"[\"']?\$\S+", match["what"]):
            mask.add(*match.span("what"), say("answers.literal"))
    for match in _TEST.finditer(text, start, end):
        parts = keys.words(match["name"])
        word = match["what"].strip("\"'")
        plain = not word or "$" in word or word in _EMPTY_WORDS
        plain = plain or (word.isdigit() and not _CODES.isdisjoint(parts))
        if not plain and (keys.is_answer_name(match["name"]) or not _SPOKEN.isdisjoint(parts)):
            mask.add(*match.span("what"), say("answers.literal"))
    for match in _PRINTED.finditer(text, start, end):
        mask.add(*match.span("what"), say("answers.literal"))
    _mask_comments(mask, start, end, ("#",))


def names_answer_file(path: str) -> bool:
    """Whether a file of this name is written to hold an answer: `/tests/expected.txt`, `.expected_checksum`."""
    stem = path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1].lstrip(".").split(".")[0]
    return keys.is_answer_name(stem) or keys.hold(stem) == "always"


def _heredocs(text: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """The command line and the body of each here-document. One that never ends goes to the end."""
    at = start
    while at < end:
        line_end = _line_end(text, at, end)
        line = text[at:line_end]
        at = line_end + 1
        tags = [match[2] for match in _HEREDOC.finditer(line)] if "<<" in line and "<<<" not in line else []
        for tag in tags:
            body = at
            while at < end:
                stop = _line_end(text, at, end)
                closed = text[at:stop].strip("\t\r ") == tag
                if closed:
                    break
                at = stop + 1
            yield line, body, min(at, end)
            at = min(_line_end(text, at, end) + 1, end) if at < end else end


def _mask_body(mask: Mask, head: str, start: int, end: int) -> None:
    body = mask.text[start:end]
    tag = _HEREDOC.search(head)
    targets = [match[1] for match in _TARGET.finditer(head.replace("<<", " "))]
    first = body.lstrip()[:400]
    named = (tag is not None and _tag_is_answer(tag[2])) or any(names_answer_file(target) for target in targets)
    if named or first.startswith(("diff --git", "--- a/")) or _json_answer(body):
        mask.add(start, end, say("answers.heredoc"))
    elif "python" in head or any(target.endswith(".py") for target in targets):
        if not mask_python(mask, start, end):
            mask_code(mask, start, end)
    elif re.search(r"\b(?:ba|z|da)?sh\b", head) or any(target.endswith(".sh") for target in targets):
        _mask_commands(mask, start, end)
    else:
        mask_code(mask, start, end)


def _tag_is_answer(tag: str) -> bool:
    parts = [part for part in keys.words(tag) if part not in {"eof", "end", "eos", "heredoc", "json", "py"}]
    return keys.is_answer_name("_".join(parts))


def _json_answer(body: str) -> bool:
    if not body.lstrip().startswith(("{", "[")):
        return False
    try:
        return bool(record(parse_json(body)[0]).withheld)
    except (ValueError, RecursionError):
        return False


def _shell_word(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The value of an assignment: one word with its quotes. Expansions alone are computed, not written."""
    at = start
    while at < end and text[at] not in " \t\r\n;&|)":
        if text[at] in "\"'":
            close = _string_end(text, at, text[at], end)
            at = close
        elif text.startswith("$(", at) or text[at] == "`":
            return None
        elif text[at] == "(":
            at = _bracket_end(text, at, end)
        else:
            at += 2 if text[at] == "\\" else 1
    word = text[start : min(at, end)]
    bare = word.strip("\"'")
    if not bare.strip("() ") or bare in _EMPTY_WORDS or re.fullmatch(r"\$\{?[\w@*#?:/-]+\}?|\$\(.*\)", bare, re.DOTALL):
        return None
    return start, min(at, end)


def _literal_end(text: str, start: int, end: int) -> int | None:
    prefix = re.compile(r"(?:new\s+)?(?:[rbfuRBFU]{1,2}(?=[\"']))?(?:&|&mut\s|vec!)?").match(text, start, end)
    at = prefix.end() if prefix else start
    for quote in _QUOTES:
        if text.startswith(quote, at):
            return _string_end(text, at, quote, end)
    if text[at : at + 1] in _OPEN:
        return _bracket_end(text, at, end)
    number = _NUMBER.match(text, at, end)
    return number.end() if number else None


def _is_plain(piece: str) -> bool:
    """Whether `piece` is a literal that tells something: a text, a number, a list or an object with content."""
    body = piece.strip()
    if not body or body in _EMPTY_WORDS or not body.strip("\"'`[]{}() \t\r\n"):
        return False
    if body[0] == "(" and ("=>" in body[:200] or "function" in body[:200]):
        return False
    if body[0] in "([{":
        return re.search(r"[\"'`]|\d", body) is not None
    return body[0] in "\"'`" or body.startswith(('r"', 'b"', "&[", "&v", "vec!")) or bool(_NUMBER.fullmatch(body))


def _string_end(text: str, start: int, quote: str, end: int) -> int:
    at = start + len(quote)
    while at < end:
        if text[at] == "\\":
            at += 2
        elif text.startswith(quote, at):
            return at + len(quote)
        elif text[at] == "\n" and len(quote) == 1 and quote != "`" and at - start > LONGEST_LINE:
            return at
        else:
            at += 1
    return end


def _bracket_end(text: str, start: int, end: int) -> int:
    """Past the bracket that closes the one at `start`; an unclosed one reaches to the end."""
    depth, at = 0, start
    while at < end:
        char = text[at]
        if char in "\"'`":
            line_end = _line_end(text, at, end)
            close = _string_end(text, at, char, end if char == "`" else line_end)
            at = close
            continue
        if char in "[{(":
            depth += 1
        elif char in "]})":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return end


def _arguments(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The arguments of the call whose opening bracket ends at `start`, without the blanks around them."""
    stop = _bracket_end(text, start - 1, min(end, start + 4 * LONGEST_LINE)) - 1
    left, at = start, start
    while at <= stop:
        if at == stop or text[at] == ",":
            piece = text[left:at]
            inner = left + len(piece) - len(piece.lstrip())
            if piece.strip():
                yield inner, inner + len(piece.strip())
            left = at + 1
            at += 1
        elif text[at] in "\"'`":
            at = _string_end(text, at, text[at], stop)
        elif text[at] in _OPEN:
            at = _bracket_end(text, at, stop)
        else:
            at += 1


def _mask_comments(mask: Mask, start: int, end: int, marks: tuple[str, ...]) -> None:
    at = start
    while at < end:
        line_end = _line_end(mask.text, at, end)
        line = mask.text[at:line_end].rstrip("\r")
        for mark in marks:
            place = line.find(mark)
            if mark == "*" and line[:place].strip():
                continue
            stretch = tells(line[place:]) if place >= 0 and (place == 0 or line[place - 1] in " \t") else None
            if stretch:
                mask.add(at + place + stretch[0], at + place + stretch[1], say("answers.comment"))
                break
        at = line_end + 1


def _line_end(text: str, at: int, end: int) -> int:
    found = text.find("\n", at, end)
    return end if found < 0 else found
