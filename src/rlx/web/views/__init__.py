"""The ways to show a file, the best first. A new kind of file is one module, one template and one line here."""

from dataclasses import dataclass

from rlx.errors import BadInput
from rlx.model import Blob
from rlx.texts import Say
from rlx.web.views import lines, media, members, notebook, octets, rendered, table
from rlx.web.views.base import Asked, FileView, Unfit

VIEWS: tuple[FileView, ...] = (
    table.VIEW,
    members.VIEW,
    notebook.VIEW,
    lines.VIEW,
    rendered.VIEW,
    media.VIEW,
    octets.VIEW,
)


@dataclass(frozen=True, slots=True)
class Drawn:
    view: FileView
    shown: object
    others: tuple[FileView, ...]
    """Every way that fits, this one among them."""
    note: Say | None
    """Why it is not shown in the way asked for, or in the one that is usual."""


def draw(blob: Blob, name: str | None, asked: Asked) -> Drawn:
    """`blob` in the way called `name`, or in the best one. Raises `BadInput` for a way that is not one of this file."""
    fitting = [view for view in VIEWS if view.fits(blob)]
    if name is not None and name not in {view.name for view in fitting}:
        raise BadInput(f"{name[:20]!r} is not a way to show this file.", hint="Leave `view` out.")
    note: Say | None = None
    for view in sorted(fitting, key=lambda view: view.name != name):
        try:
            return Drawn(view, view.draw(blob, asked), tuple(fitting), note)
        except Unfit as unfit:
            note = note or unfit.note
            fitting.remove(view)
    raise LookupError(f"No view is left for {blob.path!r}.")
