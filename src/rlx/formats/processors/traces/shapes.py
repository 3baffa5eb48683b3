"""Where in a row the conversation is, and who wrote it down."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from rlx.formats.conversation import is_conversation, turns
from rlx.formats.processors.prompts.cells import opened
from rlx.formats.processors.traces import atif
from rlx.model import Message

type Kind = Literal["atif", "swe-agent", "inspect", "chat"]

NAMES: Final = (
    *(
        "messages",
        "conversations",
        "conversation",
        "trajectory",
        "traj",
        "trace",
        "history",
        "turns",
        "chat",
        "rollout",
    ),
    *("dialog", "dialogue", "transcript", "session", "completion", "response", "responses", "output"),
)
"""Columns of conversations, the surest first."""
TOOLS: Final = ("tools", "tool_definitions", "functions", "available_tools", "tool_schemas", "agent.tool_definitions")
_AGENTS: Final = frozenset({"assistant", "gpt", "model", "ai", "agent", "bot"})


@dataclass(frozen=True, slots=True)
class Talk:
    kind: Kind
    column: str
    """Where it is; empty when the row itself is the document."""


def talk_of(row: Mapping[str, Any]) -> Talk | None:
    """Where an agent speaks in `row`, raw or masked; None where none does."""
    if atif.is_document(row):
        return Talk("atif", "")
    known = [name for name in NAMES if row.get(name)]
    for name in known:
        if atif.is_document(opened(row[name])):
            return Talk("atif", name)
    if is_swe_agent(row):
        return Talk("swe-agent", "history" if row.get("history") else "trajectory")
    others = [
        str(name)
        for name, value in list(row.items())[:200]
        if name not in NAMES and isinstance(value, str | list | Mapping)
    ]
    for name in (*known, *others):
        if is_conversation(row[name]) and agent_turns(turns(row[name])):
            return Talk("inspect" if name == "messages" and is_inspect(row) else "chat", name)
    return None


def is_swe_agent(row: Mapping[str, Any]) -> bool:
    steps = _dicts(row.get("trajectory"))
    if any("action" in step and "observation" in step for step in steps):
        return True
    return any("message_type" in item or ("agent" in item and "role" in item) for item in _dicts(row.get("history")))


def is_inspect(row: Mapping[str, Any]) -> bool:
    return "scores" in row and ("epoch" in row or "model_usage" in row or "target" in row)


def said(row: Mapping[str, Any], talk: Talk) -> tuple[Message, ...]:
    """The conversation of a masked row."""
    value = row.get(talk.column) if talk.column else dict(row)
    if talk.kind == "atif":
        document = opened(value)
        return turns(atif.messages(document)) if isinstance(document, Mapping) else ()
    if talk.kind == "swe-agent":
        return turns(list(_history(row) if talk.column == "history" else _trajectory(row)))
    return turns(value)


def agent_turns(messages: Sequence[Message]) -> int:
    """How often an agent spoke."""
    return len({item.turn for item in messages if item.role.lower() in _AGENTS})


def _history(row: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    """SWE-agent's messages. What its user says after the agent spoke is what a command printed."""
    spoke = False
    for item in _dicts(row.get("history")):
        told = dict(item)
        ids = told.get("tool_call_ids")
        if isinstance(ids, list) and ids:
            told["tool_call_id"] = ids[0]
        if told.get("is_demo") is True:
            told["name"] = "demonstration"
        elif told.get("role") == "user" and spoke:
            told["role"] = "tool"
        spoke = spoke or told.get("role") == "assistant"
        yield told


def _trajectory(row: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    for step in _dicts(row.get("trajectory")):
        said = step.get("response") or step.get("thought")
        call = {"name": "shell", "arguments": {"command": step.get("action")}}
        yield {"role": "assistant", "content": said or "", "tool_calls": [call] if step.get("action") else []}
        yield {"role": "tool", "content": step.get("observation") or ""}


def _dicts(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
