"""Comments that tell an answer: `# answer: 42`, `# expected_value = 3`, `# the solution is to sort first`."""

import re

from rlx.answers import keys

_SAID = re.compile(
    r"(?<![\w.])([\w.]{1,60}(?:[ -][\w.]{1,60})?)[\"'`]?[ \t]{0,8}"
    r"(?:[:=]{1,3}(?!>)|\b(?:is|are)\b)[ \t]{0,8}(?=[^\s.,;:)])"
)
_PLAIN = keys.names("expected wanted true private hidden correct reference target flag secret want")
"""Ordinary words of prose; they tell an answer only with a colon or an equals sign."""


def tells(comment: str) -> tuple[int, int] | None:
    """The stretch of a comment that tells an answer; None when it tells none."""
    for match in _SAID.finditer(comment[:2000]):
        name = match[1]
        last = re.split(r"[ .]", name)[-1]
        if not (keys.is_answer_name(name) or keys.is_answer_name(last)):
            continue
        spoken = re.search(r"\b(?:is|are)\s*$", match[0]) is not None
        if not (spoken and _PLAIN.intersection(keys.words(name))):
            return match.end(), len(comment)
    return None
