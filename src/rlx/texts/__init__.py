"""What the product says, by language: `texts/<language>/*.toml`, one file an area.

Code below the edge names a text (`Say`) and never a sentence, so that pages, twins and the CLI can speak any language.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

LANGUAGES = ("en", "ko")
DEFAULT = "en"


@dataclass(frozen=True, slots=True)
class Say:
    """A text of ours: its key in the catalog (`area.name`) and its parameters, as sorted pairs so that it hashes."""

    key: str
    params: "tuple[tuple[str, str | int | float | Say], ...]" = ()


def say(key: str, /, **params: "str | int | float | Say") -> Say:
    return Say(key, tuple(sorted(params.items())))


@cache
def catalog(language: str) -> Mapping[str, str]:
    """Every text of `language` by key. Nested TOML tables join with dots below the file's name."""
    found: dict[str, str] = {}
    for entry in sorted(files(__name__).joinpath(language).iterdir(), key=lambda item: item.name):
        if entry.name.endswith(".toml"):
            _flatten(entry.name.removesuffix(".toml"), tomllib.loads(entry.read_text("utf-8")), found)
    return found


def _flatten(prefix: str, table: Mapping[str, object], into: dict[str, str]) -> None:
    for key, value in table.items():
        if isinstance(value, Mapping):
            _flatten(f"{prefix}.{key}", value, into)
        else:
            into[f"{prefix}.{key}"] = str(value)


def words(text: Say | str, language: str = DEFAULT) -> str:
    """`text` in `language`; a missing translation falls back to English. Raises `KeyError` for an unknown key.

    A text with `{n}` may have a singular twin under `<key>_one`, used when n is 1; a language may
    do without.
    """
    if not isinstance(text, Say):
        return str(text)
    if not text.params:
        return _plain(text.key, language)
    params = dict(text.params)
    known, english = catalog(language), catalog(DEFAULT)
    key = f"{text.key}_one" if params.get("n") == 1 and f"{text.key}_one" in english else text.key
    template = known.get(key) or known.get(text.key) or english[key]
    return template.format(**{name: _param(value, language) for name, value in params.items()})


@cache
def _plain(key: str, language: str) -> str:
    """A text without parameters: most of what a page says, some of it hundreds of times."""
    return (catalog(language).get(key) or catalog(DEFAULT)[key]).format()


def _param(value: str | int | float | Say, language: str) -> str:
    if isinstance(value, Say):
        return words(value, language)
    return f"{value:,}" if isinstance(value, int) else str(value)
