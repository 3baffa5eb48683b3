"""What the viewer tells of a dataset: pure shapes over opened tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from rlx.localhub.repo import Repo
from rlx.localhub.snapshot import Snapshot
from rlx.localhub.viewer.features import Type, cell, merge_columns, wire
from rlx.localhub.viewer.layout import Split
from rlx.localhub.viewer.tables import Opener, Row, Table
from rlx.localhub.wire import json_bytes

PAGE = 100
_FIRST_BYTES = 1_000_000
"""Size past which `/first-rows` cuts cells."""
_CUT = 100
"""Characters that are left of a cut cell."""
_BYTES = ("num_bytes_original_files", "num_bytes_parquet_files", "num_bytes_memory", "num_rows")


@dataclass(frozen=True, slots=True)
class Opened:
    """One split with the tables of its files, in order."""

    repo: Repo
    at: Snapshot
    split: Split
    tables: Sequence[tuple[Opener, Table]]

    @property
    def columns(self) -> dict[str, Type]:
        columns: dict[str, Type] = {}
        for _, table in self.tables:
            columns = merge_columns(columns, table.columns)
        return columns

    @property
    def total(self) -> int:
        return sum(table.rows for _, table in self.tables)

    @property
    def size(self) -> int:
        """Bytes of its files."""
        return sum(self.at.files[path].size for path in self.split.paths)

    @property
    def features(self) -> list[dict[str, object]]:
        declared = self.tables[0][1].declared or {}
        return [
            {"feature_idx": number, "name": name, "type": declared.get(name, wire(type_))}
            for number, (name, type_) in enumerate(self.columns.items())
        ]

    def read(self, start: int, stop: int) -> Iterator[dict[str, object]]:
        """Rows of several tables taken as one, as the viewer tells them."""
        columns, begins = self.columns, 0
        for opener, table in self.tables:
            low, high = max(start - begins, 0), min(stop - begins, table.rows)
            if low < high:
                for number, row in enumerate(table.read(opener, low, high), begins + low):
                    yield self.told(number, row, columns)
            begins += table.rows

    @staticmethod
    def told(number: int, row: Row, columns: dict[str, Type]) -> dict[str, object]:
        cells = {name: cell(row.get(name), type_) for name, type_ in columns.items()}
        return {"row_idx": number, "row": cells, "truncated_cells": []}


def rows(opened: Opened, offset: int, length: int) -> dict[str, object]:
    return {
        "features": opened.features,
        "rows": list(opened.read(offset, offset + length)),
        "num_rows_total": opened.total,
        "num_rows_per_page": PAGE,
        "partial": False,
    }


def first_rows(opened: Opened) -> dict[str, object]:
    kept = _cut(list(opened.read(0, PAGE)))
    return {
        "dataset": opened.repo.id,
        "config": opened.split.config,
        "split": opened.split.name,
        "features": opened.features,
        "rows": kept,
        "truncated": len(kept) < opened.total,
    }


def _cut(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Rows that fit: from the last one up, big cells are cut to the start of their JSON; then rows are dropped."""
    sizes = [len(json_bytes(row)) for row in rows]
    for number in reversed(range(len(rows))):
        if sum(sizes) <= _FIRST_BYTES:
            break
        rows[number] = _cut_row(rows[number])
        sizes[number] = len(json_bytes(rows[number]))
    while len(rows) > 1 and sum(sizes) > _FIRST_BYTES:
        rows.pop()
        sizes.pop()
    return rows


def _cut_row(row: dict[str, object]) -> dict[str, object]:
    cells = row["row"]
    told: dict[str, object] = {}
    cut: list[str] = []
    for name, value in cells.items() if isinstance(cells, dict) else ():
        text = value if isinstance(value, str) else json_bytes(value).decode()
        told[name] = text[:_CUT] if len(text) > _CUT else value
        if len(text) > _CUT:
            cut.append(name)
    return {**row, "row": told, "truncated_cells": cut}


def sizes(splits: Sequence[Opened], *, whole: bool) -> dict[str, object]:
    """Sizes by split and config, and of the dataset when `whole`."""
    by_split = [_size(opened) for opened in splits]
    configs = [_summed(by_split, config) for config in dict.fromkeys(str(one["config"]) for one in by_split)]
    told: dict[str, object] = {"configs": configs, "splits": by_split}
    if whole:
        dataset = _summed(by_split, None)
        del dataset["num_columns"]
        told = {"dataset": dataset, **told}
    return {"size": told, "pending": [], "failed": [], "partial": False}


def _size(opened: Opened) -> dict[str, object]:
    size = opened.size
    return {
        "dataset": opened.repo.id,
        "config": opened.split.config,
        "split": opened.split.name,
        "num_bytes_original_files": size,
        "num_bytes_parquet_files": size if opened.split.builder == "parquet" else 0,
        "num_bytes_memory": size,
        "num_rows": opened.total,
        "num_columns": len(opened.columns),
    }


def _summed(splits: Sequence[dict[str, object]], config: str | None) -> dict[str, object]:
    chosen = [split for split in splits if config in {None, split["config"]}]
    told: dict[str, object] = {"dataset": chosen[0]["dataset"]}
    if config is not None:
        told["config"] = config
    told |= {key: sum(int(str(split[key])) for split in chosen) for key in _BYTES}
    told["num_columns"] = max(int(str(split["num_columns"])) for split in chosen)
    told["estimated_num_rows"] = None
    return told


def valid(splits: Sequence[Opened]) -> dict[str, object]:
    """What can be asked of the splits that can be opened."""
    told = bool(splits)
    searchable = any(_holds_text(type_) for opened in splits for type_ in opened.columns.values())
    return {"preview": told, "viewer": told, "search": searchable, "filter": told, "statistics": told}


def _holds_text(type_: Type) -> bool:
    inner = type_ if isinstance(type_, list) else type_.values() if isinstance(type_, dict) else ()
    return type_ in ("string", "json") or any(map(_holds_text, inner))


def info(splits: Sequence[Opened], *, whole: bool) -> dict[str, object]:
    """What `datasets` would know of each config; of all of them by name when `whole`."""
    found: dict[str, object] = {}
    for config in dict.fromkeys(opened.split.config for opened in splits):
        chosen = [opened for opened in splits if opened.split.config == config]
        size = sum(opened.size for opened in chosen)
        found[config] = {
            "description": "",
            "citation": "",
            "homepage": "",
            "license": "",
            "features": {str(one["name"]): one["type"] for one in chosen[0].features},
            "builder_name": chosen[0].split.builder,
            "dataset_name": chosen[0].repo.id.rpartition("/")[2],
            "config_name": config,
            "version": {"version_str": "0.0.0", "major": 0, "minor": 0, "patch": 0},
            "splits": {
                opened.split.name: {"name": opened.split.name, "num_bytes": opened.size, "num_examples": opened.total}
                for opened in chosen
            },
            "download_size": size,
            "dataset_size": size,
        }
    told = found if whole else next(iter(found.values()))
    return {"dataset_info": told, "pending": [], "failed": [], "partial": False}


def parquet_files(repo: Repo, at: Snapshot, splits: Sequence[Split], base_url: str) -> dict[str, object]:
    """Parquet files as they lie in the repository. Other data is not converted, and has none."""
    found = [
        {
            "dataset": repo.id,
            "config": split.config,
            "split": split.name,
            "url": f"{base_url}/datasets/{repo.id}/resolve/main/{quote(path)}",
            "filename": path.rpartition("/")[2],
            "size": at.files[path].size,
        }
        for split in splits
        if split.builder == "parquet"
        for path in split.paths
    ]
    return {"parquet_files": found, "pending": [], "failed": [], "partial": False}
