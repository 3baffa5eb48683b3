"""What a Dockerfile starts from and ends in. Reads, never builds: a line it cannot read is passed over."""

from collections.abc import Mapping
from dataclasses import dataclass

from rlx.sandboxes.dockerfile.pairs import name_values, optional_values
from rlx.sandboxes.dockerfile.refusals import Refused
from rlx.sandboxes.dockerfile.syntax import Instruction, parse
from rlx.sandboxes.dockerfile.words import expand


@dataclass(frozen=True, slots=True)
class Dockerfile:
    base: str | None
    """The image the last stage starts from, arguments filled in; None without a FROM."""
    line: int | None
    """1-based line of that FROM."""
    workdir: str | None
    user: str | None
    instructions: int
    stages: int


def read_dockerfile(text: str) -> Dockerfile:
    """The last stage, since that is what runs; a stage built on another is followed to the image below."""
    file = parse(text)
    stages: dict[str, str] = {}
    base = line = workdir = user = None
    given: dict[str, str] = {}
    known: dict[str, str] = {}
    stage_count = 0
    for instruction in file.instructions:
        if instruction.word == "FROM":
            parts = instruction.rest.split()
            if stage_count == 0:
                given = dict(known)
            stage_count += 1
            named = _filled(parts[0], given, file.escape)
            base, line, workdir, user = stages.get(named.lower(), named), instruction.line, None, None
            known = {}
            if len(parts) == 3 and parts[1].upper() == "AS":
                stages[parts[2].lower()] = base
        elif instruction.word in ("ARG", "ENV"):
            known |= _values(instruction, known, given if stage_count else {}, file.escape)
        elif instruction.word == "WORKDIR":
            path = _filled(instruction.rest, known, file.escape)
            workdir = path if path.startswith(("/", "$")) or not workdir else f"{workdir.rstrip('/')}/{path}"
        elif instruction.word == "USER":
            user = _filled(instruction.rest, known, file.escape)
    return Dockerfile(base, line, workdir, user, len(file.instructions), stage_count)


def compose_services(text: str) -> tuple[str, ...]:
    """Names of a compose file's services, by indentation: a YAML parser is slow and can be made to work for ever."""
    names: list[str] = []
    indent: int | None = None
    inside = False
    for line in text.splitlines():
        bare = line.split(" #")[0].rstrip()
        if not bare.strip() or bare.lstrip().startswith("#"):
            continue
        depth = len(bare) - len(bare.lstrip())
        if depth == 0:
            inside, indent = bare.startswith("services:"), None
        elif inside:
            indent = depth if indent is None else indent
            if depth == indent and bare.endswith(":"):
                names.append(bare.strip()[:-1].strip("\"'"))
    return tuple(names[:40])


def _values(
    instruction: Instruction, known: Mapping[str, str], given: Mapping[str, str], escape: str
) -> dict[str, str]:
    """What an ARG or ENV sets; an ARG without a value of its own has that of one before the first FROM."""
    try:
        if instruction.word == "ENV":
            pairs = name_values(instruction.rest, escape, "ENV")
            return {name: _filled(value, known, escape) for name, value in pairs}
        found = optional_values(instruction.rest, escape)
        told = {name: given.get(name) if value is None else _filled(value, known, escape) for name, value in found}
    except Refused:
        return {}
    return {name: value for name, value in told.items() if value is not None}


def _filled(text: str, known: Mapping[str, str], escape: str) -> str:
    """Variables with known values; others, and what cannot be read, stay as written."""
    try:
        return expand(text, known, escape, keep_unset=True)
    except Refused:
        return text
