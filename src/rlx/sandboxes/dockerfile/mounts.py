"""Flags of RUN: mounts, the network, and what asks for more than a sandbox gives."""

import csv
import posixpath
from collections.abc import Callable, Mapping, Sequence

from rlx.sandboxes.dockerfile.context import Tree, rooted
from rlx.sandboxes.dockerfile.refusals import Refused
from rlx.sandboxes.dockerfile.sources import pick
from rlx.sandboxes.dockerfile.steps import Item, Mount

_KEYS = {"src": "source", "dst": "target", "destination": "target", "ro": "readonly", "rw": "readwrite"}
_KNOWN = "type from source target readonly readwrite id sharing required size mode uid gid env"


def run_flags(
    flags: Sequence[str], expand: Callable[[str], str], tree: Tree, cwd: str, stage_of: Callable[[str], int]
) -> tuple[tuple[Mount, ...], bool]:
    """The mounts, and whether there is a network. Raises `Refused`."""
    mounts: list[Mount] = []
    network = True
    for flag in flags:
        name, _, value = flag.removeprefix("--").partition("=")
        if name == "mount":
            mounts.append(_mount(value, expand, tree, cwd, stage_of))
        elif name == "network":
            if value not in ("default", "none", "host"):
                raise Refused("syntax", "flag.value", flag=flag)
            if value == "host":
                raise Refused("privileged", "run.network")
            network = value != "none"
        elif name == "security":
            if value != "sandbox":
                raise Refused("privileged", "run.security")
        elif name == "device":
            raise Refused("privileged", "run.device")
        else:
            raise Refused("syntax", "flag.unknown", flag=flag)
    return tuple(mounts), network


def _mount(text: str, expand: Callable[[str], str], tree: Tree, cwd: str, stage_of: Callable[[str], int]) -> Mount:
    told = _options(text, expand)
    kind = told.get("type", "bind")
    if kind in ("secret", "ssh"):
        raise Refused("secret", "run.secret", id=told.get("id") or told.get("target") or kind)
    target = told.get("target", "")
    if not target:
        raise Refused("syntax", "run.mount", text=text)
    target = posixpath.normpath(posixpath.join(cwd, target))
    if kind == "tmpfs":
        return Mount("tmpfs", target)
    if kind == "cache":
        if "from" in told or "source" in told:
            raise Refused("unsupported", "run.cache", text=text)
        return Mount("cache", target, owner=f"{_number(told, 'uid')}:{_number(told, 'gid')}", mode=_mode(told))
    if kind != "bind":
        raise Refused("syntax", "run.mount", text=text)
    read_only = not _flag(told, "readwrite")
    source = told.get("source", "/")
    if "from" in told:
        return Mount("bind", target, stage=stage_of(told["from"]), source=rooted(source), read_only=read_only)
    return Mount("bind", target, items=_bound(tree, source), read_only=read_only)


def _bound(tree: Tree, source: str) -> tuple[Item, ...]:
    path = tree.follow(rooted(source))
    entry = None if path is None else tree.get(path)
    if path is None or entry is None:
        raise Refused("syntax", "copy.missing", path=source)
    return pick(tree, [_literal(path)]).items if entry.kind == "folder" else (Item(path, "", entry),)


def _literal(path: str) -> str:
    """A path of the tree as a pattern. Mounts take no wildcards; a name that holds one is not looked up as such."""
    if any(char in "*?[\\" for char in path):
        raise Refused("unsupported", "run.bound", path=path)
    return path


def _options(text: str, expand: Callable[[str], str]) -> dict[str, str]:
    try:
        fields = next(csv.reader([text]), [])
    except csv.Error:
        raise Refused("syntax", "run.mount", text=text) from None
    told: dict[str, str] = {}
    for part in fields:
        key, found, value = part.partition("=")
        key = _KEYS.get(key.lower().strip(), key.lower().strip())
        if key not in _KNOWN.split():
            raise Refused("syntax", "run.mount", text=text)
        told[key] = expand(value) if found else "true"
    return told


def _flag(told: Mapping[str, str], name: str) -> bool:
    value = told.get(name, "false").lower()
    if value not in ("true", "false", "1", "0"):
        raise Refused("syntax", "run.mount", text=f"{name}={value}")
    return value in ("true", "1")


def _number(told: Mapping[str, str], name: str) -> int:
    value = told.get(name, "0")
    if not (value.isascii() and value.isdigit() and len(value) < 10):
        raise Refused("syntax", "run.mount", text=f"{name}={value}")
    return int(value)


def _mode(told: Mapping[str, str]) -> int:
    value = told.get("mode", "0755")
    if not (0 < len(value) <= 5 and all(char in "01234567" for char in value)) or int(value, 8) > 0o7777:
        raise Refused("syntax", "run.mount", text=f"mode={value}")
    return int(value, 8)
