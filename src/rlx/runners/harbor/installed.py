"""Harbor's installed agents over prepared layers: in local sandboxes what would install them finds them ready.

Everywhere else they are Harbor's own. The classes that OpenEnv made of them for its proxy are used where it has one.
"""

import shlex
from typing import Any, Final

from harbor.agents.installed.base import BaseInstalledAgent
from harbor.agents.installed.mini_swe_agent import MiniSweAgent
from harbor.agents.installed.opencode import OpenCode
from harbor.environments.base import BaseEnvironment
from openenv.harbor.install_fixes import InterceptPi

from rlx.sandboxes.local.harbor import LocalEnvironment
from rlx.sandboxes.local.installed.layer import COMMAND, recipe_of

_TAKEN: Final = '{"packages":{"":{"dependencies":{"@opencode-ai/plugin":"*"}}}}'


class _Prepared(BaseInstalledAgent):  # type: ignore[misc]  # harbor's types are not followed
    """Before the agent's own class: whatever that runs in a local sandbox finds the layer's program first."""

    _folder = ""

    async def install(self, environment: BaseEnvironment) -> None:
        if not isinstance(environment, LocalEnvironment):
            await super().install(environment)
            return
        recipe = recipe_of(self.name())
        program = f"{recipe.home}/bin/{recipe.agent}"
        done = await environment.exec(f"test -x {program}", user="root")
        if done.return_code != 0:
            raise RuntimeError(f"The layer of {recipe.agent} is not in this sandbox. Make it: {COMMAND} {recipe.agent}")
        self._folder = f"{recipe.home}/bin"
        self._version = recipe.version  # known, and asking the program for it takes as long as a start

    async def _exec(self, environment: BaseEnvironment, command: str, *args: Any, **settings: Any) -> Any:
        """The launcher takes the folder from PATH again, so that the agent's own commands find what the task has."""
        if self._folder:
            command = f'export PATH="{self._folder}:$PATH"; {command}'
        return await super()._exec(environment, command, *args, **settings)


class PreparedMiniSweAgent(_Prepared, MiniSweAgent):  # type: ignore[misc]  # as above
    """mini-swe-agent."""


class PreparedOpenCode(_Prepared, OpenCode):  # type: ignore[misc]  # as above
    """opencode."""

    async def install(self, environment: BaseEnvironment) -> None:
        """It fetches a package for plugins into its folder of settings, unless that says that it has it already."""
        await super().install(environment)
        if self._folder:
            folder = "$HOME/.config/opencode"
            told = f"mkdir -p {folder}/node_modules && printf %s {shlex.quote(_TAKEN)} > {folder}/package-lock.json"
            await self.exec_as_agent(environment, command=told)


class PreparedPi(_Prepared, InterceptPi):  # type: ignore[misc]  # as above
    """pi."""
