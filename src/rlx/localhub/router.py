"""The router of Inference Providers, as a local hub has one: the scripted model under several names and providers.

`GET /v1/models` and `POST /v1/chat/completions` as the real one answers them, streams and calls of tools among it. The
providers differ in price and in what they can, so that picking one can be tried; all of them play the same script.
"""

import json
from collections.abc import AsyncGenerator, Iterator, Mapping
from typing import Any, Final

import anyio
import anyio.lowlevel

from rlx.agents import scripted
from rlx.localhub.access import Visitor
from rlx.localhub.wire import Answer, Refusal, Request, json_answer, json_bytes

OWNER: Final = "scripted"
CONTEXT: Final = 131_072
POLICIES: Final = ("fastest", "cheapest", "preferred")
_PIECE: Final = 24
"""Characters of one piece of a stream."""


def _provider(
    name: str, *, dollars: tuple[float, float] | None, tools: bool = True, live: bool = True
) -> dict[str, Any]:
    told: dict[str, Any] = {"provider": name, "status": "live" if live else "error", "supports_tools": tools}
    told["context_length"] = CONTEXT
    if dollars is not None:
        told["pricing"] = {"input": dollars[0], "output": dollars[1]}
    return told


PROVIDERS: Final = (
    _provider("swift", dollars=(0.9, 3.6)),
    _provider("thrifty", dollars=(0.2, 0.6)),
    _provider("wordy", dollars=(0.4, 1.2), tools=False),
    _provider("away", dollars=(0.1, 0.1), live=False),
)
UNPRICED: Final = (_provider("swift", dollars=(0.9, 3.6)), _provider("untold", dollars=None))


def models() -> list[dict[str, Any]]:
    """As the router lists them: one for each script, and one of which a price is not known."""
    return [
        {
            "id": f"{OWNER}/{name}",
            "object": "model",
            "owned_by": OWNER,
            "architecture": {"input_modalities": ["text"], "output_modalities": ["text"]},
            "providers": list(providers),
        }
        for name, providers in (*((script, PROVIDERS) for script in scripted.SCRIPTS), ("solve-unpriced", UNPRICED))
    ]


async def answer(request: Request, visitor: Visitor, parts: list[str], *, has_users: bool) -> Answer:
    """`parts` follow `/v1`. A hub that has users answers them alone; the list is for everybody."""
    match request.method, parts:
        case (("GET" | "HEAD"), ["models"]):
            return json_answer({"object": "list", "data": models()})
        case "POST", ["chat", "completions"]:
            if has_users and visitor.user is None:
                raise Refusal(401, "", "Invalid username or password.")
            return _complete(_read(await request.body()))
        case _, ["models"] | ["chat", "completions"]:
            raise Refusal(405, "", "This route takes another method.")
    raise Refusal(404, "", "This local hub has no such route.")


def _read(data: bytes) -> Mapping[str, Any]:
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict) or not isinstance(body.get("messages"), list):
        raise Refusal(400, "", "The body is no chat request.")
    return body


def _complete(body: Mapping[str, Any]) -> Answer:
    id, _, route = str(body.get("model", "")).partition(":")
    model = next((each for each in models() if each["id"] == id), None)
    if model is None:
        return _error(404, f"The model '{id[:200]}' does not exist.", "model_not_found")
    live = {each["provider"]: each for each in model["providers"] if each["status"] == "live"}
    if route and route not in POLICIES and route not in live:
        return _error(400, f"The model '{id}' is not supported by the provider '{route[:60]}'.", "model_not_supported")
    if body.get("tools") and route in live and not live[route]["supports_tools"]:
        return _error(400, f"The provider '{route}' takes no tools.", "unsupported_parameter")
    completion = scripted.answer({**body, "model": id.removesuffix("-unpriced")}) | {"model": id}
    if body.get("stream") is not True:
        return json_answer(completion)
    options = body.get("stream_options")
    usage = isinstance(options, Mapping) and bool(options.get("include_usage"))
    return Answer(200, [(b"content-type", b"text/event-stream")], _events(_pieces(completion, usage=usage)))


async def _events(pieces: Iterator[bytes]) -> AsyncGenerator[bytes]:
    for piece in pieces:
        yield b"data: %b\n\n" % piece
        await anyio.lowlevel.checkpoint()


def _pieces(completion: Mapping[str, Any], *, usage: bool) -> Iterator[bytes]:
    """The chunks of a stream: the message bit by bit, why it ended, and what it took where that is asked for."""
    message = completion["choices"][0]["message"]
    shared = {key: completion[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}

    def chunk(delta: Mapping[str, Any], reason: str | None = None) -> bytes:
        return json_bytes({**shared, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})

    yield chunk({"role": "assistant", "content": ""})
    for piece in _cut(message["content"] or ""):
        yield chunk({"content": piece})
    for index, call in enumerate(message.get("tool_calls") or ()):
        function = call["function"]
        first = {"index": index, "id": call["id"], "type": "function", "function": {"name": function["name"]}}
        first["function"]["arguments"] = ""
        yield chunk({"tool_calls": [first]})
        for piece in _cut(function["arguments"]):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, completion["choices"][0]["finish_reason"])
    if usage:
        yield json_bytes({**shared, "choices": [], "usage": completion["usage"]})
    yield b"[DONE]"


def _cut(text: str) -> Iterator[str]:
    yield from (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))


def _error(status: int, message: str, code: str) -> Answer:
    return json_answer({"error": {"message": message, "type": "invalid_request_error", "code": code}}, status=status)
