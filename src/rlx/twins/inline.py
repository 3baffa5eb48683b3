"""Pieces of Markdown that repository text cannot break out of."""

import re

from rlx.texts import Say, words

_SPECIAL = re.compile(r"([\\`*\[\]<>|]|(?<!\w)_|_(?!\w))")
_OPENING = re.compile(r"^(#{1,6}(?=\s|$)|[-+](?=\s|$)|~{3}|={1,}$|-{1,}$)")
_ORDINAL = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")
_QUOTED = re.compile(r"\\`((?:[^\\]|\\[^`])+?)\\`")
"""What a line has between two escaped backticks."""
_ESCAPED = re.compile(r"\\([\\`*\[\]<>|_])")
_TICKS = re.compile(r"`+")
_LANGUAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9+#.-]{0,30}")
_LANGUAGES = {
    "dockerfile": "dockerfile",
    "json": "json",
    "md": "markdown",
    "py": "python",
    "sh": "bash",
    "toml": "toml",
    "yaml": "yaml",
    "yml": "yaml",
}


def line(text: Say | str, language: str) -> str:
    """`text` as one line of Markdown that reads as it is written."""
    flat = " ".join(words(text, language).split())
    escaped = _ORDINAL.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", flat))
    return _OPENING.sub(r"\\\1", escaped)


def spoken(text: Say | str, language: str) -> str:
    """`line` of a text of ours: what it has in backticks is code."""
    return _QUOTED.sub(lambda found: span(_ESCAPED.sub(r"\1", found[1])), line(text, language))


def span(text: str) -> str:
    """An inline code span holding `text`, newlines and tabs flattened."""
    flat = " ".join(text.split()) or " "
    ticks = "`" * (1 + max((len(run) for run in _TICKS.findall(flat)), default=0))
    pad = " " if flat[0] == "`" or flat[-1] == "`" else ""
    return f"{ticks}{pad}{flat}{pad}{ticks}"


def fence(text: str, language: str | None = None) -> str:
    """A fenced block holding `text` exactly: its fence is longer than any run of backticks inside."""
    ticks = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(text)), default=0))
    info = language if language and _LANGUAGE.fullmatch(language) else ""
    return f"{ticks}{info}\n{text}{'' if text.endswith('\n') else '\n'}{ticks}"


def language_of(path: str | None) -> str | None:
    """What a fence calls the language of a file."""
    return _LANGUAGES.get((path or "").rpartition("/")[2].rpartition(".")[2].lower())
