"""Harbor's other environments, by name: which there are, what each needs, and whether that is here."""

import os
import shutil
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from typing import Final

from rlx.errors import NotFound
from rlx.sandboxes.base import Impossible, Possible, Sandbox, SandboxSpec
from rlx.sandboxes.outside import Outside
from rlx.settings import Settings
from rlx.texts import Say, say


@dataclass(frozen=True, slots=True)
class Needs:
    """Of one environment."""

    variables: tuple[tuple[str, ...], ...] = ()
    """Names, all of one group of them. None: its own library finds what it needs."""
    program: str | None = None
    module: str | None = None
    extra: str | None = None

    @property
    def names(self) -> frozenset[str]:
        return frozenset(name for group in self.variables for name in group)


@cache
def environments() -> Mapping[str, Needs]:
    """By Harbor's names, those that are kinds of ours left out."""
    read = tomllib.loads(files(__package__).joinpath("named.toml").read_text("utf-8"))
    return {name: Needs(tuple(map(tuple, told.pop("variables", ()))), **told) for name, told in sorted(read.items())}


def variables_of(names: tuple[str, ...]) -> frozenset[str]:
    """What a worker keeps of its environment for these."""
    known = environments()
    return frozenset(variable for name in names if name in known for variable in known[name].names)


@dataclass(frozen=True, slots=True)
class Named:
    name: str
    needs: Needs
    is_allowed: bool

    def can_run(self) -> Possible | Impossible:
        lacking = self._lacking(os.environ)
        if not self.is_allowed:
            return Impossible(say("sandbox.named.off", name=self.name), lacking or say("sandbox.named.allow"))
        if lacking is not None:
            return Impossible(lacking)
        return Possible((say("sandbox.named.note", name=self.name),))

    def make(self, spec: SandboxSpec) -> Sandbox:
        return Outside(self.name, Possible()).make(spec)

    def _lacking(self, environment: Mapping[str, str]) -> Say | None:
        """The first that is not here. Of variables their names alone are ever told."""
        needs = self.needs
        if needs.module is not None and find_spec(needs.module) is None:
            return say("sandbox.named.module", name=self.name, extra=needs.extra or needs.module)
        if needs.program is not None and shutil.which(needs.program) is None:
            return say("sandbox.named.program", name=self.name, program=needs.program)
        if needs.variables and not any(all(environment.get(name) for name in group) for group in needs.variables):
            groups = [" + ".join(group) for group in needs.variables]
            return say("sandbox.named.variables", name=self.name, names=" / ".join(groups))
        return None


def named(name: str, settings: Settings) -> Named:
    """Raises `NotFound` for a name that Harbor does not have."""
    needs = environments().get(name)
    if needs is None:
        raise NotFound(f"No sandbox {name[:60]!r}.", hint=OTHERS)
    return Named(name, needs, name in settings.sandboxes)


OTHERS: Final = "rlx sandbox ls --all lists them."
