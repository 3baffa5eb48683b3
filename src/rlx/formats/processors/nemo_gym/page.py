"""The page of a task: the request as the agent sends it, who verifies, what it runs in, how to run it."""

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from rlx.answers import MARK, Json, name, prose
from rlx.formats.frameworks import table
from rlx.formats.predict import Check, Unchecked, compared
from rlx.formats.processors.base import RowCard, ShownRow
from rlx.formats.processors.nemo_gym.commands import agent_name
from rlx.formats.processors.nemo_gym.request import REQUEST, params, request
from rlx.formats.processors.nemo_gym.servers import Known
from rlx.formats.processors.prompts.cells import at, is_empty, places, told, withheld_places
from rlx.model import Block, Disclose, KeyValues, Messages, Note, Prompt, Row, Section, Steps, Text, Tools
from rlx.texts import Say, say
from rlx.texts.values import facet_value

_NAMED: Final = 40
_PIVOTS: Final = ("expected_action", "ref_message")
_PLACEHOLDER: Final = "_hf_placeholder"
_ENVIRONMENT: Final = (
    *("image", "image_name", "docker_image", "container", "container_formatter", "repo", "repo_name", "base_commit"),
    *("environment_setup_commit", "version", "environment", "environment_name", "required_dependencies", "db_id"),
    *("dataset_name", "subset", "split", "sandbox", "verifier_metadata.image", "verifier_metadata.docker_image"),
    "verifier_metadata.repo_full_name",
)
_MEDIA: Final = ("verifier_metadata.media_dir", "media_dir", "verifier_metadata.image_dir")
"""Folders of media that an agent puts into the request."""
_OWNED: Final = frozenset({REQUEST, "agent_ref", "task_source", "response", "reward", _PLACEHOLDER})
_RATES: Final = ("pass_rate", "pass_rate_passed", "pass_rate_total")


def sections(
    row: ShownRow, found: Known, check: Check | Unchecked, told_before: Collection[str] = ()
) -> tuple[Section, ...]:
    """All but how to run it; `told_before` are columns that are told elsewhere."""
    used = {*told_before, *_OWNED, *_ENVIRONMENT, *_RATES, *(found.server.verify if found.server else ())}
    rest = [path for path in row.value if path not in used and not path.startswith("_ng_")]
    known = (
        prompt_section(row),
        Section("grading", say("rows.section.grading"), tuple(_grading(row, found, check))),
        Section("environment", say("rows.section.environment"), tuple(_environment(row, found))),
        Section("metadata", say("rows.section.metadata"), told(row.value, rest), collapsed=len(rest) > _NAMED),
    )
    return tuple(section for section in known if section.blocks)


def prompt_section(row: ShownRow) -> Section:
    return Section("prompt", say("rows.section.prompt"), tuple(_prompt(row)))


def glance(row: ShownRow, found: Known, card: RowCard) -> tuple[Row, ...]:
    rows = [
        Row(say(f"facet.{key}"), facet_value(card.facets[key][0], key))
        for key in ("difficulty", "category", "graded")
        if card.facets.get(key)
    ]
    if found.server is not None:
        rows.append(Row(say("nemo.glance.server"), name(found.server.name), code=True))
    agent = agent_name(found)
    if agent is not None:
        rows.append(Row(say("nemo.glance.agent"), agent, code=True))
    given = len(request(row.value).tools)
    if given:
        rows.append(Row(say("facet.tools"), say("nemo.glance.tools", n=given)))
    rate = pass_rate(row.value)
    if rate is not None:
        rows.append(Row(say("nemo.glance.pass_rate"), rate))
    return tuple(rows)


def pass_rate(row: Mapping[str, Json]) -> Text | None:
    """How often somebody's model solved it, where the row tells."""
    passed, total = _number(row.get("pass_rate_passed")), _number(row.get("pass_rate_total"))
    if passed is not None and total:
        return say("nemo.rate_of", passed=_told(passed), total=_told(total))
    rewards = at(row, "qwen_235b_info.rewards")
    numbers = [item for value in rewards if (item := _number(value)) is not None] if isinstance(rewards, list) else []
    if numbers:
        return say("nemo.rate_of", passed=sum(1 for item in numbers if item > 0), total=len(numbers))
    rate = _number(row.get("pass_rate"))
    return None if rate is None else name(_told(rate))


def is_pivot(row: Mapping[str, Json]) -> bool:
    """Whether one step of a demonstration is what is asked for."""
    return any(not is_empty(row.get(key)) for key in _PIVOTS)


def _prompt(row: ShownRow) -> Iterator[Block]:
    found = request(row.value)
    if not is_empty(row.value.get(_PLACEHOLDER)):
        yield Note(say("nemo.prompt.placeholder"), "warn")
    if not params(row.value) and not is_empty(row.value.get(REQUEST)):
        yield Note(say("nemo.prompt.broken"), "warn")
    if found.elsewhere:
        yield Note(say("nemo.prompt.elsewhere", column=found.elsewhere))
    if found.messages:
        yield Messages(found.messages)
    if found.steps:
        yield Note(say("nemo.prompt.steps", n=len(found.steps)))
        for number, text in enumerate(found.steps, 1):
            yield Disclose(say("nemo.prompt.step", n=number), (Prompt(prose(text)),))
    elif not found.messages and found.pointer:
        value = row.value.get(found.pointer)
        yield Note(say("nemo.prompt.pointer", column=found.pointer))
        yield KeyValues((Row(name(found.pointer), name(str(value)), code=True),))
    elif not found.messages:
        yield Note(say("nemo.prompt.none"), "warn")
    if found.tools:
        yield Note(say("nemo.prompt.tools", n=len(found.tools)))
        yield Tools(found.tools)
    for path in _MEDIA:
        folder = at(row.value, path)
        if isinstance(folder, str) and folder.strip() and folder != MARK:
            yield Note(say("nemo.prompt.media", path=path, folder=folder.strip()[:200]))
    if found.settings:
        yield Note(say("nemo.prompt.settings"))
        yield from told(dict(found.settings), list(found.settings))


def _grading(row: ShownRow, found: Known, check: Check | Unchecked) -> Iterator[Block]:
    server = found.server
    yield Steps(tuple(_sentences(row, found, check)))
    if server is not None and server.checks:
        yield Note(say("nemo.grading.words", version=table("nemo_gym").source.version), detail=prose(server.checks))
    hidden = withheld_places(row)
    if hidden:
        more = say("nemo.grading.more", n=len(hidden) - _NAMED) if len(hidden) > _NAMED else None
        yield KeyValues((Row(say("nemo.grading.withheld"), places(hidden[:_NAMED]), more, code=True),))
    if server is not None:
        read = [column for column in server.verify if column in row.value and row.value[column] != MARK]
        yield from told(row.value, read)


def _sentences(row: ShownRow, found: Known, check: Check | Unchecked) -> Iterator[Say]:
    server, agent = found.server, found.agent
    if server is not None:
        yield say("nemo.grading.server", server=server.name)
    elif agent is not None:
        yield say("nemo.grading.agent", agent=agent.kind)
    else:
        yield say("nemo.grading.unknown")
    yield found.how
    if isinstance(check, Check):
        yield from compared(check)
    if is_pivot(row.value):
        yield say("nemo.grading.pivot")
    if server is not None and server.judge:
        yield say("nemo.grading.judge")
    yield say("nemo.grading.reward")


def _environment(row: ShownRow, found: Known) -> Iterator[Block]:
    tables, rows = table("nemo_gym"), []
    agent, server = found.agent, found.server
    if agent is not None:
        loop = tables.loops.get(agent.kind)
        rows.append(Row(say("nemo.env.agent"), name(agent.kind), name(loop) if loop else None, code=True))
        if agent.max_steps is not None:
            rows.append(Row(say("nemo.env.steps"), name(str(agent.max_steps))))
        rows.append(Row(say("nemo.env.config"), name(agent.config), code=True))
    if server is not None:
        rows.append(
            Row(say("nemo.env.server"), name(server.name), name(server.about) if server.about else None, code=True)
        )
        if server.domain:
            rows.append(Row(say("nemo.env.domain"), name(server.domain)))
        if server.tools:
            rows.append(Row(say("nemo.env.tools"), tuple(name(tool) for tool in server.tools), code=True))
    if rows:
        yield KeyValues(tuple(rows))
        yield Note(say("nemo.env.source", version=tables.source.version, date=tables.source.date))
    yield from told(row.value, [path for path in _ENVIRONMENT if not is_empty(at(row.value, path))])


def _number(value: object) -> float | None:
    return (
        float(value) if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15 else None
    )


def _told(number: float) -> str:
    return f"{number:.4g}"
