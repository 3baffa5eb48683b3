"""What the commands of a Dockerfile ask of the machine and the network, line by line. Scripts are read, never run."""

import posixpath
import re
import shlex
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from rlx.sandboxes.dockerfile.refusals import clip
from rlx.sandboxes.dockerfile.steps import Copy, Plan, Run
from rlx.texts import Say, say

type Kind = Literal[
    "apt", "apt-source", "packages", "pip", "uv", "npm", "cargo", "go", "gem", "conda", "url", "git", "hub", "docker"
]
type Asked = tuple[Kind, list[str]]

_SHELLS = frozenset(("sh", "bash", "dash", "zsh"))
_IN_FRONT = "sudo env time exec command nice nohup then do else if elif while until ! { eatmydata xvfb-run -E -H -i -n"
_BEFORE = frozenset(_IN_FRONT.split())
_WITH_VALUE = (
    "-r -c -e -i -t --requirement --constraint --editable --index-url --extra-index-url --find-links --target --prefix"
    " --python -p --root --version --git --branch -b -o --output --depth -n --name -C --cwd --filter"
)
_TAKES_VALUE = frozenset(_WITH_VALUE.split())
_FILES = {"-r": "-r", "--requirement": "-r", "-e": "-e", "--editable": "-e"}
_VERBS: Mapping[Kind, Mapping[str, frozenset[str]]] = {
    "apt": dict.fromkeys(
        ("apt-get", "apt", "aptitude"), frozenset(("install", "build-dep", "upgrade", "dist-upgrade", "full-upgrade"))
    ),
    "pip": {
        "pip": frozenset(("install", "download", "wheel")),
        "poetry": frozenset(("install", "add")),
        "pdm": frozenset(("install", "add")),
        "pipx": frozenset(("install", "run")),
    },
    "npm": dict.fromkeys(("npm", "pnpm", "yarn", "bun"), frozenset(("install", "i", "ci", "add", "dlx", "create"))),
    "cargo": {"cargo": frozenset(("install", "build", "fetch", "run", "test", "check", "add", "update", "vendor"))},
    "go": {"go": frozenset(("get", "install", "build", "test", "run", "mod"))},
    "gem": {"gem": frozenset(("install",)), "bundle": frozenset(("install", ""))},
    "conda": dict.fromkeys(("conda", "mamba", "micromamba"), frozenset(("install", "create", "env", "update"))),
    "hub": dict.fromkeys(("hf", "huggingface-cli"), frozenset(("download",))),
}
_NAMELESS = frozenset(("build", "fetch", "run", "test", "check", "update", "vendor", "mod", "env"))
"""Verbs whose words name no packages."""
_OTHER_MANAGERS = frozenset(("apk", "yum", "dnf", "microdnf", "zypper", "pacman", "brew"))
_SERVICES = frozenset(("docker", "podman", "dockerd", "containerd", "systemctl", "mount"))
_ASSIGNED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=.*", re.DOTALL)
_URL = re.compile(r"(?:https?|ftp|git|ssh)://[^\s'\"<>|;)]+|git@[\w.-]+:[^\s'\"]+")
_PYTHON = re.compile(r"python[\d.]*")
_PIP = re.compile(r"pip[\d.]*")
_PARTS = re.compile(r"\n|&&|\|\||[;|&]|\$\(|`|\(|\)")
_LONGEST = 100_000
_MOST_NAMES = 200


@dataclass(frozen=True, slots=True)
class Need:
    kind: Kind
    names: tuple[str, ...]
    """Packages, addresses or repositories, as far as the command says them."""
    line: int
    """1-based, of the line in the file where the command stands."""
    text: str
    """That line."""


@dataclass(frozen=True, slots=True)
class Needs:
    found: tuple[Need, ...]

    @property
    def kinds(self) -> frozenset[Kind]:
        return frozenset(need.kind for need in self.found)

    def of(self, *kinds: Kind) -> tuple[Need, ...]:
        return tuple(need for need in self.found if need.kind in kinds)


def needs(plan: Plan, texts: Mapping[str, str] | None = None) -> Needs:
    """Of every command of every stage that is needed, in order.

    `texts` of the context, by path: scripts that are copied in and then run are looked into as well.
    """
    found: dict[Need, None] = {}
    for stage in plan.stages:
        placed: dict[str, str] = {}
        for step in stage.steps:
            if isinstance(step, Copy) and texts:
                placed |= {path: texts[source] for path, source in _placed(step) if source in texts}
            elif isinstance(step, Run):
                found |= dict.fromkeys(_of_run(step, placed))
    return Needs(tuple(found))


def script_needs(text: str) -> tuple[Need, ...]:
    """Of a shell script by itself, in order."""
    lines = text.splitlines() or [""]
    found: dict[Need, None] = {}
    for words in _commands(text[:_LONGEST]):
        for kind, names in _asked(words):
            place = next((at for at, line in enumerate(lines) if words[0] in line and " ".join(words[1:2]) in line), 0)
            need = Need(kind, tuple(clip(name) for name in names[:_MOST_NAMES]), place + 1, lines[place].strip())
            found[need] = None
    return tuple(found)


def told(need: Need) -> Say:
    """One sentence, with the line."""
    name = f"dockerfile.need.{need.kind.replace('-', '_')}"
    if not need.names:
        return say(f"{name}_any", line=need.line)
    return say(name, names=clip(" ".join(need.names)), line=need.line)


def _placed(step: Copy) -> Iterator[tuple[str, str]]:
    """Where files of the context are in the image, and where they come from."""
    for item in step.items if step.origin == "context" else ():
        yield posixpath.join(step.dest, item.name), item.source
        if not step.into:
            yield step.dest, item.source


def _of_run(step: Run, placed: Mapping[str, str]) -> Iterator[Need]:
    scripts = [shlex.join(step.argv) if step.script is None else step.script]
    scripts += [mount.text for mount in step.mounts if mount.kind == "file"]
    place = 0
    for script in scripts:
        for words in _commands(script[:_LONGEST]):
            inner = _script_run(words, step.cwd, placed)
            asked = [each for line in _commands(inner[:_LONGEST]) for each in _asked(line)]
            for kind, names in (*_asked(words), *asked):
                place = _place(step, words, names, place)
                filled = (string.Template(name).safe_substitute(step.env) for name in names[:_MOST_NAMES])
                yield Need(kind, tuple(clip(name) for name in filled), step.line + place, step.lines[place].strip())


def _script_run(words: Sequence[str], cwd: str, placed: Mapping[str, str]) -> str:
    """The text of a script of the context that a command runs; empty where it runs none."""
    name = words[0]
    if name.rpartition("/")[2] in (*_SHELLS, "source", "."):
        name = next((word for word in words[1:] if not word.startswith("-")), "")
    text = placed.get(posixpath.normpath(posixpath.join(cwd, name)), "")
    return "" if text.startswith("#!") and "sh" not in text.partition("\n")[0] else text


def _commands(script: str) -> Iterator[list[str]]:
    """Simple commands: parted at operators and line ends, keywords and assignments in front left out."""
    for line in _parted(script.replace("\\\n", " ")):
        if line.lstrip().startswith("#"):
            continue
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            words = line.replace("'", " ").replace('"', " ").split()
        while words and (words[0] in _BEFORE or _ASSIGNED.fullmatch(words[0])):
            words = words[1:]
        if words:
            yield words


def _parted(script: str) -> Iterator[str]:
    """At operators outside of quotes; a quote that is never closed hides nothing."""
    start = at = 0
    quote = ""
    closed = script.count("'") % 2 == 0 and script.count('"') % 2 == 0
    while at < len(script):
        char = script[at]
        if char == "\\":
            at += 2
        elif closed and quote:
            quote = "" if char == quote else quote
            at += 1
        elif closed and char in "'\"":
            quote = char
            at += 1
        elif found := _PARTS.match(script, at):
            yield script[start:at]
            start = at = found.end()
        else:
            at += 1
    yield script[start:]


def _asked(words: Sequence[str]) -> Iterator[Asked]:
    name, rest = words[0].rpartition("/")[2], list(words[1:])
    if _PYTHON.fullmatch(name) and "-m" in rest[:-1]:
        module = rest.index("-m") + 1
        name, rest = rest[module], rest[module + 1 :]
    if name in _SHELLS and len(rest) > 1 and re.fullmatch(r"-[a-z]*c", rest[0]):
        for inner in _commands(rest[1]):
            if inner[0].rpartition("/")[2] not in _SHELLS:
                yield from _asked(inner)
        return
    verb = next(iter(_names(rest)), "")
    after = rest[rest.index(verb) + 1 :] if verb else []
    name = "pip" if _PIP.fullmatch(name) else name
    for kind, tools in _VERBS.items():
        if name in tools and (verb in tools[name] or (kind == "npm" and name == "yarn" and not verb)):
            yield kind, _python_names(after) if kind == "pip" else [] if verb in _NAMELESS else _names(after)
            return
    yield from _by_tool(name, verb, after, rest)


def _by_tool(name: str, verb: str, after: list[str], rest: list[str]) -> Iterator[Asked]:
    if name in ("uv", "uvx"):
        yield from _of_uv(name, verb, after)
    elif name in ("npx", "bunx", "pnpx"):
        yield "npm", [verb] if verb else []
    elif name in ("add-apt-repository", "apt-add-repository"):
        yield "apt-source", _names(rest)
    elif name in _OTHER_MANAGERS and verb:
        yield "packages", [name]
    elif name in ("curl", "wget", "aria2c"):
        yield "url", _URL.findall(" ".join(rest)) or [word for word in rest if "$" in word or "." in word][:1]
    elif name == "git" and (
        verb in ("clone", "fetch", "pull", "ls-remote") or (verb == "submodule" and "update" in after)
    ):
        yield "git", _URL.findall(" ".join(rest))
    elif name == "playwright" and verb == "install":
        yield "url", ["playwright"]
    elif name == "rustup":
        yield "url", ["rustup"]
    elif name in _SERVICES:
        yield "docker", [name]


def _of_uv(name: str, verb: str, after: list[str]) -> Iterator[Asked]:
    if name == "uvx":
        yield "uv", [verb] if verb else []
    elif verb in ("pip", "tool", "python") and "install" in after:
        named = after[after.index("install") + 1 :]
        yield "uv", _python_names(named) if verb == "pip" else _names(named)
    elif verb in ("sync", "run", "lock"):
        yield "uv", []
    elif verb == "add":
        yield "uv", _python_names(after)


def _names(words: Sequence[str]) -> list[str]:
    """Words that are neither options nor the value of one, up to a redirection."""
    found: list[str] = []
    skip = False
    for word in words:
        if re.match(r"\d?[<>](?![=0-9])", word):
            break
        if skip or word.startswith("-"):
            skip = not skip and word in _TAKES_VALUE
        elif word:
            found.append(word)
    return found


def _python_names(words: Sequence[str]) -> list[str]:
    """The same, with files of requirements as `-r file` and folders as `-e folder`."""
    return [*_names(words), *(f"{_FILES[word]} {value}" for word, value in pairwise(words) if word in _FILES)]


def _place(step: Run, words: Sequence[str], names: Sequence[str], start: int) -> int:
    """Where in the instruction the command stands: the next line that holds it, else where the last one stood."""
    for sought in (" ".join(words[:2]), *(name for name in names if len(name) > 3), words[0]):
        for place in range(start, len(step.lines)):
            line = step.lines[place]
            if sought in line and not line.lstrip().startswith("#"):
                return place
    return start
