"""A model for smoke rollouts: it plays an archetype's script, in calls of tools, as OpenAI's chat and stream answer."""

import json
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from rlx.generator.archetypes.base import Call

NAME = "scripted"


def answer(script: Sequence[Call], body: dict[str, Any]) -> dict[str, Any]:
    """The completion of a chat request: how often the model has spoken tells where it is in its script."""
    spoken = sum(message.get("role") == "assistant" for message in body.get("messages", ()))
    message: dict[str, Any] = {"role": "assistant", "content": None}
    if spoken < len(script):
        call = script[spoken]
        function = {"name": call.tool, "arguments": json.dumps(dict(call.arguments))}
        message["tool_calls"] = [{"id": f"call_{spoken}", "type": "function", "function": function}]
    else:
        message["content"] = "I have played all that I planned."
    return {
        "id": f"chatcmpl-{spoken}",
        "object": "chat.completion",
        "created": 0,
        "model": NAME,
        "choices": [
            {"index": 0, "message": message, "finish_reason": "tool_calls" if "tool_calls" in message else "stop"}
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


def streamed(completion: dict[str, Any]) -> str:
    """A completion as the events of a stream: one with the message, one with the usage."""
    choice = completion["choices"][0]
    delta = dict(choice["message"])
    delta["tool_calls"] = [{"index": 0, **call} for call in delta.get("tool_calls", ())] or None
    common = {**completion, "object": "chat.completion.chunk"}
    chunks = [
        {**common, "choices": [{"index": 0, "delta": delta, "finish_reason": None}], "usage": None},
        {**common, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}], "usage": None},
        {**common, "choices": []},
    ]
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


def create_app(script: Sequence[Call]) -> Starlette:
    async def complete(request: Request) -> Response:
        body = await request.json()
        completion = answer(script, body)
        if body.get("stream"):
            return StreamingResponse(iter([streamed(completion)]), media_type="text/event-stream")
        return JSONResponse(completion)

    async def models(request: Request) -> Response:
        return JSONResponse({"object": "list", "data": [{"id": NAME, "object": "model"}]})

    return Starlette(
        routes=[Route("/v1/chat/completions", complete, methods=["POST"]), Route("/v1/models", models)],
    )


@asynccontextmanager
async def serving(script: Sequence[Call]) -> AsyncIterator[str]:
    """The model's address on loopback, while it is served."""
    import asyncio

    import uvicorn

    class Quiet(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield  # signals are for the command, not for the model that it serves

    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(create_app(script), log_level="error", lifespan="off", ws="none")
        server = Quiet(config)
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        finally:
            server.should_exit = True
            await task
