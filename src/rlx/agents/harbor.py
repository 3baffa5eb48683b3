"""Our agents as Harbor's. Loaded by the worker process alone."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import httpx2
from harbor.agents.base import BaseAgent
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext

from rlx import __version__
from rlx.agents.simple import TOOL, Told, work
from rlx.errors import ModelError

_SECONDS: Final = 900.0
"""That a model may take for one answer."""
_COMMAND_SECONDS: Final = 300


class SimpleAgent(BaseAgent):  # type: ignore[misc]  # harbor's types are not followed
    """Calls the model from this process, and runs commands in the sandbox."""

    def __init__(self, *args: Any, base_url: str, api_key: str, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._base_url = base_url
        self._api_key = api_key

    @staticmethod
    def name() -> str:
        return "simple"

    def version(self) -> str:
        return __version__

    async def setup(self, environment: BaseEnvironment) -> None:
        """The sandbox needs nothing but its shell."""

    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        told = Told()

        async def run(command: str) -> tuple[int, str]:
            try:
                done = await environment.exec(command, timeout_sec=_COMMAND_SECONDS)
            except RuntimeError as error:  # how an environment tells a time limit
                return 124, str(error)
            return done.return_code, (done.stdout or "") + (done.stderr or "")

        headers = {"authorization": f"Bearer {self._api_key}"}
        async with httpx2.AsyncClient(trust_env=False, timeout=_SECONDS, headers=headers) as client:

            async def ask(messages: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
                body = {"model": self.model_name, "messages": list(messages), "tools": [TOOL]}
                return await _asked(client, f"{self._base_url}/chat/completions", body)

            try:
                await work(instruction, ask, run, told)
            finally:
                context.n_input_tokens, context.n_output_tokens = told.tokens_in, told.tokens_out
                self._write(told)

    def _write(self, told: Told) -> None:
        if not told.steps:
            return
        trajectory = {
            "schema_version": "ATIF-v1.7",
            "session_id": self.session_id or "simple",
            "agent": {"name": self.name(), "version": self.version(), "model_name": self.model_name},
            "steps": told.steps,
        }
        self.logs_dir.mkdir(parents=True, exist_ok=True)
        (self.logs_dir / "trajectory.json").write_text(json.dumps(trajectory))


async def _asked(client: httpx2.AsyncClient, url: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        answer = await client.post(url, json=dict(body))
    except httpx2.HTTPError as error:
        raise ModelError(f"The model could not be reached: {type(error).__name__}.") from error
    if answer.status_code != 200:
        raise ModelError(f"The model answered {answer.status_code}: {answer.text[:300]}")
    try:
        found = answer.json()
    except ValueError as error:
        raise ModelError("The model's answer is no JSON.") from error
    if not isinstance(found, Mapping):
        raise ModelError("The model's answer is no JSON object.")
    return found
