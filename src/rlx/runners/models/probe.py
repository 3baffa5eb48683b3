"""Tries an endpoint that somebody brings: whether it is reached, knows the key and the model, and takes tools.

A few short requests, each bounded in time and bytes. What is found is told in words of ours: of what the server sent
only the reason that it gives for refusing.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from rlx.errors import RlxError, Upstream
from rlx.runners.models.completion import fault_of, message_of, tokens_of, told_error
from rlx.runners.models.exchange import Answer, NoAnswer, Server, exchange
from rlx.runners.models.streams import DONE, BrokenStream, read_stream
from rlx.texts import Say, say

SECONDS: Final = 45.0
"""For one answer."""
MOST: Final = 1024 * 1024
_NAMES: Final = 500
_TOKENS: Final = 1024

type Verdict = Literal[
    "refused",
    "unreachable",
    "tls",
    "slow",
    "too-large",
    "redirect",
    "not-openai",
    "bad-key",
    "unknown-model",
    "busy",
    "failed",
    "no-tools",
    "tools-broken",
    "tools",
]
WORKS: Final = frozenset({"no-tools", "tools-broken", "tools"})
"""The model answers, with tools or without."""

_TOOL: Final[Mapping[str, Any]] = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Add two whole numbers.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
        },
    },
}
_ASK_TOOL: Final = "Use the tool add to find 19 + 23. Call it, and say nothing else."
_ASK: Final = "Answer with the word yes."
_TROUBLES: Final[Mapping[str, Verdict]] = {
    "unreachable": "unreachable",
    "tls": "tls",
    "slow": "slow",
    "too-large": "too-large",
    "redirect": "redirect",
    "refused": "refused",
}


@dataclass(frozen=True, slots=True)
class Probe:
    verdict: Verdict
    detail: str | None = None
    """What the server said, where it refused."""
    streams: bool | None = None
    usage: bool | None = None
    """Whether it tells how many tokens a call took; without, no cost is known."""

    @property
    def works(self) -> bool:
        return self.verdict in WORKS

    @property
    def said(self) -> tuple[Say, ...]:
        """In plain words, and what to do."""
        found = [say(f"models.probe_{self.verdict.replace('-', '_')}")]
        if self.works:
            found.append(say("models.probe_streams" if self.streams else "models.probe_streams_not"))
            found.append(say("models.probe_usage" if self.usage else "models.probe_usage_not"))
        return tuple(found)


class _Refused(RlxError):
    """The server answered, and no completion."""

    def __init__(self, verdict: Verdict, detail: str | None = None) -> None:
        super().__init__(verdict)
        self.verdict: Verdict = verdict
        self.detail = detail


async def probe(server: Server, model: str, *, seconds: float = SECONDS) -> Probe:
    """What can be said of a model. Nothing is raised: whatever goes wrong is the finding."""
    try:
        try:
            told, verdict = await _with_tools(server, model, seconds)
            detail = None
        except _Refused as refused:
            if refused.verdict not in ("failed", "not-openai", "tools-broken"):
                raise
            told, detail = await _plain(server, model, seconds), refused.detail
            verdict = "tools-broken" if refused.verdict == "tools-broken" else "no-tools"
    except NoAnswer as error:
        return Probe(_TROUBLES.get(error.trouble, "not-openai"))
    except _Refused as refused:
        return Probe(refused.verdict, refused.detail)
    return Probe(
        verdict,
        detail,
        streams=await _streams(server, model, seconds),
        usage=tokens_of(told.get("usage")) is not None,
    )


async def listed(server: Server, *, seconds: float = SECONDS) -> tuple[str, ...]:
    """Names of the models that an endpoint says it has. Raises `Upstream` where it says none."""
    try:
        answer = await exchange(server, "models", seconds=seconds, most=MOST)
    except NoAnswer as error:
        raise Upstream(error.message) from error
    if answer.status in (401, 403):
        raise Upstream("The endpoint does not take this key.", hint="Check the key.")
    try:
        told = answer.json() if answer.status == 200 else None
    except ValueError:
        told = None
    data = told.get("data") if isinstance(told, Mapping) else None
    if not isinstance(data, list):
        raise Upstream("The endpoint lists no models.", hint="Name the model that it has.")
    names = [item.get("id") for item in data if isinstance(item, Mapping)]
    known = dict.fromkeys(name for name in names if isinstance(name, str) and 0 < len(name) <= 200)
    return tuple(known)[:_NAMES]


async def _with_tools(server: Server, model: str, seconds: float) -> tuple[Mapping[str, Any], Verdict]:
    body = {"tools": [_TOOL], "tool_choice": "auto"}
    told = await _completed(server, _request(model, _ASK_TOOL, **body), seconds)
    calls = message_of(told).get("tool_calls")
    if not calls:
        return told, "no-tools"
    return told, "tools" if _is_call(calls[0]) else "tools-broken"


async def _plain(server: Server, model: str, seconds: float) -> Mapping[str, Any]:
    return await _completed(server, _request(model, _ASK), seconds)


async def _streams(server: Server, model: str, seconds: float) -> bool:
    """Whether it gives a stream where one is asked for. A stream without an end is cut off, and none."""
    body = _request(model, _ASK, stream=True)
    try:
        answer = await exchange(
            server, "chat/completions", body, seconds=seconds, most=MOST, enough=lambda part: DONE in part
        )
        if answer.status != 200 or answer.media_type != "text/event-stream":
            return False
        return read_stream(answer.data).finished
    except (NoAnswer, BrokenStream):
        return False


def _request(model: str, text: str, **more: Any) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": text}], "max_tokens": _TOKENS, **more}


async def _completed(server: Server, body: Mapping[str, Any], seconds: float) -> Mapping[str, Any]:
    """Raises `NoAnswer`, `_Refused`."""
    answer = await exchange(server, "chat/completions", body, seconds=seconds, most=MOST)
    try:
        found = answer.json()
    except ValueError:
        found = None
    if answer.status == 200 and fault_of(found) is None and isinstance(found, Mapping):
        return found
    detail = told_error(found) if answer.status != 200 and isinstance(found, Mapping) else None
    if detail is not None and server.key:
        detail = detail.replace(server.key, "[key]")
    raise _Refused(_verdict(answer, found), detail)


def _verdict(answer: Answer, found: object) -> Verdict:
    match answer.status:
        case 401 | 403:
            return "bad-key"
        case 402 | 429 | 503:
            return "busy"
        case 404 if isinstance(found, Mapping):
            return "unknown-model"
        case 200 if isinstance(found, Mapping) and found.get("choices"):
            return "tools-broken"
        case 200 | 404 | 405:
            return "not-openai"
    if isinstance(found, Mapping) and _names_model(found):
        return "unknown-model"
    return "failed" if isinstance(found, Mapping) else "not-openai"


def _names_model(found: Mapping[str, Any]) -> bool:
    error = found.get("error")
    code = error.get("code") if isinstance(error, Mapping) else None
    words = told_error(found).lower()
    unknown = ("not found", "not exist", "unknown model", "invalid model", "not supported by")
    return code in ("model_not_found", "model_not_supported") or ("model" in words and any(w in words for w in unknown))


def _is_call(call: Mapping[str, Any]) -> bool:
    """Whether the tool was called by its name, with arguments that are an object of JSON."""
    function = call["function"]
    try:
        arguments = json.loads(function.get("arguments") or "")
    except (TypeError, ValueError, RecursionError):
        return False
    return function["name"] == "add" and isinstance(arguments, Mapping)
