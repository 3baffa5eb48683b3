"""Which files hold rows, by their names."""

import re

from rlx.formats.rows.sources.unpacking import KINDS as PACKINGS

KINDS = {
    **dict.fromkeys(("jsonl", "ndjson"), "lines"),
    **dict.fromkeys(("csv", "tsv"), "delimited"),
    "json": "document",
    "parquet": "parquet",
}
"""Suffix to how a file holds its rows."""
_RECORDED = re.compile(r".*[^/]\.(?:traj|trajectory)(?:\.[\w-]{1,40})*(?<!\.jsonl)", re.IGNORECASE)
_FOLDERS = frozenset({"trajectories", "trajs", "transcripts"})
_TABLE = re.compile(r"[\s\ufeff]*(?:\[\s*\{|\{\s*\"[^\"\n]{0,200}\"\s*:\s*[\[{])")


def packing_of(path: str) -> str | None:
    """How the file is compressed, as `rlx.formats.rows.sources.unpacking` knows it; None when it is not."""
    return PACKINGS.get(path.lower().rpartition(".")[2])


def plain_name(path: str) -> str:
    """`a.csv` of `a.csv.gz`."""
    return path if packing_of(path) is None else path.rpartition(".")[0]


def kind_of(path: str) -> str | None:
    """`lines`, `delimited`, `document` or `parquet`; None for a file that holds no rows."""
    kind = KINDS.get(plain_name(path).lower().rpartition("/")[2].rpartition(".")[2])
    return None if kind == "parquet" and packing_of(path) else kind


def is_single(path: str) -> bool:
    """Whether the file is one row whatever it holds: what was recorded of one rollout. Those of Harbor's jobs, each
    in the folder of its agent, are files of a trial."""
    *folders, name = plain_name(path).lower().split("/")
    if folders and folders[-1] == "agent":
        return False
    if name.endswith((".traj", ".json")) and _RECORDED.fullmatch(name):
        return True
    return name.endswith(".json") and not name.endswith(".traces.json") and not _FOLDERS.isdisjoint(folders)


def begins_as_table(text: str) -> bool:
    """Whether a JSON document may be a list of records, an object of them, or columns."""
    return _TABLE.match(text) is not None
