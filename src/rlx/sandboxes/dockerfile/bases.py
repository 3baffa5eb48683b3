"""Base images: how the system of this host stands in for one, or why it cannot. The table is `bases.toml`."""

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from rlx.sandboxes.dockerfile.refusals import Refusal, Refused
from rlx.texts import Say, say

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""What an image without a PATH of its own is given."""

_REFERENCE = re.compile(
    r"(?P<repository>[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?::[0-9]+(?=/))?(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*)"
    r"(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9._-]{0,127}))?"
    r"(?:@(?P<digest>[a-z0-9]+:[a-f0-9]{32,128}))?"
)
_VERSION = re.compile(r"v?(\d+(?:\.\d+){0,2})(?![\w.])")
_PYTHON = re.compile(r"python[:-]?(\d)[.-](\d+)")
_OTHER_SYSTEMS = {"alpine": "libc", "windows": "windows", "nanoserver": "windows"}


@dataclass(frozen=True, slots=True)
class Host:
    """The system that stands in for images, as a sandbox shows it."""

    system: str
    """As `/etc/os-release` names it."""
    platform: str = "linux/amd64"
    tools: Mapping[str, str] = field(default_factory=dict)
    """Programs on the PATH that it has, with their version; empty where that is unknown."""
    key: str = ""
    """Changes when the system changes, so that layers made on another one are not used. Empty: `system` and tools."""
    image: "ImageFacts | None" = None
    """Of a sandbox that runs the image itself, so that nothing stands in for it."""


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """What an image says of itself."""

    env: Mapping[str, str]
    workdir: str = "/"


@dataclass(frozen=True, slots=True)
class Base:
    reference: str
    """As the FROM says, variables filled in."""
    family: str
    platform: str
    env: Mapping[str, str]
    python: str | None
    """The version that the image promises, as `3.12`."""
    notes: tuple[Say, ...]
    key: str
    workdir: str = "/"


@dataclass(frozen=True, slots=True)
class Reference:
    repository: str
    tag: str
    digest: str | None


def parse_reference(text: str) -> Reference | None:
    """Of an image, Docker Hub's own prefixes left out; None for what names no image."""
    match = _REFERENCE.fullmatch(text) if len(text) <= 512 else None
    if match is None:
        return None
    repository = match["repository"]
    for prefix in ("docker.io/", "index.docker.io/", "registry-1.docker.io/", "library/"):
        repository = repository.removeprefix(prefix)
    return Reference(repository, match["tag"] or "latest", match["digest"])


def base_of(reference: str, host: Host) -> Base | Refusal:
    """How `host` stands in for an image. The line of the refusal is for the caller to fill in."""
    try:
        return _base(reference, host)
    except Refused as refused:
        return refused.at(None, "")


def _base(reference: str, host: Host) -> Base:
    if reference == "scratch":
        raise Refused("base", "base.scratch")
    named = parse_reference(reference)
    if named is None:
        raise Refused("base", "base.reference", image=reference)
    if host.image is not None:
        key = hashlib.sha256(f"{reference}\n{sorted(host.image.env.items())}".encode()).hexdigest()
        env = {"PATH": PATH, **host.image.env}
        return Base(reference, "image", host.platform, MappingProxyType(env), None, (), key, host.image.workdir)
    family = _family(named)
    other = next((why for word, why in _OTHER_SYSTEMS.items() if word in named.tag), None)
    why = other if family.get("take") != "refused" and other else str(family.get("why", ""))
    if why:
        raise Refused("platform" if why == "windows" else "base", f"base.why.{why}", image=reference)
    for tool in ("python3", *family["tools"]) if family.get("python") else family.get("tools", ()):
        if tool not in host.tools:
            raise Refused("base", "base.tool", image=reference, tool=tool)
    _check_version(reference, named, family, host)
    notes = [say("dockerfile.base.approximated", image=reference, system=host.system)]
    python = _python(named, family)
    if python and f"python{python}" not in host.tools and not _same(python, host.tools["python3"]):
        has = host.tools["python3"] or "3"
        notes.append(say("dockerfile.base.python", image=reference, wanted=python, found=has))
    env = {"PATH": PATH, **family.get("env", {})}
    own = host.key or "\n".join((host.system, host.platform, *sorted(f"{k} {v}" for k, v in host.tools.items())))
    key = hashlib.sha256(f"{python or ''}\n{own}".encode()).hexdigest()
    return Base(reference, family["name"], host.platform, MappingProxyType(env), python, tuple(notes), key)


def carried(reference: str) -> Mapping[str, str]:
    """Programs that an image exists to carry: path in it, name of the tool."""
    named = parse_reference(reference)
    for carrier in _table()["carrier"]:
        if named and any(fnmatchcase(named.repository, image) for image in carrier["images"]):
            found: Mapping[str, str] = carrier["files"]
            return found
    return {}


def _family(named: Reference) -> Mapping[str, Any]:
    for family in _table()["family"]:
        if any(fnmatchcase(named.repository, image) for image in family["images"]) and any(
            fnmatchcase(named.tag, tag) for tag in family.get("tags", ("*",))
        ):
            found: Mapping[str, Any] = family
            return found
    return {"take": "refused", "why": "content"}


def _check_version(reference: str, named: Reference, family: Mapping[str, Any], host: Host) -> None:
    """Of the tool that the image is named for: the same major version, and none older than promised."""
    tool = family.get("versioned")
    wanted = _VERSION.match(named.tag)
    if not tool or not wanted:
        return
    has = host.tools[tool]
    found = re.match(r"\d+(?:\.\d+)*", has)
    asked = [int(part) for part in wanted[1].split(".")]
    have = [int(part) for part in found[0].split(".")] if found else []
    if have[:1] != asked[:1] or have[: len(asked)] < asked:
        raise Refused("base", "base.version", image=reference, tool=tool, wanted=wanted[1], found=has or "?")


def _python(named: Reference, family: Mapping[str, Any]) -> str | None:
    match = _PYTHON.search(f"{named.repository}:{named.tag}") if family.get("python") else None
    return f"{match[1]}.{match[2]}" if match else None


def _same(wanted: str, found: str) -> bool:
    return found == wanted or found.startswith(f"{wanted}.")


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(files(__package__).joinpath("bases.toml").read_text("utf-8"))
