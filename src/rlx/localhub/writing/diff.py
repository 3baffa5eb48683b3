"""What a change does to files, as git shows it."""

import difflib
import io
from collections.abc import Iterator, Mapping
from typing import Final

from rlx.localhub.writing.ledger import Changes, Entry
from rlx.localhub.writing.objects import Objects

_MAX_FILE: Final = 256 * 1024
_MAX_LINES: Final = 6_000
"""Of a file that is compared line by line."""
_MAX_ALL: Final = 1024 * 1024
"""Characters of a diff; files past it are named alone."""


def diff_text(objects: Objects, before: Mapping[str, Entry], changes: Changes) -> str:
    """A unified diff of `changes` to `before`. Binary and large files are named without their contents."""
    parts: list[str] = []
    size = 0
    for path, entry in sorted(changes.items()):
        part = "".join(_file(objects, path, before.get(path), entry, brief=size > _MAX_ALL))
        size += len(part)
        parts.append(part)
    return "".join(parts)


def _file(objects: Objects, path: str, old: Entry | None, new: Entry | None, *, brief: bool) -> Iterator[str]:
    yield f"diff --git a/{path} b/{path}\n"
    if old is None:
        yield "new file mode 100644\n"
    if new is None:
        yield "deleted file mode 100644\n"
    names = f"a/{path}" if old else "/dev/null", f"b/{path}" if new else "/dev/null"
    texts = None if brief else (_lines(objects, old), _lines(objects, new))
    if texts is None or texts[0] is None or texts[1] is None:
        yield f"Binary files {names[0]} and {names[1]} differ\n"
        return
    for line in difflib.unified_diff(texts[0], texts[1], *names):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _lines(objects: Objects, entry: Entry | None) -> list[str] | None:
    """None of what is no text, or too much of it."""
    if entry is None:
        return []
    if entry.lfs or entry.object.size > _MAX_FILE:
        return None
    with open(objects.place(entry.object.sha256), "rb") as source:
        data = source.read()
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    lines = io.StringIO(text, newline="\n").readlines() if "\0" not in text else None
    return lines if lines is not None and len(lines) <= _MAX_LINES else None
