"""Prints what the planner makes of every Dockerfile of a hub folder: `python bench/dockerfiles.py HUB [--tools a,b]`.

The context of each is the one that a compose file of its task names, else the folder it stands in (of a Space's
`server/Dockerfile`, the one above). `--tools` names programs that a tool layer adds to this machine's own; `--list`
prints every refusal.
"""

import argparse
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from rlx.sandboxes.dockerfile import Host, Plan, Refusal, needs, plan
from rlx.sandboxes.dockerfile.host import read_context, this_host
from rlx.texts import words

CLASSES = ("base", "network", "secret", "syntax", "platform", "privileged", "unsupported")
COMPOSE = ("docker-compose.yaml", "docker-compose.yml", "compose.yaml", "compose.yml")


@dataclass(frozen=True, slots=True)
class Row:
    repository: str
    path: Path
    found: Plan | Refusal
    kinds: frozenset[str]
    seconds: float


def dockerfiles(hub: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(hub.glob("*/*/*/**/Dockerfile")):
        kind, owner, name = path.relative_to(hub).parts[:3]
        yield f"{owner}/{name}" if kind == "datasets" else f"{owner}, {kind}", path


def context_of(path: Path, hub: Path) -> Path:
    for folder in (path.parent, *path.parent.parents):
        if folder == hub:
            break
        for name in COMPOSE:
            if (folder / name).is_file() and (told := _of_compose(folder / name, path)):
                return told
    return path.parent.parent if path.parent.name == "server" else path.parent


def _of_compose(compose: Path, dockerfile: Path) -> Path | None:
    try:
        services = yaml.safe_load(compose.read_text())["services"].values()
    except (yaml.YAMLError, KeyError, TypeError, AttributeError):
        return None
    for service in services:
        build = service.get("build") if isinstance(service, dict) else None
        told = build if isinstance(build, dict) else {"context": build}
        context, name = told.get("context"), told.get("dockerfile") or "Dockerfile"
        if isinstance(context, str) and "$" not in context:
            folder = (compose.parent / context).resolve()
            if (folder / str(name)).resolve() == dockerfile.resolve():
                return folder
    return None


def planned(repository: str, path: Path, hub: Path, host: Host) -> Row:
    folder = context_of(path, hub)
    ignore = next((each for each in (Path(f"{path}.dockerignore"), folder / ".dockerignore") if each.is_file()), None)
    text = path.read_text("utf-8", "replace")
    context = read_context(folder)
    start = time.perf_counter()
    found = plan(text, context, host=host, dockerignore=ignore.read_text("utf-8", "replace") if ignore else None)
    seconds = time.perf_counter() - start
    kinds: frozenset[str] = frozenset()
    if isinstance(found, Plan):
        scripts = {
            item: (folder / item).read_text("utf-8", "replace")
            for item, entry in context.items()
            if entry.kind == "file" and entry.size < 100_000 and item.endswith(".sh")
        }
        kinds = needs(found, scripts).kinds
    return Row(repository, path, found, kinds, seconds)


def table(rows: list[Row]) -> None:
    print(f"| repository | Dockerfiles | planned | share | {' | '.join(CLASSES)} |")
    print(f"|---|---|---|---|{'---|' * len(CLASSES)}")
    for name in (*sorted({row.repository for row in rows}), "all"):
        of = [row for row in rows if name in (row.repository, "all")]
        count = Counter(row.found.kind if isinstance(row.found, Refusal) else "planned" for row in of)
        cells = " | ".join(str(count[kind]) for kind in CLASSES)
        print(f"| {name} | {len(of)} | {count['planned']} | {count['planned'] / len(of):.0%} | {cells} |")


def reasons(rows: list[Row]) -> None:
    told = Counter((row.found.kind, row.found.why.key) for row in rows if isinstance(row.found, Refusal))
    print("\n| class | reason | count | for example |\n|---|---|---|---|")
    for (kind, key), count in sorted(told.items(), key=lambda item: (item[0][0], -item[1])):
        found = next(row.found for row in rows if isinstance(row.found, Refusal) and row.found.why.key == key)
        assert isinstance(found, Refusal)
        print(f"| {kind} | `{key.removeprefix('dockerfile.')}` | {count} | line {found.line}: {words(found.why)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("hub", type=Path)
    parser.add_argument("--tools", default="", help="programs of a tool layer, by commas")
    parser.add_argument("--list", action="store_true", help="print every refusal")
    asked = parser.parse_args()
    host = this_host()
    host = replace(host, tools={**host.tools, **dict.fromkeys(filter(None, asked.tools.split(",")), "")})
    rows = [planned(repository, path, asked.hub, host) for repository, path in dockerfiles(asked.hub)]
    print(f"{host.system}, {host.platform}: {' '.join(sorted(host.tools))}\n")
    table(rows)
    reasons(rows)
    kinds = Counter(kind for row in rows for kind in row.kinds)
    none = sum(1 for row in rows if isinstance(row.found, Plan) and not row.kinds)
    told = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common())
    print(f"\nOf those planned, need: {told}; nothing {none}")
    each = sum(row.seconds for row in rows) * 1000 / len(rows)
    print(f"Planning took {each:.1f} ms each, {max(row.seconds for row in rows) * 1000:.0f} ms at most")
    for row in rows if asked.list else ():
        if isinstance(row.found, Refusal):
            where = row.path.relative_to(asked.hub)
            print(f"{where}:{row.found.line} {row.found.kind} {words(row.found.why)}\n    {row.found.text}")


if __name__ == "__main__":
    main()
