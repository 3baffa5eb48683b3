"""Files of a repository or a task, as a reader may see them."""

from dataclasses import dataclass, field

from rlx.answers import Shown, Withheld
from rlx.texts import Say


@dataclass(frozen=True, slots=True)
class FileEntry:
    path: str
    """Relative to the task or, for `ref=None`, to the repository."""
    size: int
    is_dir: bool = False
    withheld: Say | None = None
    """The reason when its contents are never shown."""


@dataclass(frozen=True, slots=True)
class Listing:
    path: str
    """The folder; empty at the top."""
    entries: tuple[FileEntry, ...]
    total: int
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Blob:
    """A file that may be shown. Exactly one of `text` and `data` is set; `withheld` names what was masked in it."""

    path: str
    size: int
    text: Shown | None
    data: bytes | None = field(default=None, repr=False)
    media_type: str = "application/octet-stream"
    encoding_note: Say | None = None
    """Set when the bytes were not UTF-8."""
    masked: tuple[int, ...] = ()
    """1-based numbers of lines on which something was withheld."""
    withheld: tuple[Withheld, ...] = ()
    truncated: bool = False
    """Only the head is here; `size` is the whole."""
