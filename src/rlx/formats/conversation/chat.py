"""A message of a chat: OpenAI's, Anthropic's, ShareGPT's."""

import re
from collections.abc import Mapping
from typing import Final

from rlx.formats.conversation.content import arguments, call_piece, joined, output_piece, pieces_of
from rlx.formats.conversation.pieces import Piece, parsed, role_of, spoken, word

_CONTENT: Final = ("content", "value", "text", "message", "parts")
_REASONING: Final = ("reasoning_content", "reasoning", "thinking", "thinking_blocks", "reasoning_text")
_THINK: Final = re.compile(r"\s*<think(?:ing)?>\n?(.*?)</think(?:ing)?>\s*", re.DOTALL)


def message_pieces(item: Mapping[str, object]) -> list[Piece]:
    """The parts of one message: reasoning, what is said, calls; or an output."""
    told = spoken(item) or "user"
    role = role_of(told)
    content = next((item[key] for key in _CONTENT if item.get(key) is not None), None)
    if told.lower() == "function_call":
        call = parsed(content)
        return [
            call_piece(call, "assistant")
            if isinstance(call, Mapping)
            else Piece("assistant", "call", joined(content)[0])
        ]
    if role == "tool" and not _holds_results(content):
        piece = output_piece(item, content)
        piece.error = piece.error or item.get("status") == "error"
        return [piece]
    calls = _calls(item)
    said = [piece for piece in pieces_of(content, role) if piece.text or piece.media or piece.kind != "message"]
    thoughts = _reasoning(item)
    if (
        not thoughts
        and role == "assistant"
        and said
        and said[0].kind == "message"
        and (found := _THINK.match(said[0].text))
    ):
        thoughts, said[0].text = [Piece(role, "reasoning", found[1].rstrip())], said[0].text[found.end() :]
        said = said if said[0].text or said[0].media else said[1:]
    if not said and not calls and not thoughts:
        action = next((word(item.get(key)) for key in ("thought", "action") if word(item.get(key))), "")
        said = [Piece(role, text=action or "")]
    known = {piece.call_id for piece in said if piece.kind == "call" and piece.call_id}
    found_pieces = [*thoughts, *said, *(call for call in calls if call.call_id is None or call.call_id not in known)]
    label = word(item.get("name"))
    for piece in found_pieces:
        if piece.kind in {"message", "reasoning"}:
            piece.name = label
    found_pieces[0].tokens = tokens_of(item)
    return found_pieces


def tokens_of(item: Mapping[str, object]) -> int | None:
    """How many tokens a model wrote, where the message tells."""
    for holder in (item, item.get("usage"), item.get("metrics"), item.get("response_metadata")):
        for key in ("completion_tokens", "output_tokens", "num_tokens", "token_count"):
            number = holder.get(key) if isinstance(holder, Mapping) else None
            if isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 10**12:
                return number
    return None


def _holds_results(content: object) -> bool:
    parts = content if isinstance(content, list) else []
    return any(
        isinstance(part, Mapping) and str(part.get("type")).endswith(("tool_result", "tool-result")) for part in parts
    )


def _calls(item: Mapping[str, object]) -> list[Piece]:
    told = item.get("tool_calls") or item.get("tool_uses")
    if isinstance(told, str):
        told = parsed(told)
    found = []
    for call in told if isinstance(told, list) else [told] if isinstance(told, Mapping) else []:
        inner = call if isinstance(call, Mapping) else parsed(call)
        if isinstance(inner, Mapping):
            found.append(call_piece(inner, "assistant"))
        elif call is not None:
            found.append(Piece("assistant", "call", text=arguments(call)[1]))
    old = item.get("function_call")
    if isinstance(old, Mapping) and word(old.get("name")) is not None:
        found.append(call_piece(old, "assistant"))
    return found


def _reasoning(item: Mapping[str, object]) -> list[Piece]:
    for key in _REASONING:
        told = item.get(key)
        if isinstance(told, str | list) and told:
            texts = (
                [part.get("thinking", part.get("text")) if isinstance(part, Mapping) else part for part in told]
                if isinstance(told, list)
                else told
            )
            text = joined(texts)[0]
            if text.strip():
                return [Piece("assistant", "reasoning", text)]
    return []
