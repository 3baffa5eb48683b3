"""The shapes of the API's answers, for its OpenAPI document. A test holds the real answers against them."""

from typing import Any

from pydantic import BaseModel, ConfigDict


class Shape(BaseModel):
    """Objects may hold more than is promised here."""

    model_config = ConfigDict(extra="allow")


class ErrorDetail(Shape):
    code: str
    message: str
    hint: str | None


class ErrorAnswer(Shape):
    error: ErrorDetail


class FacetValueAnswer(Shape):
    value: str
    n: int


class FacetAnswer(Shape):
    key: str
    values: list[FacetValueAnswer]


class EnvCardAnswer(Shape):
    id: str
    title: str
    brief: str
    kind: str
    framework: str
    format: str | None
    tasks: int | None
    why: str | None
    revision: str | None
    downloads: int | None
    likes: int | None
    modified: str | None
    state: str
    url: str
    private: bool
    """Only this visitor is told of it."""


class StatsAnswer(Shape):
    """Numbers of the whole catalog, and of each kind that occurs."""

    environments: int
    tasks: int


class CollectionAnswer(Shape):
    id: str
    title: str
    n: int
    """Of its environments, how many are listed."""


class EnvListAnswer(Shape):
    cards: list[EnvCardAnswer]
    total: int
    offset: int
    page: int
    facets: list[FacetAnswer]
    note: str | None
    collections: list[CollectionAnswer]
    trending: list[EnvCardAnswer] = []
    """With `trending=` only, and so are `stats`."""
    stats: StatsAnswer | None = None


class TaskCardAnswer(Shape):
    ref: str
    title: str
    brief: str
    facets: dict[str, list[str]]
    problem: str | None
    url: str


class TaskListAnswer(Shape):
    cards: list[TaskCardAnswer]
    total: int
    offset: int
    page: int
    facets: list[FacetAnswer]
    note: str | None


class MarksAnswer(Shape):
    title: list[list[int]]
    """Start and end of each word that was asked for."""
    brief: list[list[int]]


class TaskHitAnswer(TaskCardAnswer):
    id: str
    marks: MarksAnswer


class TaskHitListAnswer(Shape):
    cards: list[TaskHitAnswer]
    total: int
    more: bool
    """There are more than `total`, which are not counted."""
    offset: int
    page: int
    facets: list[FacetAnswer]
    note: str | None


class RankAnswer(Shape):
    id: str
    n: int
    of: int


class CatalogStatusAnswer(Shape):
    source: str
    """published: a snapshot of the store; process: one built here; none: not yet."""
    db: str | None
    built_at: str | None
    age: float | None
    """Seconds since the listing was made."""
    counts: dict[str, int] | None
    since: str | None
    checked: str | None
    error: str | None


class WithheldAnswer(Shape):
    where: str
    reason: str


class SectionAnswer(Shape):
    id: str
    title: str
    blocks: list[dict[str, Any]]


class SupportAnswer(Shape):
    framework: str
    label: str
    capabilities: list[dict[str, Any]]


class EnvAnswer(Shape):
    id: str
    title: str
    brief: str
    kind: str
    format: str
    framework: str
    revision: str
    tasks: int | None
    why: str | None
    how: list[str]
    sections: list[SectionAnswer]
    facets: list[FacetAnswer]
    support: SupportAnswer
    withheld: list[WithheldAnswer]
    url: str
    list: TaskListAnswer | None


class RunOptionAnswer(Shape):
    runner: str
    sandbox: str | None
    label: str
    ok: bool
    reason: str | None


class TaskAnswer(Shape):
    id: str
    ref: str
    title: str
    brief: str
    sections: list[SectionAnswer]
    withheld: list[WithheldAnswer]
    run_options: list[RunOptionAnswer]
    support: SupportAnswer
    previous: str | None
    next: str | None
    position: int
    total: int
    url: str


class FileEntryAnswer(Shape):
    path: str
    size: int
    is_dir: bool
    withheld: str | None


class FolderAnswer(Shape):
    type: str
    path: str
    entries: list[FileEntryAnswer]
    total: int | None
    truncated: bool
    offset: int


class TableRowAnswer(Shape):
    number: int
    """From 1."""
    value: Any
    line: int | None
    broken: str | None
    """Why there is no value."""
    note: str | None


class TableAnswer(Shape):
    columns: list[str]
    rows: list[TableRowAnswer]
    total: int | None
    """None while it is unknown."""
    known: int
    share: float
    notes: list[str]
    withheld: list[WithheldAnswer]


class FileAnswer(Shape):
    type: str
    path: str
    size: int
    text: str | None
    media_type: str
    masked: list[int]
    withheld: list[WithheldAnswer]
    truncated: bool
    form: str
    """file, or what `text` or `inside` holds as JSON Lines: rows of a table, members of an archive."""
    inside: str | None
    note: str | None
    rows: TableAnswer | None
    """A page of them, of a long table."""
    raw: str | None


class RevisionAnswer(Shape):
    sha: str
    title: str
    at: str | None
    url: str


class ChangesAnswer(Shape):
    old: str
    new: str
    added: list[str]
    removed: list[str]
    changed: list[str]
    same: int
    unknown: list[str]


class FileChangeAnswer(Shape):
    path: str
    kind: str
    diff: str | None


class TaskChangesAnswer(Shape):
    ref: str
    files: list[FileChangeAnswer]
    partial: bool


class RevisionsAnswer(Shape):
    id: str
    revisions: list[RevisionAnswer]
    changes: ChangesAnswer | None
    task: TaskChangesAnswer | None


class RandomAnswer(Shape):
    id: str
    ref: str
    url: str


class MeAnswer(Shape):
    kind: str
    name: str | None
