"""Code as HTML lines: highlighted in windows that are cached by content, inert whatever it holds."""

import logging
from collections.abc import Iterator, Sequence
from functools import partial

from markupsafe import escape

from rlx.web import inert, lexers
from rlx.web.bounded import Bounded, digest

WINDOW = 300
"""Lines of one window."""
_WHOLE = 2_000
"""Lines up to which a file is lexed at once, so that a string may span windows."""
_MAX_CHARS = 1_000_000
_MAX_LINE = 2_000

_log = logging.getLogger("rlx.web")
_cache: Bounded[tuple[str, ...]] = Bounded(64 * 1024 * 1024, lambda lines: sum(map(len, lines)) + 64 * len(lines))


def split_lines(text: str) -> list[str]:
    """Lines as editors number them: LF or CRLF ends one, a final line end starts none."""
    lines = text.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    return [line[:-1] if line.endswith("\r") else line for line in lines]


def html_lines(text: str, lexer: str | None, first: int = 0, count: int | None = None) -> list[str]:
    """HTML of lines `first` (0-based) to `first + count` of `text`."""
    lines = split_lines(text)
    last = len(lines) if count is None else min(len(lines), first + count)
    if lexer is not None and (len(text) > _MAX_CHARS or any(len(line) > _MAX_LINE for line in lines)):
        lexer = None
    name = digest(text)
    if len(lines) <= _WHOLE:
        return list(_cache.get((name, lexer), partial(_render, lines, lexer))[first:last])
    found: list[str] = []
    for start in range(first - first % WINDOW, last, WINDOW):
        window = lines[start : start + WINDOW]
        done = _cache.get((name, lexer, start), partial(_render, window, lexer))
        found += done[max(0, first - start) : last - start]
    return found


def _render(lines: Sequence[str], lexer: str | None) -> tuple[str, ...]:
    lexed = tuple(_lex(lines, lexer)) if lexer is not None else ()
    return lexed if len(lexed) == len(lines) else tuple(str(inert.mark(line)) for line in lines)


def _lex(lines: Sequence[str], name: str) -> Iterator[str]:
    """HTML of each line; none from a lexer that fails on the text."""
    # A lone carriage return would be a line end to some lexers; as a symbol it stays a character.
    text = "".join(f"{line.replace('\r', '␍')}\n" for line in lines)
    try:
        tokens = list(lexers.lexer(name).get_tokens_unprocessed(text))
    except Exception:
        # Lexers are many and hostile text finds their faults; the file is still readable without colours.
        _log.warning("The %s lexer failed; the text is shown plain.", name, exc_info=True)
        return
    marks = inert.has_marks(text)
    parts: list[str] = []
    for _, kind, value in tokens:
        style = lexers.token_class(kind)
        for number, piece in enumerate(value.split("\n")):
            if number:
                yield "".join(parts)
                parts = []
            if piece:
                html = inert.mark(piece) if marks else escape(piece)
                parts.append(f'<span class="{style}">{html}</span>' if style else str(html))
