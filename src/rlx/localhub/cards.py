"""Cards: the YAML front matter of a README, read as tolerantly as the Hub reads it, and the tags it gives."""

import logging
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

import yaml

logger = logging.getLogger(__name__)

MAX_FRONT_MATTER = 256 * 1024
"""Characters of front matter that are parsed; a longer one counts as none."""
_MAX_NODES = 50_000
"""Values of a card once its aliases are expanded."""
_MAX_DEPTH = 32
FRONT_MATTER = re.compile(r"\A\s*---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_SPACE = re.compile(r"\s+")

_TAG_KEYS = (
    "annotations_creators",
    "language_creators",
    "license",
    "language",
    "multilinguality",
    "size_categories",
    "source_datasets",
    "task_categories",
    "task_ids",
)


class _Loader(yaml.CSafeLoader):
    """Dates stay text, and merge keys, which can multiply without end, are ignored."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        node.value = [pair for pair in node.value if pair[0].tag != "tag:yaml.org,2002:merge"]


def _text(loader: _Loader, node: yaml.ScalarNode) -> object:
    return loader.construct_scalar(node)


_Loader.add_constructor("tag:yaml.org,2002:timestamp", _text)


@dataclass(frozen=True, slots=True)
class Card:
    data: Mapping[str, object]
    """The front matter as JSON-like values; empty when there is none or it cannot be read."""
    description: str = ""
    """The opening of the README as one line, cut where the Hub cuts it."""

    def values(self, key: str) -> list[str]:
        """A field that should be a list of words, whatever it is."""
        value = self.data.get(key)
        items = value if isinstance(value, list) else [] if value is None else [value]
        return [str(item) for item in items if isinstance(item, str | int | float) and not isinstance(item, bool)]

    def tags(self, kind: str) -> list[str]:
        """The tags of the API: `key:value` for the keys that have them, the card's own, and the computed ones."""
        prefixed = [f"{key}:{value}" for key in _TAG_KEYS for value in self.values(key)] if kind != "spaces" else []
        own = ([*self.values("sdk")] if kind == "spaces" else []) + self.values("tags")
        return list(dict.fromkeys([*prefixed, *own, "region:us"]))


EMPTY = Card({})


def parse_card(text: str) -> Card:
    """Read a README. Never raises: front matter that cannot be read counts as empty."""
    found = FRONT_MATTER.match(text.removeprefix("﻿"))
    if not found:
        return Card({}, _description(text))
    front, body = found[1], text.removeprefix("﻿")[found.end() :]
    data = _load(front)
    if data is None and "\t" in front:
        data = _load(front.expandtabs(2))
    return Card(data or {}, _description(body))


def _description(body: str) -> str:
    return _SPACE.sub(" ", body[:2000]).strip()[:500]


def _load(front: str) -> dict[str, object] | None:
    if len(front) > MAX_FRONT_MATTER:
        return None
    try:
        value = _Plain().of(yaml.load(front, Loader=_Loader))  # noqa: S506  derived from the safe loader
    except (yaml.YAMLError, ValueError, TypeError, OverflowError, RecursionError) as error:
        logger.debug("A card's front matter cannot be read: %s", type(error).__name__)
        return None
    return value if isinstance(value, dict) else {}


class _Plain:
    """JSON-like copies of YAML values. Raises `ValueError` past a budget, which a few lines of aliases can reach."""

    def __init__(self) -> None:
        self._left = _MAX_NODES

    def of(self, value: object, depth: int = 0) -> object:
        self._left -= 1
        if self._left < 0 or depth > _MAX_DEPTH:
            raise ValueError("The card is too large.")
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, str):
            return value.encode("utf-8", "replace").decode()
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        if isinstance(value, dict):
            return {self._key(key): self.of(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list | tuple | set):
            return [self.of(item, depth + 1) for item in value]
        return None

    def _key(self, key: object) -> str:
        if isinstance(key, bool):
            return str(key).lower()
        return str(self.of(key)) if isinstance(key, str | int | float) else "null"
