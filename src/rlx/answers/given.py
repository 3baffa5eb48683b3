"""What an agent is given, or said itself, is shown whole: prompts, tools, turns. Which keys beside these are answers.

A list of messages may carry an answer that no agent ever gets (`prompt[].answer`), and a tool may have a parameter of
that name, which every agent gets.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from rlx.answers import keys
from rlx.answers.echoes import LEAST, strings
from rlx.answers.shown import MARK, Json

_NEVER: Final = keys.names("patch fixpatch testpatch rubric rubrics checklist rationale explanation")
"""Names of what is no agent's either."""
_CALLS: Final = keys.names("arguments args kwargs toolcalls tooluses functioncall")
"""Names of calls: whatever keys these have, an agent wrote them."""
_TOLD: Final = keys.names("action code observation queries response result thought")
"""Names of what was told and called where a policy says so, or beside the name of a call."""
_PASSED: Final = keys.names("input output")
"""Names of the same, and of lists of messages."""
_CALLED: Final = keys.names("name type id callid toolcallid tool function")
_SPOKEN: Final = keys.names(
    "content value text message reasoning reasoningcontent thinking summary completion completions policyresponse name"
)
"""Names of texts that were said: JSON in them is part of what was said."""
_SCHEMAS: Final = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_DESCRIBES: Final = frozenset({"type", "$ref", "anyOf", "oneOf", "allOf", "enum", "description", "items", "properties"})
_OFFERED: Final = keys.names("parameters inputschema description function")
_MEASURED: Final = keys.names("metrics rewards scores")
_ASSISTANT: Final = keys.names("assistant gpt model ai agent bot")
_SECRETS: Final = 2000
"""Withheld texts with which the end of a prompt is compared."""
_SAYS: Final = re.compile(r"(?:\b(?:is|are|answer|therefore|so)|[:=#{])[^\w]*$")
"""What comes before an answer that is told."""
_END: Final = re.compile(r"[\W_]+$")


def withholds(key: str, value: object, names: frozenset[str], within: str) -> bool:
    """Whether `key: value` among `names`, in an object called `within`, is an answer that no agent gets."""
    whole = keys.flat(key)
    if keys.hold(key) != "always" and whole not in _NEVER:
        return False
    if not keys.hides(key, value, names) or _is_described(value, within):
        return False
    measured = isinstance(value, bool | int | float) and 0 <= value <= 1
    return not (measured and keys.flat(within) in _MEASURED and len(keys.words(key)) > 1)


def is_whole(key: str, value: object, beside: Mapping[object, object] | None) -> bool:
    """Whether what stands under `key` was called or said, so that no key in it is an answer's.

    `beside`: its object, None for what a policy names itself.
    """
    whole = keys.flat(key)
    if isinstance(value, str) and whole in _SPOKEN:
        return True
    if beside is None:
        return whole in _CALLS | _TOLD or (whole in _PASSED and not isinstance(value, list))
    called = "role" not in beside and not _CALLED.isdisjoint(keys.flat(str(name)) for name in beside)
    return whole in _CALLS or (called and whole in _TOLD | _PASSED)


def _is_described(value: object, within: str) -> bool:
    """Whether a value describes a parameter, or a tool, of that name."""
    if within in _SCHEMAS:
        return isinstance(value, bool) or (
            isinstance(value, Mapping) and (not value or bool(_DESCRIBES & value.keys()))
        )
    if not isinstance(value, Mapping):
        return False
    if keys.flat(within) == "parameters":
        return isinstance(value.get("type"), str)
    offers = "tool" in within.lower() or "function" in within.lower()
    return offers and any(keys.flat(str(name)) in _OFFERED for name in value)


def without_ending(turns: Sequence[Json], secrets: Iterable[str]) -> list[Json] | None:
    """A prompt without turns of the assistant at its end that give a withheld text away; None where there is none."""
    ends = [_bare(text) for text in list(secrets)[:_SECRETS]]
    shown, changed = list(turns), False
    for at in reversed(range(len(shown))):
        turn = shown[at]
        role = next((turn[key] for key in ("role", "from") if key in turn), None) if isinstance(turn, dict) else None
        if not isinstance(role, str) or role.lower() not in _ASSISTANT or not isinstance(turn, dict):
            break
        said = [_bare(text) for key, part in turn.items() if key not in ("role", "from") for text in strings(part)]
        if any(_gives_away(text, end) for text in said for end in ends if end):
            shown[at], changed = {"role": role, "content": MARK}, True
    return shown if changed else None


def _gives_away(text: str, end: str) -> bool:
    if len(end) >= LEAST and end in text:
        return True
    return text == end or (text.endswith(end) and _SAYS.search(text[: len(text) - len(end)]) is not None)


def _bare(text: str) -> str:
    return _END.sub("", text.strip().casefold())
