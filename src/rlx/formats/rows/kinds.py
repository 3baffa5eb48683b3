"""Which files hold rows, by their names."""

from rlx.formats.rows.sources.unpacking import KINDS as PACKINGS

KINDS = {
    **dict.fromkeys(("jsonl", "ndjson"), "lines"),
    **dict.fromkeys(("csv", "tsv"), "delimited"),
    "json": "document",
    "parquet": "parquet",
}
"""Suffix to how a file holds its rows."""


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
