"""Write the table of a framework anew from its package: `python -m rlx.formats.frameworks.refresh NAME --package PATH`.

The package is read as text and never imported.
"""

import argparse
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Protocol, cast

from rlx.errors import BadInput
from rlx.formats.frameworks.packages import Package, open_package
from rlx.formats.frameworks.tables import Name, made
from rlx.formats.frameworks.written import toml

NAMES: Final[tuple[Name, ...]] = ("nemo_gym", "verl", "skyrl", "reasoning_gym", "verifiers")
_NOTE: Final = (
    "Written by `python -m rlx.formats.frameworks.refresh {name} --package PATH`; change the reader, not this."
)
_SHOWN: Final = 40
"""Changes that are told one by one."""


class Reader(Protocol):
    """A module of `readers`."""

    PACKAGE: str

    def read(self, package: Package) -> Mapping[str, object]: ...


def fresh(name: Name, root: Path, date: str, before: Mapping[str, Any]) -> Mapping[str, object]:
    """The table as the package at `root` has it. Its date stays where nothing else changed."""
    reader = cast(Reader, import_module(f"rlx.formats.frameworks.readers.{name}"))
    package = open_package(root, reader.PACKAGE)
    told = {"source": package.name, "version": package.version, "date": date, "python": _python(package)}
    found = {**told, **reader.read(package)}
    if {**found, "date": None} == {**before, "date": None}:
        found["date"] = before["date"]
    made(name, cast(Mapping[str, Any], found))
    return found


def changes(before: Mapping[str, object], after: Mapping[str, object], at: str = "") -> Iterator[str]:
    """What became of each entry, a line each."""
    for key in sorted({*before, *after}):
        place = f"{at}.{key}" if at else key
        old, new = before.get(key), after.get(key)
        if key not in after:
            yield f"- {place}"
        elif key not in before:
            yield f"+ {place}"
        elif isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from changes(old, new, place)
        elif old != new:
            yield f"~ {place}: {old!r} -> {new!r}"


def main(arguments: Sequence[str] | None = None, *, folder: Path = Path(__file__).parent) -> int:
    """0 where all is well, 1 where `--check` found a difference, 2 for what cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m rlx.formats.frameworks.refresh", description=__doc__)
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("--package", type=Path, required=True, help="a wheel, an unpacked one, or site-packages")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where something changed")
    parser.add_argument("--date", default=datetime.now(UTC).date().isoformat(), help="of reading; today")
    told = parser.parse_args(arguments)
    path = folder / f"{told.name}.toml"
    before = tomllib.loads(path.read_text("utf-8")) if path.exists() else {}
    try:
        after = fresh(told.name, told.package, told.date, before)
    except BadInput as error:
        sys.stderr.write(f"{error.message}\n")
        return 2
    changed = list(changes(before, after))
    sys.stdout.writelines(f"{line}\n" for line in changed[:_SHOWN])
    if len(changed) > _SHOWN:
        sys.stdout.write(f"… and {len(changed) - _SHOWN} more\n")
    sys.stdout.write(f"{told.name}: {len(changed)} changes against {path.name}\n")
    if told.check:
        return 1 if changed else 0
    path.write_text(toml(after, _NOTE.format(name=told.name)), "utf-8")
    return 0


def _python(package: Package) -> str:
    """Versions of Python that its metadata asks for."""
    for path in package.paths:
        if path.endswith(".dist-info/METADATA"):
            lines = package.text(path).splitlines()
            return next((line.partition(":")[2].strip() for line in lines if line.startswith("Requires-Python:")), "")
    return ""


if __name__ == "__main__":
    sys.exit(main())
