"""Text as numbered, highlighted lines, a page of windows at a time."""

import re
from dataclasses import dataclass

from markupsafe import Markup

from rlx.answers.shown import Shown
from rlx.model import Blob
from rlx.telemetry import span
from rlx.texts import Say, say
from rlx.web import highlight, inert, lexers
from rlx.web.lines_html import numbered
from rlx.web.views.base import Asked, FileView, Span, page_of, suffix

PAGE = 5 * highlight.WINDOW
WHOLE = 50_000
"""Lines up to which a script fetches the other pages too, so that the browser's own search finds everything."""
_POINTER = re.compile(r"version https://git-lfs\.github\.com/spec/\S+\noid sha256:[0-9a-f]{64}\nsize (\d{1,18})\s*\Z")
_MARKUP = frozenset({"html", "htm", "xhtml", "svg"})


@dataclass(frozen=True, slots=True)
class Lines:
    html: Markup
    page: Span
    notes: tuple[Say, ...]
    warnings: tuple[Say, ...]
    is_crlf: bool
    is_whole: bool
    """Scripts may fetch the rest."""


def _draw(blob: Blob, asked: Asked) -> Lines:
    text = _text(blob)
    page = page_of(asked.start, len(highlight.split_lines(text)), PAGE)
    plain = text.replace("\r\n", "\n")
    marks = inert.count(plain)
    return Lines(
        lines_html(blob, asked, page),
        page,
        tuple(_notes(blob, text)),
        (say("viewer.marks", n=marks),) if marks else (),
        is_crlf=len(plain) < len(text),
        is_whole=page.total <= WHOLE,
    )


def lines_html(blob: Blob, asked: Asked, page: Span) -> Markup:
    """The rows of one page."""
    lexer = "json" if blob.form == "rows" else lexers.lexer_name(blob.path)
    with span("highlight"):
        html = highlight.html_lines(_text(blob), lexer, page.first - 1, PAGE)
    lock = Markup('<svg class="i" aria-hidden="true"><use href="{}"/></svg>').format(asked.links.icon("lock"))
    return numbered(html, page.first, "L", frozenset(blob.masked), asked.language, lock)


def _notes(blob: Blob, text: str) -> list[Say]:
    notes: list[Say] = []
    pointer = _POINTER.match(text[:1000].replace("\r\n", "\n"))
    if pointer:
        notes.append(say("viewer.pointer", n=int(pointer[1])))
    if suffix(blob.path) in _MARKUP:
        notes.append(say("viewer.markup"))
    return notes


def _text(blob: Blob) -> Shown:
    text = blob.text if blob.held is None else blob.held
    if text is None:
        raise ValueError(f"{blob.path!r} has no text to show.")
    return text


def _fits(blob: Blob) -> bool:
    return blob.form == "rows" or (blob.form == "file" and blob.text is not None)


VIEW = FileView("text", say("viewer.view_text"), _fits, _draw)
