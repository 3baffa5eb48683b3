"""Markdown as it reads, its front matter apart."""

import re
from dataclasses import dataclass

from markupsafe import Markup

from rlx.model import Blob
from rlx.texts import say
from rlx.web import highlight
from rlx.web.markdown import Base, render_markdown
from rlx.web.views.base import Asked, FileView, Unfit, suffix

_FRONT = re.compile(r"\A\ufeff?---\r?\n(.{0,20000}?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rendered:
    front: Markup | None
    html: Markup


def _draw(blob: Blob, asked: Asked) -> Rendered:
    if not blob.text or not blob.text.strip():
        raise Unfit
    front = _FRONT.match(blob.text)
    base = Base(asked.key, asked.ref, blob.path.rpartition("/")[0], top=2)
    return Rendered(
        Markup("\n".join(highlight.html_lines(front[1], "yaml"))) if front else None,  # noqa: S704 - lines are escaped
        render_markdown(blob.text[front.end() :] if front else blob.text, base, asked.links, asked.language),
    )


def _fits(blob: Blob) -> bool:
    return blob.form == "file" and bool(blob.text) and suffix(blob.path) in {"md", "markdown"}


VIEW = FileView("rendered", say("viewer.view_rendered"), _fits, _draw)
