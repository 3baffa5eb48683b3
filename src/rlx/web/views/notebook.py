"""A notebook cell by cell: Markdown as it reads, code highlighted, text that code printed."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from rlx.answers.shown import MARK
from rlx.model import Blob
from rlx.texts import say
from rlx.web import highlight, inert, lexers
from rlx.web.markdown import Base, render_markdown
from rlx.web.views.base import Asked, FileView, Unfit, suffix

MAX_CELLS = 400
_MAX_PRINTED = 20_000
"""Characters of what one cell printed."""


@dataclass(frozen=True, slots=True)
class NotebookCell:
    kind: str
    """markdown, code or raw."""
    count: int | None
    """When it was run last, as the notebook numbers it."""
    html: Markup
    printed: Markup | None
    withheld: bool
    """Something was printed that may tell an answer."""
    pictures: int
    """Outputs that are no text, which are not drawn."""


@dataclass(frozen=True, slots=True)
class Notebook:
    language: str
    cells: tuple[NotebookCell, ...]
    total: int


def _draw(blob: Blob, asked: Asked) -> Notebook:
    try:
        book = json.loads((blob.text or "").lstrip("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise Unfit(say("viewer.no_notebook")) from error
    cells = book.get("cells") if isinstance(book, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise Unfit(say("viewer.no_notebook"))
    language = _language(book)
    base = Base(asked.key, asked.ref, blob.path.rpartition("/")[0])
    drawn = tuple(_cell(cell, language, base, asked) for cell in cells[:MAX_CELLS])
    return Notebook(language, drawn, len(cells))


def _cell(cell: Mapping[str, object], language: str, base: Base, asked: Asked) -> NotebookCell:
    kind = str(cell.get("cell_type"))
    source = _joined(cell.get("source"))
    if kind == "markdown":
        html = render_markdown(source, base, asked.links, asked.language)
    elif kind == "code":
        lines = highlight.html_lines(source, lexers.lexer_name(None, language))
        html = Markup("\n".join(lines))  # noqa: S704 - lines were escaped by highlight
    else:
        kind, html = "raw", inert.mark(source)
    outputs = cell.get("outputs")
    printed = "".join(_printed(outputs))
    count = cell.get("execution_count")
    return NotebookCell(
        kind,
        count if isinstance(count, int) else None,
        html,
        inert.mark(printed[:_MAX_PRINTED]) if printed.strip() else None,
        withheld=outputs == MARK,
        pictures=sum(1 for output in _dicts(outputs) if _is_picture(output)),
    )


def _printed(outputs: object) -> Iterator[str]:
    for output in _dicts(outputs):
        data = output.get("data")
        text = _joined(output.get("text") or (data.get("text/plain") if isinstance(data, dict) else None))
        trace = output.get("traceback")
        text = text or ("\n".join(map(str, trace)) if isinstance(trace, list) else "")
        if text:
            yield f"{text}\n"


def _is_picture(output: Mapping[str, object]) -> bool:
    data = output.get("data")
    return isinstance(data, dict) and any(str(kind).startswith("image/") for kind in data)


def _dicts(outputs: object) -> list[Mapping[str, object]]:
    return [output for output in outputs if isinstance(output, dict)] if isinstance(outputs, list) else []


def _joined(source: object) -> str:
    """Notebooks keep a text whole or as a list of its lines."""
    return "".join(map(str, source)) if isinstance(source, list) else str(source or "")


def _language(book: Mapping[str, object]) -> str:
    metadata = book.get("metadata")
    info = metadata.get("language_info") if isinstance(metadata, dict) else None
    name = info.get("name") if isinstance(info, dict) else None
    return name[:40] if isinstance(name, str) else "python"


VIEW = FileView(
    "notebook", say("viewer.view_notebook"), lambda blob: suffix(blob.path) == "ipynb" and bool(blob.text), _draw
)
