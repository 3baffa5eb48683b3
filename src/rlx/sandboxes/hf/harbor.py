"""Harbor's environment over Hugging Face sandboxes: the image as it is, and the Dockerfile replayed on it.

Harbor has one of its own, which takes the token of the process's environment, builds no Dockerfile, knows no users and
holds each command's whole output: this one stands beside it over the same client.
"""

import asyncio
from pathlib import Path
from typing import Final

from harbor.environments.capabilities import EnvironmentCapabilities

from rlx.errors import SandboxError, TaskError
from rlx.sandboxes.base import Sandbox, SandboxSpec
from rlx.sandboxes.dockerfile import Host, ImageFacts, Plan, Refusal, plan
from rlx.sandboxes.dockerfile.host import read_context
from rlx.sandboxes.harbor import SandboxEnvironment
from rlx.sandboxes.hf.fit import unfit
from rlx.sandboxes.hf.kind import HF
from rlx.sandboxes.hf.sandbox import HubSandbox
from rlx.sandboxes.replay import Steps
from rlx.texts import say, words

IMPORT_PATH: Final = "rlx.sandboxes.hf.harbor:HubEnvironment"


class HubEnvironment(SandboxEnvironment):
    """Harbor refuses network policies and GPUs, which are no capabilities of it, before it is made."""

    @staticmethod
    def type() -> str:
        return "rlx-hf"

    @property
    def capabilities(self) -> EnvironmentCapabilities:
        return EnvironmentCapabilities()

    async def _made(self) -> Sandbox:
        kind, config = self._place.kind, self.task_env_config
        if not isinstance(kind, HF):
            raise SandboxError("A Hugging Face sandbox is wanted where none are made.")
        image, dockerfile = config.docker_image, self._dockerfile
        if image is None and dockerfile is not None:
            image = (await asyncio.to_thread(planned, dockerfile, ImageFacts({}))).base.reference
        if image is None:
            raise TaskError("The task has neither a Dockerfile nor an image.")
        sandbox = kind.make(SandboxSpec(env=self._persistent_env, network="public"), image)
        self._keep(sandbox)
        await sandbox.start()
        if config.docker_image is None and dockerfile is not None:
            await self._replay(sandbox, dockerfile)
        elif config.workdir:
            sandbox.settle(SandboxSpec(env=self._persistent_env, workdir=config.workdir, network="public"))
        else:
            workdir = sandbox.facts.workdir
            sandbox.settle(SandboxSpec(env=self._persistent_env, workdir=workdir, network="public"))
        await sandbox.make_folder(sandbox.spec.workdir)
        return sandbox

    async def _replay(self, sandbox: HubSandbox, dockerfile: Path) -> None:
        """Planned anew with what the image turned out to say of itself."""
        made = await asyncio.to_thread(planned, dockerfile, sandbox.facts)
        self._place.noted(say("sandbox.hf.rebuilt", image=made.base.reference))
        for note in made.notes:
            self._place.noted(note)
        steps = Steps(sandbox, self.environment_dir, tell=self._place.told)
        for step in made.steps:
            await steps.take(step)
        self._entrypoint = made.image.entrypoint
        sandbox.settle(
            SandboxSpec(
                env={**made.image.env, **self._persistent_env},
                workdir=self.task_env_config.workdir or made.image.workdir,
                user=made.image.user,
                network="public",
            )
        )


def planned(dockerfile: Path, image: ImageFacts) -> Plan:
    """Raises `TaskError` with the line that stands in the way. Blocks."""
    folder = dockerfile.parent
    ignored = folder / ".dockerignore"
    try:
        text = dockerfile.read_text("utf-8")
        leaving = ignored.read_text("utf-8") if ignored.is_file() else None
    except UnicodeDecodeError as error:
        raise TaskError("The Dockerfile is not UTF-8.") from error
    made = plan(text, read_context(folder), host=Host("", image=image), dockerignore=leaving)
    if isinstance(made, Refusal):
        at = f"Line {made.line} of the Dockerfile: " if made.line else ""
        raise TaskError(f"{at}{words(made.why)}")
    lacking = unfit(made)
    if lacking is not None:
        raise TaskError(f"Line {lacking[1]} of the Dockerfile: {words(lacking[0])}")
    return made
