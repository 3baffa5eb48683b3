"""Pictures, sound and video, played by the browser from our own raw address; a PDF is named, not opened."""

import struct
from dataclasses import dataclass
from typing import Literal

from rlx.model import Blob
from rlx.texts import say
from rlx.web.views.base import Asked, FileView, Unfit

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp"})
SOUNDS = frozenset({"audio/mpeg", "audio/wav", "audio/x-wav", "audio/ogg", "audio/flac", "audio/mp4", "audio/aac"})
FILMS = frozenset({"video/mp4", "video/webm", "video/ogg"})
PLAYED = PICTURES | SOUNDS | FILMS
"""Kinds a browser shows without running anything. SVG and HTML are text here."""
PDF = "application/pdf"


@dataclass(frozen=True, slots=True)
class Media:
    kind: Literal["image", "audio", "video", "pdf"]
    url: str
    width: int | None = None
    height: int | None = None


def _draw(blob: Blob, asked: Asked) -> Media:
    url = asked.links.raw(asked.key, asked.ref, blob.path)
    if blob.truncated:
        raise Unfit(say("viewer.media_large"))
    if blob.media_type == PDF:
        return Media("pdf", url)
    if blob.media_type in SOUNDS:
        return Media("audio", url)
    if blob.media_type in FILMS:
        return Media("video", url)
    width, height = _measures(blob.data or b"")
    return Media("image", url, width, height)


def _measures(data: bytes) -> tuple[int | None, int | None]:
    """Width and height as a PNG, a GIF or a JPEG tells them; a page keeps room for the picture."""
    found: tuple[int, int] | None = None
    if data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) >= 24:
        found = struct.unpack_from(">II", data, 16)
    elif data[:4] == b"GIF8" and len(data) >= 10:
        found = struct.unpack_from("<HH", data, 6)
    elif data[:2] == b"\xff\xd8":
        found = _jpeg(data)
    return found if found and all(0 < side <= 100_000 for side in found) else (None, None)


def _jpeg(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], struct.unpack_from(">H", data, at + 2)[0]
        if 0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC}:
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        at += 2 + length
    return None


def _fits(blob: Blob) -> bool:
    return blob.data is not None and (blob.media_type in PLAYED or blob.media_type == PDF)


VIEW = FileView("media", say("viewer.view_media"), _fits, _draw)
