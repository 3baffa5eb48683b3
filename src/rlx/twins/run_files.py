"""Files of a rollout as a reader may see them: on its page, raw, and in exports.

What the agent made is judged as what lies in its world is, by name and contents. What the verifier wrote is what it
printed: texts are masked as its log is, JSON text by text, and any other kind is withheld. The trajectory is what was
said. Of the reference solution's rollouts no file is shown.
"""

import json
import mimetypes
from pathlib import Path
from typing import Any, Final

from rlx.answers import MARK, Masked, ShownJson, Withheld, file_bytes_ok, file_text, prose, whole
from rlx.answers.files import place
from rlx.errors import Forbidden, TooLarge
from rlx.model import Blob
from rlx.rollout import Rollout
from rlx.store.rollouts.names import TRAJECTORY
from rlx.texts import say, words
from rlx.twins.run_events import log_text, solves

MOST: Final = 24 * 1024 * 1024
"""Bytes of a file that is looked at."""
_TEXTS: Final = frozenset({"txt", "log", "out", "err"})
_MEDIA: Final = ("image/", "audio/", "video/")


def run_file(rollout: Rollout, path: str, at: Path) -> Blob:
    """The file that is called `path` and kept at `at`. Blocks. Raises `Forbidden` with the reason, and `TooLarge`."""
    if solves(rollout):
        raise _withheld(Withheld(path, say("answers.solution")))
    size = at.stat().st_size
    if size > MOST:
        raise TooLarge(f"{path[:200]!r} holds {size:,} bytes, more than is looked at.")
    data = at.read_bytes()
    folder, _, rest = path.partition("/")
    if path == TRAJECTORY:
        shown: Masked | Withheld = _trajectory(data)
    elif folder == "verifier":
        shown = _verifier(path, data)
    else:
        return _artifact(path, rest, data)
    if isinstance(shown, Withheld):
        raise _withheld(shown)
    kind = "application/json" if path.endswith(".json") else "text/plain"
    return Blob(path, size, shown.text, None, kind, masked=shown.masked, withheld=shown.withheld)


def trajectory_of(at: Path) -> ShownJson | None:
    """The ATIF trajectory that is kept at `at`; None where it cannot be read. Blocks."""
    try:
        if at.stat().st_size > MOST:
            return None
        value = json.loads(at.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return whole(value) if isinstance(value, dict) else None


def _artifact(path: str, rest: str, data: bytes) -> Blob:
    # What an agent made lies in its world, but for what has the name of a solution or of a grader's own.
    judged = rest if place(rest, "").zone in {"solution", "tests"} else f"environment/{rest}"
    shown = file_text(judged, data, task_root="")
    if isinstance(shown, Masked):
        return Blob(path, len(data), shown.text, None, "text/plain", masked=shown.masked, withheld=shown.withheld)
    refused = file_bytes_ok(judged, "")
    if refused is not None or shown.reason.key != "answers.not_text":
        raise _withheld(shown if refused is None else refused)
    guess = mimetypes.guess_type(rest)[0] or ""
    kind = guess if guess.startswith(_MEDIA) and guess != "image/svg+xml" else "application/octet-stream"
    return Blob(path, len(data), None, data, kind)


def _trajectory(data: bytes) -> Masked | Withheld:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return Withheld(TRAJECTORY, say("answers.unparsed"))
    return Masked(prose(json.dumps(whole(value).value, ensure_ascii=False, indent=1) + "\n"))


def _verifier(path: str, data: bytes) -> Masked | Withheld:
    suffix = path.rpartition("/")[2].rpartition(".")[2].lower()
    if b"\0" in data:
        return Withheld(path, say("answers.not_text"))
    text = data.decode("utf-8", "replace")
    if suffix in _TEXTS:
        return log_text(text, path)
    if suffix != "json":
        return Withheld(path, say("answers.beside_grader"))
    try:
        value = _each_text(json.loads(text))
    except (ValueError, RecursionError):
        return Withheld(path, say("answers.unparsed"))
    written = json.dumps(whole(value).value, ensure_ascii=False, indent=1) + "\n"
    lines = tuple(number for number, line in enumerate(written.split("\n"), 1) if MARK in line)
    held = (Withheld(path, say("answers.log")),) if lines else ()
    return Masked(prose(written), lines, held)


_NAMED: Final = frozenset(
    {"expected", "actual", "answer", "answers", "gold", "reference", "target", "solution", "diff"}
)
"""Keys of a report whose values are what was compared."""


def _each_text(value: Any, depth: int = 0) -> Any:
    """A report of a verifier with each of its texts masked as its log is."""
    if depth > 40:
        return MARK
    if isinstance(value, str):
        return log_text(value).text
    if isinstance(value, list):
        return [_each_text(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {
            log_text(key).text: MARK if key.lower() in _NAMED else _each_text(item, depth + 1)
            for key, item in value.items()
        }
    return value


def _withheld(held: Withheld) -> Forbidden:
    return Forbidden(f"{held.where[:200]!r} is withheld.", hint=words(held.reason))
