"""COPY and ADD: flags, where the sources are, and where they go."""

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rlx.sandboxes.dockerfile.bases import carried
from rlx.sandboxes.dockerfile.context import Entry, Tree, rooted
from rlx.sandboxes.dockerfile.refusals import Refused
from rlx.sandboxes.dockerfile.sources import Picked, pick
from rlx.sandboxes.dockerfile.steps import Item
from rlx.sandboxes.dockerfile.syntax import Heredoc, Instruction, heredoc_word

_FLAGS = {
    "COPY": frozenset(("from", "chown", "chmod", "link", "parents", "exclude")),
    "ADD": frozenset(("chown", "chmod", "link", "exclude", "checksum", "keep-git-dir", "unpack")),
}
_BLANKS = re.compile(r"[\t\v\f\r ]+")
_REMOTE = re.compile(r"(?:https?|ftp|git|ssh)://|git@|github\.com/", re.IGNORECASE)
_GIT = re.compile(r"[^/]+\.[a-z]+[:/].*\.git(?:#.*)?$", re.IGNORECASE)
_OCTAL = re.compile(r"[0-7]{1,5}")


@dataclass(frozen=True, slots=True)
class Copying:
    """COPY or ADD with variables filled in."""

    sources: tuple[str, ...]
    heredocs: tuple[Heredoc, ...]
    dest: str
    """Absolute, without a slash at its end."""
    into: bool
    origin: str | None
    """Of `--from`."""
    owner: str | None
    mode: int | None
    unpack: bool
    parents: bool
    exclude: tuple[str, ...]


def read_copy(instruction: Instruction, expand: Callable[[str], str], workdir: str) -> Copying:
    """Raises `Refused`."""
    told, exclude = _flags(instruction)
    words = instruction.words if instruction.words is not None else _BLANKS.split(instruction.rest.strip())
    if len(words) < 2:
        raise Refused("syntax", "copy.few", name=instruction.word)
    heredocs = {heredoc.name: heredoc for heredoc in instruction.heredocs}
    sources: list[str] = []
    written: list[Heredoc] = []
    for word in words[:-1]:
        opened = heredoc_word(word) if instruction.words is None else None
        if opened and opened[0] in heredocs:
            written.append(heredocs[opened[0]])
        else:
            sources.append(expand(word))
    if instruction.words is None and heredoc_word(words[-1]):
        raise Refused("syntax", "copy.heredoc")
    dest = expand(words[-1])
    for source in sources:
        if "checksum" in told or "keep-git-dir" in told or _REMOTE.match(source) or _GIT.match(source):
            raise Refused("network" if instruction.word == "ADD" else "syntax", "copy.remote", url=source)
    into = dest in ("", ".") or dest.endswith("/")
    if len(sources) + len(written) > 1 and not into:
        raise Refused("syntax", "copy.folder", dest=dest)
    return Copying(
        tuple(sources),
        tuple(written),
        posixpath.normpath(posixpath.join("/", workdir, dest)).replace("//", "/"),
        into,
        told.get("from"),
        expand(told["chown"]) if "chown" in told else None,
        _mode(expand(told["chmod"])) if "chmod" in told else None,
        told.get("unpack", "true" if instruction.word == "ADD" else "false") == "true",
        "parents" in told,
        tuple(expand(pattern) for pattern in exclude),
    )


def from_context(copying: Copying, tree: Tree) -> tuple[Picked, bool]:
    """What is copied, and whether the destination is a folder. Raises `Refused`."""
    found = pick(tree, copying.sources, parents=copying.parents, exclude=copying.exclude)
    if not copying.into and len(found.direct) + found.folder > 1:
        raise Refused("syntax", "copy.folder", dest=copying.dest)
    return found, copying.into or found.folder


def from_host(copying: Copying, image: str, tools: Mapping[str, str]) -> tuple[Item, ...]:
    """Programs that the image of `--from` exists to carry, from the host's own. Raises `Refused`."""
    known = carried(image)
    items: list[Item] = []
    for source in copying.sources:
        tool = known.get(f"/{rooted(source)}")
        if tool is None or copying.parents or copying.exclude:
            raise Refused("base", "copy.image", image=image)
        if tool not in tools:
            raise Refused("base", "base.tool", image=image, tool=tool)
        items.append(Item(tool, posixpath.basename(source), Entry("file", 0o755, digest=f"{tool} {tools[tool]}")))
    return tuple(items)


def outside(sources: Sequence[str]) -> tuple[str, ...]:
    """Sources that lead out of the context as written; COPY takes them from its root."""
    return tuple(source for source in sources if posixpath.normpath(source.lstrip("/") or ".").startswith(".."))


def _flags(instruction: Instruction) -> tuple[dict[str, str], list[str]]:
    told: dict[str, str] = {}
    exclude: list[str] = []
    for flag in instruction.flags:
        name, equals, value = flag.removeprefix("--").partition("=")
        if name not in _FLAGS[instruction.word]:
            raise Refused("syntax", "flag.unknown", flag=flag)
        if name in ("link", "parents", "keep-git-dir", "unpack"):
            value = value.lower() if equals else "true"
            if value not in ("true", "false"):
                raise Refused("syntax", "flag.value", flag=flag)
            if name == "unpack" or value == "true":
                told[name] = value
        elif not value:
            raise Refused("syntax", "flag.value", flag=flag)
        elif name == "exclude":
            exclude.append(value)
        elif name in told:
            raise Refused("syntax", "flag.twice", flag=flag)
        else:
            told[name] = value
    return told, exclude


def _mode(text: str) -> int:
    if _OCTAL.fullmatch(text) and int(text, 8) <= 0o7777:
        return int(text, 8)
    if text[:1].isdigit():
        raise Refused("syntax", "copy.chmod", mode=text)
    raise Refused("unsupported", "copy.symbolic", mode=text)
