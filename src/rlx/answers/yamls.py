"""YAML as it was written, answer keys masked: the rest of the line and all that is indented below it.

What is left is parsed and judged again, and if an answer is still there the whole file is withheld.
"""

import re
from typing import Final

import yaml

from rlx.answers import keys
from rlx.answers.comments import tells
from rlx.answers.records import Policy, record
from rlx.answers.shown import MARK, Masked, Withheld
from rlx.answers.spans import CONTINUED, Mask
from rlx.texts import say

_PARSED: Final = 512 * 1024
_ENTRY = re.compile(r"(?P<indent>[ ]*(?:- +)*)(?P<key>[\w$][\w .$/-]*|\"[^\"\n]*\"|'[^'\n]*')[ ]*:(?=[ \r\t]|$)[ \t]*")
_FLOW = re.compile(r"[{,]\s*[\"']?(?P<key>[^\W\d][\w -]*)[\"']?\s*:")
_TOOL_WORDS = keys.names(
    "target targets test tests command cmd label labels output outputs patch references response responses"
)


def yaml_text(text: str, *, path: str, tool: bool = False) -> Masked | Withheld:
    """The text with answers masked, line numbers kept. `tool`: settings of a tool, whose own words stay."""
    mask = Mask(text)
    starts = 0
    hidden_below: int | None = None
    for line in text.split("\n"):
        body = line.rstrip("\r")
        indent = len(body) - len(body.lstrip(" "))
        entry = _ENTRY.match(body)
        if hidden_below is not None and body.strip():
            below = indent > hidden_below or (indent == hidden_below and body.lstrip().startswith("- "))
            if below:
                mask.add(starts + indent, starts + len(body), say("answers.key"))
                starts += len(line) + 1
                continue
            hidden_below = None
        if entry and _is_answer(entry["key"].strip("\"'"), tool=tool):
            value = body[entry.end() :]
            mask.add(starts + entry.end(), starts + len(body), say("answers.key"))
            if not value.strip() or value[0] in "|>&!{[\"'" or not value.strip().endswith(("]", "}")):
                hidden_below = len(entry["indent"])
        elif any(_is_answer(match["key"], tool=tool) for match in _FLOW.finditer(body)):
            mask.add(starts + (entry.end() if entry else indent), starts + len(body), say("answers.key"))
        _mask_comment(mask, starts, body)
        starts += len(line) + 1
    shown = mask.apply(path)
    return shown if _settled(shown.text, tool=tool) else Withheld(path, say("answers.key"))


def _is_answer(key: str, *, tool: bool) -> bool:
    return keys.is_answer_key(key) and not (tool and keys.flat(key) in _TOOL_WORDS)


def _mask_comment(mask: Mask, start: int, body: str) -> None:
    at = 0 if body.lstrip().startswith("#") else body.find(" #")
    stretch = tells(body[at:]) if at >= 0 else None
    if stretch:
        mask.add(start + at + stretch[0], start + at + stretch[1], say("answers.comment"))


def _settled(text: str, *, tool: bool) -> bool:
    """Whether what is left holds no answer. What does not parse was masked line by line and stands."""
    if tool or len(text) > _PARSED:
        return True
    whole = re.sub(rf"^[ -]*(?:{MARK}|{CONTINUED})[ \r]*$", "", text, flags=re.MULTILINE)
    written = re.sub(rf"{MARK}|{CONTINUED}", "null", whole)
    try:
        values = list(yaml.load_all(written, Loader=yaml.CSafeLoader))
    except (yaml.YAMLError, RecursionError, ValueError):
        return True
    return not record(values, policy=Policy("yaml")).withheld
