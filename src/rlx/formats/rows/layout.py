"""Which files are the rows of which config and split: the card's `configs`, else names, else the converted branch.

Pure: a listing and a card's front matter in, splits out. Both are hostile; what they cost is bounded. Where the dataset
viewer would refuse a repository because one of its many files is of another kind, the files that are tables are kept.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rlx.formats.rows.kinds import is_single, kind_of
from rlx.formats.rows.patterns import Work, expand

MAX_CONFIGS: Final = 3000
MAX_FILES: Final = 20_000
"""Files of one split."""
_MAX_NAME: Final = 200
_TRAJECTORIES: Final = "trajectories"
"""The split of files of one rollout each, beside others."""
_FORMATS: Final = {"lines": "json", "document": "json", "delimited": "csv", "parquet": "parquet"}
_SPLITS: Final = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "val", "dev"),
    "test": ("test", "testing", "eval", "evaluation"),
}
_WORD: Final = {
    split: re.compile(rf"(?:^|[-._ 0-9])(?:{'|'.join(words)})(?:[-._ 0-9]|$)", re.IGNORECASE)
    for split, words in _SPLITS.items()
}
_SHARD: Final = re.compile(r"(?:.*/)?data/(?P<split>\w+(?:\.\w+)*)-\d{5}-of-\d{5}[^/]*")
_CONVERTED: Final = re.compile(r"(?P<config>[^/]+)/(?:partial-)?(?P<split>[^/]+)/\d{4,}\.parquet")
_NO_ROWS: Final = frozenset(
    {"dataset_infos.json", "dataset_info.json", "dataset_dict.json", "state.json", "package.json", "config.json"}
    | {"metadata.json", "croissant.json", "tokenizer.json", "tsconfig.json", "package-lock.json", "manifest.json"}
)
"""Names of files that describe others."""


@dataclass(frozen=True, slots=True)
class Split:
    """Files of one kind that are read one after another."""

    config: str
    name: str
    format: str
    """`parquet`, `json` or `csv`."""
    paths: tuple[str, ...]
    options: Mapping[str, object] = field(default_factory=dict)
    """What the card says of how they are read: `sep`, `field`."""


@dataclass(frozen=True, slots=True)
class Layout:
    splits: tuple[Split, ...]
    """The default config's first, then by name; train, validation and test before others."""
    unmatched: tuple[str, ...] = ()
    """`config/split` of which the card names files that are not there."""

    @property
    def configs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(split.config for split in self.splits))

    def of(self, config: str) -> tuple[Split, ...]:
        return tuple(split for split in self.splits if split.config == config)


def layout(card: Mapping[str, object], paths: Sequence[str], converted: Sequence[str] = ()) -> Layout:
    """The splits of a repository that holds `paths`, by its front matter.

    `converted` are the paths of the branch to which the Hub converted the rows, which is used where the repository
    itself has no tables; those splits' paths are that branch's. Never raises.
    """
    tables = [path for path in paths if is_table(path)]
    configs = _configs(card)
    if configs:
        found = _told(configs, tables)
        if found.splits:
            return found
        return Layout(_converted(converted), found.unmatched)
    recorded, others = _recorded(tables)
    lines = [path for path in others if kind_of(path) != "document"]  # documents beside rows tell of them
    if recorded and not lines and len(others) <= len(recorded):
        others = []
    splits = _splits("default", _by_name(lines or others), {})
    if recorded:
        chosen = {_TRAJECTORIES: recorded} if splits else _by_folder(recorded)
        splits += _splits("default", chosen, {})
    return Layout(_ordered(splits, "default") or _converted(converted))


def _recorded(tables: Sequence[str]) -> tuple[list[str], list[str]]:
    """Files of one rollout each, with lists of such in their company, and the other tables."""
    single = {path for path in tables if is_single(path)}
    if single:
        single |= {path for path in tables if path.lower().endswith(".traces.json")}
    return [path for path in tables if path in single], [path for path in tables if path not in single]


def is_table(path: str) -> bool:
    """Whether a file may hold rows: hidden ones, folders that begin with two underscores, and metadata do not."""
    parts = path.split("/")
    hidden = any(part.startswith((".", "__")) for part in parts)
    return (kind_of(path) is not None or is_single(path)) and not hidden and parts[-1].lower() not in _NO_ROWS


def _configs(card: Mapping[str, object]) -> list[Mapping[str, object]]:
    told = card.get("configs")
    items = told if isinstance(told, list) else [told]
    return [item for item in items[:MAX_CONFIGS] if isinstance(item, Mapping)]


def _told(configs: Sequence[Mapping[str, object]], tables: Sequence[str]) -> Layout:
    work = Work()
    splits: list[Split] = []
    unmatched: list[str] = []
    seen: set[str] = set()
    for config in configs:
        name = _name(config.get("config_name"))
        if name in seen:
            continue
        seen.add(name)
        inside = _inside(tables, config.get("data_dir"))
        patterns = _patterns(config.get("data_files"))
        options = {key: config[key] for key in ("sep", "delimiter", "field") if key in config}
        chosen = {split: expand(told, inside, work) for split, told in patterns.items()} or _by_name(inside)
        unmatched += [f"{name}/{split}" for split, files in chosen.items() if not files]
        splits += _splits(name, chosen, options)
    default = next((_name(config.get("config_name")) for config in configs if config.get("default") is True), "default")
    return Layout(_ordered(splits, default), tuple(unmatched[:_MAX_NAME]))


def _name(value: object) -> str:
    return _spelled(value) if isinstance(value, str) and _spelled(value) else "default"


def _spelled(name: object) -> str:
    """A name that a ref can hold: of printable characters, without a slash at either end."""
    return "".join(char for char in str(name)[:_MAX_NAME] if char.isprintable()).strip("/ ")


def _inside(paths: Sequence[str], folder: object) -> Sequence[str]:
    prefix = folder.removeprefix("./").strip("/") if isinstance(folder, str) else ""
    return [path for path in paths if path.startswith(f"{prefix}/")] if prefix and prefix != "." else paths


def _patterns(told: object) -> dict[str, list[str]]:
    """`data_files` in any of its forms, as globs by split."""
    if isinstance(told, str):
        return {"train": [told]}
    if isinstance(told, Mapping):
        return {_spelled(split) or "train": _words(value) for split, value in told.items() if _words(value)}
    found: dict[str, list[str]] = {}
    for item in told if isinstance(told, list) else []:
        if isinstance(item, str):
            found.setdefault("train", []).append(item)
        elif isinstance(item, Mapping) and _words(item.get("path")):
            split = item.get("split")
            found.setdefault((_spelled(split) if split else "") or "train", []).extend(_words(item.get("path")))
    return found


def _words(value: object) -> list[str]:
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, str) and item]


def _by_name(paths: Sequence[str]) -> dict[str, list[str]]:
    """Splits by the names of shards, else of folders, else of files; without any, all is `train`."""
    shards: dict[str, list[str]] = {}
    for path in paths:
        if found := _SHARD.fullmatch(path):
            shards.setdefault(found["split"], []).append(path)
    if shards:
        return shards
    for parts in (slice(None, -1), slice(-1, None)):
        chosen: dict[str, list[str]] = {}
        for path in paths:
            split = next((name for name, word in _WORD.items() if any(map(word.search, path.split("/")[parts]))), None)
            if split is not None:
                chosen.setdefault(split, []).append(path)
        if chosen:
            return chosen
    return {"train": list(paths)} if paths else {}


def _by_folder(paths: Sequence[str]) -> dict[str, list[str]]:
    """Splits by folders that are called like one, and by no part of a name: those of rollouts tell what was tried."""
    chosen: dict[str, list[str]] = {}
    for path in paths:
        folders = {folder.lower() for folder in path.split("/")[:-1]}
        split = next((name for name, words in _SPLITS.items() if not folders.isdisjoint(words)), "train")
        chosen.setdefault(split, []).append(path)
    return chosen


def _splits(config: str, chosen: Mapping[str, Sequence[str]], options: Mapping[str, object]) -> list[Split]:
    """Splits of one format: that of most files, for the rows of a config are of one make."""
    votes = Counter(_FORMATS[kind_of(path) or "document"] for files in chosen.values() for path in files)
    if not votes:
        return []
    format_ = max(votes, key=lambda name: (votes[name], name))
    kept = {
        name: tuple(path for path in files if _FORMATS[kind_of(path) or "document"] == format_)[:MAX_FILES]
        for name, files in chosen.items()
    }
    return [Split(config, name, format_, files, options) for name, files in kept.items() if files]


def _converted(paths: Iterable[str]) -> tuple[Split, ...]:
    found: dict[tuple[str, str], list[str]] = {}
    for path in sorted(paths):
        if named := _CONVERTED.fullmatch(path):
            found.setdefault((named["config"], named["split"]), []).append(path)
    splits = [Split(config, name, "parquet", tuple(files[:MAX_FILES])) for (config, name), files in found.items()]
    return _ordered(splits, "default")


def _ordered(splits: Iterable[Split], default: str) -> tuple[Split, ...]:
    known = list(_SPLITS)

    def place(split: Split) -> tuple[bool, str, int, str]:
        return split.config != default, split.config, [*known, split.name].index(split.name), split.name

    return tuple(sorted(splits, key=place))
