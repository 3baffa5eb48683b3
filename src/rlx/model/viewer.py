"""Who is asking."""

import hashlib
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who is asking. Every service call takes one; what they may see is re-checked with their token."""

    kind: Literal["anonymous", "local", "session"] = "anonymous"
    name: str | None = None
    token: str | None = field(default=None, repr=False)

    @property
    def scope(self) -> str:
        """Names whose private things a cache may hold: `public`, or a digest of the token."""
        return "public" if self.token is None else hashlib.sha256(self.token.encode()).hexdigest()[:16]


ANONYMOUS = Viewer()
