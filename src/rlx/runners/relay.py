"""Between the capture proxy and models: sends calls on with their keys, counts and tells them, and stops at a ceiling.

Each rollout has a line with a name that nobody can guess. Keys of endpoints stay here: neither an agent nor the capture
proxy nor a file sees them.
"""

import json
import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import httpx2
from starlette.requests import Request
from starlette.responses import JSONResponse

from rlx.agents import scripted
from rlx.errors import LimitError, ModelError, UserError
from rlx.rollout import ModelUse
from rlx.runners.endpoints import checked_address
from rlx.runners.watch import Watch
from rlx.runners.workers import Handed

_SECONDS: Final = 600.0
_LARGEST: Final = 32 * 1024 * 1024
"""Bytes of a model's answer."""

type Send = Callable[[Mapping[str, Any]], Awaitable[tuple[int, Any]]]
"""A chat request to a status and the JSON of the answer."""


@dataclass(slots=True)
class Line:
    send: Send
    watch: Watch
    max_dollars: float | None = None
    over: Callable[[LimitError], None] = lambda error: None
    """Told when the rollout cost what it may."""
    trouble: str | None = None
    """What the model answered last, if that was an error."""
    is_over: bool = field(default=False)


class Relay:
    def __init__(self) -> None:
        self._lines: dict[str, Line] = {}

    @contextmanager
    def line(self, line: Line) -> Iterator[str]:
        """The path of a line while the block lasts."""
        name = secrets.token_hex(16)
        self._lines[name] = line
        try:
            yield f"/relay/{name}/v1"
        finally:
            del self._lines[name]

    async def endpoint(self, request: Request) -> JSONResponse:
        line = self._lines.get(request.path_params["name"])
        if line is None:
            return _error(404, "There is no such line.")
        try:
            body = json.loads(await request.body())
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return _error(400, "The body is no JSON object.")
        if line.is_over:
            return _error(400, "The rollout has cost what it may.")
        line.watch.request(_messages(body))
        status, answer = await line.send(body)
        if status != 200:
            line.trouble = f"{status}: {_message_of(answer)}"
            return JSONResponse(answer, status)
        line.trouble = None
        line.watch.response(answer["choices"][0]["message"], answer.get("usage"))
        cost = line.watch.cost
        if line.max_dollars is not None and cost is not None and cost >= line.max_dollars:
            line.is_over = True
            line.over(LimitError(f"The rollout has cost ${cost:.4f}; ${line.max_dollars:g} was its ceiling."))
        return JSONResponse(answer)


def sender(model: ModelUse, handed: Handed) -> Send:
    """How a rollout's model is reached. Raises `ModelError` for an endpoint that nobody knows any more."""
    if model.provider == "scripted":

        async def play(body: Mapping[str, Any]) -> tuple[int, Any]:
            return 200, scripted.answer({**body, "model": model.id})

        return play
    if handed.base_url is None:
        raise ModelError(
            "The worker that was told the model's address and key is gone, and they are written nowhere.",
            hint="Start the rollout again.",
        )
    base = handed.base_url

    async def ask(body: Mapping[str, Any]) -> tuple[int, Any]:
        try:
            url = await checked_address(base, any_address=handed.any_address)
        except UserError as error:
            return 400, {"error": {"message": error.message}}
        return await _sent(f"{url}/chat/completions", {**body, "model": model.id}, handed.api_key)

    return ask


async def _sent(url: str, body: Mapping[str, Any], key: str | None) -> tuple[int, Any]:
    headers = {"authorization": f"Bearer {key}"} if key else {}
    try:
        async with (
            httpx2.AsyncClient(trust_env=False, timeout=_SECONDS, follow_redirects=False) as client,
            client.stream("POST", url, json=dict(body), headers=headers) as answer,
        ):
            data = bytearray()
            async for part in answer.aiter_bytes():
                data += part
                if len(data) > _LARGEST:
                    return 502, {"error": {"message": "The model's answer is too large."}}
            status = answer.status_code
    except httpx2.HTTPError as error:
        return 502, {"error": {"message": f"The model could not be reached: {type(error).__name__}."}}
    try:
        found = json.loads(data)
    except ValueError:
        return 502, {"error": {"message": f"The model answered {status}, and no JSON."}}
    if status == 200 and not _is_completion(found):
        return 502, {"error": {"message": "The model's answer is no chat completion."}}
    return status if status < 300 or status >= 400 else 502, found


def _is_completion(found: object) -> bool:
    choices = found.get("choices") if isinstance(found, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    return isinstance(choice, Mapping) and isinstance(choice.get("message"), Mapping)


def _messages(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    told = body.get("messages")
    return [message for message in (told if isinstance(told, list) else ()) if isinstance(message, Mapping)]


def _message_of(answer: object) -> str:
    error = answer.get("error") if isinstance(answer, Mapping) else None
    told = error.get("message") if isinstance(error, Mapping) else error
    return str(told or "no reason given")[:300]


def _error(status: int, message: str) -> JSONResponse:
    return JSONResponse({"error": {"message": message}}, status)
