"""Which catalog is in use, as `/readyz` and `/api/search/status` tell it."""

from dataclasses import asdict
from datetime import UTC, datetime

from rlx.answers.shown import Json
from rlx.index.catalog import CatalogStatus


def status_json(status: CatalogStatus) -> dict[str, Json]:
    """Times in ISO 8601, `age` in seconds since the listing was made; null for what is not known."""
    age = None if status.built_at is None else round((datetime.now(UTC) - status.built_at).total_seconds(), 1)
    counts: dict[str, Json] | None = None if status.counts is None else dict(asdict(status.counts))
    return {
        "source": status.source,
        "db": status.db,
        "built_at": _time(status.built_at),
        "age": age,
        "counts": counts,
        "since": _time(status.since),
        "checked": _time(status.checked),
        "error": status.error,
    }


def _time(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat(timespec="seconds")
