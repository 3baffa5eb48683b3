"""Environments, lists, folders and files as Markdown that a model can read whole.

Repository text stands in fences or on escaped single lines, so it cannot pose as the document's own structure.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rlx.health.report import EnvReport
from rlx.ids import EnvKey
from rlx.model import (
    Blob,
    Block,
    EnvCard,
    EnvPage,
    Facet,
    FilesBlock,
    Listing,
    NoTable,
    Page,
    Shares,
    Summary,
    TablePage,
    TaskCard,
)
from rlx.texts import DEFAULT, say, words
from rlx.twins.blocks import files_markdown
from rlx.twins.counted import counted_parts
from rlx.twins.health import env_health_markdown
from rlx.twins.inline import fence, language_of, line, span
from rlx.twins.parts import (
    NOWHERE,
    Addresses,
    facet_parts,
    fact,
    heading,
    join,
    section_parts,
    support_parts,
    withheld_parts,
)


def summary_markdown(summary: Summary, language: str = DEFAULT) -> str:
    """An environment without its task list."""
    return join([*_head(summary, NOWHERE, language), *_rest(summary, summary.facets, language)])


def environment_markdown(
    summary: Summary,
    tasks: Page[TaskCard] | None,
    listing: Listing | None = None,
    language: str = DEFAULT,
    *,
    at: Addresses = NOWHERE,
    following: str | None = None,
    asked: bool = False,
    health: EnvReport | None = None,
) -> str:
    """An environment with a page of its tasks, or with its files where it has no task list.

    `at` says where links lead, `following` is the path of the list's next page, and `asked` whether words or
    filters narrow it. Further pages are the list alone.
    """
    parts = [*_head(summary, at, language)]
    if tasks is not None:
        parts += [
            heading(say("twins.tasks"), language),
            *_listing(tasks, summary.key, at, following, language, asked=asked),
        ]
    if tasks is None or not tasks.offset:
        parts += _rest(summary, summary.facets if tasks is None else tasks.facets, language)
    if health is not None:
        parts += env_health_markdown(health, language)
    if listing is not None:
        parts += [heading(say("twins.files"), language), _entries(listing, language)]
    return join(parts)


def listing_markdown(
    page: EnvPage | Page[TaskCard],
    language: str = DEFAULT,
    *,
    key: EnvKey | None = None,
    at: Addresses = NOWHERE,
    following: str | None = None,
    asked: bool = False,
) -> str:
    """A page of environments, or of the tasks of `key`: how many there are, which these are, one item a line.

    `asked` says whether anything narrows it.
    """
    title = [f"# {words(say('twins.environments'), language)}"] if isinstance(page, EnvPage) else []
    return join(
        [*title, *_listing(page, key, at, following, language, asked=asked), *facet_parts(page.facets, language)]
    )


def folder_markdown(listing: Listing, language: str = DEFAULT) -> str:
    return join([f"# {span(f'{listing.path}/')}", _entries(listing, language)])


def file_markdown(blob: Blob, language: str = DEFAULT, rows: TablePage | NoTable | None = None) -> str:
    """A text file in a fence, a page of rows of a long table; for other files only what they are."""
    parts = [f"# {span(blob.path)}", words(say("twins.bytes", n=blob.size), language)]
    if blob.encoding_note is not None:
        parts.append(line(blob.encoding_note, language))
    if isinstance(rows, TablePage) and rows.rows:
        return join([*parts, *_table(rows, language)])
    if blob.truncated:
        parts.append(words(say("twins.truncated"), language))
    parts += withheld_parts(blob.withheld, language)
    parts.append(
        fence(blob.text, language_of(blob.path)) if blob.text is not None else words(say("twins.binary"), language)
    )
    return join(parts)


def _table(page: TablePage, language: str) -> Iterator[str]:
    first, last = page.rows[0].number, page.rows[-1].number
    if page.total is None:
        yield words(say("rows.range_so_far", first=first, last=last, known=page.known), language)
    else:
        yield words(say("rows.range", first=first, last=last, total=page.total), language)
    yield from (line(note, language) for note in page.notes)
    yield from withheld_parts(page.withheld, language)
    yield from (f"{row.number:,}: {line(row.broken, language)}" for row in page.rows if row.broken is not None)
    values = [row.value.value for row in page.rows if row.value is not None]
    yield fence("".join(f"{json.dumps(value, ensure_ascii=False)}\n" for value in values), "json")


def _head(summary: Summary, at: Addresses, language: str) -> Iterator[str]:
    yield f"# {line(summary.title, language)}"
    yield line(summary.brief, language)
    facts = [
        fact(say("twins.environment"), at.env(summary.key), language),
        fact(say("twins.revision"), span(summary.revision), language),
        fact(say("twins.framework"), line(summary.support.label, language), language),
    ]
    if summary.tasks is not None:
        facts.append(fact(say("twins.tasks"), f"{summary.tasks:,}", language))
    if summary.why is not None:
        facts.append(fact(say("twins.why"), line(summary.why, language), language))
    if at.base is not None:
        facts.append(fact(say("twins.more"), ", ".join(_places(summary, at, language)), language))
    yield "\n".join(facts)


def _places(summary: Summary, at: Addresses, language: str) -> Iterator[str]:
    """The other pages of an environment; that of its revisions is of no single one."""
    page = summary.key.page
    if summary.readme is not None:
        yield f"[{words(say('web.tab_card'), language)}]({at.twin(f'{page}/card')})"
    yield f"[{words(say('web.tab_files'), language)}]({at.twin(f'{page}/files')})"
    newest = replace(at, revision=None)
    yield f"[{words(say('env.tab_revisions'), language)}]({newest.twin(f'{page}/revisions')})"


def _rest(summary: Summary, facets: Sequence[Facet], language: str) -> Iterator[str]:
    if summary.subsets:
        yield heading(say("twins.subsets"), language)
        yield "\n".join(f"- {span(item.id)}: {line(item.label, language)}" for item in summary.subsets)
    yield from facet_parts(facets, language)
    for section in summary.sections:
        blocks = tuple(block for block in section.blocks if not _is_facet(block, facets))
        if blocks:
            yield from section_parts(replace(section, blocks=blocks), language)
    yield heading(say("twins.how"), language)
    yield "\n".join(f"- {line(item, language)}" for item in summary.how)
    if summary.roles:
        yield heading(say("rows.roles"), language)
        yield "\n".join(
            fact(say(f"rows.role.{item.role}"), span(item.column or "-"), language) for item in summary.roles
        )
    yield from support_parts(summary.support, language)
    yield from withheld_parts(summary.withheld, language)
    if summary.readme is not None:
        yield heading(say("twins.readme"), language)
        yield fence(summary.readme.strip("\n"), "markdown")


def _is_facet(block: Block, facets: Sequence[Facet]) -> bool:
    """A figure that the list of facets tells too."""
    keys = {part.filter[0] for part in block.parts if part.filter} if isinstance(block, Shares) else set()
    return bool(keys) and keys <= {facet.key for facet in facets}


def _listing(
    page: EnvPage | Page[TaskCard],
    key: EnvKey | None,
    at: Addresses,
    following: str | None,
    language: str,
    *,
    asked: bool,
) -> Iterator[str]:
    yield from counted_parts(page, language, asked=asked)
    if isinstance(page, Page) and page.note is not None:
        yield line(page.note, language)
    yield "\n".join(
        _env(item, at, language) if isinstance(item, EnvCard) else _task(item, key, at, language) for item in page.items
    )
    url = at.twin(following) if following is not None else None
    if url is not None:
        yield fact(say("twins.next_page"), f"<{url}>", language)


def _entries(listing: Listing, language: str) -> str:
    return files_markdown(FilesBlock(listing.entries, listing.truncated or listing.total is None), language)


def _env(card: EnvCard, at: Addresses, language: str) -> str:
    tasks = f", {words(say('twins.task_count', n=card.tasks), language)}" if card.tasks is not None else ""
    return f"- {at.env(card.key)}{tasks}: {line(card.brief or card.title, language)}"


def _task(card: TaskCard, key: EnvKey | None, at: Addresses, language: str) -> str:
    named = span(card.ref) if key is None else at.task(key, card.ref)
    problem = f" ({line(card.problem, language)})" if card.problem is not None else ""
    told = [line(text, language) for text in (card.title, card.brief) if text and text != card.ref]
    return f"- {named}{': ' if told else ''}{': '.join(told)}{problem}"
