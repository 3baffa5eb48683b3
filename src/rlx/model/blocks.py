"""Sections and blocks: what pages, twins, MCP and the command line are made of.

Repository content is typed `Shown` (it passed `rlx.answers`); words of ours are `Say` (named, said at the edge).
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from rlx.answers import Shown, ShownJson
from rlx.model.files import FileEntry
from rlx.texts import Say

type Text = Say | Shown


type Tone = Literal["info", "ok", "warn", "bad"]


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


class Setting(NamedTuple):
    key: Shown
    """Dotted, as the file has it."""
    written: Shown | None
    """As the file spells it; None where the file says nothing."""
    read: Text | None = None
    """What it is taken for; None where that is what is written."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Configuration as its framework reads it, beside what the file says."""

    items: tuple[Setting, ...]
    type: Literal["settings"] = "settings"


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
    """1-based numbers of the lines of `text` on which something was withheld."""
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


class Attachment(NamedTuple):
    """A picture, a sound or a film that stood in a turn: a file of the task."""

    kind: Shown
    """As `image/png`."""
    size: int
    """Bytes."""
    path: Shown


@dataclass(frozen=True, slots=True)
class Message:
    """A part of a turn. What a call was answered with follows it, with its `call_id` and its `name`."""

    role: Shown
    text: Shown
    kind: Literal["message", "reasoning", "call", "output", "other", "gap"] = "message"
    """`gap`: turns that are not shown, `cut` of them."""
    name: Shown | None = None
    call_id: Shown | None = None
    data: ShownJson | None = None
    """Arguments of a call; where they are no JSON, they are the text."""
    error: bool = False
    media: tuple[Attachment, ...] = ()
    tokens: int | None = None
    """That the model wrote in this turn; told with its first part."""
    cut: int = 0
    """Characters of the text that are left out."""
    turn: int = 0
    """Number of the turn, from 0: calls of one turn were made side by side."""
    note: Text | None = None
    """What else is told of the turn; told with its first part."""


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
    | Settings
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
