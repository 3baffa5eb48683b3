"""A Dockerfile as steps for a sandbox that takes none: right, or refused with the line that says why. Pure."""

import re
from collections.abc import Mapping

from rlx.sandboxes.dockerfile.bases import Base, Host, base_of, parse_reference
from rlx.sandboxes.dockerfile.context import Entry, Tree
from rlx.sandboxes.dockerfile.pairs import optional_values
from rlx.sandboxes.dockerfile.patterns import Ignore
from rlx.sandboxes.dockerfile.refusals import Refusal, Refused
from rlx.sandboxes.dockerfile.stage import StageBuilder
from rlx.sandboxes.dockerfile.steps import Plan, Stage
from rlx.sandboxes.dockerfile.syntax import Dockerfile, Instruction, parse
from rlx.sandboxes.dockerfile.words import expand
from rlx.texts import Say

_MOST_INSTRUCTIONS = 2000
_MOST_STAGES = 50
_STAGE_NAME = re.compile(r"[a-z][a-z0-9_.-]*")
_MACHINES = {"x86_64": "amd64", "x86-64": "amd64", "aarch64": "arm64", "arm64/v8": "arm64", "amd64/v1": "amd64"}


def plan(
    text: str,
    context: Mapping[str, Entry],
    *,
    host: Host,
    dockerignore: str | None = None,
    build_args: Mapping[str, str] | None = None,
) -> Plan | Refusal:
    """How `host` makes what `docker build` would make of `text` and the files of `context`.

    Never raises on any text or any entries. The same in, the same out.
    """
    dockerfile = parse(text)
    if dockerfile.faults:
        return dockerfile.faults[0]
    try:
        if len(dockerfile.instructions) > _MOST_INSTRUCTIONS:
            raise Refused("unsupported", "file.long", limit=_MOST_INSTRUCTIONS)
        tree = _visible(context, dockerignore)
        return _Planner(dockerfile, tree, host, build_args or {}).plan()
    except _Failed as failed:
        return failed.refusal
    except Refused as refused:
        return refused.at(None, "")


class _Failed(Exception):
    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.kind)
        self.refusal = refusal


class _Section:
    """A FROM and what follows it."""

    def __init__(self, opening: Instruction) -> None:
        self.opening = opening
        self.body: list[Instruction] = []
        self.name: str | None = None


class _Planner:
    def __init__(self, dockerfile: Dockerfile, tree: Tree, host: Host, build_args: Mapping[str, str]) -> None:
        self.tree = tree
        self.host = host
        self.escape = dockerfile.escape
        self.build_args = build_args
        self.global_args: dict[str, str] = _platform_args(host)
        self._sections: list[_Section] = []
        self._built: dict[int, tuple[int, StageBuilder]] = {}
        self._stages: list[Stage] = []
        self._current = 0
        self._read(dockerfile)

    def plan(self) -> Plan:
        self._build(len(self._sections) - 1)
        notes: dict[Say, None] = {}
        for _, each in self._built.values():
            notes |= dict.fromkeys((*each.base.notes, *each.notes))
        return Plan(tuple(self._stages), tuple(notes))

    def stage(self, name: str) -> tuple[int, str | None] | None:
        place = self._place(name)
        if place is None and name.isascii() and name.isdigit():
            place = int(name) if len(name) < 4 else len(self._sections)
            if place >= self._current:
                raise Refused("syntax", "copy.stage", name=name)
        if place is None:
            return None
        index, builder = self._build(place)
        return index, builder.key

    def _read(self, dockerfile: Dockerfile) -> None:
        for instruction in dockerfile.instructions:
            try:
                if instruction.word == "FROM":
                    self._sections.append(self._opened(instruction))
                elif self._sections:
                    self._sections[-1].body.append(instruction)
                elif instruction.word == "ARG":
                    self._global(instruction)
                else:
                    raise Refused("syntax", "from.before", name=instruction.word)
            except Refused as refused:
                raise _Failed(refused.at(instruction.line, instruction.text)) from None
        if not self._sections:
            raise Refused("syntax", "from.none")
        if len(self._sections) > _MOST_STAGES:
            raise Refused("unsupported", "from.many", limit=_MOST_STAGES)

    def _global(self, instruction: Instruction) -> None:
        for name, default in optional_values(instruction.rest, self.escape):
            given = self.build_args.get(name)
            if given is None and default is not None:
                given = expand(default, self.global_args, self.escape)
            if given is not None:
                self.global_args[name] = given

    def _opened(self, instruction: Instruction) -> _Section:
        words = instruction.rest.split()
        section = _Section(instruction)
        if len(words) == 3 and words[1].upper() == "AS":
            section.name = words[2].lower()
            if not _STAGE_NAME.fullmatch(section.name):
                raise Refused("syntax", "from.name", name=words[2])
        elif len(words) != 1:
            raise Refused("syntax", "from.form")
        return section

    def _place(self, name: str) -> int | None:
        """Of the last stage of that name before the one being built."""
        for place in range(self._current - 1, -1, -1):
            if self._sections[place].name == name.lower():
                return place
        return None

    def _build(self, place: int) -> tuple[int, StageBuilder]:
        """A stage once those that it needs are built; each is built once."""
        if place in self._built:
            return self._built[place]
        outer, self._current = self._current, place
        section = self._sections[place]
        instruction = section.opening
        try:
            builder = self._opening(section)
            for instruction in section.body:
                builder.take(instruction)
        except Refused as refused:
            raise _Failed(refused.at(instruction.line, instruction.text)) from None
        self._current = outer
        self._stages.append(builder.finished())
        self._built[place] = len(self._stages) - 1, builder
        return self._built[place]

    def _opening(self, section: _Section) -> StageBuilder:
        line = section.opening.line
        for flag in section.opening.flags:
            name, _, value = flag.partition("=")
            if name != "--platform":
                raise Refused("syntax", "flag.unknown", flag=flag)
            self._check_platform(expand(value, self.global_args, self.escape))
        written = section.opening.rest.split()[0]
        image = expand(written, self.global_args, self.escape)
        if not image:
            raise Refused("base", "from.empty", text=written)
        place = self._place(image)
        if place is not None:
            parent = self._build(place)[1]
            if "ONBUILD" in parent.facts:
                raise Refused("unsupported", "from.onbuild", name=image)
            return StageBuilder(self, section.name, line, parent.base, parent)
        if parse_reference(image) is None:
            raise Refused("syntax", "base.reference", image=image)
        base = base_of(image, self.host)
        if not isinstance(base, Base):
            raise _Failed(Refusal(base.kind, line, section.opening.text, base.why))
        return StageBuilder(self, section.name, line, base, None)

    def _check_platform(self, value: str) -> None:
        system, slash, machine = value.lower().partition("/")
        if not slash:
            system, machine = ("linux", system) if system not in ("linux", "windows") else (system, "")
        wanted = f"{system}/{_MACHINES.get(machine, machine)}" if machine else system
        if wanted not in (self.host.platform, self.host.platform.partition("/")[0]):
            raise Refused("platform", "platform.other", wanted=value, found=self.host.platform)


def _visible(context: Mapping[str, Entry], dockerignore: str | None) -> Tree:
    """What the context holds once a `.dockerignore` is applied. Raises `Refused`."""
    if not dockerignore:
        return Tree(context)
    ignore = Ignore.of(dockerignore)
    # A folder that is left out still stands where something in it is kept: the tree implies it.
    return Tree({path: entry for path, entry in context.items() if not ignore.leaves_out(path)})


def _platform_args(host: Host) -> dict[str, str]:
    system, _, machine = host.platform.partition("/")
    told = {"PLATFORM": host.platform, "OS": system, "ARCH": machine.partition("/")[0], "VARIANT": ""}
    return {f"{which}{name}": value for which in ("TARGET", "BUILD") for name, value in told.items()}
