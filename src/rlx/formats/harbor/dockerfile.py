"""What a Dockerfile starts from and ends in. Reads, never builds: a line it cannot read is passed over."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_ARG = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)(?::?-([^}]*))?\}|([A-Za-z_][A-Za-z0-9_]*))")
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)([A-Za-z_][A-Za-z0-9_]*)\1")


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
    args: dict[str, str] = {}
    stages: dict[str, str] = {}
    base = line = workdir = user = None
    count = stage_count = 0
    for number, word, rest in _instructions(text):
        count += 1
        if word == "ARG" and stage_count == 0:
            name, equals, value = rest.partition("=")
            if equals:
                args[name.strip()] = value.strip().strip("\"'")
        elif word == "FROM":
            parts = [part for part in rest.split() if not part.startswith("--")]
            if not parts:
                continue
            stage_count += 1
            named = _fill(parts[0], args)
            base, line, workdir, user = stages.get(named, named), number, None, None
            if len(parts) == 3 and parts[1].upper() == "AS":
                stages[parts[2]] = base
        elif word == "WORKDIR":
            path = rest.strip().strip("\"'")
            workdir = path if path.startswith(("/", "$")) or not workdir else f"{workdir.rstrip('/')}/{path}"
        elif word == "USER":
            user = rest.strip()
    return Dockerfile(base, line, workdir, user, count, stage_count)


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


def _instructions(text: str) -> Iterator[tuple[int, str, str]]:
    """Line number, instruction and argument; continued lines joined, comments and heredoc bodies left out."""
    lines = iter(enumerate(text.splitlines(), 1))
    for number, line in lines:
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        while bare.endswith("\\"):
            _, more = next(lines, (0, ""))
            bare = bare[:-1] if more.strip().startswith("#") else f"{bare[:-1]} {more.strip()}"
            if more.strip().startswith("#"):
                bare += "\\"
            if not more:
                break
        for _, tag in _HEREDOC.findall(bare):
            for _, body in lines:
                if body.strip() == tag:
                    break
        word, _, rest = bare.partition(" ")
        yield number, word.upper(), rest.strip()


def _fill(text: str, args: Mapping[str, str]) -> str:
    """Arguments with known values; others stay as written."""
    return _ARG.sub(lambda found: args.get(found[1] or found[3]) or found[2] or found[0], text)
