"""The formats, in one tuple: ours, then what other distributions register under the entry-point group `rlx.formats`."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from rlx.errors import BadInput, TooLarge
from rlx.formats.base import Aliaser, Claim, Format, IndexedFormat
from rlx.hub.repo import Repo
from rlx.hub.tree import Marks, together

FORMAT_GROUP = "rlx.formats"
ALIASER_GROUP = "rlx.aliasers"


@dataclass(frozen=True, slots=True)
class Entry:
    """A format or aliaser that is imported when it is first needed."""

    name: str
    target: str
    """`module:attribute`, called without arguments."""

    def load(self) -> object:
        module, _, attribute = self.target.partition(":")
        return getattr(import_module(module), attribute)()


FORMATS: tuple[Entry, ...] = (
    Entry("harbor", "rlx.formats.harbor.format:Harbor"),
    Entry("folders", "rlx.formats.folders.format:Folders"),
    Entry("packed", "rlx.formats.packed.format:Packed"),
    Entry("rows", "rlx.formats.rows.format:Rows"),
)
ALIASERS: tuple[Entry, ...] = ()


type AnyFormat = Format | IndexedFormat


@dataclass(frozen=True, slots=True)
class Claimed:
    format: AnyFormat
    claim: Claim


@cache
def formats() -> tuple[AnyFormat, ...]:
    """Every format, built once. Raises `BadInput` when two share a name."""
    return load(FORMATS, FORMAT_GROUP)  # type: ignore[return-value]  # entry points are untyped; conformance proves it


@cache
def aliasers() -> tuple[Aliaser, ...]:
    return load(ALIASERS, ALIASER_GROUP)  # type: ignore[return-value]  # as above


async def claims(repo: Repo, known: Sequence[AnyFormat]) -> list[Claimed]:
    """Who claims `repo`, the surest first; registry order breaks ties.

    A format that needs every file listed claims none of a repository that is too big for that.
    """
    found = []
    for format_ in known:
        with suppress(TooLarge):
            claim = await format_.claim(repo)
            if claim is not None:
                found.append(Claimed(format_, claim))
    return sorted(found, key=lambda claimed: -claimed.claim.confidence)


def marks(known: Iterable[AnyFormat]) -> Marks:
    """What a walk looks for: the marks of every format that reads folders."""
    return together(format_.reader.marks for format_ in known if isinstance(format_, IndexedFormat))


def load(own: Sequence[Entry], group: str) -> tuple[object, ...]:
    """What `own` and the entry points of `group` name, each made once. Raises `BadInput` when two share a name."""
    entries = [*own, *(_entry(point) for point in entry_points(group=group))]
    names = [entry.name for entry in entries]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise BadInput(f"Two installed packages register {', '.join(twice)} under {group}.", hint="Uninstall one.")
    return tuple(entry.load() for entry in entries)


def _entry(point: EntryPoint) -> Entry:
    return Entry(point.name, point.value)
