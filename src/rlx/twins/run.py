"""One rollout as it is read: its record, what was said, what graded it, its files; as data, JSON and Markdown."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from rlx.answers import Masked, Shown, name
from rlx.answers.shown import Json
from rlx.errors import Forbidden
from rlx.ids import EnvKey, parse_key
from rlx.model import Message, Viewer
from rlx.rollout import STAGES, Event, Rollout, Usage
from rlx.store.rollouts.files import KeptFile
from rlx.store.rollouts.views import Views
from rlx.texts import DEFAULT
from rlx.twins.jsonable import to_json
from rlx.twins.run_events import Changed, Check, changes_of, checks_of, log_text, messages_of, solves

EVENTS: Final = 1_000
"""Events of a rollout that its page shows: the newest."""
_PAGE: Final = 1_000
_CALLS: Final = 40
"""Calls of the model that are drawn."""
_LOG: Final = 200_000
"""Characters of logs that are shown."""


@dataclass(frozen=True, slots=True)
class Log:
    source: Shown
    text: Masked


@dataclass(frozen=True, slots=True)
class Span:
    """A stage of a rollout: the seconds it took, as far as it is known, and its part of all that are."""

    stage: str
    seconds: float | None
    share: float
    before: float
    """Shares of the stages before."""
    open: bool
    """It goes on; its seconds are those till now."""
    since: datetime | None = None
    """When one that goes on began, less what it took before."""
    waits: bool = False
    """It is to come."""


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens of one call of the model."""

    tokens_in: int
    tokens_out: int


@dataclass(frozen=True, slots=True)
class Tests:
    """Of the verifier; a count is None where it told none."""

    passed: int | None
    failed: int | None
    items: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class RunView:
    rollout: Rollout
    """Masked: all of it may be shown to this viewer."""
    own: bool
    """It is the viewer's, who may stop and share it."""
    spans: tuple[Span, ...]
    messages: tuple[Message, ...]
    tests: Tests | None
    logs: tuple[Log, ...]
    notes: tuple[Shown, ...]
    files: tuple[Changed, ...]
    kept: tuple[KeptFile, ...]
    usage: Usage
    cost: float | None
    calls: tuple[Spent, ...]
    """The newest calls of the model, as far as they were told one by one."""
    last: int
    """Number of the newest event."""
    left_out: int
    """Events before those whose messages are shown."""
    before: int | None
    """The messages are those of the events before this one; None: the newest."""
    withheld: bool
    """It played the reference solution: what that does and says is an answer."""

    @property
    def key(self) -> EnvKey:
        return parse_key(self.rollout.env)

    @property
    def seconds(self) -> float | None:
        return lasted(self.rollout)


def lasted(rollout: Rollout) -> float | None:
    """Seconds from its start to its end; None while either is to come."""
    if rollout.started_at is None or rollout.finished_at is None:
        return None
    return max(0.0, (rollout.finished_at - rollout.started_at).total_seconds())


def masked(rollout: Rollout) -> Rollout:
    """A record without what a task's files, its grader or its solution wrote into it."""
    failure = rollout.failure
    hidden = solves(rollout)
    if failure is not None:
        failure = failure.model_copy(update={"message": "" if hidden else log_text(failure.message).text})
    steps = tuple(
        step.model_copy(
            update={
                "name": name(step.name),
                "error": None if hidden or step.error is None else log_text(step.error).text,
            }
        )
        for step in rollout.steps
    )
    notes = () if hidden else tuple(log_text(note).text for note in rollout.notes)
    changes = {"title": name(rollout.title), "failure": failure, "steps": steps, "notes": notes}
    return rollout.model_copy(update=changes)


def read_run(
    views: Views, id: str, viewer: Viewer | None, *, now: datetime | None = None, before: int | None = None
) -> RunView:
    """A rollout as this viewer may see it, stages that go on as long as they took till `now`.

    However many events there are, it reads the newest of them, and for its messages those before `before` if that is
    given. Blocks. Raises `BadInput`, `NotFound`, `Upstream`, `OSError`.
    """
    rollout = views.find(id, viewer)
    own = views.owns(rollout, viewer)
    last = views.last_event(id, viewer)
    events = _window(views, id, viewer, last)
    last = events[-1].n if events else last
    shown = events if before is None else _window(views, id, viewer, min(before - 1, last), bounded=True)
    hidden = solves(rollout)
    files: list[KeptFile] = []
    if own and not hidden:
        try:
            files = views.files(id, viewer)
        except Forbidden:  # its owner changed hands meanwhile
            own = False
    told = [] if hidden else events
    usage, cost = _used(rollout, events)
    return RunView(
        rollout=masked(rollout),
        own=own,
        spans=spans_of(rollout, now),
        messages=messages_of(shown, rollout),
        tests=_tests(told, counts=events),
        logs=_logs(told),
        notes=_notes(told, rollout),
        files=tuple(item for event in told if event.kind == "files" for item in changes_of(event)),
        kept=tuple(files),
        usage=usage,
        cost=cost,
        calls=_calls(shown),
        last=last,
        left_out=shown[0].n - 1 if shown else 0,
        before=before,
        withheld=hidden,
    )


def _window(views: Views, id: str, viewer: Viewer | None, end: int, *, bounded: bool = False) -> list[Event]:
    """As many events as are shown, up to the one of number `end`; unless `bounded`, those that came since too."""
    kept: deque[Event] = deque(maxlen=EVENTS)
    last = max(0, end - EVENTS)
    while not bounded or last < end:
        page = views.events(id, viewer, after=last, limit=_PAGE)
        kept.extend(event for event in page.events if not bounded or event.n <= end)
        if not page.more or not page.events:
            break
        last = page.events[-1].n
    return list(kept)


def spans_of(rollout: Rollout, now: datetime | None = None) -> tuple[Span, ...]:
    """The stages in their order, those of several steps together; of one that goes on those that are to come too."""
    took: dict[str, float | None] = {}
    since: dict[str, datetime] = {}
    for phase in rollout.phases:
        end = phase.finished_at or (rollout.finished_at if rollout.ended else None)
        if end is None:
            before_it = took.setdefault(phase.stage, None) or 0.0
            since[phase.stage] = phase.started_at - timedelta(seconds=before_it)
            if now is not None:
                took[phase.stage] = max(0.0, (now - since[phase.stage]).total_seconds())
        else:
            took[phase.stage] = (took.get(phase.stage) or 0.0) + max(0.0, (end - phase.started_at).total_seconds())
    whole = sum(seconds or 0.0 for seconds in took.values())
    found: list[Span] = []
    before = 0.0
    for stage in STAGES:
        if stage not in took:
            if took and not rollout.ended and STAGES.index(stage) > max(map(STAGES.index, took)):
                found.append(Span(stage, None, 0.0, before, open=False, waits=True))
            continue
        share = (took[stage] or 0.0) / whole if whole else 0.0
        goes_on = stage in since and not rollout.ended
        found.append(Span(stage, took[stage], share, before, goes_on, since.get(stage) if goes_on else None))
        before += share
    return tuple(found)


def _used(rollout: Rollout, events: Iterable[Event]) -> tuple[Usage, float | None]:
    """What it used, by its record or else by the newest event that tells."""
    if rollout.usage != Usage() or rollout.cost is not None:
        return rollout.usage, rollout.cost
    told = [event.data for event in events if event.kind == "usage"]
    if not told:
        return rollout.usage, rollout.cost
    data = told[-1]
    count = {key: value for key, value in data.items() if isinstance(value, int) and not isinstance(value, bool)}
    calls = count.get("model_calls", count.get("calls"))
    cost = data.get("cost")
    usage = Usage(
        tokens_in=count.get("tokens_in"),
        tokens_out=count.get("tokens_out"),
        tokens_cached=count.get("tokens_cached"),
        model_calls=calls,
        tool_calls=count.get("tool_calls"),
    )
    return usage, float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None


def _calls(events: Iterable[Event]) -> tuple[Spent, ...]:
    """What each call took, by what was counted before it."""
    found: list[Spent] = []
    before = (0, 0)
    for event in events:
        counts = (event.data.get("tokens_in"), event.data.get("tokens_out"))
        if event.kind != "usage" or not all(isinstance(count, int) for count in counts):
            continue
        now = (int(counts[0] or 0), int(counts[1] or 0))
        if now != before:
            found.append(Spent(max(0, now[0] - before[0]), max(0, now[1] - before[1])))
        before = now
    return tuple(found[-_CALLS:])


def _tests(told: Iterable[Event], *, counts: Iterable[Event]) -> Tests | None:
    items: list[Check] = [item for event in told if event.kind == "checks" for item in checks_of(event)]
    data = [event.data for event in counts if event.kind == "checks"]
    if not data:
        return None
    passed, failed = (_sum(each.get(key) for each in data) for key in ("passed", "failed"))
    return Tests(passed, failed, tuple(sorted(items, key=lambda item: item.passed is not False)))


def _sum(values: Iterable[object]) -> int | None:
    known = [value for value in values if isinstance(value, int) and not isinstance(value, bool)]
    return sum(known) if known else None


def _logs(events: Iterable[Event]) -> tuple[Log, ...]:
    """What each source printed, the newest of it."""
    texts: dict[str, str] = {}
    for event in events:
        text = event.data.get("text")
        if event.kind == "log" and isinstance(text, str):
            source = event.data.get("source")
            at = source if isinstance(source, str) and source else "log"
            texts[at] = f"{texts.get(at, '')}{text}{'' if text.endswith(chr(10)) else chr(10)}"[-_LOG:]
    return tuple(Log(name(source[:80]), log_text(text, source)) for source, text in texts.items())


def _notes(events: Iterable[Event], rollout: Rollout) -> tuple[Shown, ...]:
    """What happened besides; the failure itself is told elsewhere."""
    failure = rollout.failure.message if rollout.failure is not None else None
    texts = [event.data.get("text") for event in events if event.kind in {"note", "error"}]
    told = dict.fromkeys(text for text in texts if isinstance(text, str) and text and text != failure)
    return tuple(log_text(text).text for text in told if text not in rollout.notes)


def run_record(rollout: Rollout, *, url: str | None = None) -> dict[str, Json]:
    """A rollout in the JSON shape that scripts rely on, from a record that is `masked`. The owner is not in it."""
    fields: Json = rollout.model_dump(mode="json", exclude={"owner", "failure", "schema_version"})
    error: Json = None
    if rollout.failure is not None:
        failure = rollout.failure
        error = {"cause": failure.cause, "kind": failure.kind, "message": failure.message}
    told: dict[str, Json] = {**fields, "error": error, "seconds": lasted(rollout)} if isinstance(fields, dict) else {}
    return {**told, "url": url} if url is not None else told


def run_json(view: RunView, language: str = DEFAULT, *, url: str | None = None) -> dict[str, Json]:
    """All that the page says."""
    tests = view.tests
    return {
        **run_record(view.rollout, url=url),
        "usage": view.usage.model_dump(mode="json"),
        "cost": view.cost,
        "own": view.own,
        "withheld": view.withheld,
        "messages": to_json(view.messages, language),
        "tests": None if tests is None else to_json(tests, language),
        "logs": [{"source": log.source, "text": log.text.text} for log in view.logs],
        "remarks": [*view.notes],
        "files": to_json(view.files, language),
        "artifacts": [{"name": file.path, "size": file.size} for file in view.kept],
        "last": view.last,
        "left_out": view.left_out,
    }


def moments(rollout: Rollout) -> Iterator[tuple[str, datetime]]:
    """The moments of a rollout that are known, by name."""
    for at in ("created", "started", "finished"):
        moment: datetime | None = getattr(rollout, f"{at}_at")
        if moment is not None:
            yield at, moment
