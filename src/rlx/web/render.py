"""Templates to HTML: autoescaped, strict about names, every text said in the page's language."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar

from jinja2 import BytecodeCache, Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.bccache import Bucket
from jinja2.runtime import Context
from markupsafe import Markup

from rlx import __version__
from rlx.answers.shown import MARK, Shown
from rlx.model import Block, Code, Prompt, Row, Text
from rlx.texts import LANGUAGES, Say, figures, say, words
from rlx.texts.values import facet_value
from rlx.twins.blocks import dump
from rlx.web import highlight, inert, lexers
from rlx.web.assets import assets
from rlx.web.blocks_html import Blocks, Spot
from rlx.web.bounded import Bounded, digest
from rlx.web.contents import contents
from rlx.web.facets import box
from rlx.web.found import excerpt, lit
from rlx.web.kinds import KINDS_SHOWN, LEVEL_STEPS
from rlx.web.lines_html import numbered
from rlx.web.links import Links
from rlx.web.markdown import Base, render_markdown
from rlx.web.tree import tree
from rlx.web.turns_html import GLOBALS, gist, said_parts, tool_brief

LONG_PROMPT = 9_000
"""Characters, or lines, from which a prompt is folded near a third of that."""
LONG_LINES = 150

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
        self._environment.globals.update(
            icons=assets().icons, say=say, links=links, version=__version__, kinds=KINDS_SHOWN, box=box
        )
        self._environment.globals.update(icons=assets().icons, line_count=_line_count, held=MARK, languages=LANGUAGES)
        self._environment.globals.update(level_steps=LEVEL_STEPS, tool_brief=tool_brief, **GLOBALS)
        self._environment.filters.update(
            t=_words,
            num=figures.number,
            size=figures.size,
            date=_date,
            ago=lambda moment: figures.ago(moment, now()),
            facet_value=facet_value,
            contents=contents,
            marked=inert.mark,
            lit=lit,
            excerpt=excerpt,
            tree=tree,
            dump=dump,
            gist=gist,
        )
        self._environment.tests["short"] = _is_short
        self._languages = {language: self._variables(language, links) for language in LANGUAGES}

    def warm(self) -> None:
        """Compile every template, so that no page waits for its own. Any thread may do it while pages are rendered."""
        for name in self._environment.list_templates(extensions=["html"]):
            self._environment.get_template(name)

    def page(self, template: str, language: str, *, links: Links | None = None, **variables: Any) -> str:
        """`links` are used in place of the site's own, where a page is at a revision of its own."""
        ours = links is None or links == self.links
        helpers = self._languages[language] if ours else self._variables(language, links or self.links)
        return self._environment.get_template(template).render(**helpers, **variables)

    def block(self, block: Block, spot: Spot, language: str) -> Markup:
        """One block alone."""
        return Markup(self._languages[language]["block"](block, spot))  # noqa: S704 - drawn by Blocks

    def _variables(self, language: str, links: Links) -> dict[str, Any]:
        helpers = _Helpers(links, language)
        base: dict[str, Any] = {
            "lang": language,
            "links": links,
            "code_lines": helpers.code_lines,
            "prompt_parts": helpers.prompt_parts,
            "said_parts": helpers.said_parts,
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

    def prompt_parts(self, block: Prompt) -> tuple[Markup, Markup, int]:
        """The beginning of a prompt, the rest when it is long, and how many lines the rest has."""
        text = block.text.replace("\r\n", "\n")
        at = _fold(text)
        return inert.mark(text[:at]), inert.mark(text[at:]), _line_count(text[at:])

    def said_parts(self, text: str, *limit: int) -> tuple[Markup, Markup, int]:
        """As `rlx.web.turns_html.said_parts`, what is withheld told in the page's language."""
        word = words(say("transcript.withheld"), self.language)
        return said_parts(text, Markup('<span class="unsaid">{}{}</span>').format(self._lock(), word), *limit)

    def code_lines(self, block: Code, id: str, start: int, stop: int) -> Markup:
        """Lines `start` to `stop` (0-based) of a block, numbered; their ids begin with `id`."""
        lexer = lexers.lexer_name(block.path, block.language)
        first = block.first_line

        def make() -> str:
            lines = highlight.html_lines(block.text, lexer, start, stop - start)
            masked = frozenset(number + first - 1 for number in block.masked)
            return numbered(lines, first + start, f"{id}-L", masked, self.language, self._lock())

        key = (digest(block.text), lexer, id, block.masked, first, start, stop, self.language)
        return Markup(_numbered.get(key, make))  # noqa: S704 - made by numbered

    def _lock(self) -> Markup:
        return Markup('<svg class="i" aria-hidden="true"><use href="{}"/></svg>').format(self.links.icon("lock"))


def _fold(text: str) -> int:
    """Where a prompt that is too long to be read in passing is folded: after a line, or not at all."""
    if len(text) <= LONG_PROMPT and text.count("\n") <= LONG_LINES:
        return len(text)
    lines = text[: LONG_PROMPT // 3].split("\n")[: LONG_LINES // 3]
    at = len("\n".join(lines[:-1])) + 1 if len(lines) > 1 else text.find("\n") + 1
    return at if at > 0 and text[at:].strip() else len(text)


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
