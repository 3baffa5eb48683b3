"""Which files are the rows of which config and split: the card's `configs`, else names with keywords."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from rlx.globs import walk
from rlx.localhub.cards import Card

MAX_CONFIGS = 3000
_MAX_PATTERN = 500

_BUILDERS = {
    "parquet": (".parquet",),
    "json": (".jsonl", ".json", ".ndjson"),
    "csv": (".csv", ".tsv"),
    "arrow": (".arrow",),
    "text": (".txt",),
}
_PLAIN = {"readme.md", "license", "license.md", "license.txt", "dataset_infos.json", "dataset_dict.json"}
_KEYWORDS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "val", "dev"),
    "test": ("test", "testing", "eval", "evaluation"),
}
_SHARD = re.compile(r"(?:.*/)?data/(?P<split>\w+(?:\.\w+)*)-\d{5}-of-\d{5}[^/]*")
_WORD = {
    split: re.compile(rf"(?:^|[-._ 0-9])(?:{'|'.join(words)})(?:[-._ 0-9]|$)", re.IGNORECASE)
    for split, words in _KEYWORDS.items()
}


class NoData(Exception):
    """The repository has no rows to show; the message says why."""


@dataclass(frozen=True, slots=True)
class Split:
    config: str
    name: str
    builder: str
    """`parquet`, `json`, `csv`, `arrow` or `text`."""
    paths: tuple[str, ...]
    options: Mapping[str, object] = field(default_factory=dict)
    """Builder parameters of the card: `sep`, `field`."""


def layout(card: Card, paths: Sequence[str]) -> dict[str, list[Split]]:
    """Splits by config, the default config first, then by name. Raises `NoData`."""
    files = [path for path in paths if _counts(path)]
    told = card.data.get("configs")
    configs = [config for config in told if isinstance(config, dict)] if isinstance(told, list) else []
    if not configs:
        return {"default": _splits("default", files, None, {})}
    if len(configs) > MAX_CONFIGS:
        raise NoData(f"The card names {len(configs):,} configs; the limit is {MAX_CONFIGS:,}.")
    found: dict[str, list[Split]] = {}
    default = next((_name(config) for config in configs if config.get("default") is True), "default")
    for config in configs:
        name = _name(config)
        folder = config.get("data_dir")
        inside = _inside(files, folder) if isinstance(folder, str) else files
        options = {key: config[key] for key in ("sep", "delimiter", "field") if key in config}
        found.setdefault(name, _splits(name, inside, config.get("data_files"), options))
    return dict(sorted(found.items(), key=lambda item: (item[0] != default, item[0])))


def _name(config: Mapping[str, object]) -> str:
    return str(config.get("config_name") or "default")


def _counts(path: str) -> bool:
    """Hidden files, and folders that begin with two underscores, are never data."""
    return not any(part.startswith((".", "__")) for part in path.split("/")) and path.lower() not in _PLAIN


def _inside(paths: Iterable[str], folder: str) -> list[str]:
    prefix = folder.strip("./")
    return [path for path in paths if not prefix or path.startswith(f"{prefix}/")]


def _splits(config: str, paths: Sequence[str], told: object, options: Mapping[str, object]) -> list[Split]:
    named = _patterns(told)
    if named:
        chosen = {split: expand(patterns, paths) for split, patterns in named.items()}
        for split, found in chosen.items():
            if not found:
                raise NoData(f"No file matches {', '.join(named[split])[:200]} of config {config}, split {split}.")
    else:
        chosen = by_keyword(paths)
    builder = _builder([path for found in chosen.values() for path in found])
    suffixes = _BUILDERS[builder]
    kept = {split: tuple(path for path in found if _suffix(path) in suffixes) for split, found in chosen.items()}
    return [Split(config, split, builder, found, options) for split, found in kept.items() if found]


def _patterns(told: object) -> dict[str, list[str]]:
    """`data_files` in any of its forms, as patterns by split."""
    if isinstance(told, str):
        return {"train": [told]}
    if isinstance(told, dict):
        return {str(split): _words(value) for split, value in told.items() if _words(value)}
    found: dict[str, list[str]] = {}
    for item in told if isinstance(told, list) else []:
        if isinstance(item, str):
            found.setdefault("train", []).append(item)
        elif isinstance(item, dict) and _words(item.get("path")):
            found.setdefault(str(item.get("split") or "train"), []).extend(_words(item.get("path")))
    return found


def _words(value: object) -> list[str]:
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, str) and len(item) <= _MAX_PATTERN]


def expand(patterns: Iterable[str], paths: Sequence[str]) -> list[str]:
    """Paths that match any pattern, in the order of the patterns. A pattern that is a folder means all of it."""
    found: dict[str, None] = {}
    for pattern in patterns:
        parts = pattern.removeprefix("./").strip("/").split("/")
        matching = [path for path in paths if matches(parts, path.split("/"))]
        folder = "/".join(parts)
        found |= dict.fromkeys(matching or [path for path in paths if path.startswith(f"{folder}/")])
    return list(found)


def matches(pattern: Sequence[str], path: Sequence[str]) -> bool:
    """Glob over path segments: `**` stands for any number of them, at the end for at least the file."""
    return walk(pattern, path, lambda part: part == "**", lambda part, name: fnmatchcase(name, part))


def by_keyword(paths: Sequence[str]) -> dict[str, list[str]]:
    """Splits by the names of shards, else of folders, else of files; without any, everything is `train`."""
    shards: dict[str, list[str]] = {}
    for path in paths:
        if found := _SHARD.fullmatch(path):
            shards.setdefault(found["split"], []).append(path)
    if shards:
        return dict(sorted(shards.items(), key=lambda item: ([*_KEYWORDS, item[0]].index(item[0]), item[0])))
    for parts in (slice(None, -1), slice(-1, None)):
        chosen = {
            split: [path for path in paths if any(map(word.search, path.split("/")[parts]))]
            for split, word in _WORD.items()
        }
        if any(chosen.values()):
            return {split: found for split, found in chosen.items() if found}
    return {"train": list(paths)}


def _builder(paths: Iterable[str]) -> str:
    """The builder most files ask for. Files that none reads count too: a folder of code with a JSON is no table."""
    kinds = {suffix: builder for builder, suffixes in _BUILDERS.items() for suffix in suffixes}
    votes = Counter(kinds.get(_suffix(path), "") for path in paths)
    if not votes:
        raise NoData("The dataset is empty.")
    builder = max(votes, key=lambda name: (votes[name], name != ""))
    if not builder:
        raise NoData("No (supported) data files found.")
    return builder


def _suffix(path: str) -> str:
    name = path.rpartition("/")[2].lower().removesuffix(".gz")
    return f".{name.rpartition('.')[2]}" if "." in name else ""
