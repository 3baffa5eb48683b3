"""How the model of a rollout is reached: from what was picked and handed over to a function that asks it."""

import math
import secrets
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final

import anyio
import httpx2

from rlx.agents import scripted
from rlx.errors import ModelError
from rlx.rollout import ModelUse
from rlx.runners.models.completion import fault_of
from rlx.runners.models.exchange import Answer, NoAnswer, Server, exchange
from rlx.runners.models.purse import Send
from rlx.runners.workers import Handed

ROUTER: Final = "router"
"""The provider of a model that the router of Inference Providers reaches."""
_BUSY: Final = (429, 503)
_TRIES: Final = 4
_WAIT: Final = 30.0
"""Seconds that a server may ask to be left alone for; past it, its refusal is the answer."""


def sender(model: ModelUse, handed: Handed, *, sleep: Callable[[float], Awaitable[None]] = anyio.sleep) -> Send:
    """How a rollout's model is asked. Raises `ModelError` for one whose address and key nobody knows any more."""
    if model.provider == "scripted":

        async def play(body: Mapping[str, Any]) -> tuple[int, Any]:
            return 200, scripted.answer({**body, "model": model.id})

        return play
    if handed.base_url is None:
        raise ModelError(
            "The worker that was told the model's address and key is gone, and they are written nowhere.",
            hint="Start the rollout again.",
        )
    any_address = handed.any_address or model.provider == ROUTER
    server = Server(handed.base_url, handed.api_key, any_address)
    if handed.hub_folder is not None and model.provider == ROUTER:
        server = _in_process(handed.base_url, handed.hub_folder)

    async def ask(body: Mapping[str, Any]) -> tuple[int, Any]:
        try:
            return await _asked(server, {**body, "model": name_of(model)}, sleep)
        except NoAnswer as error:
            return (400 if error.trouble == "refused" else 502), _error(error.message)

    return ask


def name_of(model: ModelUse) -> str:
    """As its server is asked for it."""
    return f"{model.id}:{model.route}" if model.route else model.id


def _in_process(base_url: str, folder: str) -> Server:
    """The router of a hub that is a folder, in place of the network, with a user of its own: whoever has the folder."""
    from rlx.localhub import LocalHub  # imported late: a process that talks to the Hub does without

    key = secrets.token_hex(8)
    hub = LocalHub(Path(folder), users={key: "folder"})
    return Server(base_url, key, any_address=True, transport=httpx2.ASGITransport(app=hub.app))


async def _asked(server: Server, body: Mapping[str, Any], sleep: Callable[[float], Awaitable[None]]) -> tuple[int, Any]:
    """The completion, or why there is none. A server that is busy is asked again a few times. Raises `NoAnswer`."""
    answer = await exchange(server, "chat/completions", body)
    for tried in range(1, _TRIES):
        wait = _pause(answer, tried)
        if wait is None:
            break
        await sleep(wait)
        answer = await exchange(server, "chat/completions", body)
    try:
        found = answer.json()
    except ValueError:
        return 502, _error(f"The model answered {answer.status}, and no JSON.")
    if answer.status != 200:
        return (answer.status if answer.status >= 400 else 502), found
    fault = fault_of(found)
    return (200, found) if fault is None else (502, _error(fault))


def _pause(answer: Answer, tried: int) -> float | None:
    """Seconds before it may be asked again; None: what it said stands."""
    if answer.status not in _BUSY:
        return None
    try:
        told = float(answer.retry_after) if answer.retry_after is not None else float(2**tried)
    except ValueError:  # a date, which other clocks say
        told = float(2**tried)
    return told if math.isfinite(told) and 0 <= told <= _WAIT else None


def _error(message: str) -> dict[str, Any]:
    return {"error": {"message": message}}
