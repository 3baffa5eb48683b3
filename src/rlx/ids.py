"""Names of environments and tasks, and their URLs.

An environment's key is `org/name` (a dataset) or `space:org/name` (a server). A task's ref is whatever string its
format defines; `.` is the ref of a repository that is itself one task. Both survive a URL whatever they hold.
"""

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, unquote

from rlx.errors import BadInput

Kind = Literal["dataset", "space"]

ROOT_REF = "."
MAX_REF = 2048
"""Characters. Longer refs are refused before anything is looked up."""

_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,95}")
_REVISION = re.compile(r"[0-9a-fA-F]{7,40}|[\w][\w./-]{0,200}")


@dataclass(frozen=True, slots=True, order=True)
class EnvKey:
    """An environment's identity. `str(key)` is what people type; both kinds may exist under one name."""

    kind: Kind
    org: str
    name: str

    def __str__(self) -> str:
        return f"space:{self.repo_id}" if self.kind == "space" else self.repo_id

    @property
    def repo_id(self) -> str:
        """The Hub's own id, `org/name`."""
        return f"{self.org}/{self.name}"

    @property
    def slug(self) -> str:
        """A file name: the parts cannot hold a slash, so `__` between them stays readable and `+` marks the kind."""
        return f"{'space+' if self.kind == 'space' else ''}{self.org}__{self.name}"

    @property
    def page(self) -> str:
        return f"/{'s' if self.kind == 'space' else 'd'}/{self.repo_id}"

    @property
    def api(self) -> str:
        return f"/api/{'space' if self.kind == 'space' else 'env'}/{self.repo_id}"

    def task_page(self, ref: str) -> str:
        base = f"{self.page}/t" if self.kind == "space" else f"/t/{self.repo_id}"
        return base if ref == ROOT_REF else f"{base}/{encode_ref(ref)}"


def make_key(kind: Kind, org: str, name: str) -> EnvKey:
    """Build a key from parts that came from outside. Raises `BadInput` when they could not name a repository."""
    if not (_PART.fullmatch(org) and _PART.fullmatch(name)) or ".." in org or ".." in name or name.endswith(".git"):
        shown = f"{org}/{name}"[:120]
        raise BadInput(f"{shown!r} is not an environment key.", hint="Keys look like org/name or space:org/name.")
    return EnvKey(kind, org, name)


def parse_key(text: str) -> EnvKey:
    """Read `org/name` or `space:org/name`. Raises `BadInput`."""
    kind: Kind = "space" if text.startswith("space:") else "dataset"
    org, slash, name = text.removeprefix("space:").partition("/")
    if not slash:
        raise BadInput(f"{text[:120]!r} is not an environment key.", hint="Keys look like org/name or space:org/name.")
    return make_key(kind, org, name)


def check_ref(ref: str) -> str:
    """Return `ref` when it may be looked up. Raises `BadInput` for NULs, control characters, lone surrogates, length.

    A ref is only ever compared with the refs an index knows, never joined to a path, so `..` is merely unknown.
    """
    if len(ref) > MAX_REF:
        raise BadInput(f"A task ref of {len(ref):,} characters was asked for; the limit is {MAX_REF:,}.")
    if any(ord(char) < 32 or ord(char) == 127 or 0xD800 <= ord(char) <= 0xDFFF for char in ref):
        raise BadInput("The task ref holds control characters.", hint="Copy the ref from `rlx task ls`.")
    return ref or ROOT_REF


def check_revision(revision: str) -> str:
    """Return a branch, tag or commit name that is safe to send. Raises `BadInput`."""
    if not _REVISION.fullmatch(revision) or ".." in revision:
        raise BadInput(f"{revision[:80]!r} is not a revision.", hint="Use a branch, a tag or a commit sha.")
    return revision


def encode_ref(ref: str) -> str:
    """A ref as URL path segments.

    Browsers collapse `.`, `..` and their percent-encoded forms, and servers collapse empty segments, so those
    segments, and ones that begin with the escape itself, are prefixed with `~`.
    """
    return "/".join(quote(_escape(segment), safe="") for segment in ref.split("/"))


def decode_ref(path: str) -> str:
    """Inverse of `encode_ref`, for a path that is still percent-encoded."""
    return decode_segments(unquote(path, errors="replace"))


def decode_segments(path: str) -> str:
    """Inverse of `encode_ref` for a path whose percent-encoding was already removed."""
    if not path:
        return ROOT_REF
    return "/".join(segment.removeprefix("~") for segment in path.split("/"))


def _escape(segment: str) -> str:
    return f"~{segment}" if segment in {"", ".", ".."} or segment.startswith("~") else segment
