"""Markdown of a repository as clean HTML: rendered, then sanitised last, so nothing it holds can act."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from html.parser import HTMLParser
from posixpath import normpath
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup, escape

from rlx.ids import EnvKey
from rlx.texts import say, words
from rlx.web import highlight, inert, lexers
from rlx.web.bounded import Bounded, digest
from rlx.web.images import may_be_fetched
from rlx.web.links import Links

_TAGS = (
    "a abbr b blockquote br caption code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i ins kbd li ol p pre q s "
    "samp small span strong sub summary sup table tbody td tfoot th thead tr u ul var"
)
_ATTRIBUTES = {
    "a": {"href", "title", "class"},
    "abbr": {"title"},
    "details": {"open"},
    "li": {"value"},
    "ol": {"start"},
    "td": {"colspan", "rowspan", "align"},
    "th": {"colspan", "rowspan", "align"},
    "span": {"class", "title"},
    "code": {"class"},
    **{f"h{level}": {"id"} for level in range(1, 7)},
}
_SHOT = "shot"
"""Class of a link that shows an image; with scripts it does so in place."""
_SPAN_CLASSES = {"k", "s", "m", "c", "gi", "gd", "inv"}
_HEADING = re.compile(r"(</?)h([1-6])\b", re.IGNORECASE)
_IMAGES_AND_LINKS = re.compile(r"<img\b[^>]{0,4000}>|<(?P<end>/?)a\b", re.IGNORECASE)
_WORDS = re.compile(r"[^\w]+")
_TAG = re.compile(r"<(/?)([a-z][a-z0-9]*)", re.IGNORECASE)
_SELF_CLOSING = frozenset(["br", "col", "hr", "img", "input", "li", "p", "source", "td", "th", "tr", "wbr"])
_MAX_DEPTH = 200
"""Tags within one another; the cost of cleaning grows with the square. HTML that is deeper is shown as written."""
_MAX_PIECE = 10_000
"""Characters of one paragraph, heading or cell that is parsed; a longer one is shown as written."""
_MAX_LINES = 10_000
_MAX = 400_000
"""Characters that are rendered; the rest is one link away, in the file viewer."""

_cache: Bounded[str] = Bounded(32 * 1024 * 1024, len)


@dataclass(frozen=True, slots=True)
class Base:
    """Where a text stands, for its relative links."""

    key: EnvKey
    ref: str | None = None
    folder: str = ""
    top: int = 3
    """Level of its highest headings, below the page's own."""


def render_markdown(text: str, base: Base, links: Links, language: str) -> Markup:
    """Clean HTML of `text`. Headings begin at `base.top`, links open our own viewer, images show when asked for."""
    key = (digest(text), base, links, language)
    made = _cache.get(key, lambda: _made(text, base, links, language))
    return Markup(made)  # noqa: S704 - sanitised by nh3


def _made(text: str, base: Base, links: Links, language: str) -> str:
    head = _head(text)
    html = _Render(base, links, language).html(head)
    left = len(text[len(head) :].strip().splitlines())
    return (
        html + Markup('<p class="gap">{}</p>').format(words(say("viewer.not_rendered", n=left), language))
        if left
        else html
    )


def _head(text: str) -> str:
    return "\n".join(text[:_MAX].split("\n", _MAX_LINES)[:_MAX_LINES])


class _Render:
    def __init__(self, base: Base, links: Links, language: str) -> None:
        self.base, self.links, self.language = base, links, language

    def html(self, text: str) -> str:
        spelled = inert.spell(text)
        raw = str(_parser().render(spelled))
        if _depth(raw) > _MAX_DEPTH:
            raw = str(_parser(html=False).render(spelled))
        levels = sorted({int(found[2]) for found in _HEADING.finditer(raw)})
        raw = _HEADING.sub(lambda found: f"{found[1]}h{min(6, self.base.top + levels.index(int(found[2])))}", raw)
        return nh3.clean(
            _images_as(self._image, raw),
            tags=set(_TAGS.split()),
            attributes=_ATTRIBUTES,
            attribute_filter=self._attribute,
            # What may scroll sideways can be reached by keyboard.
            set_tag_attribute_values={"pre": {"tabindex": "0"}, "table": {"tabindex": "0"}},
            url_schemes={"http", "https", "mailto"},
            link_rel="nofollow noopener ugc",
        )

    def _image(self, source: str, alt: str, linked: bool) -> str:
        """An image as a link that shows it, since none is loaded unasked; within another link only its name."""
        name = alt or unquote(source.rpartition("/")[2])[:80]
        shown = None if linked else self.shown_at(source)
        if shown is None:
            label = words(say("web.image", alt=name), self.language)
            return str(escape(label)) if linked else f'<a href="{escape(source)}">{escape(label)}</a>'
        label = words(say("viewer.show_image", alt=name), self.language)
        return f'<a class="{_SHOT}" href="{escape(shown)}">{escape(label)}</a>'

    def shown_at(self, source: str) -> str | None:
        """Our own address of an image: of a file beside the text, or of another site's, fetched by us."""
        try:
            parts = urlsplit(source)
        except ValueError:
            return None
        if not (parts.scheme or parts.netloc or parts.path.startswith("/")):
            path = self._path(parts.path)
            return self.links.raw(self.base.key, self.base.ref, path) if path else None
        target = self.target(source)
        return self.links.image(target) if target is not None and may_be_fetched(target) else None

    def _attribute(self, element: str, attribute: str, value: str) -> str | None:
        if attribute == "href":
            return value if self._is_shown_image(value) else self.target(value)
        if attribute == "id":
            return value if value.startswith("md-") else None
        if attribute == "class" and element in {"a", "span"}:
            return value if value in (_SPAN_CLASSES if element == "span" else {_SHOT}) else None
        if attribute == "class":
            return value if re.fullmatch(r"language-[\w+-]{1,30}", value) else None
        return value

    def _is_shown_image(self, url: str) -> bool:
        """Whether a link is one that `shown_at` made; a text that writes one itself gains nothing by it."""
        try:
            parts = urlsplit(url)
        except ValueError:
            return False
        if parts.path == "/-/image" and not parts.netloc:
            asked = dict(parse_qsl(parts.query))
            return self.links.is_image(asked.get("u", ""), asked.get("s", ""))
        return url.startswith(self.links.at(None).raw(self.base.key, self.base.ref, ""))

    def target(self, url: str) -> str | None:
        """Where a link of the text leads from here; None for one that leads nowhere."""
        try:
            parts = urlsplit(url)
        except ValueError:
            return None
        if parts.scheme or parts.netloc:
            return url if parts.scheme in {"http", "https", "mailto"} else None
        if not parts.path:
            return f"#md-{quote(unquote(parts.fragment).lower())}" if parts.fragment else None
        if parts.path.startswith("/"):
            return self.links.on_hub(parts.path)
        path = self._path(parts.path)
        return None if path is None else self.links.file(self.base.key, self.base.ref, path)

    def _path(self, relative: str) -> str | None:
        """A path of the repository or task, from one relative to the text; None for one that leads out of it."""
        path = normpath(f"{self.base.folder}/{unquote(relative)}".lstrip("/"))
        if path == ".." or path.startswith("../"):
            return None
        return "" if path == "." else path


def _images_as(drawn: Callable[[str, str, bool], str], html: str) -> str:
    """`html` with every image replaced by what `drawn` makes of its source, its text, and whether it is in a link."""
    depth = 0

    def replaced(found: re.Match[str]) -> str:
        nonlocal depth
        if not found[0].lower().startswith("<img"):
            depth = max(0, depth - 1) if found["end"] else depth + 1
            return found[0]
        reader = _ImageTag()
        reader.feed(found[0])
        return drawn(reader.found.get("src") or "", reader.found.get("alt") or "", depth > 0)

    return _IMAGES_AND_LINKS.sub(replaced, html)


class _ImageTag(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, str | None] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found = dict(attrs)


class _Renderer(RendererHTML):
    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return _code(tokens[idx].content, tokens[idx].info)

    def code_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return _code(tokens[idx].content, "")

    def heading_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        inline = tokens[idx + 1]
        slug = _WORDS.sub("-", self.renderInlineAsText(inline.children or [], options, env).lower()).strip("-")
        taken = env.setdefault("ids", {})
        taken[slug] = taken.get(slug, 0) + 1
        again = f"-{taken[slug] - 1}" if taken[slug] > 1 else ""
        return f'<{tokens[idx].tag} id="md-{escape(slug[:80] + again)}">'


def _code(text: str, info: str) -> str:
    word = (info.split() or [""])[0]
    lines = highlight.html_lines(text, lexers.lexer_name(None, word) if word else None)
    return f"<pre><code>{'\n'.join(lines)}</code></pre>\n"


def _depth(html: str) -> int:
    """How deep tags stand within one another, at most; ends that are left out count as missing."""
    depth = deepest = 0
    for found in _TAG.finditer(html):
        if found[2].lower() not in _SELF_CLOSING:
            depth = max(0, depth - 1) if found[1] else depth + 1
            deepest = max(deepest, depth)
    return deepest


def _inline(state: StateCore) -> None:
    """The parser's own rule, but for pieces on which it would take time that grows with their square."""
    for token in state.tokens:
        if token.type != "inline":
            continue
        token.children = []
        if len(token.content) > _MAX_PIECE:
            token.children.append(Token("code_inline", "code", 0, content=token.content))
        else:
            state.md.inline.parse(token.content, state.md, state.env, token.children)


@cache
def _parser(*, html: bool = True) -> MarkdownIt:
    parser = MarkdownIt("gfm-like", {"html": html, "linkify": True}, renderer_cls=_Renderer)
    parser.core.ruler.at("inline", _inline)
    return parser
