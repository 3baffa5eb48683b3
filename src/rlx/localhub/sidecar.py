"""`hub.json`: what a served folder says about its repositories beside their files, and about its users.

See docs/local-hub.md. It is re-read when it changes; a version that cannot be read is reported and the last good one
stays in force.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from rlx.errors import BadInput
from rlx.localhub.faults import Fault
from rlx.localhub.wire import Bucket

logger = logging.getLogger(__name__)

FILE = "hub.json"


class User(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    fullname: str = ""
    orgs: tuple[str, ...] = ()
    """Organisations whose private repositories the user sees, and which the user writes for."""
    role: Literal["read", "write"] = "write"
    """What the token may do."""


class Meta(BaseModel):
    """What the Hub keeps about a repository outside its files."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    private: bool = False
    gated: Literal[False, "auto", "manual"] = False
    granted: tuple[str, ...] = ()
    """Users who may read a gated repository, beside its owners."""
    disabled: bool = False
    likes: int = 0
    downloads: int = 0
    trending_score: int = Field(default=0, alias="trendingScore")
    created_at: AwareDatetime | None = Field(default=None, alias="createdAt")
    last_modified: AwareDatetime | None = Field(default=None, alias="lastModified")
    stage: str = "RUNNING"
    """A Space's runtime stage."""
    hardware: str = "cpu-basic"
    host: str | None = None
    """Where a Space's app answers, when that is not its address on the Hub."""


PUBLIC = Meta()


def _user(value: object) -> object:
    return {"name": value} if isinstance(value, str) else value


class Sidecar(BaseModel):
    """The file: fixed keys, and one entry per repository under `datasets/org/name`, `spaces/…` or `models/…`."""

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, Meta] = Field(init=False)

    users: dict[str, Annotated[User, BeforeValidator(_user)]] = {}
    """Token to user: a name, or an object."""
    limits: Mapping[Bucket, int] = {}
    """Requests in five minutes, per visitor; past them the hub answers 429."""
    faults: tuple[Fault, ...] = ()

    def meta(self, key: str) -> Meta:
        return (self.__pydantic_extra__ or {}).get(key, PUBLIC)


NOTHING = Sidecar()


@dataclass(slots=True)
class SidecarFile:
    root: Path
    extra_users: Mapping[str, str | User] = field(default_factory=dict)
    current: Sidecar = NOTHING
    _seen: tuple[int, int] | None = None

    def reload(self) -> bool:
        """Read the file when it changed; True when `current` is new. Raises `BadInput` for one that is malformed."""
        path = self.root / FILE
        try:
            stat = path.stat()
            stamp: tuple[int, int] | None = (stat.st_mtime_ns, stat.st_size)
        except OSError:
            stamp = None
        if stamp == self._seen:
            return False
        self._seen = stamp
        if stamp is None:
            self.current = NOTHING
            return True
        try:
            self.current = Sidecar.model_validate_json(path.read_bytes())
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"])) or "the top"
            raise BadInput(f"{FILE} is malformed at {where}: {first['msg']}.", hint="See docs/local-hub.md.") from error
        return True

    def user(self, token: str) -> User | None:
        """The user a token stands for."""
        extra = self.extra_users.get(token)
        if isinstance(extra, str):
            return User(name=extra)
        return extra or self.current.users.get(token)

    @property
    def has_users(self) -> bool:
        return bool(self.extra_users or self.current.users)
