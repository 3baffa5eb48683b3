"""The pack of one environment: the masked texts, settings and file lists that its task pages are made from."""

import hashlib
import json
import zlib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from rlx.answers import Masked, ShownJson
from rlx.answers.shown import Json
from rlx.answers.stored import stored, stored_json
from rlx.index.codec import files_in, files_out, withheld_in, withheld_out
from rlx.index.database import Database, open_writer
from rlx.index.records import TaskRecord
from rlx.index.unfinished import record_in, record_out
from rlx.model import TaskCard

CORE_TEXTS = 2
"""A format puts the texts no page can do without first: settings and prompt."""


class PackWriter:
    """Writes a pack on local disk. Past `budget` bytes of text only the first `CORE_TEXTS` of each task are kept."""

    def __init__(self, path: Path, *, budget: int, goes_on: bool = False) -> None:
        """A new pack, or one that `goes_on`: at `path` lies a private copy of what is written so far."""
        self._db = open_writer(path, "" if goes_on else files(__package__).joinpath("pack.sql").read_text("utf-8"))
        self._known: dict[bytes, int] = dict(self._db.execute("SELECT digest, id FROM texts"))
        self._budget = budget - self._db.execute("SELECT total(size) FROM texts").fetchone()[0]

    def add(self, ord_: int, record: TaskRecord) -> None:
        texts: dict[str, int] = {}
        for place, (path, masked) in enumerate(record.texts.items()):
            id_ = self._text(masked, core=place < CORE_TEXTS)
            if id_ is not None:
                texts[path] = id_
        self._db.execute(
            "INSERT INTO tasks VALUES (?, ?, ?, ?, ?)",
            (
                ord_,
                _deflate(record.settings.value),
                _deflate(files_out(record.files)),
                json.dumps(withheld_out(record.withheld)),
                json.dumps(texts),
            ),
        )

    def settings(self, ord_: int, settings: ShownJson) -> None:
        self._db.execute("UPDATE tasks SET settings = ? WHERE ord = ?", (_deflate(settings.value), ord_))

    def keep(self, ord_: int, record: TaskRecord) -> None:
        """Keep what the second pass wants of a task, for a process that goes on after this one."""
        self._db.execute("INSERT INTO unfinished VALUES (?, ?)", (ord_, _deflate(record_out(record))))

    def commit(self) -> None:
        """Have all of it in the file, which may be copied then."""
        self._db.commit()

    def finish(self) -> None:
        """Let go of what only the second pass wanted."""
        self._db.execute("DELETE FROM unfinished")
        self._db.commit()
        self._db.execute("VACUUM")

    def close(self) -> None:
        self._db.commit()
        self._db.close()

    def _text(self, masked: Masked, *, core: bool) -> int | None:
        data = masked.text.encode()
        digest = hashlib.blake2b(data + b"\0" + bytes(len(masked.masked)), digest_size=16).digest()
        known = self._known.get(digest)
        if known is not None:
            return known
        if self._budget < len(data) and not core:
            return None
        self._budget -= len(data)
        self._known[digest] = len(self._known) + 1
        self._db.execute(
            "INSERT INTO texts VALUES (?, ?, ?, ?, ?, ?)",
            (
                self._known[digest],
                digest,
                zlib.compress(data, 6),
                len(data),
                json.dumps(masked.masked),
                json.dumps(withheld_out(masked.withheld)),
            ),
        )
        return self._known[digest]


class Pack:
    """Reads a pack. Raises `sqlite3.DatabaseError` for a file that is not one."""

    def __init__(self, path: Path) -> None:
        self._db = Database(path)
        self._db.row("SELECT 1 FROM tasks, texts LIMIT 1")  # tells a damaged file now, while it can be made again

    def record(self, ord_: int, card: TaskCard, review: ShownJson | None) -> TaskRecord | None:
        """The task at `ord_`, with all of its texts; None when it is not read yet."""
        row = self._db.row("SELECT settings, files, withheld, texts FROM tasks WHERE ord = ?", (ord_,))
        if row is None:
            return None
        settings, listing, withheld, texts = row
        by_path: dict[str, int] = json.loads(texts)
        return TaskRecord(
            card=card,
            search="",
            settings=stored_json(_inflate(settings)),
            texts=self._texts(by_path),
            files=files_in(_inflate(listing)),
            withheld=withheld_in(json.loads(withheld)),
            review=review,
        )

    def unfinished(self) -> dict[int, TaskRecord]:
        """What the second pass wants of each task that was read, by its place."""
        rows = self._db.rows("SELECT ord, record FROM unfinished ORDER BY ord")
        return {ord_: record_in(_inflate(data)) for ord_, data in rows}

    def _texts(self, by_path: Mapping[str, int]) -> dict[str, Masked]:
        found: dict[str, Masked] = {}
        for path, id_ in by_path.items():
            text, masked, withheld = self._db.row("SELECT text, masked, withheld FROM texts WHERE id = ?", (id_,))
            shown = stored(zlib.decompress(text).decode())
            found[path] = Masked(shown, tuple(json.loads(masked)), withheld_in(json.loads(withheld)))
        return found


def _deflate(value: Json) -> bytes:
    return zlib.compress(json.dumps(value, ensure_ascii=False).encode(), 6)


def _inflate(data: bytes) -> Any:
    return json.loads(zlib.decompress(data))
