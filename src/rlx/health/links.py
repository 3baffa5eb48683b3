"""The addresses that a response names: links, sources and GET forms of pages, twins, fields of JSON, Markdown."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urlencode

_OPTIONS = 12
"""Values of one select box or radio group that are tried."""
_ADDRESS = re.compile(r"\]\(\s*<?([^\s)>]+)|<loc>\s*([^<\s]+)\s*</loc>|^Sitemap:\s*(\S+)", re.MULTILINE)
_LINK = re.compile(r"<([^>]+)>")
_SCRIPTS = re.compile(r"javascript|font|image/|audio/|video/|octet-stream|css")


@dataclass(frozen=True, slots=True)
class Links:
    ours: list[str]
    """What the site itself points at."""
    theirs: list[str] = field(default_factory=list)
    """What a document it shows points at (`rel=ugc`, links in Markdown); they may lead nowhere."""
    words: str = ""
    """The text of a page between its tags, which highlighting cuts into pieces."""


def links_of(headers: Mapping[str, str], text: str, *, told: bool) -> Links:
    """The addresses a response names. `told`: it is a text of the site's own, such as llms.txt; other plain text is a
    file of a repository, and names nothing."""
    kind = headers.get("content-type", "")
    found = [match[1] for match in _LINK.finditer(headers.get("link", ""))]
    if "location" in headers:
        found.append(headers["location"])
    if _SCRIPTS.search(kind):
        return Links(found)
    if "html" in kind:
        page = _Page()
        page.feed(text)
        page.close()
        return Links(found + page.links, page.theirs, "".join(page.words))
    if "json" in kind:
        try:
            found += _addresses(json.loads(text))
        except (ValueError, RecursionError):
            return Links(found)
    elif told or "text/plain" not in kind:
        named = [next(filter(None, match.groups())) for match in _ADDRESS.finditer(text)]
        return Links(found, named) if "markdown" in kind else Links(found + named)
    return Links(found)


def _addresses(value: object) -> Iterator[str]:
    """Texts under `next`, `url`, `href`, `page`, `api` and the like that look like addresses of this site."""
    if isinstance(value, dict):
        for key, inner in value.items():
            named = re.search(r"(?:^|_)(?:next|prev|url|href|page|api|link|raw|twin|self)$", str(key))
            if named and isinstance(inner, str) and re.match(r"/(?!/)\S*$|https?://\S+$", inner):
                yield inner
            else:
                yield from _addresses(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _addresses(inner)


class _Page(HTMLParser):
    """The addresses of a page, and those its GET forms lead to with their own values and options."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.links: list[str] = []
        self.theirs: list[str] = []
        self.words: list[str] = []
        self._form: str | None = None
        self._fields: list[tuple[str, str]] = []
        self._choices: dict[str, list[str]] = {}
        self._select: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        for name in ("href", "src", "data", "poster", "data-src", "data-url"):
            if given.get(name) and tag not in {"base"}:
                (self.theirs if "ugc" in given.get("rel", "").split() else self.links).append(given[name])
        if given.get("srcset"):
            self.links += [part.split()[0] for part in given["srcset"].split(",") if part.split()]
        if tag == "form":
            self._open(given)
        elif self._form is not None and tag in {"input", "button"} and given.get("name"):
            self._input(given)
        elif self._form is not None and tag == "select":
            self._select = given.get("name")
        elif self._select and tag == "option" and "value" in given:
            self._choices.setdefault(self._select, []).append(given["value"])

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "select":
            self._select = None
        elif tag == "form" and self._form is not None:
            self.links += list(self._addresses())
            self._form = None

    def _open(self, given: Mapping[str, str]) -> None:
        get = given.get("method", "get").lower() == "get"
        self._form = (given.get("action") or "") if get else None
        self._fields, self._choices, self._select = [], {}, None

    def _input(self, given: Mapping[str, str]) -> None:
        kind = given.get("type", "text").lower()
        if kind in {"radio", "checkbox", "submit"}:
            self._choices.setdefault(given["name"], []).append(given.get("value", "on"))
        elif kind not in {"file", "image", "reset", "password"}:
            self._fields.append((given["name"], given.get("value", "")))

    def _addresses(self) -> Iterator[str]:
        """The form as it stands, and once with each of its options."""
        action, _, query = (self._form or "").partition("?")
        base = [*parse_qsl(query), *self._fields]
        yield f"{action}?{urlencode(base)}" if base else action
        for name, values in self._choices.items():
            for value in values[:_OPTIONS]:
                yield f"{action}?{urlencode([*base, (name, value)])}"
