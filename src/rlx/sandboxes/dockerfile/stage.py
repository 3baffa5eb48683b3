"""One stage, instruction by instruction: what is in force at each, and the steps that come of it."""

import posixpath
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, Protocol

from rlx.sandboxes.dockerfile import keys
from rlx.sandboxes.dockerfile.bases import Base, Host
from rlx.sandboxes.dockerfile.context import Tree
from rlx.sandboxes.dockerfile.copies import Copying, from_context, from_host, outside, read_copy
from rlx.sandboxes.dockerfile.mounts import run_flags
from rlx.sandboxes.dockerfile.pairs import name_values, optional_values
from rlx.sandboxes.dockerfile.refusals import Refused, clip
from rlx.sandboxes.dockerfile.steps import (
    AnyStep,
    Copy,
    Image,
    Item,
    Mount,
    Run,
    SetEnv,
    SetShell,
    SetUser,
    SetWorkdir,
    Stage,
    Write,
)
from rlx.sandboxes.dockerfile.syntax import Instruction
from rlx.sandboxes.dockerfile.words import expand, expand_text
from rlx.texts import Say, say

_SHELL = ("/bin/sh", "-c")
_PROXIES = frozenset(f"{name}_proxy" for name in ("http", "https", "ftp", "no", "all"))
_FACTS = frozenset(("EXPOSE", "HEALTHCHECK", "LABEL", "MAINTAINER", "ONBUILD", "STOPSIGNAL", "VOLUME"))
_MOST_ENV = 1 << 18
_MOST_ITEMS = 200_000


class Surroundings(Protocol):
    """What a stage sees of the rest of the plan."""

    @property
    def tree(self) -> Tree: ...
    @property
    def host(self) -> Host: ...
    @property
    def escape(self) -> str: ...
    @property
    def build_args(self) -> Mapping[str, str]: ...
    @property
    def global_args(self) -> Mapping[str, str]: ...

    def stage(self, name: str) -> tuple[int, str | None] | None:
        """Index in the plan and key of an earlier stage; None: the name is that of an image. May raise `Refused`."""


class StageBuilder:
    """Takes instructions in their order; `finished` is the stage. Raises `Refused` where it cannot be right."""

    def __init__(
        self, around: Surroundings, name: str | None, line: int, base: Base, parent: "StageBuilder | None"
    ) -> None:
        self.around = around
        self.name = name
        self.line = line
        self.base = base
        self.env: dict[str, str] = dict(parent.env if parent else base.env)
        """Of ENV and ARG, as commands see it."""
        self.image_env: dict[str, str] = dict(parent.image_env if parent else base.env)
        self.workdir: str = parent.workdir if parent else base.workdir
        self.user: str | None = parent.user if parent else None
        self.shell: tuple[str, ...] = parent.shell if parent else _SHELL
        self.entrypoint: tuple[str, ...] = parent.entrypoint if parent else ()
        self.cmd: tuple[str, ...] = parent.cmd if parent else ()
        self.steps: list[AnyStep] = list(parent.steps) if parent else []
        self.key: str | None = parent.key if parent else base.key
        self.notes: list[Say] = []
        self.facts: dict[str, list[str]] = {word: list(told) for word, told in parent.facts.items()} if parent else {}
        self._cmd_said = False
        self._items = 0

    def take(self, instruction: Instruction) -> None:
        if instruction.word in _FACTS:
            self._fact(instruction)
        else:
            _TAKEN[instruction.word](self, instruction)

    def finished(self) -> Stage:
        facts = {word: tuple(told) for word, told in self.facts.items()}
        image = Image(
            _frozen(self.image_env), self.workdir, self.user, self.shell, self.entrypoint, self.cmd, _frozen(facts)
        )
        return Stage(self.name, self.line, self.base, tuple(self.steps), image)

    def _expand(self, word: str) -> str:
        return expand(word, self.env, self.around.escape)

    def _after(self, *parts: keys.Json) -> str | None:
        self.key = keys.after(self.key, *parts)
        return self.key

    def _no_flags(self, instruction: Instruction) -> None:
        for flag in instruction.flags:
            raise Refused("syntax", "flag.unknown", flag=flag)

    def _fact(self, instruction: Instruction) -> None:
        if instruction.word != "HEALTHCHECK":
            self._no_flags(instruction)
        if instruction.word == "LABEL":
            name_values(instruction.rest, self.around.escape, "LABEL")
        if instruction.word == "HEALTHCHECK" and instruction.rest.split()[0].upper() not in ("NONE", "CMD"):
            raise Refused("syntax", "healthcheck.form")
        self.facts.setdefault(instruction.word, []).append(" ".join((*instruction.flags, instruction.rest)))

    def _env(self, instruction: Instruction) -> None:
        self._no_flags(instruction)
        values: dict[str, str] = {}
        for key, value in name_values(instruction.rest, self.around.escape, "ENV"):
            values[self._expand(key)] = self._expand(value)
        self._set(values)
        self.image_env |= values
        self.steps.append(SetEnv(instruction.line, instruction.text, self.key, _frozen(values)))

    def _set(self, values: Mapping[str, str]) -> None:
        if any("\0" in key + value or not key or "=" in key for key, value in values.items()):
            raise Refused("syntax", "env.name")
        self.env |= values
        if sum(len(key) + len(value) for key, value in self.env.items()) > _MOST_ENV:
            raise Refused("unsupported", "word.long")

    def _arg(self, instruction: Instruction) -> None:
        self._no_flags(instruction)
        for key, default in optional_values(instruction.rest, self.around.escape):
            name = self._expand(key)
            given = self.around.build_args.get(name)
            if given is None and default is not None:
                given = self._expand(default)
            if given is None:
                given = self.around.global_args.get(name)
            if given is not None:
                self._set({name: given})

    def _workdir(self, instruction: Instruction) -> None:
        self._no_flags(instruction)
        self.workdir = absolute(self.workdir, self._expand(instruction.rest))
        if self.workdir != "/":
            self._after("workdir", self.workdir, self.user)
        self.steps.append(SetWorkdir(instruction.line, instruction.text, self.key, self.workdir, self.user))

    def _user(self, instruction: Instruction) -> None:
        self._no_flags(instruction)
        self.user = self._expand(instruction.rest)
        if not self.user:
            raise Refused("syntax", "instruction.empty", name="USER")
        self.steps.append(SetUser(instruction.line, instruction.text, self.key, self.user))

    def _shell(self, instruction: Instruction) -> None:
        self._no_flags(instruction)
        if not instruction.words:
            raise Refused("syntax", "shell.form")
        self.shell = instruction.words
        self.steps.append(SetShell(instruction.line, instruction.text, self.key, self.shell))

    def _command(self, instruction: Instruction) -> None:
        self._no_flags(instruction)
        if instruction.words is not None:
            argv = instruction.words
        else:
            argv = (*self.shell, instruction.rest) if instruction.rest else ()
        if instruction.word == "CMD":
            self.cmd, self._cmd_said = argv, True
        else:
            self.entrypoint = argv
            if not self._cmd_said:
                self.cmd = ()

    def _run(self, instruction: Instruction) -> None:
        stages: dict[int, str | None] = {}

        def stage_of(name: str) -> int:
            found = self.around.stage(name)
            if found is None:
                raise Refused("base", "copy.image", image=name)
            stages[found[0]] = found[1]
            return found[0]

        mounts, network = run_flags(instruction.flags, self._expand, self.around.tree, self.workdir, stage_of)
        self._count(*(mount.items for mount in mounts))
        if instruction.words == ():
            raise Refused("syntax", "instruction.empty", name="RUN")
        script: str | None = None
        argv = instruction.words or ()
        if instruction.words is None:
            script, extra = _script(instruction)
            mounts += extra
            argv = (*self.shell, script)
        env = self.env | {name: value for name, value in self.around.build_args.items() if name.lower() in _PROXIES}
        told = keys.of_mounts(mounts, stages)
        if told is None:
            self.key = None
        self._after("run", list(argv), dict(self.env), self.workdir, self.user, told, network)
        self.steps.append(
            Run(
                instruction.line,
                instruction.text,
                self.key,
                argv,
                script,
                _frozen(env),
                self.workdir,
                self.user,
                mounts,
                network,
                instruction.lines,
            )
        )

    def _copy(self, instruction: Instruction) -> None:
        copying = read_copy(instruction, self._expand, self.workdir)
        if copying.sources:
            self.steps.append(self._copied(instruction, copying))
        for heredoc in copying.heredocs:
            content = heredoc.plain
            if heredoc.expand:
                content = expand_text(content, self.env)
            mode = 0o644 if copying.mode is None else copying.mode
            self._after("write", heredoc.name, content, copying.dest, copying.into, copying.owner, mode)
            self.steps.append(
                Write(
                    instruction.line,
                    instruction.text,
                    self.key,
                    heredoc.name,
                    content,
                    copying.dest,
                    copying.into,
                    copying.owner,
                    mode,
                )
            )

    def _copied(self, instruction: Instruction, copying: Copying) -> Copy:
        items: tuple[Item, ...] = ()
        into: bool | None = copying.into
        origin: Literal["context", "stage", "host"] = "context"
        stage: int | None = None
        below = ""
        direct: tuple[str, ...] = ()
        if copying.origin is None:
            found, into = from_context(copying, self.around.tree)
            items, direct = found.items, found.direct
            for source in outside(copying.sources):
                self.notes.append(say("dockerfile.note.outside", path=clip(source), line=instruction.line))
            for pattern in found.empty:
                self.notes.append(say("dockerfile.note.nothing", pattern=clip(pattern), line=instruction.line))
        elif "$" in copying.origin:
            raise Refused("unsupported", "copy.variable", text=copying.origin)
        elif (known := self.around.stage(copying.origin)) is not None:
            origin, (stage, key) = "stage", known
            into = copying.into or copying.parents or None
            if key is None:
                self.key = None
            below = key or ""
        else:
            origin, items = "host", from_host(copying, copying.origin, self.around.host.tools)
            image = clip(copying.origin)
            self.notes.append(say("dockerfile.note.carried", image=image, line=instruction.line))
        self._count(items)
        told = keys.of_items(items)
        if told is None:
            self.key = None
        patterns = copying.sources if stage is not None else ()
        unpack = direct if copying.unpack else ()
        self._after(
            "copy",
            origin,
            below,
            list(patterns),
            told,
            copying.dest,
            into,
            copying.owner,
            copying.mode,
            list(unpack),
            copying.parents,
            list(copying.exclude),
        )
        return Copy(
            instruction.line,
            instruction.text,
            self.key,
            origin,
            stage,
            patterns,
            items,
            copying.dest,
            into,
            copying.owner,
            copying.mode,
            unpack,
            copying.parents,
            copying.exclude,
        )

    def _count(self, *taken: tuple[Item, ...]) -> None:
        self._items += sum(len(items) for items in taken)
        if self._items > _MOST_ITEMS:
            raise Refused("unsupported", "copy.many", limit=_MOST_ITEMS)


_TAKEN: Mapping[str, Callable[[StageBuilder, Instruction], None]] = {
    "ADD": StageBuilder._copy,
    "ARG": StageBuilder._arg,
    "CMD": StageBuilder._command,
    "COPY": StageBuilder._copy,
    "ENTRYPOINT": StageBuilder._command,
    "ENV": StageBuilder._env,
    "RUN": StageBuilder._run,
    "SHELL": StageBuilder._shell,
    "USER": StageBuilder._user,
    "WORKDIR": StageBuilder._workdir,
}


def absolute(folder: str, path: str) -> str:
    """`path` as seen from `folder`, normalised: one slash in front, none at the end."""
    return "/" + posixpath.normpath(posixpath.join("/", folder, path)).lstrip("/")


def _script(instruction: Instruction) -> tuple[str, tuple[Mount, ...]]:
    """What the shell is given; a heredoc that is all there is becomes the script, or the file, itself."""
    docs = instruction.heredocs
    if not docs:
        return instruction.rest, ()
    alone = len(docs) == 1 and len(instruction.rest.split()) == 1
    if alone and docs[0].text.startswith("#!"):
        path = posixpath.join("/dev/pipes", docs[0].name)
        return path, (Mount("file", path, text=docs[0].plain, read_only=True),)
    if alone:
        return docs[0].plain, ()
    return "".join((instruction.rest, *(f"\n{doc.text}{doc.name}" for doc in docs))), ()


def _frozen[K, V](values: Mapping[K, V]) -> Mapping[K, V]:
    return MappingProxyType(dict(values))
