"""The build context: what may be copied, by path, with links followed inside of it only."""

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from rlx.sandboxes.dockerfile.patterns import Budget

_HOPS = 40
_MOST_STEPS = 1_000_000


@dataclass(frozen=True, slots=True)
class Entry:
    kind: Literal["file", "folder", "link"]
    mode: int = 0o644
    """Permission bits."""
    size: int = 0
    target: str = ""
    """Of a link, as written."""
    digest: str = ""
    """Of a file's content; empty: unknown, and nothing made from it is kept."""


class Tree:
    """Entries by relative path. Paths that are absolute or lead outside are left out; folders may be implied."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self.budget = Budget(_MOST_STEPS)
        """Of all patterns that are looked up in it."""
        known = {path: entries[path] for path in sorted(entries) if _is_inside(path)}
        self._entries: dict[str, Entry] = {}
        self._children: dict[str, list[str]] = {"": []}
        for path, entry in known.items():
            parts = path.split("/")
            above = ["/".join(parts[:count]) for count in range(1, len(parts))]
            # A path below a file or a link cannot be: a link is followed, never walked through.
            if any(folder in known and known[folder].kind != "folder" for folder in above):
                continue
            for folder in above:
                self._add(folder, Entry("folder", 0o755))
            self._add(path, entry)

    def _add(self, path: str, entry: Entry) -> None:
        if path in self._entries:
            return
        self._entries[path] = entry
        parent, _, _ = path.rpartition("/")
        self._children[parent].append(path)
        if entry.kind == "folder":
            self._children[path] = []

    def get(self, path: str) -> Entry | None:
        return Entry("folder", 0o755) if path == "" else self._entries.get(path)

    def walk(self, folder: str) -> Iterator[str]:
        """Everything below, folders before what they hold, in order of their paths."""
        waiting = self._children.get(folder, [])[::-1]
        while waiting:
            path = waiting.pop()
            yield path
            waiting += self._children.get(path, [])[::-1]

    def follow(self, path: str) -> str | None:
        """Where `path` is once all links are followed; `..` and absolute targets stay inside. None: nowhere."""
        waiting = [part for part in reversed(path.split("/")) if part not in ("", ".")]
        here: list[str] = []
        hops = 0
        while waiting:
            part = waiting.pop()
            if part == "..":
                here = here[:-1]
                continue
            entry = self._entries.get("/".join((*here, part)))
            if entry is None:
                return None
            if entry.kind == "link":
                hops += 1
                if hops > _HOPS:
                    return None
                if entry.target.startswith("/"):
                    here = []
                waiting += [step for step in reversed(entry.target.split("/")) if step not in ("", ".")]
            else:
                here.append(part)
        return "/".join(here)


def _is_inside(path: str) -> bool:
    return bool(path) and "\0" not in path and all(part not in ("", ".", "..") for part in path.split("/"))


def rooted(path: str) -> str:
    """A source path as COPY takes it: from the root of the context, which `..` never leaves."""
    return posixpath.normpath(posixpath.join("/", path)).lstrip("/")
