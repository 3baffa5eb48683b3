"""The shapes of the API's answers, for its OpenAPI document. A test holds the real answers against them."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from rlx.ids import MAX_REF
from rlx.web.api.schemas_health import HealthAnswer as HealthAnswer
from rlx.web.api.schemas_health import HealthCounts as HealthCounts
from rlx.web.api.schemas_health import HealthGlance as HealthGlance
from rlx.web.api.schemas_health import HealthRuns as HealthRuns
from rlx.web.api.schemas_health import TaskHealthAnswer as TaskHealthAnswer
from rlx.web.api.schemas_models import EndpointModelsAnswer as EndpointModelsAnswer
from rlx.web.api.schemas_models import EndpointRequest as EndpointRequest
from rlx.web.api.schemas_models import EndpointTestAnswer as EndpointTestAnswer
from rlx.web.api.schemas_models import EstimateAnswer as EstimateAnswer
from rlx.web.api.schemas_models import ModelAnswer as ModelAnswer
from rlx.web.api.schemas_models import ModelListAnswer as ModelListAnswer
from rlx.web.api.schemas_models import ModelProviderAnswer as ModelProviderAnswer
from rlx.web.api.shape import Shape as Shape


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
    trending: list[EnvCardAnswer] = Field(default_factory=list)
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
    health: HealthGlance | None
    list: TaskListAnswer | None


class VariableAnswer(Shape):
    name: str
    readers: list[str]
    required: bool
    secret: bool
    of_model: bool


class AgentNeedAnswer(Shape):
    agent: str
    reason: str | None
    wants: list[str]


class RunOptionAnswer(Shape):
    runner: str
    sandbox: str | None
    label: str
    ok: bool
    reason: str | None
    agents: list[str]
    agent_needs: list[AgentNeedAnswer]
    variables: list[VariableAnswer]


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
    health: TaskHealthAnswer | None


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


class ModelRequest(BaseModel):
    """A model for an agent to speak with. A key is kept in memory till the rollout has ended, and never written."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["scripted", "endpoint", "router"] = "scripted"
    id: str = Field(default="solve", max_length=250)
    base_url: str | None = Field(default=None, max_length=500)
    api_key: str | None = Field(default=None, max_length=1000, repr=False)
    dollars_in: float | None = None
    dollars_out: float | None = None


class RunRequest(BaseModel):
    """What starts a rollout."""

    model_config = ConfigDict(extra="forbid")

    env: str = Field(max_length=250)
    ref: str = Field(max_length=MAX_REF)
    agent: str = Field(max_length=100)
    revision: str | None = Field(default=None, max_length=200)
    runner: str = Field(default="harbor", max_length=100)
    sandbox: str | None = Field(default="local", max_length=100)
    model: ModelRequest | None = None
    fields: dict[str, str | int | float | bool | None] = {}
    variables: dict[str, str] = {}
    visibility: Literal["private", "public"] = "private"


class RunErrorAnswer(Shape):
    cause: str
    kind: str
    message: str


class UsageAnswer(Shape):
    tokens_in: int | None
    tokens_out: int | None
    tokens_cached: int | None
    model_calls: int | None
    tool_calls: int | None


class PhaseAnswer(Shape):
    stage: str
    started_at: str
    finished_at: str | None


class RunModelAnswer(Shape):
    id: str
    provider: str
    route: str | None
    dollars_in: float | None
    dollars_out: float | None
    at_most: bool


class RunAnswer(Shape):
    """A rollout. Unknown figures are null, never 0."""

    id: str
    env: str
    ref: str
    revision: str
    title: str
    runner: str
    sandbox: str | None
    agent: str
    model: RunModelAnswer | None
    status: str
    stage: str | None
    created_at: str
    started_at: str | None
    finished_at: str | None
    seconds: float | None
    reward: float | None
    reward_key: str | None
    rewards: dict[str, float]
    graded: bool
    error: RunErrorAnswer | None
    usage: UsageAnswer
    cost: float | None
    judge: RunModelAnswer | None
    judge_calls: int | None
    judge_usage: UsageAnswer
    judge_cost: float | None
    phases: list[PhaseAnswer]
    visibility: str
    notes: list[str]
    url: str


class CheckAnswer(Shape):
    name: str
    passed: bool | None


class TestsAnswer(Shape):
    passed: int | None
    failed: int | None
    items: list[CheckAnswer]


class LogAnswer(Shape):
    source: str
    text: str


class ChangedAnswer(Shape):
    path: str
    change: str
    size: int | None


class ArtifactAnswer(Shape):
    name: str
    size: int


class RunPageAnswer(RunAnswer):
    """A rollout with what was said in it."""

    own: bool
    withheld: bool
    """It played the reference solution, of which stages and scores are shown and nothing else."""
    messages: list[dict[str, Any]]
    tests: TestsAnswer | None
    logs: list[LogAnswer]
    remarks: list[str]
    files: list[ChangedAnswer]
    artifacts: list[ArtifactAnswer]
    last: int
    left_out: int


class RunListAnswer(Shape):
    cards: list[RunAnswer]
    total: int
    offset: int
    page: int
    facets: list[FacetAnswer]
    note: str | None


class EventAnswer(Shape):
    n: int
    at: str
    kind: str
    data: dict[str, Any]


class EventsAnswer(Shape):
    id: str
    events: list[EventAnswer]
    last: int
    """Of those that were looked at; ask for what follows it."""
    more: bool
    ended: bool
