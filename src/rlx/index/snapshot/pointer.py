"""The pointer: the small file that names the snapshot in use, and what readers check it against."""

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rlx.index.snapshot.rows import SCHEMA, Counts

FOLDER = "snapshots"
POINTER = f"LATEST.v{SCHEMA}.json"
"""A schema has a pointer of its own, so that old readers keep what they can read while new ones start."""
POINTERS = re.compile(r"LATEST\.v\d{1,6}\.json")
SNAPSHOTS = re.compile(r"catalog-\d{8}T\d{6}Z(-\d{1,4})?\.db")
MAX_POINTER = 64 * 1024
MAX_SNAPSHOT = 16 * 1024**3
"""Bytes. What claims to be larger is not copied."""

_SHA256 = re.compile(r"[0-9a-f]{64}")
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Pointer:
    db: str
    """File name in `FOLDER`."""
    sha256: str
    size: int
    built_at: datetime
    counts: Counts
    schema: int = SCHEMA


def pointer_bytes(pointer: Pointer) -> bytes:
    raw = {**asdict(pointer), "built_at": pointer.built_at.isoformat()}
    return json.dumps(raw, indent=1).encode()


def pointer_in(data: bytes) -> Pointer:
    """Raises `ValueError` for whatever is no pointer of this schema; a name can only be that of a snapshot here."""
    try:
        raw = json.loads(data)
        if not isinstance(raw, dict):
            raise ValueError("not an object")
        if _count(raw, "schema") != SCHEMA:
            raise ValueError(f"schema {raw['schema']}, not {SCHEMA}")
        size = _count(raw, "size")
        if not 0 < size <= MAX_SNAPSHOT:
            raise ValueError(f"a size of {size:,} bytes")
        return Pointer(
            db=_text(raw, "db", SNAPSHOTS),
            sha256=_text(raw, "sha256", _SHA256),
            size=size,
            built_at=datetime.fromisoformat(_text(raw, "built_at")).astimezone(UTC),
            counts=Counts(**{name: _count(raw["counts"], name) for name in Counts.__slots__}),
        )
    except (KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError(f"not a pointer: {type(error).__name__} {error}") from error


def snapshot_named(data: bytes) -> str | None:
    """The database that a pointer of any schema names; None when it names none."""
    try:
        db = json.loads(data)["db"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return db if isinstance(db, str) and SNAPSHOTS.fullmatch(db) else None


def digest(path: Path) -> tuple[int, str]:
    """Size and sha256 of a file."""
    sha = hashlib.sha256()
    size = 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            sha.update(chunk)
            size += len(chunk)
    return size, sha.hexdigest()


def _text(raw: dict[str, Any], name: str, form: re.Pattern[str] | None = None) -> str:
    value = raw[name]
    if not isinstance(value, str) or (form is not None and not form.fullmatch(value)):
        raise ValueError(f"{name} is {str(value)[:80]!r}")
    return value


def _count(raw: dict[str, Any], name: str) -> int:
    value = raw[name]
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{name} is {str(value)[:80]!r}")
    return value
