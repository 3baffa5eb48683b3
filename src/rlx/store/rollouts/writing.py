"""Replaces a file at once: whoever looks, and whenever the writer dies, finds the old one or the new one."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: Path, *, durable: bool = True) -> Iterator[BinaryIO]:
    """A file to write, which is on the disk under `path` when the block ends well, and gone when it does not.

    Not `durable`, a failure of the power may undo it, till the next file in its folder is replaced durably.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
        os.replace(temporary, path)
        if durable:
            sync_folder(path.parent)
    except BaseException:
        with suppress(OSError):  # what went wrong is told by the error that is on its way
            temporary.unlink(missing_ok=True)
        raise


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
