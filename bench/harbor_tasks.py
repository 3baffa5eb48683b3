"""Every task of a hub folder in Harbor's format, and what the launcher says of it in the local sandbox."""

import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Final

from rlx.errors import RlxError
from rlx.ids import parse_key
from rlx.model import EnvQuery, RunOption, TaskQuery, Viewer
from rlx.runners.launch import RUNNER, Launcher
from rlx.services import Services
from rlx.texts import words

SANDBOX: Final = "local"
ORACLE: Final = "oracle"
VIEWER: Final = Viewer("local")
PAGE: Final = 500


@dataclass(frozen=True, slots=True)
class Found:
    """A task, and what the launcher says of it."""

    env: str
    ref: str
    option: RunOption

    @property
    def why(self) -> str:
        """Why it is not run; empty for one that is."""
        if not self.option.ok:
            return words(self.option.reason) if self.option.reason is not None else "no reason"
        return "" if ORACLE in self.option.agents else "It has no reference solution."

    @property
    def where(self) -> str:
        """The line that says so."""
        return self.option.source or ""


async def look(
    services: Services, launcher: Launcher, wants: Callable[[str, str], bool] = lambda env, ref: True
) -> AsyncIterator[Found]:
    """Those that are wanted, set by set. A set that cannot be read is left out, and logged."""
    await services.catalog.all(VIEWER, lambda done, total: None)
    envs: list[str] = []
    while cards := (await services.catalog.search(EnvQuery(offset=len(envs), limit=PAGE), VIEWER)).items:
        envs += [str(card.key) for card in cards]
    for env in sorted(envs):
        key = parse_key(env)
        try:
            environment = await services.library.open(key, VIEWER, wait=None)
        except RlxError as error:
            logging.warning("%s cannot be read: %s", env, error.message)
            continue
        refs: list[str] = []
        while items := (await environment.tasks(TaskQuery(offset=len(refs), limit=PAGE))).items:
            refs += [card.ref for card in items]
        for ref in refs:
            options = await launcher.options(key, ref, VIEWER) if wants(env, ref) else ()
            local = next((each for each in options if (each.runner, each.sandbox) == (RUNNER, SANDBOX)), None)
            if local is not None:
                yield Found(env, ref, local)
