"""Keys of layers: a step's key names what the file system is after it, and nothing else."""

import hashlib
import json
from collections.abc import Iterable

from rlx.sandboxes.dockerfile.steps import Item, Mount

type Json = str | int | bool | list["Json"] | dict[str, "Json"] | None

VERSION = 1
"""Raised when a plan comes to mean something else for whoever carries it out."""


def after(before: str | None, *parts: Json) -> str | None:
    """The key of a layer on top of another; None once anything in it is unknown."""
    if before is None:
        return None
    told = json.dumps([VERSION, before, *parts], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(told.encode()).hexdigest()


def of_items(items: Iterable[Item]) -> list[Json] | None:
    """What is copied, by content; None where a file has no digest."""
    told: list[Json] = []
    for item in items:
        entry = item.entry
        if entry.kind == "file" and not entry.digest:
            return None
        told.append([item.name, entry.kind, entry.mode, entry.digest or entry.target])
    return told


def of_mounts(mounts: Iterable[Mount], stages: dict[int, str | None]) -> list[Json] | None:
    """A cache is not part of what a step makes; everything else that is mounted may be."""
    told: list[Json] = []
    for mount in mounts:
        items = of_items(mount.items)
        below = stages[mount.stage] if mount.stage is not None else ""
        if items is None or below is None:
            return None
        told.append([mount.kind, mount.target, items, below, mount.source, mount.text, mount.read_only])
    return told
