"""One Markdown renderer per block type."""

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from urllib.parse import quote

from rlx.answers.shown import Json
from rlx.answers.spans import CONTINUED
from rlx.model import (
    Block,
    Code,
    Custom,
    Disclose,
    FilesBlock,
    KeyValues,
    Links,
    Markdown,
    Note,
    Prompt,
    Row,
    Settings,
    Shares,
    Stats,
    Steps,
    Value,
)
from rlx.texts import say, words
from rlx.twins.conversations import messages_markdown, tools_markdown, transcript_markdown
from rlx.twins.held import spelled
from rlx.twins.inline import fence, language_of, line, span

_TONES = {
    "info": say("twins.tone_info"),
    "ok": say("twins.tone_ok"),
    "warn": say("twins.tone_warn"),
    "bad": say("twins.tone_bad"),
}


def block_markdown(block: Block, language: str) -> str:
    """`block` as Markdown. Raises `LookupError` for a type nobody registered here."""
    if block.type not in RENDERERS:
        raise LookupError(f"No Markdown renderer for the block type {block.type!r}.")
    return RENDERERS[block.type](block, language)


def row_markdown(row: Row, language: str) -> str:
    values = row.value if isinstance(row.value, tuple) else (row.value,)
    shown = ", ".join(span(words(value, language)) if row.code else line(value, language) for value in values)
    note = f" ({line(row.note, language)})" if row.note is not None else ""
    return f"- {line(row.label, language)}: {shown}{note}"


def dump(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _rows(block: KeyValues | Stats, language: str) -> str:
    return "\n".join(row_markdown(row, language) for row in block.rows)


def _settings(block: Settings, language: str) -> str:
    lines = []
    for item in block.items:
        written = words(say("twins.absent"), language) if item.written is None else span(item.written)
        read = f" ({words(say('twins.in_force', value=item.read), language)})" if item.read is not None else ""
        lines.append(f"- {span(item.key)}: {written}{read}")
    return "\n".join(lines)


def _shares(block: Shares, language: str) -> str:
    note = f" ({line(block.note, language)})" if block.note is not None else ""
    parts = ", ".join(f"{line(part.label, language)} {part.n:,}" for part in block.parts)
    return f"- {line(block.title, language)}{note}: {parts}"


def _markdown(block: Markdown, language: str) -> str:
    return fence(block.text, "markdown")


def _prompt(block: Prompt, language: str) -> str:
    note = f"{line(block.note, language)}\n\n" if block.note is not None else ""
    return note + fence(block.text, "text")


def _code(block: Code, language: str) -> str:
    head = []
    if block.path is not None:
        head.append(span(block.path))
    if block.first_line > 1:
        head.append(words(say("twins.from_line", line=str(block.first_line)), language))
    if block.masked:
        lines = ", ".join(_ranges([number + block.first_line - 1 for number in block.masked]))
        head.append(words(say("twins.masked_lines", n=len(block.masked), lines=lines), language))
    told = f"{' · '.join(head)}\n\n" if head else ""
    return told + fence(_shortened(block, language), block.language or language_of(block.path))


def _shortened(block: Code, language: str) -> str:
    """The text, with the further lines of a long stretch that is withheld told as one."""
    if not block.masked:
        return block.text
    masked, out = set(block.masked), list[str]()
    numbered = enumerate(block.text.split("\n"), 1)
    for is_further, group in groupby(numbered, lambda item: item[0] in masked and item[1].strip() == CONTINUED):
        lines = [text for _, text in group]
        if is_further and len(lines) > 1:
            out.append(f"{CONTINUED} {words(say('twins.lines_withheld', n=len(lines)), language)}")
        else:
            out += lines
    return "\n".join(out)


def _ranges(numbers: Sequence[int]) -> list[str]:
    """Sorted numbers as `3`, `5–9`."""
    spans: list[list[int]] = []
    for number in sorted(set(numbers)):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return [spelled(first, last) for first, last in spans]


def _note(block: Note, language: str) -> str:
    detail = f"\n\n{fence(block.detail, 'text')}" if block.detail is not None else ""
    return f"> {words(_TONES[block.tone], language)} {line(block.text, language)}{detail}"


def _value(block: Value, language: str) -> str:
    label = f"{line(block.label, language)}:\n\n" if block.label is not None else ""
    return label + fence(dump(block.value.value), "json")


def _steps(block: Steps, language: str) -> str:
    return "\n".join(f"{number}. {line(item, language)}" for number, item in enumerate(block.items, 1))


def _links(block: Links, language: str) -> str:
    return "\n".join(f"- [{line(link.label, language)}](<{quote(link.url, safe=_URL_SAFE)}>)" for link in block.items)


_URL_SAFE = ":/?#[]@!$&'()*+,;=%~"


def _disclose(block: Disclose, language: str) -> str:
    inner = [block_markdown(item, language) for item in block.blocks]
    return "\n\n".join([f"**{line(block.label, language)}**", *inner])


def files_markdown(block: FilesBlock, language: str) -> str:
    """A list of files; folders end in a slash, withheld ones say why."""
    lines = []
    for entry in block.entries:
        name = span(f"{entry.path}/" if entry.is_dir else entry.path)
        if entry.withheld is not None:
            lines.append(f"- {name}: {words(say('twins.withheld', reason=entry.withheld), language)}")
        elif entry.is_dir:
            lines.append(f"- {name}")
        else:
            lines.append(f"- {name}, {words(say('twins.bytes', n=entry.size), language)}")
    if block.truncated:
        lines.append(f"- {words(say('twins.more_files'), language)}")
    return "\n".join(lines) or words(say("twins.no_files"), language)


def _custom(block: Custom, language: str) -> str:
    return fence(block.text, "text")


# The value type varies with the key, which a mapping's type cannot say; the suite renders every type.
RENDERERS: Mapping[str, Callable[..., str]] = {
    "kv": _rows,
    "stats": _rows,
    "settings": _settings,
    "shares": _shares,
    "markdown": _markdown,
    "prompt": _prompt,
    "code": _code,
    "note": _note,
    "value": _value,
    "messages": messages_markdown,
    "transcript": transcript_markdown,
    "tools": tools_markdown,
    "steps": _steps,
    "links": _links,
    "disclose": _disclose,
    "files": files_markdown,
    "custom": _custom,
}
