"""Programs that grade or set up a task, readable, with the answers in them masked."""

import re

from rlx.answers.lexical import mask_code, mask_shell
from rlx.answers.python import mask_python
from rlx.answers.shown import Masked
from rlx.answers.spans import Mask, spread
from rlx.texts import say

_SHELL = re.compile(
    r"(?i)\.(?:sh|bash|zsh|bat|cmd|ps1|mk)$|(?:^|/)(?:[\w.-]*Dockerfile[\w.-]*|Makefile|Containerfile)$"
)
_PYTHON = re.compile(r"(?i)\.pyi?$")
_SHEBANG = re.compile(r"#!\s*\S*?(?:/env\s+(?:-S\s+)?)?([\w.]+)(?:\s|$)")
_QUOTED = re.compile(r"\"((?:[^\"\\\n]|\\.){0,300})\"|'((?:[^'\\\n]|\\.){0,300})'|`([^`\n]{0,300})`")
_FEW = 400
_LONGEST = 4_000
"""Characters of a line that are searched letter by letter."""


def script(text: str, *, path: str) -> Masked:
    """The program with the answers in it masked, line numbers kept. The path tells the language. Never raises."""
    mask = Mask(text)
    shebang = _SHEBANG.match(text)
    program = shebang[1].lower() if shebang else ""
    if (_PYTHON.search(path) or program.startswith("python")) and mask_python(mask, 0, len(text)):
        return mask.apply(path)
    if _PYTHON.search(path) or program.startswith("python"):
        _mask_unread(mask)
    elif _SHELL.search(path) or program in {"sh", "bash", "zsh", "dash", "ksh"}:
        mask_shell(mask, 0, len(text))
    else:
        mask_code(mask, 0, len(text))
    quoted = [found for start, end in list(mask.spans)[:_FEW] for found in _quoted(text[start:end])]
    spread(mask, quoted, 0, len(text), say("answers.literal"))
    return mask.apply(path)


def _quoted(piece: str) -> list[str]:
    """The texts written in a short masked stretch of a program."""
    if len(piece) > _LONGEST or "\n" in piece:
        return []
    return [next(filter(None, found.groups()), "") for found in _QUOTED.finditer(piece)]


def _mask_unread(mask: Mask) -> None:
    """Python of another time, or a template: by its letters, and line by line where those are too many."""
    mask_code(mask, 0, len(mask.text))
    for match in re.finditer(rf"^[^\n]{{{_LONGEST},}}", mask.text, re.MULTILINE):
        mask.add(*match.span(), say("answers.unparsed"))
