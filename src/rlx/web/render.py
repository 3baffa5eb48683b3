"""Templates to HTML: autoescaped, strict about names, every text said in the page's language."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar

from jinja2 import BytecodeCache, Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.bccache import Bucket
from jinja2.runtime import Context
from markupsafe import Markup

from rlx import __version__
from rlx.answers.shown import Shown
from rlx.model import Block, Code, Prompt, Row, Section, Text
from rlx.texts import LANGUAGES, Say, figures, say, words
from rlx.texts.values import facet_value
from rlx.twins.blocks import dump
from rlx.web import highlight, inert, lexers
from rlx.web.blocks_html import Blocks, Spot
from rlx.web.bounded import Bounded, digest
from rlx.web.facets import box
from rlx.web.kinds import KINDS_SHOWN, LEVEL_STEPS
from rlx.web.links import Links
from rlx.web.markdown import Base, render_markdown
from rlx.web.tree import tree

SHOWN_LINES = 600
"""Lines of a block of code that a page shows; the rest is one link away."""

_numbered: Bounded[str] = Bounded(32 * 1024 * 1024, len)


class _Bytecode(BytecodeCache):
    """Compiled templates of this process, so that a second app does not compile them again."""

    _compiled: ClassVar[dict[str, bytes]] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self._compiled:
            bucket.bytecode_from_string(self._compiled[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._compiled[bucket.key] = bucket.bytecode_to_string()


def _now() -> datetime:
    return datetime.now(UTC)


class Renderer:
    """Renders templates. Safe to share between threads. `now` says from when times ago are counted."""

    def __init__(self, links: Links, now: Callable[[], datetime] = _now) -> None:
        self.links = links
        self._environment = Environment(
            loader=PackageLoader("rlx.web"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            finalize=_said,
            auto_reload=False,
            bytecode_cache=_Bytecode(),
        )
        self._environment.globals.update(say=say, links=links, version=__version__, kinds=KINDS_SHOWN, box=box)
        self._environment.globals.update(shown_lines=SHOWN_LINES, line_count=_line_count, languages=LANGUAGES)
        self._environment.globals.update(level_steps=LEVEL_STEPS)
        self._environment.filters.update(
            t=_words,
            num=figures.number,
            size=figures.size,
            date=_date,
            ago=lambda moment: figures.ago(moment, now()),
            facet_value=facet_value,
            marked=inert.mark,
            tree=tree,
            dump=dump,
            narrow=_is_narrow,
        )
        self._environment.tests["short"] = _is_short
        self._languages = {language: self._variables(language) for language in LANGUAGES}
        for name in self._environment.list_templates(extensions=["html"]):
            self._environment.get_template(name)

    def page(self, template: str, language: str, **variables: Any) -> str:
        return self._environment.get_template(template).render(**self._languages[language], **variables)

    def block(self, block: Block, spot: Spot, language: str) -> Markup:
        """One block alone."""
        return Markup(self._languages[language]["block"](block, spot))  # noqa: S704 - drawn by Blocks

    def _variables(self, language: str) -> dict[str, Any]:
        helpers = _Helpers(self.links, language)
        base: dict[str, Any] = {
            "lang": language,
            "code_lines": helpers.code_lines,
            "prompt_html": helpers.prompt_html,
            "markdown_html": helpers.markdown_html,
        }
        return {**base, "block": Blocks(self._environment, base).draw}


@dataclass(frozen=True, slots=True)
class _Helpers:
    """What templates call, in one language."""

    links: Links
    language: str

    def markdown_html(self, text: str, spot: Spot, top: int = 3) -> Markup:
        return render_markdown(text, Base(spot.key, spot.ref, top=top), self.links, self.language)

    def prompt_html(self, block: Prompt) -> Markup:
        return inert.mark(block.text.replace("\r\n", "\n"))

    def code_lines(self, block: Code, spot: Spot, count: int = SHOWN_LINES) -> Markup:
        """Numbered lines of a block; their ids begin with the block's own."""
        lexer = lexers.lexer_name(block.path, block.language)
        prefix, masked = f"{spot.id}-L", frozenset(block.masked)

        def make() -> str:
            lines = highlight.html_lines(block.text, lexer, 0, count)
            return numbered(lines, block.first_line, prefix, masked, self.language)

        key = (digest(block.text), lexer, prefix, masked, block.first_line, count, self.language)
        return Markup(_numbered.get(key, make))  # noqa: S704 - made by numbered


def numbered(lines: Sequence[str], first: int, prefix: str, masked: frozenset[int], language: str) -> Markup:
    """Lines of HTML as the rows of `pre.lines`, in windows a browser may leave unpainted until they are near."""
    label = words(say("web.line"), language)
    rows = [
        f'<span class="l{" mask" if number in masked else ""}" id="{prefix}{number}"><a href="#{prefix}{number}" '
        f'data-n="{number}" aria-label="{label} {number}" tabindex="-1"></a><span>{line}</span></span>'
        for number, line in enumerate(lines, first)
    ]
    size = highlight.WINDOW
    if len(rows) > size:
        rows = [f'<span class="win">{"".join(rows[at : at + size])}</span>' for at in range(0, len(rows), size)]
    return Markup("".join(rows))  # noqa: S704 - lines were escaped by highlight, the rest is numbers and our words


@pass_context
def _words(context: Context, text: Text) -> str:
    """For the rare place that joins texts before they are printed."""
    return inert.spell(words(text, context["lang"]))


@pass_context
def _said(context: Context, value: object) -> object:
    """Every printed value passes here: texts are said, repository text cannot reorder or command, None is nothing."""
    if isinstance(value, Say):
        return inert.spell(words(value, context["lang"]))
    if isinstance(value, Shown):
        return inert.spell(value)
    return "" if value is None else value


@pass_context
def _date(context: Context, moment: datetime) -> str:
    return figures.date(moment, context["lang"])


def _line_count(text: str) -> int:
    return len(highlight.split_lines(text))


def _is_short(row: Row) -> bool:
    """Whether a fact is a figure rather than a sentence, a list or a command."""
    return not (row.code or row.note or isinstance(row.value, tuple)) and len(words(row.value)) <= 20


def _is_narrow(section: Section) -> bool:
    """Whether a section of an environment reads well in the side column."""
    return all(block.type in {"kv", "note", "steps", "links", "stats"} for block in section.blocks)
