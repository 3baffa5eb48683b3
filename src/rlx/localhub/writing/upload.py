"""What goes before a commit: how each file is to be sent, and the bytes of large ones by the LFS protocol."""

import base64
import hashlib
import hmac
import json
import re
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import anyio.to_thread

from rlx.localhub.repo import Repo
from rlx.localhub.snapshot import Snapshot
from rlx.localhub.wire import Answer, Headers, Refusal, Request, json_answer, raw_json
from rlx.localhub.writing.ledger import Ledger
from rlx.localhub.writing.objects import Stored, fill
from rlx.localhub.writing.paths import checked

MAX_OBJECT: Final = 64 * 1024**3
MAX_BATCH: Final = 1_000
_OID: Final = re.compile(r"[0-9a-f]{64}")
_LFS: Final = [(b"content-type", b"application/vnd.git-lfs+json")]


@dataclass(frozen=True, slots=True)
class Uploads:
    """`inline`: bytes up to which a file is sent inside the commit.

    Clients with Xet send what is not inline to a storage of its own that a local hub has not, so that few files are.
    An address to send bytes to is signed, since clients send no token there.
    """

    ledger: Ledger
    inline: int
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(32))

    def preupload(self, at: Snapshot, asked: dict[str, object]) -> Answer:
        files = asked.get("files")
        if not isinstance(files, list) or len(files) > MAX_BATCH:
            raise Refusal(400, "", f"'files' must be a list of at most {MAX_BATCH:,} files.")
        return json_answer({"files": [self._mode(at, file) for file in files]})

    def _mode(self, at: Snapshot, file: object) -> dict[str, object]:
        path = checked(file.get("path") if isinstance(file, dict) else None)
        size = file.get("size") if isinstance(file, dict) else None
        if not isinstance(size, int) or size < 0:
            raise Refusal(400, "", f"The size of this file is not said: {path[:200]}")
        mode = "regular" if size <= self.inline else "lfs"
        known = at.files.get(path)
        told: dict[str, object] = {"path": path, "uploadMode": mode, "shouldIgnore": False}
        if known is not None and known.size == size:
            told["oid"] = known.sha256 if mode == "lfs" else self._blob(known.sha256, known.oid)
        return told

    def _blob(self, sha256: str | None, oid: str) -> str | None:
        """The git blob id of a file's bytes, which of one in LFS is not the one that git has."""
        if sha256 is None:
            return oid
        stored = self.ledger.object(sha256)
        return stored.blob if stored is not None else None

    async def batch(self, request: Request, repo: Repo, asked: dict[str, object], url: str) -> Answer:
        """Where to send objects. What the repository has is not to be sent again."""
        objects = asked.get("objects")
        if asked.get("operation") != "upload" or not isinstance(objects, list) or len(objects) > MAX_BATCH:
            raise Refusal(400, "", "This local hub takes LFS objects, and gives them at their files' own addresses.")
        told = [self._action(repo, each, f"{request.base_url}{url}") for each in objects]
        return raw_json(json.dumps({"transfer": "basic", "objects": told}).encode(), headers=list(_LFS))

    def _action(self, repo: Repo, asked: object, url: str) -> dict[str, object]:
        oid, size = (asked.get("oid"), asked.get("size")) if isinstance(asked, dict) else (None, None)
        if not isinstance(oid, str) or not _OID.fullmatch(oid) or not isinstance(size, int):
            raise Refusal(400, "", "An LFS object has no oid or no size.")
        told: dict[str, object] = {"oid": oid, "size": size}
        if not 0 < size <= MAX_OBJECT:
            return told | {"error": {"code": 422, "message": f"An object holds 1 to {MAX_OBJECT:,} bytes."}}
        if self.ledger.held(repo.key, oid) is None:
            told["actions"] = {"upload": {"href": f"{url}/{oid}/{size}?sig={self._sign(repo.key, oid, size)}"}}
        return told

    def _sign(self, key: str, oid: str, size: int) -> str:
        told = f"{key} {oid} {size}".encode()
        return base64.urlsafe_b64encode(hmac.digest(self._key, told, hashlib.sha256)).decode().rstrip("=")

    async def receive(self, request: Request, repo: Repo, oid: str, size: str) -> Answer:
        """The bytes of an object, sent where `batch` said."""
        length = int(size) if size.isascii() and size.isdigit() and len(size) < 16 else 0
        if not hmac.compare_digest(self._sign(repo.key, oid, length), request.param("sig") or ""):
            raise Refusal(403, "", "This address to send an object to is not valid.")
        with self.ledger.objects.incoming() as path:
            await fill(path, request.pieces(length))
            stored = await anyio.to_thread.run_sync(self._keep, path)
            if (stored.sha256, stored.size) != (oid, length):
                raise Refusal(400, "", "The bytes are not those that were announced.")
            await anyio.to_thread.run_sync(self.ledger.hold, repo.key, stored)
        headers: Headers = [(b"etag", f'"{oid}"'.encode())]
        return Answer(200, headers)

    def _keep(self, path: Path) -> Stored:
        stored = self.ledger.objects.keep(path)
        self.ledger.objects.sync()
        return stored
