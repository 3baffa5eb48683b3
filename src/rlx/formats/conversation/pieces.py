"""Parts of turns while they are read, and the roles under their many names."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from rlx.answers.records import parse_json
from rlx.model import Attachment

type Kind = Literal["message", "reasoning", "call", "output", "other"]

_ROLES: Final = {
    **dict.fromkeys(("user", "human", "player", "customer"), "user"),
    **dict.fromkeys(("assistant", "gpt", "model", "ai", "bot", "agent", "chatgpt", "bard"), "assistant"),
    **dict.fromkeys(("tool", "function", "observation", "tool_response", "tool_result", "ipython"), "tool"),
}
ROLE_KEYS: Final = ("role", "from", "source", "speaker")
_MAX_ROLE: Final = 60


@dataclass(slots=True)
class Piece:
    """A part of a turn, before it is bounded and proven."""

    role: str
    kind: Kind = "message"
    text: str = ""
    name: str | None = None
    call_id: str | None = None
    data: object = None
    """Arguments of a call that are an object or a list."""
    error: bool = False
    media: list[Attachment] = field(default_factory=list)
    tokens: int | None = None
    note: str | None = None
    turn: int = 0


def spoken(item: Mapping[str, object]) -> str | None:
    """The role a message names, as it is written."""
    told = next((item[key] for key in ROLE_KEYS if isinstance(item.get(key), str)), None)
    return told.strip()[:_MAX_ROLE] if isinstance(told, str) and told.strip() else None


def role_of(told: str) -> str:
    """Roles that every framework has, under one name; others as they are."""
    return _ROLES.get(told.lower(), told)


def word(value: object) -> str | None:
    """A name or an id, where it is one."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value else None


def parsed(text: object) -> object:
    """What JSON in a string says where it is an object or a list; None for any other text."""
    if not isinstance(text, str) or not text.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
        return None
    try:
        return parse_json(text)[0]
    except (ValueError, RecursionError):
        return None


def dumped(value: object) -> str:
    """`value` as one would write it: texts as they are, the rest as JSON."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return "…"
