"""Markdown as it reads."""

from markupsafe import Markup

from rlx.model import Blob
from rlx.texts import say
from rlx.web.markdown import Base, render_markdown
from rlx.web.views.base import Asked, FileView, Unfit, suffix


def _draw(blob: Blob, asked: Asked) -> Markup:
    if not blob.text or not blob.text.strip():
        raise Unfit
    base = Base(asked.key, asked.ref, blob.path.rpartition("/")[0], top=2)
    return render_markdown(blob.text, base, asked.links, asked.language)


def _fits(blob: Blob) -> bool:
    return blob.form == "file" and bool(blob.text) and suffix(blob.path) in {"md", "markdown"}


VIEW = FileView("rendered", say("viewer.view_rendered"), _fits, _draw)
