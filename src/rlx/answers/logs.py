"""What a grader printed: who passed and what failed, without the values it compared with."""

import re

from rlx.answers.shown import Masked
from rlx.answers.spans import Mask
from rlx.texts import say

_COMPARED = re.compile(
    r"^E {2,}\S.*|^>? {4,}assert\b.*|^.*\bAssertionError\b:?(?P<error>.*)"
    r"|^\s*[-+] ?(?:Expected|Received|expected|actual)\b.*"
    r"|^.*?\b(?i:expected|correct answer|gold|reference|answer)\b[\w ]{0,20}[:=](?P<told>.*)|^FAILED \S+ - (?P<why>.*)",
    re.MULTILINE,
)


def verifier_log(text: str, *, path: str) -> Masked:
    """The log with assertion details masked, line numbers kept."""
    mask = Mask(text)
    for match in _COMPARED.finditer(text):
        part = next((name for name in ("error", "told", "why") if match[name] is not None), None)
        start, end = match.span(part) if part else match.span()
        stop = start + len(text[start:end].rstrip("\r"))
        if text[start:stop].strip():
            mask.add(start, stop, say("answers.log"))
    return mask.apply(path)
