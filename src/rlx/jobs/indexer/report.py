"""How the catalog of a store is: what is in use, how the last run went, and who works on it."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from rlx.index.snapshot.publish import current_pointer
from rlx.jobs.indexer.lease import holder_of
from rlx.jobs.indexer.state import load_state
from rlx.store.storage import Storage


def report(storage: Storage, now: datetime) -> dict[str, Any]:
    """As it is written in JSON: what is not known, or not there, is null. Raises `OSError`."""
    problem = None
    try:
        pointer = current_pointer(storage)
    except ValueError as error:
        pointer, problem = None, f"the pointer cannot be read: {error}"
    state = load_state(storage)
    holder = holder_of(storage)
    failures = [
        {"id": key, "revision": attempt.sha, "at": attempt.at.isoformat(), "reason": attempt.reason}
        for key, attempt in sorted(state.attempts.items())
    ]
    return {
        "db": None if pointer is None else pointer.db,
        "built_at": None if pointer is None else pointer.built_at.isoformat(),
        "age": None if pointer is None else round((now - pointer.built_at).total_seconds()),
        "size": None if pointer is None else pointer.size,
        "counts": None if pointer is None else asdict(pointer.counts),
        "problem": problem,
        "last": None if state.last is None else state.last.model_dump(mode="json"),
        "failures": failures,
        "lease": None if holder is None else {**holder.model_dump(mode="json"), "alive": holder.holds(now)},
    }


def report_markdown(record: Mapping[str, Any]) -> str:
    """A report for a person."""
    lines = [f"# {record['db'] or 'No snapshot'}", ""]
    if record["problem"]:
        lines += [f"- Problem: {record['problem']}"]
    if record["db"]:
        counts = record["counts"]
        kinds = f"{counts['datasets']:,} datasets and {counts['spaces']:,} Spaces"
        lines += [
            f"- Listed {record['built_at']}, {_span(record['age'])} ago",
            f"- {counts['environments']:,} environments: {kinds}",
            f"- {counts['tasks']:,} tasks, {record['size'] / 1e6:.1f} MB",
        ]
    last, lease = record["last"], record["lease"]
    if last:
        told = f"read {last['read']:,}, failed {last['failed']:,}, left {last['left']:,} of {last['listed']:,} listed"
        lines += [f"- Last run ended {last['ended']}: {told}"]
    else:
        lines += ["- No run ended yet"]
    if lease:
        state = "works" if lease["alive"] else "is dead; the next run takes over"
        lines += [f"- Process {lease['pid']} on {lease['host']} {state}, since {lease['since']}"]
    if record["failures"]:
        lines += ["", "## Not read, and left alone for a day", ""]
        lines += [f"- {item['id']}: {item['reason']}" for item in record["failures"]]
    return "\n".join(lines) + "\n"


def _span(seconds: float) -> str:
    for size, unit in ((86_400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} seconds"
