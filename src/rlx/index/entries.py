"""What the catalog keeps of one environment that was read: its card and its tasks, whatever its format."""

import gzip
import io
import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import anyio.to_thread

from rlx.answers.shown import Json
from rlx.answers.stored import stored
from rlx.errors import BadInput
from rlx.formats.base import Environment, Versioned
from rlx.hub.info import RepoInfo
from rlx.index.codec import env_card_in, env_card_out, facets_in, facets_out
from rlx.index.env_cards import read_card
from rlx.index.environment import IndexedEnvironment
from rlx.index.similar import sketch
from rlx.index.snapshot.rows import TASK_FACETS, TaskRow
from rlx.index.tasks import TaskIndex
from rlx.model import EnvCard, Facets, TaskCard, TaskQuery

VERSION = 2
PAGE = 100
"""Tasks asked of a format at once."""
MAX_ENTRY = 256 * 1024 * 1024
"""Bytes of one unpacked entry."""


@dataclass(frozen=True, slots=True)
class Entry:
    card: EnvCard
    tasks: tuple[TaskRow, ...] = ()
    complete: bool = True
    """Whether every task is here and was read: of very many rows the first are searched, and an index may fill in."""
    reader: int | None = None
    """Version of what read it, where that tells one."""
    indexed: bool = False
    """It was made from an index, which holds every task: one of the others lists as many as it is asked for."""


async def entry_of(environment: Environment, info: RepoInfo, *, limit: int) -> Entry:
    """The entry of an opened environment, with at most `limit` tasks. Raises `UserError` when the Hub fails."""
    card = read_card(info, await environment.summary())
    if not card.tasks:
        return Entry(card)
    indexed, pending = isinstance(environment, IndexedEnvironment), False
    reader = environment.reader_version if isinstance(environment, Versioned) else None
    if isinstance(environment, IndexedEnvironment):
        rows = await anyio.to_thread.run_sync(_indexed, environment.index, limit)
        reader, pending = environment.index.header.reader_version, environment.is_pending
    else:
        rows = await _listed(environment, limit)
    return Entry(card, rows, complete=len(rows) >= card.tasks and not pending, reader=reader, indexed=indexed)


def _indexed(index: TaskIndex, limit: int) -> tuple[TaskRow, ...]:
    return tuple(_row(task, digest, text) for task, digest, text in index.rows(limit))


async def _listed(environment: Environment, limit: int) -> tuple[TaskRow, ...]:
    rows: list[TaskRow] = []
    while len(rows) < limit:
        page = await environment.tasks(TaskQuery(offset=len(rows), limit=min(PAGE, limit - len(rows))))
        rows += [_row(task, "", f"{task.title} {task.brief}") for task in page.items]
        if not page.items or len(rows) >= page.total:
            break
    return tuple(rows)


def _row(task: TaskCard, digest: str, text: str) -> TaskRow:
    tags = " ".join(task.facets.get("tags", ()))
    return TaskRow(task.ref, task.title, task.brief, _known(task.facets), tags, digest, sketch(text))


def _known(facets: Facets) -> Facets:
    return {key: facets[key] for key in TASK_FACETS if key in facets}


def entry_bytes(entry: Entry) -> bytes:
    """As a gzipped JSON file."""
    tasks: list[Json] = [
        [
            task.ref,
            task.title,
            task.brief,
            facets_out(task.facets),
            task.words,
            task.digest,
            b64encode(task.sketch).decode("ascii"),
        ]
        for task in entry.tasks
    ]
    raw = {
        "version": VERSION,
        "card": env_card_out(entry.card),
        "tasks": tasks,
        "complete": entry.complete,
        "reader": entry.reader,
        "indexed": entry.indexed,
    }
    return gzip.compress(json.dumps(raw, ensure_ascii=False).encode("utf-8", "replace"), 5, mtime=0)


def entry_in(data: bytes) -> Entry:
    """Raises `ValueError` for a file that is no entry of this version, damaged or of absurd size."""
    try:
        raw = _object(json.loads(_unpacked(data)))
        if raw.get("version") != VERSION:
            raise ValueError(f"entry version {raw.get('version')!r}, not {VERSION}")
        tasks = tuple(
            TaskRow(str(ref), stored(title), stored(brief), facets_in(facets), str(words), str(digest), b64decode(near))
            for ref, title, brief, facets, words, digest, near in raw["tasks"]
        )
        reader = raw["reader"]
        known = None if reader is None else int(reader)
        return Entry(env_card_in(raw["card"]), tasks, bool(raw["complete"]), known, bool(raw["indexed"]))
    except (OSError, EOFError, KeyError, TypeError, AttributeError, RecursionError, zlib.error, BadInput) as error:
        raise ValueError(f"not an entry: {type(error).__name__}") from error


def _unpacked(data: bytes) -> bytes:
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
        unpacked = stream.read(MAX_ENTRY + 1)
    if len(unpacked) > MAX_ENTRY:
        raise ValueError(f"an entry of more than {MAX_ENTRY:,} bytes")
    return unpacked


def _object(raw: Any) -> Mapping[str, Any]:
    if not isinstance(raw, dict):
        raise TypeError("not an object")
    return raw
