"""A task as Markdown that a model can read whole: what it asks, how it is graded, what it runs in, then the rest.

Repository text stands in fences or on escaped single lines, so it cannot pose as the document's own structure.
"""

from collections.abc import Iterator, Sequence

from rlx.answers import Shown
from rlx.health.report import TaskReport
from rlx.ids import EnvKey
from rlx.model import Alias, Prompt, Relative, RunOption, Task
from rlx.texts import DEFAULT, Say, say, words
from rlx.twins.blocks import row_markdown
from rlx.twins.health import task_health_markdown
from rlx.twins.hits import hit_lines
from rlx.twins.inline import line, span
from rlx.twins.parts import NOWHERE, Addresses, fact, heading, join, section_parts, support_parts, withheld_parts
from rlx.twins.ways import Ways, variable_said, ways


def task_markdown(
    task: Task,
    key: EnvKey,
    language: str = DEFAULT,
    *,
    aliases: Sequence[Alias] = (),
    alike: Sequence[Relative] = (),
    at: Addresses = NOWHERE,
    health: TaskReport | None = None,
) -> str:
    """A task with every section, the ways to run it and what is withheld. `at` says where links lead."""
    brief = own_brief(task)
    parts = [f"# {line(task.title, language)}"]
    if brief is not None:
        parts.append(line(brief, language))
    parts.append("\n".join(_facts(task, key, aliases, at, language)))
    for section in task.sections:
        parts += section_parts(section, language)
        file = at.twin(f"{key.task_page(task.ref)}?path=PATH")
        if section.id == "files" and file is not None:
            parts.append(words(say("twins.read_file", url=span(file)), language))
    parts += _ways(task.run_options, language)
    parts += [] if health is None else task_health_markdown(health, language)
    parts += support_parts(task.support, language)
    parts += withheld_parts(task.withheld, language)
    parts += _alike(alike, at, language)
    return join(parts)


def own_brief(task: Task) -> Shown | None:
    """The brief, when it says something that the title and the beginning of the prompt do not."""
    blocks = (block for section in task.sections[:2] for block in section.blocks)
    prompt = next((block.text for block in blocks if isinstance(block, Prompt)), "")
    brief = _letters(task.brief)
    return task.brief if brief and brief != _letters(task.title) and brief not in _letters(prompt[:4000]) else None


def has_banner(task: Task) -> bool:
    """Whether the task's problem is to be told on top: no section of its own tells it."""
    return task.problem is not None and all(section.id != "problem" for section in task.sections)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def _facts(task: Task, key: EnvKey, aliases: Sequence[Alias], at: Addresses, language: str) -> Iterator[str]:
    yield fact(say("twins.environment"), at.env(key), language)
    yield fact(say("twins.ref"), at.task(key, task.ref), language)
    yield fact(
        say("twins.place"), words(say("twins.place_of", place=task.position + 1, n=task.total), language), language
    )
    for label, ref in ((say("twins.previous"), task.previous), (say("twins.next"), task.next)):
        if ref is not None:
            yield fact(label, at.task(key, ref), language)
    if task.problem is not None and has_banner(task):
        yield fact(say("twins.problem"), line(task.problem, language), language)
    for row in task.glance:
        yield row_markdown(row, language)
    for alias in aliases:
        yield fact(
            say("web.also_in"),
            f"{at.task(alias.key, alias.ref)} ({span(str(alias.key))}): {line(alias.reason, language)}",
            language,
        )
    if task.withheld:
        yield fact(
            say("twins.withheld_title"), words(say("twins.withheld_count", n=len(task.withheld)), language), language
        )


def _alike(alike: Sequence[Relative], at: Addresses, language: str) -> Iterator[str]:
    if alike:
        yield heading(say("web.alike"), language)
        told = zip(hit_lines([item.hit for item in alike], at, language), alike, strict=True)
        yield "\n".join(f"{text} ({words(_by(item), language)})" for text, item in told)


def _by(item: Relative) -> Say:
    return say("web.alike_by", percent=round(item.score * 100))


def _ways(options: Sequence[RunOption], language: str) -> Iterator[str]:
    if options:
        yield heading(say("twins.running"), language)
        yield "\n".join(text for group in ways(options) for text in _way(group, language))


def _way(group: Ways, language: str) -> Iterator[str]:
    told = group.first
    state = words(say("twins.can_run") if told.ok else say("twins.cannot_run"), language)
    reason = f" {line(told.reason, language)}" if told.reason is not None else ""
    source = f" ({span(told.source)})" if told.source is not None else ""
    yield f"- {', '.join(line(option.label, language) for option in group.options)}: {state}{reason}{source}"
    for option in group.options:
        of = f"{line(option.label, language)}: " if len(group.options) > 1 else ""
        yield from (f"  - {of}{line(text, language)}" for text in (*option.notes, *option.warnings))
        for each in option.variables:
            said = " ".join(words(text, language) for text in variable_said(each))
            yield f"  - {of}{span(f'${{{each.name}}}')}: {said}"
