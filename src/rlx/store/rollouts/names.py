"""Names of the files of a rollout. What a sandbox called them is hostile: each becomes one name that leads nowhere."""

from typing import Final

from rlx.errors import BadInput
from rlx.rollout import is_id

RECORD: Final = "rollout.json"
EVENTS: Final = "events.jsonl"
TRAJECTORY: Final = "trajectory.json"
FOLDERS: Final = ("verifier", "artifacts")
ROOT: Final = "runs"
_PLAIN: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.@")
_LONGEST: Final = 240


def check_id(id: str) -> str:
    """Raises `BadInput` for what is no id of a rollout."""
    if not is_id(id):
        raise BadInput(f"{id[:40]!r} is no id of a rollout.", hint="`rlx run ls` lists them.")
    return id


def file_name(path: str) -> str:
    """Where `trajectory.json`, `verifier/PATH` or `artifacts/PATH` is kept in the folder of its rollout.

    A path becomes one name: whatever is not plain in it is written `+XX`, slashes too. Raises `BadInput` for a path
    that is empty, leads out, or is too long, and for any other file.
    """
    if path == TRAJECTORY:
        return path
    folder, _, rest = path.partition("/")
    parts = rest.split("/")
    if folder not in FOLDERS or any(part in {"", ".", ".."} for part in parts):
        raise BadInput(f"{path[:120]!r} is no file of a rollout.")
    try:
        name = "".join(map(_written, rest.encode("utf-8", "surrogateescape")))
    except UnicodeEncodeError as error:
        raise BadInput("A path is no text.") from error
    if name[0] in ".@":  # hidden, or no name for a storage
        name = f"+{ord(name[0]):02X}{name[1:]}"
    if len(name) > _LONGEST:
        raise BadInput(f"The path {path[:120]!r} is too long.")
    return f"{folder}/{name}"


def shown_name(name: str) -> str:
    """The path that `file_name` made a name of."""
    folder, _, rest = name.partition("/")
    if not rest:
        return name
    head, *others = rest.split("+")
    try:
        data = head.encode() + b"".join(bytes.fromhex(part[:2]) + part[2:].encode() for part in others)
    except ValueError:
        return name
    return f"{folder}/{data.decode('utf-8', 'replace')}"


def _written(byte: int) -> str:
    return chr(byte) if chr(byte) in _PLAIN else f"+{byte:02X}"
