"""One file of an unpacked task as a reader may see it, by the rules that hold for the files of a repository."""

import io
import json
import mimetypes
from typing import Final

from rlx.answers import Masked, Withheld, file_bytes_ok, file_rows, file_text, file_verdict, prose
from rlx.answers.files import LISTED
from rlx.formats import archives
from rlx.formats.reading import MAX_ROWS, FileWithheld
from rlx.formats.rows.kinds import kind_of, packing_of
from rlx.formats.rows.media import named
from rlx.formats.rows.opening import source_of
from rlx.formats.rows.sources.base import Unreadable
from rlx.model import Blob
from rlx.model.files import Form
from rlx.texts import Say, say

_MEDIA: Final = ("image/", "audio/", "video/", "application/pdf")
_SNIFFED: Final = 8000
_BINARY: Final = "application/octet-stream"


def file_blob(path: str, data: bytes) -> Blob:
    """The file at `path` of a task. Raises `Forbidden` with the reason for a withheld one."""
    verdict = file_verdict(path, task_root="")
    if verdict.kind == "withhold" and verdict.reason is not None:
        raise FileWithheld(path, Withheld(path, verdict.reason))
    media = mimetypes.guess_type(path)[0] or ""
    if media.startswith(_MEDIA) and media != "image/svg+xml":
        return _bytes(path, data, media)
    kind = kind_of(path)
    if data and (kind == "parquet" or (kind is not None and packing_of(path) is not None)):
        return _container(path, data, "rows")
    if data and path.lower().rpartition(".")[2] in LISTED:
        return _container(path, data, "members")
    if b"\0" in data[:_SNIFFED]:
        return _bytes(path, data)
    return _text(path, data)


def _bytes(path: str, data: bytes, media: str = _BINARY, note: Say | None = None) -> Blob:
    refused = file_bytes_ok(path, task_root="")
    if refused is not None:
        raise FileWithheld(path, refused, note)
    return Blob(path, len(data), None, data, media, note=note)


def _text(path: str, data: bytes) -> Blob:
    shown = file_text(path, data, task_root="")
    if isinstance(shown, Withheld):
        raise FileWithheld(path, shown)
    try:
        data.decode()
        note = None
    except UnicodeDecodeError:
        note = say("files.not_utf8")
    return Blob(
        path,
        len(data),
        shown.text,
        media_type="text/plain",
        encoding_note=note,
        masked=shown.masked,
        withheld=shown.withheld,
    )


def _container(path: str, data: bytes, form: Form) -> Blob:
    try:
        shown = _rows(path, data) if form == "rows" else _members(path, data)
    except (archives.Refused, Unreadable) as error:
        return _bytes(path, data, note=error.reason)
    if isinstance(shown, Withheld):
        raise FileWithheld(path, shown)
    served = file_bytes_ok(path, task_root="") is None
    return Blob(
        path,
        len(data),
        None if served else shown.text,
        data if served else None,
        masked=shown.masked,
        withheld=shown.withheld,
        form=form,
        inside=shown.text if served else None,
    )


def _rows(path: str, data: bytes) -> Masked | Withheld:
    found = source_of(path, data).rows(0, MAX_ROWS, None)
    return file_rows(path, [named(row.value) for row in found if row.broken is None], task_root="")


def _members(path: str, data: bytes) -> Masked:
    found = archives.members(path, io.BytesIO(data), len(data))
    lines = (json.dumps({"path": item.path, "size": item.size}, ensure_ascii=False) for item in found)
    return Masked(prose("".join(f"{line}\n" for line in lines)))
