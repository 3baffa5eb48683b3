"""Conversations and tools as Markdown: every turn, calls with what they were answered with."""

import json
from collections.abc import Iterator

from rlx.model import Message, Messages, Tools, Transcript
from rlx.texts import Say, say, words
from rlx.texts.figures import size
from rlx.twins.inline import fence, line, span
from rlx.twins.turns import Part, Turn, grouped, signature


def messages_markdown(block: Messages, language: str) -> str:
    return "\n\n".join(part for turn in grouped(block.items) for part in _turn(turn, language))


def transcript_markdown(block: Transcript, language: str) -> str:
    note = [line(block.note, language)] if block.note is not None else []
    return "\n\n".join([*note, *(part for turn in grouped(block.items) for part in _turn(turn, language))])


def tools_markdown(block: Tools, language: str) -> str:
    found = []
    for tool in block.items:
        found.append(f"- {span(signature(tool))}")
        if tool.description is not None:
            found.append(fence(tool.description, "text"))
        if tool.parameters is not None:
            found.append(fence(json.dumps(tool.parameters.value, ensure_ascii=False), "json"))
    return "\n\n".join(found)


def _turn(turn: Turn, language: str) -> Iterator[str]:
    first = turn.first
    if turn.is_gap:
        yield f"*{words(say('transcript.gap', n=first.cut), language)}*"
        return
    facts = [span(first.name)] if first.name is not None and first.kind not in {"call", "output"} else []
    if first.note is not None:
        facts.append(line(first.note, language))
    if first.tokens is not None:
        facts.append(words(say("transcript.tokens", n=first.tokens), language))
    told = f" ({', '.join(facts)})" if facts else ""
    yield f"**{turn.number}. {line(first.role or '?', language)}**{told}"
    for part in turn.parts:
        yield from _call(part, language) if part.is_call else _said(part.message, language)


def _said(message: Message, language: str) -> Iterator[str]:
    kind = {"reasoning": say("transcript.reasoning"), "output": say("web.tool_output")}.get(message.kind)
    if kind is not None:
        yield f"{_labelled(kind, message, language)}:"
    yield from _text(message, language)


def _call(part: Part, language: str) -> Iterator[str]:
    call = part.message
    yield f"{_labelled(say('web.tool_call'), call, language)}:"
    if call.data is not None:
        yield fence(json.dumps(call.data.value, ensure_ascii=False), "json")
    else:
        yield from _text(call, language)
    for output in part.outputs:
        yield f"{_labelled(say('web.tool_output'), output, language)}:"
        yield from _text(output, language)
    if not part.outputs:
        yield words(say("transcript.no_output"), language)


def _labelled(label: Say, message: Message, language: str) -> str:
    named = [span(text) for text in (message.name, message.call_id) if text is not None and message.kind != "reasoning"]
    failed = [f"**{words(say('transcript.error'), language)}**"] if message.error else []
    return " ".join([words(label, language), *named, *failed])


def _text(message: Message, language: str) -> Iterator[str]:
    if message.text or not message.media:
        yield fence(message.text, "text")
    if message.cut:
        yield f"*{words(say('transcript.cut', n=message.cut), language)}*"
    if message.media:
        yield "\n".join(
            f"- {span(item.path)}: {line(item.kind, language)}, {size(item.size)}" for item in message.media
        )
