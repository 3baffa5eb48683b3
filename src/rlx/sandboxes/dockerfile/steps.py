"""What a plan is made of: steps that a sandbox takes one after the other, each with the key of the layer it makes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rlx.sandboxes.dockerfile.bases import Base
from rlx.sandboxes.dockerfile.context import Entry
from rlx.texts import Say


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that is copied. Its place below the destination is `name`."""

    source: str
    """Path in the context or stage, never absolute and never with `..`; of a host tool: its name."""
    name: str
    """Empty for a folder that is the destination itself."""
    entry: Entry


@dataclass(frozen=True, slots=True)
class Mount:
    kind: Literal["cache", "bind", "tmpfs", "file"]
    target: str
    """Absolute. A `cache` is an empty folder that may outlive the step; a `file` holds `text` and may be executed."""
    items: tuple[Item, ...] = ()
    """Of a `bind` from the context: what is there; one with an empty name is the target itself."""
    stage: int | None = None
    """Of a `bind` from another stage: its index in `Plan.stages`, with `source` there."""
    source: str = ""
    text: str = ""
    read_only: bool = False
    owner: str = "0:0"
    mode: int = 0o755


@dataclass(frozen=True, slots=True)
class Step:
    line: int
    """1-based, of the instruction."""
    text: str
    """The first line of the instruction."""
    key: str | None
    """Names what the file system is after this step; that of the step before where a step leaves it as it is.

    None where a copied file came without a digest: such a step and those after it are not kept.
    """


@dataclass(frozen=True, slots=True)
class Run(Step):
    argv: tuple[str, ...]
    """The shell included."""
    script: str | None
    """What the shell is given; None for the JSON form."""
    env: Mapping[str, str]
    """All of it but what the user decides (HOME)."""
    cwd: str
    user: str | None
    mounts: tuple[Mount, ...]
    network: bool
    """False: `RUN --network=none`."""
    lines: tuple[str, ...]
    """The instruction as in the file."""


@dataclass(frozen=True, slots=True)
class Copy(Step):
    """Files into the image, and folders that are missing: of `owner`, else of root, whoever they belong to outside.

    `mode` is for files and folders alike, those that are missing included; without it entries have their own and
    missing folders 0755. A `dest` that is there already keeps what it has; folders in it take what is copied.
    Where `into` is not set there is one file: `dest` is its path, or, if a folder is there, the folder it goes into.
    """

    origin: Literal["context", "stage", "host"]
    stage: int | None
    """Index in `Plan.stages` of the origin."""
    patterns: tuple[str, ...]
    """Of a stage: what to look for there, with `sources.pick`."""
    items: tuple[Item, ...]
    """Of the context and the host: what to copy, folders before what they hold."""
    dest: str
    """Absolute, without a slash at its end."""
    into: bool | None
    """`dest` is a folder. None, of a stage: it is if what is found there is a folder or `dest` is one."""
    owner: str | None
    mode: int | None
    unpack: tuple[str, ...]
    """ADD: names of items that, if they are tar archives, compressed or not, are unpacked into the folder `dest`."""
    parents: bool
    exclude: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Write(Step):
    """A file written in the Dockerfile itself. If `dest` is a folder, or `into` is set, it goes there by its name."""

    name: str
    content: str
    dest: str
    into: bool
    owner: str | None
    mode: int


@dataclass(frozen=True, slots=True)
class SetEnv(Step):
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SetWorkdir(Step):
    """The folder is made where it is missing, for `owner`."""

    path: str
    owner: str | None


@dataclass(frozen=True, slots=True)
class SetUser(Step):
    user: str


@dataclass(frozen=True, slots=True)
class SetShell(Step):
    argv: tuple[str, ...]


type AnyStep = Run | Copy | Write | SetEnv | SetWorkdir | SetUser | SetShell


@dataclass(frozen=True, slots=True)
class Image:
    """What the finished image says of itself. Commands are facts: a sandbox keeps the container alive its own way."""

    env: Mapping[str, str]
    workdir: str
    user: str | None
    shell: tuple[str, ...]
    entrypoint: tuple[str, ...] = ()
    cmd: tuple[str, ...] = ()
    facts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """EXPOSE, LABEL, VOLUME, STOPSIGNAL, HEALTHCHECK, ONBUILD and MAINTAINER as written, by word."""


@dataclass(frozen=True, slots=True)
class Stage:
    name: str | None
    line: int
    """Of its FROM."""
    base: Base
    steps: tuple[AnyStep, ...]
    """From the base on: a stage built on another begins with that one's steps, under the same keys."""
    image: Image

    @property
    def key(self) -> str | None:
        return self.steps[-1].key if self.steps else self.base.key


@dataclass(frozen=True, slots=True)
class Plan:
    stages: tuple[Stage, ...]
    """Those that are needed, each after those it copies from; the last is the image."""
    notes: tuple[Say, ...]
    """What a reader should know: the base is approximated, a source is outside of the context, ..."""

    @property
    def final(self) -> Stage:
        return self.stages[-1]

    @property
    def base(self) -> Base:
        return self.final.base

    @property
    def steps(self) -> tuple[AnyStep, ...]:
        return self.final.steps

    @property
    def image(self) -> Image:
        return self.final.image
