"""What an environment is, whatever its framework: the contract's data. Pure; nothing here does I/O.

Repository content is typed `Shown` (it passed `rlx.answers`); words of ours are `Say` (named, said at the edge).
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple

from rlx.answers.shown import Shown, ShownJson, Withheld
from rlx.ids import EnvKey
from rlx.texts import Say

type Text = Say | Shown
type Tone = Literal["info", "ok", "warn", "bad"]


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


@dataclass(frozen=True, slots=True)
class Row:
    label: Text
    value: Text | tuple[Text, ...]
    """Several values are a list."""
    note: Text | None = None
    code: bool = False
    """The value is something a machine reads: a path, an id, a command."""


@dataclass(frozen=True, slots=True)
class KeyValues:
    rows: tuple[Row, ...]
    type: Literal["kv"] = "kv"


class Count(NamedTuple):
    label: Text
    n: int
    filter: tuple[str, str] | None = None
    """The facet key and value that select these, when there is one."""


@dataclass(frozen=True, slots=True)
class Shares:
    """Parts of a whole, drawn as bars with a table twin."""

    title: Text
    parts: tuple[Count, ...]
    of: int
    note: Text | None = None
    ordered: bool = False
    """The parts have a natural order (easy to hard, short to long)."""
    type: Literal["shares"] = "shares"


@dataclass(frozen=True, slots=True)
class Stats:
    rows: tuple[Row, ...]
    type: Literal["stats"] = "stats"


@dataclass(frozen=True, slots=True)
class Markdown:
    text: Shown
    type: Literal["markdown"] = "markdown"


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt exactly as the agent gets it: shown verbatim, with a rendered view beside it."""

    text: Shown
    note: Text | None = None
    type: Literal["prompt"] = "prompt"


@dataclass(frozen=True, slots=True)
class Code:
    text: Shown
    path: Shown | None = None
    """Path in the task, for the caption, the link to the file viewer and the lexer."""
    language: str | None = None
    masked: tuple[int, ...] = ()
    """1-based numbers of the lines on which something was withheld."""
    first_line: int = 1
    type: Literal["code"] = "code"


@dataclass(frozen=True, slots=True)
class Note:
    text: Text
    tone: Tone = "info"
    detail: Shown | None = None
    """Evidence in the repository's or a tool's words: a parser's message, a line of a file."""
    type: Literal["note"] = "note"


@dataclass(frozen=True, slots=True)
class Value:
    value: ShownJson
    label: Text | None = None
    type: Literal["value"] = "value"


@dataclass(frozen=True, slots=True)
class Message:
    role: Shown
    text: Shown
    kind: Literal["message", "reasoning", "call", "output", "other"] = "message"
    name: Shown | None = None
    call_id: Shown | None = None


@dataclass(frozen=True, slots=True)
class Messages:
    items: tuple[Message, ...]
    type: Literal["messages"] = "messages"


@dataclass(frozen=True, slots=True)
class Transcript:
    items: tuple[Message, ...]
    note: Text | None = None
    type: Literal["transcript"] = "transcript"


@dataclass(frozen=True, slots=True)
class Tool:
    name: Shown
    description: Shown | None = None
    parameters: ShownJson | None = None
    """A JSON Schema."""


@dataclass(frozen=True, slots=True)
class Tools:
    items: tuple[Tool, ...]
    type: Literal["tools"] = "tools"


@dataclass(frozen=True, slots=True)
class Steps:
    """An ordered account, one sentence an item."""

    items: tuple[Text, ...]
    type: Literal["steps"] = "steps"


@dataclass(frozen=True, slots=True)
class Link:
    label: Text
    url: str
    """A path of this site, or https."""


@dataclass(frozen=True, slots=True)
class Links:
    items: tuple[Link, ...]
    type: Literal["links"] = "links"


@dataclass(frozen=True, slots=True)
class Disclose:
    label: Text
    blocks: "tuple[Block, ...]"
    type: Literal["disclose"] = "disclose"


@dataclass(frozen=True, slots=True)
class FilesBlock:
    """A place for the file tree of the task; the entries are listed by `Environment.files`."""

    entries: "tuple[FileEntry, ...]"
    truncated: bool = False
    type: Literal["files"] = "files"


@dataclass(frozen=True, slots=True)
class Custom:
    """A block drawn by a named renderer, with the text twin that every other reader gets."""

    renderer: str
    data: ShownJson
    text: Shown
    type: Literal["custom"] = "custom"


type Block = (
    KeyValues
    | Shares
    | Stats
    | Markdown
    | Prompt
    | Code
    | Note
    | Value
    | Messages
    | Transcript
    | Tools
    | Steps
    | Links
    | Disclose
    | FilesBlock
    | Custom
)


@dataclass(frozen=True, slots=True)
class Section:
    id: str
    """Anchor: lower-case words and dashes."""
    title: Text
    blocks: tuple[Block, ...]
    note: Text | None = None
    collapsed: bool = False


type Facets = Mapping[str, tuple[Shown, ...]]
"""Facet key to the values one task has. Keys are lower-case words; `meta:<key>` for metadata of the task's own."""


@dataclass(frozen=True, slots=True)
class TaskCard:
    """A task in a list."""

    ref: str
    title: Shown
    brief: Shown
    facets: Facets
    problem: Text | None = None
    """Why it is not an ordinary task, when it is not: cannot be parsed, has no grader."""


@dataclass(frozen=True, slots=True)
class Field:
    """An input of a run option. The server checks it against the option picked."""

    key: str
    label: Text
    type: Literal["text", "number", "bool", "select", "model"] = "text"
    default: str | int | float | bool | None = None
    help: Text | None = None
    options: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    step: float | None = None
    pool: str | None = None
    """For `model`: the pool it must come from."""
    required: bool = False


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run is expected to take. Unknown is None, never 0."""

    tokens_in: int | None = None
    tokens_out: int | None = None
    minutes: float | None = None
    dollars: float | None = None


@dataclass(frozen=True, slots=True)
class RunOption:
    """One way to run a task: a runner with a sandbox, and whether it can."""

    runner: str
    sandbox: str | None
    label: Text
    ok: bool
    reason: Text | None = None
    """Why not, or the ground on which it can."""
    source: str | None = None
    """Where the task says so: `environment/Dockerfile`, `task.toml`."""
    notes: tuple[Text, ...] = ()
    warnings: tuple[Text, ...] = ()
    fields: tuple[Field, ...] = ()
    agents: tuple[str, ...] = ()
    """Empty: any."""
    needs_endpoint: bool = False
    needs_sandbox: bool = True
    estimate: Estimate | None = None


@dataclass(frozen=True, slots=True)
class Alias:
    """The same task elsewhere; rollouts are shared."""

    key: EnvKey
    ref: str
    reason: Text


@dataclass(frozen=True, slots=True)
class Task:
    """A task as a reader gets it."""

    ref: str
    title: Shown
    brief: Shown
    sections: tuple[Section, ...]
    glance: tuple[Row, ...]
    """The facts one looks for first."""
    withheld: tuple[Withheld, ...]
    run_options: tuple[RunOption, ...]
    support: "Support"
    facets: Facets
    problem: Text | None = None
    previous: str | None = None
    """Refs of the neighbours in listing order."""
    next: str | None = None
    position: int = 0
    """0-based place among `total`."""
    total: int = 1


type Availability = Literal["available", "external", "unavailable", "unknown"]


@dataclass(frozen=True, slots=True)
class Capability:
    id: Literal["browse", "run", "play", "mcp"]
    state: Availability
    evidence: Text


@dataclass(frozen=True, slots=True)
class Support:
    """What can be done with it here, and on what evidence."""

    framework: str
    """Machine word: harbor, openenv, verifiers, nemo-gym, verl, skyrl, mimo, ors, rows, files."""
    label: str
    lifecycle: Text
    reward: Text
    transport: str | None
    evidence: Text
    capabilities: tuple[Capability, ...]


@dataclass(frozen=True, slots=True)
class FacetValue:
    value: Shown
    n: int
    selected: bool = False


@dataclass(frozen=True, slots=True)
class Facet:
    """Counts of one facet's values over what the other filters leave."""

    key: str
    label: Text
    values: tuple[FacetValue, ...]
    ordered: bool = False
    more: int = 0
    """Values that were left off."""


@dataclass(frozen=True, slots=True)
class Tile:
    value: Shown
    n: int


@dataclass(frozen=True, slots=True)
class Tiles:
    """The two to six parts an environment falls into: one facet, drawn large."""

    key: str
    items: tuple[Tile, ...]


@dataclass(frozen=True, slots=True)
class Subset:
    id: str
    label: Text
    tasks: int | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the first reading of an environment is."""

    step: Literal["listing", "reading", "parsing", "saving", "done", "failed"]
    done: int = 0
    total: int | None = None
    tasks: int | None = None
    seconds: float = 0.0
    message: Text | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """What an environment is, at a glance and in sections."""

    key: EnvKey
    title: Shown
    brief: Shown
    format: str
    support: Support
    revision: str
    tasks: int | None
    """None: it has no task list, and `why` says so."""
    why: Text | None
    how: tuple[Text, ...]
    """How it is read, with the evidence."""
    sections: tuple[Section, ...]
    facets: tuple[Facet, ...]
    tiles: Tiles | None
    subsets: tuple[Subset, ...]
    withheld: tuple[Withheld, ...]
    readme: Shown | None = None
    progress: Progress | None = None
    """Set while it is being indexed."""


@dataclass(frozen=True, slots=True)
class Revision:
    """One commit of a repository."""

    sha: str
    title: Shown
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Changes:
    """What became of the tasks between two revisions, as refs in listing order."""

    old: str
    new: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    same: int


@dataclass(frozen=True, slots=True)
class TaskHit:
    """A task found across environments."""

    key: EnvKey
    card: TaskCard


@dataclass(frozen=True, slots=True)
class TaskQuery:
    text: str = ""
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """OR within a facet, AND across facets."""
    subset: str | None = None
    sort: Literal["order", "title"] = "order"
    offset: int = 0
    limit: int = 50


@dataclass(frozen=True, slots=True)
class Page[T]:
    items: tuple[T, ...]
    total: int
    offset: int
    limit: int
    facets: tuple[Facet, ...] = ()
    note: Text | None = None


@dataclass(frozen=True, slots=True)
class FileEntry:
    path: str
    """Relative to the task or, for `ref=None`, to the repository."""
    size: int
    is_dir: bool = False
    withheld: Say | None = None
    """The reason when its contents are never shown."""


@dataclass(frozen=True, slots=True)
class Listing:
    path: str
    """The folder; empty at the top."""
    entries: tuple[FileEntry, ...]
    total: int
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Blob:
    """A file that may be shown. Exactly one of `text` and `data` is set; `withheld` names what was masked in it."""

    path: str
    size: int
    text: Shown | None
    data: bytes | None = field(default=None, repr=False)
    media_type: str = "application/octet-stream"
    encoding_note: Say | None = None
    """Set when the bytes were not UTF-8."""
    masked: tuple[int, ...] = ()
    """1-based numbers of lines on which something was withheld."""
    withheld: tuple[Withheld, ...] = ()
    truncated: bool = False
    """Only the head is here; `size` is the whole."""


@dataclass(frozen=True, slots=True)
class EnvCard:
    """An environment in a list."""

    key: EnvKey
    title: Shown
    brief: Shown
    kind: str
    """One of `KINDS`."""
    framework: str
    format: str | None
    """The format that read it; None while only its tags are known."""
    tasks: int | None
    why: Text | None
    """Why there is no task count."""
    revision: str | None
    tags: tuple[Shown, ...]
    graded: tuple[Shown, ...]
    """Facet values: how its tasks are graded, and what they run in."""
    runs: tuple[Shown, ...]
    levels: tuple[Count, ...]
    """Tasks by difficulty, easy to hard, where they tell."""
    facets: Facets
    """What lists of environments are filtered by: framework, tag, graded, runs, difficulty, size, licence."""
    modified: datetime | None
    downloads: int | None
    likes: int | None
    trending: float | None
    state: Literal["ready", "indexing", "listed", "failed"]


KINDS = (
    "openenv",
    "servers",
    "harbor",
    "verifiers",
    "nemo-gym",
    "openenv-data",
    "verl",
    "skyrl",
    "mimo",
    "rows",
)
"""Kinds of environment, two of servers, then of datasets. `rows` is every other dataset."""


@dataclass(frozen=True, slots=True)
class EnvQuery:
    text: str = ""
    """Words; each must occur in the id, heading, brief or tags."""
    kind: str | None = None
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """OR within a facet, AND across facets."""
    collection: str | None = None
    sort: Literal["trending", "updated", "tasks", "name", "downloads", "likes"] = "trending"
    offset: int = 0
    limit: int = 40


@dataclass(frozen=True, slots=True)
class EnvPage:
    items: tuple[EnvCard, ...]
    total: int
    kinds: tuple[tuple[str, int], ...]
    """Every kind that occurs among what words and filters leave, with its count."""
    facets: tuple[Facet, ...]
    """Each counted over what the other filters leave."""
    environments: int
    """All that are known, whatever the query."""
    tasks: int
    """Tasks of all that are indexed."""
    offset: int
    limit: int
    building: bool = False
    """Some environments are still being read; counts will grow."""
