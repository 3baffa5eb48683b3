"""`/resolve/`: the bytes of a file, whole or in part."""

import mimetypes
import re
from functools import lru_cache
from urllib.parse import quote

from rlx.localhub.files import LFS_SUFFIXES, File, read_file, verify
from rlx.localhub.repo import Repo
from rlx.localhub.snapshot import Snapshot
from rlx.localhub.wire import Answer, Headers, Refusal, Request, Slice

_SMALL = 256 * 1024
"""Files up to this size are read at once; larger ones in pieces and off the event loop."""
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)
_EXPOSED = {"application/json", "application/pdf"}


def find_file(repo: Repo, at: Snapshot, path: str) -> File:
    """The file at a revision, as it lies on disk now. Refuses what is not there, or not any more."""
    commit: Headers = [(b"x-repo-commit", at.sha.encode())]
    if path not in at.files:
        raise Refusal(404, "EntryNotFound", "Entry not found", commit)
    current = repo.file(at, path)
    if current is None:
        raise Refusal(404, "EntryNotFound", "The folder no longer holds this file as it was at that revision.", commit)
    return current


def serve_file(request: Request, repo: Repo, at: Snapshot, file: File, *, whole: bool = False) -> Answer:
    """Answer a GET or HEAD of `file`. `whole` ignores the range asked for. Raises `Changed`."""
    etag = f'"{file.etag}"'
    headers: Headers = [
        (b"etag", etag.encode()),
        (b"x-repo-commit", at.sha.encode()),
        (b"accept-ranges", b"bytes"),
        (b"content-type", media_type(file.path).encode()),
        (b"content-disposition", f"inline; filename*=UTF-8''{quote(file.path.rpartition('/')[2], safe='')}".encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"content-security-policy", b"default-src 'none'; sandbox"),
    ]
    if file.sha256 is not None:
        headers += [(b"x-linked-etag", etag.encode()), (b"x-linked-size", b"%d" % file.size)]
    if _matches(request.header(b"if-none-match"), file.etag):
        return Answer(304, headers)
    span = None if whole else byte_range(request.header(b"range"), file.size)
    condition = request.header(b"if-range")
    if span is not None and condition is not None and condition != etag:
        span = None
    if span is None:
        return Answer(200, headers, _body(request, repo, file, 0, file.size))
    start, stop = span
    if start >= stop:
        raise Refusal(416, "", "Range not satisfiable", [(b"content-range", b"bytes */%d" % file.size)])
    headers.append((b"content-range", b"bytes %d-%d/%d" % (start, stop - 1, file.size)))
    return Answer(206, headers, _body(request, repo, file, start, stop - start))


def byte_range(header: str | None, size: int) -> tuple[int, int] | None:
    """The half-open range that a `Range` header asks for, cut to `size`; empty when it cannot be met.

    None for no header, one that is malformed, or several ranges: the whole file answers those.
    """
    found = _RANGE.fullmatch(header.replace(" ", "").lower()) if header else None
    if found is None or found[0] == "bytes=-":
        return None
    if not found[1]:
        return max(0, size - int(found[2])), size
    start = int(found[1])
    if found[2] and int(found[2]) < start:
        return None
    return start, min(size, int(found[2]) + 1) if found[2] else size


def _matches(header: str | None, etag: str) -> bool:
    if header is None:
        return False
    told = {part.strip().removeprefix("W/").strip('"') for part in header.split(",")}
    return etag in told or "*" in told


def _body(request: Request, repo: Repo, file: File, start: int, length: int) -> bytes | Slice:
    path = repo.place(file)
    if length <= _SMALL and request.method != "HEAD":
        return read_file(path, file, start, length)
    verify(path, file)
    return Slice(path, file, start, length)


def media_type(path: str) -> str:
    """A content type under which a browser runs nothing."""
    if path.endswith(LFS_SUFFIXES):
        return "application/octet-stream"
    return _media_type(path.rpartition("/")[2].rpartition(".")[2].lower())


@lru_cache(maxsize=512)
def _media_type(suffix: str) -> str:
    guessed, encoding = mimetypes.guess_type(f"file.{suffix[:16]}")
    if guessed is None or encoding is not None:
        return "text/plain; charset=utf-8" if encoding is None else "application/octet-stream"
    if guessed in _EXPOSED or (guessed.startswith(("image/", "audio/", "video/")) and "svg" not in guessed):
        return guessed
    text = guessed.startswith("text/") or "xml" in guessed or "script" in guessed or "svg" in guessed
    return "text/plain; charset=utf-8" if text else "application/octet-stream"
