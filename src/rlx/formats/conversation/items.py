"""Items of OpenAI's Responses: messages, reasoning, calls of every kind and their outputs."""

from collections.abc import Mapping
from typing import Final

from rlx.formats.conversation.content import arguments, is_error, joined, output_piece
from rlx.formats.conversation.pieces import Piece, dumped, word

_OURS: Final = frozenset({"type", "id", "call_id", "status", "name", "role"})
_OUTPUTS: Final = ("output", "outputs", "content", "result", "results")


def is_item(item: Mapping[str, object]) -> bool:
    """Whether it is an item that is no message."""
    kind = item.get("type")
    if not isinstance(kind, str):
        return False
    if kind == "reasoning":
        return "role" not in item
    return kind.endswith(("_call", "_output", "_call_request")) or kind in {
        "mcp_list_tools",
        "item_reference",
        "compaction",
    }


def item_pieces(item: Mapping[str, object]) -> list[Piece]:
    """The parts of an item that is no message."""
    kind = str(item.get("type"))
    if kind == "reasoning":
        parts = [item.get("summary"), item.get("content"), item.get("text")]
        texts = [text for part in parts if part and (text := joined(part)[0])]
        return [Piece("assistant", "reasoning", "\n\n".join(texts))] if texts else []  # else it is encrypted
    if kind.endswith("_output"):
        content = next((item[key] for key in _OUTPUTS if item.get(key) is not None), None)
        return [output_piece(item, content)]
    if kind.endswith("_call"):
        return _call(item, kind)
    return [Piece("system", "other", dumped(dict(item)))]


def _call(item: Mapping[str, object], kind: str) -> list[Piece]:
    """A call, and what it was answered with where the item holds both."""
    label = word(item.get("name")) or kind.removesuffix("_call")
    call_id = word(item.get("call_id")) or word(item.get("id"))
    given = next(
        (item[key] for key in ("arguments", "input", "action", "code", "queries") if item.get(key) is not None), None
    )
    rest = {key: value for key, value in item.items() if key not in {*_OURS, *_OUTPUTS, "error"}}
    data, text = arguments(given if given is not None else rest or None)
    found = [Piece("assistant", "call", text, label, call_id, data)]
    content = next((item[key] for key in (*_OUTPUTS, "error") if item.get(key)), None)
    if content is not None:
        output, media = joined(content)
        found.append(Piece("tool", "output", output, label, call_id, error=is_error(item), media=media))
    return found
