"""Where in a value the messages are."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rlx.formats.conversation.items import is_item
from rlx.formats.conversation.pieces import ROLE_KEYS, parsed, spoken

_LISTS: Final = ("messages", "conversations", "conversation", "turns", "history", "input", "prompt", "dialog", "chat")
_SAID: Final = (
    *(
        "content",
        "value",
        "text",
        "message",
        "parts",
        "tool_calls",
        "function_call",
        "reasoning_content",
        "thinking",
        "thought",
        "tool_uses",
    ),
)
_LOOKED: Final = 50
"""Messages by which a list is judged."""
_DEPTH: Final = 4


def found_in(value: object, depth: int = 0) -> list[tuple[str | None, list[object]]]:
    """The conversations in `value`, each with the name it stands under where there are several."""
    inner = parsed(value)
    if inner is not None and depth < _DEPTH and is_talk(inner):
        return found_in(inner, depth + 1)
    if isinstance(value, list):
        nested = [item for item in value if isinstance(item, list) and is_talk(item)]
        if nested and len(nested) == len(value) and depth < _DEPTH:
            return (
                [(str(at), list(item)) for at, item in enumerate(nested, 1)]
                if len(nested) > 1
                else [(None, list(nested[0]))]
            )
        return [(None, value)]
    if isinstance(value, Mapping):
        return _in_object(value, depth)
    return [] if value is None else [(None, [value])]


def is_talk(value: object, depth: int = 0) -> bool:
    """Whether `value` is a list of messages, or holds one in a way that is known here."""
    if isinstance(value, list):
        seen = value[:_LOOKED]
        if seen and all(isinstance(item, list) for item in seen) and depth < _DEPTH:
            return all(is_talk(item, depth + 1) for item in seen)
        known = sum(is_message(item if isinstance(item, Mapping) else parsed(item)) for item in seen)
        return bool(seen) and known >= 0.8 * len(seen)
    if isinstance(value, Mapping):
        if any(is_talk(value.get(key), depth + 1) for key in _LISTS if depth < _DEPTH):
            return True
        if is_message(value) or _columns(value) is not None:
            return True
        return (
            bool(value)
            and depth < 1
            and all(isinstance(item, list) and is_talk(item, depth + 1) for item in value.values())
        )
    inner = parsed(value)
    return inner is not None and depth < _DEPTH and is_talk(inner, depth + 1)


def is_message(item: object) -> bool:
    """Whether it is a message of a chat or an item of Responses."""
    if not isinstance(item, Mapping):
        return False
    if is_item(item):
        return True
    return spoken(item) is not None and any(key in item for key in _SAID)


def _in_object(value: Mapping[str, object], depth: int) -> list[tuple[str | None, list[object]]]:
    for key in _LISTS:
        held = value.get(key)
        if depth < _DEPTH and (
            is_talk(held) or (key in {"input", "prompt"} and isinstance(held, str) and held and not is_message(value))
        ):
            found = found_in(held, depth + 1)
            told = value.get("instructions")
            if key == "input" and isinstance(told, str) and told:
                found = [(None, [{"role": "system", "content": told}]), *found]
            return found
    rows = _columns(value)
    if rows is not None:
        return [(None, rows)]
    if is_message(value):
        return [(None, [value])]
    lists = {key: item for key, item in value.items() if isinstance(item, list) and is_talk(item)}
    if lists:
        return [(str(key), item) for key, item in lists.items()]
    return [(None, [value])]


def _columns(value: Mapping[str, object]) -> list[object] | None:
    """Messages that are written as a list of roles beside a list of texts."""
    role = next((key for key in ROLE_KEYS if isinstance(value.get(key), list)), None)
    said = next((key for key in _SAID if isinstance(value.get(key), list)), None)
    if role is None or said is None:
        return None
    lists = {key: item for key, item in value.items() if isinstance(item, list)}
    return list(_rows(lists, len(lists[role])))


def _rows(lists: Mapping[str, Sequence[object]], length: int) -> Iterator[dict[str, object]]:
    for at in range(length):
        yield {key: item[at] for key, item in lists.items() if at < len(item)}
