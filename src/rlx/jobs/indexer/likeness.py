"""Which tasks say nearly the same, kept in the store: found again only when some entry changed.

The comparison is over all tasks at once and takes longer than everything else of a run in which little changed.
"""

import gzip
import hashlib
import io
import json
import logging
from collections.abc import Mapping, Sequence

from rlx import __version__
from rlx.ids import EnvKey
from rlx.index.similar import alike
from rlx.index.snapshot.rows import Likeness, TaskRow
from rlx.store.storage import Storage

FILE = "alike.json.gz"
_MAX = 256 * 1024 * 1024

_log = logging.getLogger(__name__)

type _Rows = Sequence[tuple[EnvKey, TaskRow]]


def likenesses(storage: Storage, tasks: Mapping[EnvKey, Sequence[TaskRow]]) -> list[Likeness]:
    """In the order of keys and of each environment's own list, the likest first for each task. Raises `OSError`."""
    rows = [(key, row) for key in sorted(tasks) for row in tasks[key]]
    mark = _mark(rows)
    kept = _kept(storage, mark, rows)
    if kept is not None:
        return kept
    found = alike(rows)
    places = {(key, row.ref): place for place, (key, row) in enumerate(rows)}
    pairs = [(places[item.key, item.ref], places[item.other_key, item.other_ref], item.score) for item in found]
    storage.write(FILE, gzip.compress(json.dumps({"mark": mark, "pairs": pairs}).encode(), 5, mtime=0))
    return found


def _mark(rows: _Rows) -> str:
    """Of all that the comparison looks at, and of who compares."""
    sha = hashlib.sha256(f"{__version__}\n".encode())
    for key, row in rows:
        sha.update(f"{key}\0{row.ref}\0{row.digest}\0{len(row.sketch)}\0".encode("utf-8", "surrogatepass"))
        sha.update(row.sketch)
    return sha.hexdigest()


def _kept(storage: Storage, mark: str, rows: _Rows) -> list[Likeness] | None:
    """What was found for the same rows; None when it was for others, or cannot be read."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(storage.read(FILE, limit=_MAX))) as stream:
            raw = json.loads(stream.read(_MAX))
        if raw["mark"] != mark:
            return None
        return [_likeness(rows, one, other, score) for one, other, score in raw["pairs"]]
    except FileNotFoundError:
        return None
    except (OSError, EOFError, ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
        _log.warning("%s is made anew: %s", FILE, type(error).__name__)
        return None


def _likeness(rows: _Rows, one: int, other: int, score: float) -> Likeness:
    if not (one >= 0 <= other and 0 <= score <= 1):
        raise ValueError("not a likeness")
    (key, row), (other_key, other_row) = rows[one], rows[other]
    return Likeness(key, row.ref, other_key, other_row.ref, float(score))
