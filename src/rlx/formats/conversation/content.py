"""What a message holds: text, media, reasoning, calls and what they were answered with."""

from collections.abc import Iterator, Mapping
from typing import Final

from rlx.answers import name
from rlx.formats.conversation.pieces import Piece, dumped, parsed, word
from rlx.formats.rows.media import named_media
from rlx.model import Attachment

_DEPTH: Final = 6
"""Levels of a part that are searched for media."""
_TEXT_KEYS: Final = ("text", "refusal", "content", "value", "output_text", "input_text")
_CALLS: Final = frozenset({"tool_use", "server_tool_use", "mcp_tool_use", "tool-call", "tool_call"})
_THOUGHTS: Final = frozenset({"thinking", "reasoning", "redacted_thinking"})


def pieces_of(content: object, role: str) -> list[Piece]:
    """The parts of `content` in their order; text that follows media is a part of its own."""
    found: list[Piece] = []
    for piece in _parts(content, role, 0):
        last = found[-1] if found else None
        goes_on = last is not None and last.kind == piece.kind and piece.kind in {"message", "reasoning"}
        if last is None or not goes_on or (piece.text and last.media):
            found.append(piece)
        else:
            last.text = "\n".join(text for text in (last.text, piece.text) if text)
            last.media += piece.media
    return found


def joined(content: object) -> tuple[str, list[Attachment]]:
    """All text of `content`, and all media."""
    found = list(_parts(content, "", 0))
    texts = [piece.text or dumped(piece.data) for piece in found if piece.text or piece.data is not None]
    return "\n".join(texts), [item for piece in found for item in piece.media]


def call_piece(call: Mapping[str, object], role: str) -> Piece:
    """A call of a tool: OpenAI's with its `function`, Anthropic's `tool_use`, Harbor's."""
    inner = call.get("function")
    told: Mapping[str, object] = inner if isinstance(inner, Mapping) else call
    label = next(
        (found for key in ("name", "function_name", "tool_name", "toolName", "tool") if (found := word(told.get(key)))),
        None,
    )
    ids = ("call_id", "tool_call_id", "toolCallId", "tool_use_id", "id")
    given = next((told[key] for key in ("arguments", "input", "args", "parameters", "kwargs") if key in told), None)
    piece = Piece(
        role, "call", name=label, call_id=next((found for key in ids if (found := word(call.get(key)))), None)
    )
    if label is None and isinstance(inner, str):
        piece.name = inner
    piece.data, piece.text = arguments(given)
    return piece


def arguments(given: object) -> tuple[object, str]:
    """Arguments as an object or a list, or as text where they are neither."""
    value = given if isinstance(given, Mapping | list) else parsed(given)
    if isinstance(value, Mapping | list):
        return value, ""
    return None, "" if given is None else dumped(given)


def media_in(value: object, depth: int = 0) -> Iterator[Attachment]:
    """Media that were named where they stood (`rlx.formats.rows.media`), at any place of `value`."""
    if isinstance(value, str):
        found = named_media(value)
        if found is not None:
            yield Attachment(name(found[0]), found[1], name(found[2]))
    elif depth < _DEPTH:
        for inner in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
            yield from media_in(inner, depth + 1)


def _parts(content: object, role: str, depth: int) -> Iterator[Piece]:
    if content is None or depth > _DEPTH:
        return
    if isinstance(content, list):
        for part in content:
            yield from _parts(part, role, depth + 1)
    elif isinstance(content, Mapping):
        yield from _part(content, role, depth)
    else:
        media = list(media_in(content))
        yield Piece(role, text="" if media else dumped(content), media=media)


def _part(part: Mapping[str, object], role: str, depth: int) -> Iterator[Piece]:
    kind = part.get("type")
    if isinstance(kind, str) and kind in _CALLS:
        yield call_piece(part, "assistant")
    elif isinstance(kind, str) and kind.endswith(("tool_result", "tool-result")):
        yield output_piece(part, part.get("content", part.get("output", part.get("result"))))
    elif isinstance(kind, str) and kind in _THOUGHTS:
        text = part.get("thinking", part.get("text", part.get("reasoning", part.get("content"))))
        yield Piece(role, "reasoning", text=joined(text)[0])
    elif media := list(media_in(part)):
        told = part.get("text")
        yield Piece(role, text=told if isinstance(told, str) and named_media(told) is None else "", media=media)
    elif (address := _address(part)) is not None:
        yield Piece(role, text=f"‹{kind if isinstance(kind, str) else 'image'}: {address}›")
    else:
        inner = next((part[key] for key in _TEXT_KEYS if isinstance(part.get(key), str | list | Mapping)), None)
        if inner is None:
            yield Piece(role, text=dumped(part))
        else:
            yield from _parts(inner, role, depth + 1)


def output_piece(told: Mapping[str, object], content: object) -> Piece:
    """What a tool answered; `told` says of which call, and whether it failed."""
    text, media = joined(content)
    ids = ("tool_call_id", "call_id", "tool_use_id", "toolCallId", "source_call_id")
    call_id = next((found for key in ids if (found := word(told.get(key)))), None)
    return Piece("tool", "output", text, word(told.get("name")), call_id, error=is_error(told), media=media)


def is_error(told: Mapping[str, object]) -> bool:
    """Whether what holds an output says that the call failed."""
    if any(told.get(key) is True for key in ("is_error", "isError")) or told.get("success") is False:
        return True
    return str(told.get("status")) in {"error", "failed", "failure"} or bool(told.get("error"))


def _address(part: Mapping[str, object]) -> str | None:
    """Of what a part points to elsewhere."""
    for key in ("image_url", "audio_url", "video_url", "file_url", "url", "source", "image", "file"):
        told = part.get(key)
        inner = (
            next((told[word] for word in ("url", "file_id", "filename") if word in told), None)
            if isinstance(told, Mapping)
            else told
        )
        if isinstance(inner, str) and inner:
            return inner[:500]
    return None
