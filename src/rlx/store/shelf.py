"""Where finished files of one scope are kept: in the store, with a copy on local disk to open.

The store may be a bucket mount, which uploads a file when it is closed and locks nothing, so a file is finished on
local disk, copied under a temporary name and renamed; databases are opened from the local copy only. A scope is
`public`, or a viewer's: what was read with somebody's token never reaches the store.
"""

import logging
import os
import secrets
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rlx.errors import Upstream

_log = logging.getLogger(__name__)

_ABANDONED = 24 * 3600
"""Seconds after which a temporary file is taken for one of a killed process."""


class Shelf:
    """Files by name (`indexes/org__name/<sha>.db`). Publishing is atomic; readers never see half a file."""

    def __init__(self, store: Path | None, local: Path) -> None:
        self._store = store
        self._local = local

    @contextmanager
    def writing(self, name: str) -> Iterator[Path]:
        """A path on local disk to write; published under `name` when the block ends well, removed when not.

        Raises `Upstream` when the local disk is full or may not be written. A store in trouble is logged and done
        without.
        """
        final = self._local / name
        temporary = _temporary(final)
        try:
            final.parent.mkdir(parents=True, exist_ok=True)
            yield temporary
            if self._store is not None:
                _publish(temporary, self._store / name)
            temporary.replace(final)
        except (OSError, sqlite3.OperationalError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise Upstream(
                f"What was read cannot be kept on this server's disk: {reason or type(error).__name__}.",
                hint="Its operator can make room in, or give rights to, the folder RLX_CACHE_DIR names.",
                retry_after=60,
            ) from error
        finally:
            _remove(temporary)

    def find(self, name: str) -> Path | None:
        """The local copy of `name`, made from the store when there is none yet; the store's own where none can be."""
        local = self._local / name
        if local.exists():
            return local
        if self._store is None or not (self._store / name).is_file():
            return None
        return local if _publish(self._store / name, local) else self._store / name

    def names(self, folder: str) -> list[str]:
        """File names in `folder`, newest first."""
        found: dict[str, float] = {}
        for root in (self._local, self._store):
            if root is not None and (root / folder).is_dir():
                with os.scandir(root / folder) as entries:
                    found |= {entry.name: entry.stat().st_mtime for entry in entries if _is_final(entry.name)}
        return sorted(found, key=lambda name: -found[name])

    def drop(self, name: str) -> None:
        """Forget `name` everywhere: it is damaged, or of a revision nobody asks for."""
        for root in (self._local, self._store):
            if root is not None:
                _remove(root / name)

    def sweep(self, folder: str) -> None:
        """Remove what killed processes left half-written in `folder`."""
        for root in (self._local, self._store):
            if root is None or not (root / folder).is_dir():
                continue
            for path in (root / folder).iterdir():
                if not _is_final(path.name) and time.time() - path.stat().st_mtime > _ABANDONED:
                    _remove(path)


def _publish(source: Path, target: Path) -> bool:
    """Put a finished file under another name, at once and whole. False, and a line in the log, when it cannot be."""
    copy = _temporary(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _link_or_copy(source, copy)
        copy.replace(target)
    except OSError as error:
        _log.warning("%s cannot be written: %s", target, error.strerror)
        _remove(copy)
        return False
    return True


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        _log.warning("%s cannot be removed: %s", path, error.strerror)


def _temporary(final: Path) -> Path:
    return final.with_name(f".{final.name}.{secrets.token_hex(4)}")


def _is_final(name: str) -> bool:
    return not name.startswith(".")


def _link_or_copy(source: Path, target: Path) -> None:
    """Link where both are on one disk: a finished file never changes."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
