"""Environments, tasks, lists and files as Markdown that a model can read whole.

Repository text stands in fences or on escaped single lines, so it cannot pose as the document's own structure.
"""

from collections.abc import Iterator

from rlx.answers.shown import Withheld
from rlx.ids import EnvKey
from rlx.model import (
    Blob,
    EnvCard,
    EnvPage,
    Facet,
    FilesBlock,
    Listing,
    Page,
    RunOption,
    Section,
    Summary,
    Support,
    Task,
    TaskCard,
)
from rlx.texts import DEFAULT, Say, say, words
from rlx.twins.blocks import block_markdown, files_markdown, row_markdown
from rlx.twins.inline import fence, line, span


def task_markdown(task: Task, key: EnvKey, language: str = DEFAULT) -> str:
    """A task with every section, the ways to run it and what is withheld."""
    facts = [
        _fact(say("twins.environment"), span(str(key)), language),
        _fact(say("twins.ref"), span(task.ref), language),
        _fact(say("twins.place"), f"{task.position + 1:,} / {task.total:,}", language),
    ]
    if task.problem is not None:
        facts.append(_fact(say("twins.problem"), line(task.problem, language), language))
    facts += [row_markdown(row, language) for row in task.glance]
    parts = [f"# {line(task.title, language)}", line(task.brief, language), "\n".join(facts)]
    for section in task.sections:
        parts += _section(section, language)
    parts += _run_options(task.run_options, language)
    parts += _support(task.support, language)
    parts += _withheld(task.withheld, language)
    return _join(parts)


def summary_markdown(summary: Summary, language: str = DEFAULT) -> str:
    """An environment without its task list."""
    facts = [
        _fact(say("twins.environment"), span(str(summary.key)), language),
        _fact(say("twins.revision"), span(summary.revision), language),
        _fact(say("twins.framework"), line(summary.support.label, language), language),
    ]
    if summary.tasks is not None:
        facts.append(_fact(say("twins.tasks"), f"{summary.tasks:,}", language))
    if summary.why is not None:
        facts.append(_fact(say("twins.why"), line(summary.why, language), language))
    parts = [f"# {line(summary.title, language)}", line(summary.brief, language), "\n".join(facts)]
    if summary.tiles is not None:
        shown = ", ".join(f"{line(tile.value, language)} {tile.n:,}" for tile in summary.tiles.items)
        parts.append(_fact(say("twins.parts"), shown, language))
    if summary.subsets:
        subsets = (f"- {span(item.id)}: {line(item.label, language)}" for item in summary.subsets)
        parts += [f"## {words(say('twins.subsets'), language)}", "\n".join(subsets)]
    for section in summary.sections:
        parts += _section(section, language)
    if summary.facets:
        parts += [f"## {words(say('twins.facets'), language)}", "\n".join(_facets(summary.facets, language))]
    how = "\n".join(f"- {line(item, language)}" for item in summary.how)
    parts += [f"## {words(say('twins.how'), language)}", how]
    parts += _support(summary.support, language)
    parts += _withheld(summary.withheld, language)
    if summary.readme is not None:
        parts += [f"## {words(say('twins.readme'), language)}", fence(summary.readme, "markdown")]
    return _join(parts)


def listing_markdown(page: EnvPage | Page[TaskCard], language: str = DEFAULT) -> str:
    """A page of environments or of tasks: how many there are, which these are, one item a line."""
    last = page.offset + len(page.items)
    first = min(page.offset + 1, last)
    counted = say("twins.range", first=f"{first:,}", last=f"{last:,}", total=f"{page.total:,}")
    parts = [words(counted, language)]
    if isinstance(page, Page) and page.note is not None:
        parts.append(line(page.note, language))
    items = [_env(item, language) if isinstance(item, EnvCard) else _task(item, language) for item in page.items]
    parts.append("\n".join(items))
    if isinstance(page, Page) and page.facets:
        parts += [f"## {words(say('twins.facets'), language)}", "\n".join(_facets(page.facets, language))]
    return _join(parts)


def folder_markdown(listing: Listing, language: str = DEFAULT) -> str:
    return _join(
        [f"# {span(f'{listing.path}/')}", files_markdown(FilesBlock(listing.entries, listing.truncated), language)]
    )


def file_markdown(blob: Blob, language: str = DEFAULT) -> str:
    """A text file in a fence; for other files only what they are."""
    parts = [f"# {span(blob.path)}", words(say("twins.bytes", n=blob.size), language)]
    if blob.encoding_note is not None:
        parts.append(line(blob.encoding_note, language))
    if blob.truncated:
        parts.append(words(say("twins.truncated"), language))
    parts += _withheld(blob.withheld, language)
    parts.append(fence(blob.text) if blob.text is not None else words(say("twins.binary"), language))
    return _join(parts)


def _section(section: Section, language: str) -> Iterator[str]:
    yield f"## {line(section.title, language)}"
    if section.note is not None:
        yield line(section.note, language)
    for block in section.blocks:
        yield block_markdown(block, language)


def _run_options(options: tuple[RunOption, ...], language: str) -> Iterator[str]:
    if not options:
        return
    yield f"## {words(say('twins.running'), language)}"
    lines = []
    for option in options:
        state = words(say("twins.can_run") if option.ok else say("twins.cannot_run"), language)
        reason = f" {line(option.reason, language)}" if option.reason is not None else ""
        source = f" ({span(option.source)})" if option.source is not None else ""
        lines.append(f"- {line(option.label, language)}: {state}{reason}{source}")
        lines += [f"  - {line(text, language)}" for text in (*option.notes, *option.warnings)]
    yield "\n".join(lines)


def _support(support: Support, language: str) -> Iterator[str]:
    yield f"## {words(say('twins.support'), language)}"
    facts = [
        _fact(say("twins.lifecycle"), line(support.lifecycle, language), language),
        _fact(say("twins.reward"), line(support.reward, language), language),
        _fact(say("twins.evidence"), line(support.evidence, language), language),
    ]
    states = [f"- {item.id}: {item.state}. {line(item.evidence, language)}" for item in support.capabilities]
    yield "\n".join(facts + states)


def _withheld(items: tuple[Withheld, ...], language: str) -> Iterator[str]:
    if items:
        yield f"## {words(say('twins.withheld_title'), language)}"
        yield "\n".join(f"- {span(item.where)}: {line(item.reason, language)}" for item in items)


def _facets(facets: tuple[Facet, ...], language: str) -> Iterator[str]:
    for facet in facets:
        values = ", ".join(f"{span(item.value)} {item.n:,}" for item in facet.values)
        yield f"- {line(facet.label, language)} ({span(facet.key)}): {values}"


def _env(card: EnvCard, language: str) -> str:
    tasks = f", {words(say('twins.task_count', n=card.tasks), language)}" if card.tasks is not None else ""
    return f"- {span(str(card.key))}{tasks}: {line(card.brief or card.title, language)}"


def _task(card: TaskCard, language: str) -> str:
    problem = f" ({line(card.problem, language)})" if card.problem is not None else ""
    brief = f": {line(card.brief, language)}" if card.brief else ""
    return f"- {span(card.ref)} {line(card.title, language)}{brief}{problem}"


def _fact(label: Say, value: str, language: str) -> str:
    return f"- {words(label, language)}: {value}"


def _join(parts: list[str]) -> str:
    return "\n\n".join(part for part in parts if part.strip()) + "\n"
