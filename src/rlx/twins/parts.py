"""Pieces that the Markdown of tasks, environments and lists share."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from rlx.answers.shown import Withheld
from rlx.ids import EnvKey
from rlx.model import Facet, Section, Support
from rlx.texts import Say, say, words
from rlx.twins.blocks import block_markdown
from rlx.twins.held import by_file, spelled
from rlx.twins.inline import line, span


@dataclass(frozen=True, slots=True)
class Addresses:
    """Addresses of twins of a site; of none, as on the command line, when `base` is None."""

    base: str | None = None
    """What its pages begin with, without a slash at the end."""
    revision: str | None = None
    """What is read; None is the newest."""

    def env(self, key: EnvKey) -> str:
        return self.named(str(key), key.page)

    def task(self, key: EnvKey, ref: str) -> str:
        return self.named(ref, key.task_page(ref))

    def compared(self, key: EnvKey, old: str, new: str, ref: str) -> str | None:
        """Where one task's files in two revisions are told."""
        fields = "&".join(f"{name}={quote(of, safe='')}" for name, of in (("old", old), ("new", new), ("task", ref)))
        return self.twin(f"{key.page}/revisions?{fields}")

    def named(self, name: str, path: str) -> str:
        """`name` as code, linked to the Markdown twin of a page."""
        url = self.twin(path)
        return f"[{span(name)}]({url})" if url else span(name)

    def twin(self, path: str) -> str | None:
        if self.base is None:
            return None
        at = f"revision={quote(self.revision, safe='')}&" if self.revision and "revision=" not in path else ""
        return f"{self.base}{path}{'&' if '?' in path else '?'}{at}format=md"


NOWHERE = Addresses()


def heading(text: Say | str, language: str) -> str:
    return f"## {line(text, language)}"


def fact(label: Say, value: str, language: str) -> str:
    return f"- {words(label, language)}: {value}"


def join(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part.strip()) + "\n"


def section_parts(section: Section, language: str) -> Iterator[str]:
    yield heading(section.title, language)
    if section.note is not None:
        yield line(section.note, language)
    for block in section.blocks:
        yield block_markdown(block, language)


def support_parts(support: Support, language: str) -> Iterator[str]:
    yield heading(say("twins.support"), language)
    facts = [
        fact(say("twins.lifecycle"), line(support.lifecycle, language), language),
        fact(say("twins.reward"), line(support.reward, language), language),
    ]
    states = [f"- {item.id}: {item.state}. {line(item.evidence, language)}" for item in support.capabilities]
    yield "\n".join(facts + states)


def withheld_parts(items: Sequence[Withheld], language: str) -> Iterator[str]:
    """What is withheld, by file, with the lines and the reason."""
    if not items:
        return
    yield heading(say("twins.withheld_title"), language)
    yield words(say("twins.withheld_marks"), language)
    told = []
    for held in by_file(items):
        lines = ", ".join(spelled(*place) for place in held.lines)
        at = f", {words(say('twins.at_lines', lines=lines), language)}" if lines else ""
        told.append(f"- {span(held.where)}{at}: {line(held.reason, language)}")
    yield "\n".join(told)


def facet_parts(facets: Sequence[Facet], language: str) -> Iterator[str]:
    """What the list can be filtered by: each facet's key, and its values as a filter takes them."""
    if facets:
        yield heading(say("twins.facets"), language)
        yield "\n".join(_facet(facet, language) for facet in facets)


def _facet(facet: Facet, language: str) -> str:
    values = [f"{span(item.value)} {item.n:,}" for item in facet.values]
    more = [words(say("twins.more_values", n=facet.more), language)] if facet.more else []
    return f"- {line(facet.label, language)} ({span(facet.key)}): {', '.join(values + more)}"
