"""The proof that no answer leaves: a crawl of every link of a site that looks for answers in all it is given.

It shares no code with `rlx.answers`. What it looks for is a list derived by hand from real data, and canaries planted
in folders. What it follows: links, sources and GET forms of pages, alternate twins, addresses in JSON and Markdown,
robots.txt, the sitemap, llms.txt.
"""

import hashlib
import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urldefrag, urlencode, urljoin, urlsplit

import anyio
import httpx2

from rlx.errors import BadInput

CANARY = re.compile(r"RLX-CANARY-[A-Z0-9-]{6,}")
"""Planted in fixtures where answers stand."""
SHORTEST = 8
"""Characters of an answer. Shorter texts stand everywhere by chance."""
_STARTS = ("/robots.txt", "/sitemap.xml", "/llms.txt")
_STEP = 8
_OPTIONS = 12
"""Values of one select box or radio group that are tried."""
_ADDRESS = re.compile(r"\]\(\s*<?([^\s)>]+)|<loc>\s*([^<\s]+)\s*</loc>|^Sitemap:\s*(\S+)", re.MULTILINE)
_LINK = re.compile(r"<([^>]+)>")
_SCRIPTS = re.compile(r"javascript|font|image/|audio/|video/|octet-stream|css")


@dataclass(frozen=True, slots=True)
class Answer:
    """A text that must never be shown."""

    text: str
    repo: str = ""
    where: str = ""
    """A path or a row. Where it stands, for the report."""


@dataclass(frozen=True, slots=True)
class Leak:
    url: str
    answer: Answer
    part: str
    """`body`, `words` (the text of a page without its tags), `address`, or `header <name>`."""


@dataclass(frozen=True, slots=True)
class Fault:
    """An answer of 500 and above, or a link of the site's own that leads nowhere."""

    url: str
    status: int
    source: str
    """The page the link stood on."""


@dataclass(slots=True)
class CrawlReport:
    pages: int = 0
    bytes: int = 0
    leaks: list[Leak] = field(default_factory=list)
    errors: list[Fault] = field(default_factory=list)
    dead: list[Fault] = field(default_factory=list)
    statuses: dict[int, int] = field(default_factory=dict)
    truncated: bool = False
    """Whether `limit` ended the crawl."""

    @property
    def ok(self) -> bool:
        return not (self.leaks or self.errors or self.dead or self.truncated)


def load(path: Path) -> list[Answer]:
    """The answers of a list: JSON objects with `text` and, for the report, `repo` and `where`. Raises `BadInput`."""
    try:
        rows = json.loads(path.read_text("utf-8"))
        return [Answer(str(row["text"]), str(row.get("repo", "")), str(row.get("where", ""))) for row in rows]
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadInput(f"{path} is no list of answers.", hint="It is a JSON list of {repo, where, text}.") from error


def planted(hub_root: Path) -> list[Answer]:
    """Every canary that stands in a file below `hub_root`, once for each repository."""
    found: dict[tuple[str, str], Answer] = {}
    for path in sorted(hub_root.rglob("*")):
        if path.is_file():
            parts = path.relative_to(hub_root).parts
            repo, where = "/".join(parts[1:3]), "/".join(parts[3:])
            for match in CANARY.finditer(path.read_bytes().decode("utf-8", "replace")):
                found.setdefault((repo, match[0]), Answer(match[0], repo, where))
    return list(found.values())


class Needles:
    """Finds any of many texts, in the forms in which a site may write them, in one pass over a page.

    A page is cut at every eighth character into pieces of eight; a text of 15 characters or more holds one of its own
    pieces whole, at one of eight shifts, so a table of pieces tells where to look closely. Shorter texts are searched.
    """

    def __init__(self, answers: Iterable[Answer]) -> None:
        self._pieces: dict[str, list[tuple[str, int, Answer]]] = {}
        self._short: list[tuple[str, Answer]] = []
        seen: set[str] = set()
        for answer in answers:
            for form in dict.fromkeys(forms(answer.text)):
                if len(form) < SHORTEST or form in seen:
                    continue
                seen.add(form)
                if len(form) < 2 * _STEP - 1:
                    self._short.append((form, answer))
                else:
                    for shift in range(_STEP):
                        self._pieces.setdefault(form[shift : shift + _STEP], []).append((form, shift, answer))

    def find(self, text: str) -> list[Answer]:
        found = {id(answer): answer for form, answer in self._short if form in text}
        pieces = self._pieces
        for at in range(0, len(text) - _STEP + 1, _STEP):
            candidates = pieces.get(text[at : at + _STEP])
            if candidates:
                for form, shift, answer in candidates:
                    if id(answer) not in found and text.startswith(form, at - shift) and at >= shift:
                        found[id(answer)] = answer
        return list(found.values())


def forms(text: str) -> Iterator[str]:
    """The ways a site may write a text: raw, HTML-escaped, JSON-escaped, URL-escaped."""
    yield text
    yield text.replace("\r\n", "\n")
    escaped = html.escape(text)
    yield from (escaped, html.escape(text, quote=False), escaped.replace("&#x27;", "&#39;"))
    yield escaped.replace("&#x27;", "&#39;").replace("&quot;", "&#34;")
    for ascii_only in (True, False):
        written = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        yield written
        yield written.replace("/", "\\/")
        yield html.escape(written)
        yield json.dumps(written, ensure_ascii=ascii_only)[1:-1]
    yield quote(text)
    yield quote(text, safe="")
    yield quote(text).replace("%20", "+")


async def crawl(
    client: httpx2.AsyncClient,
    answers: Sequence[Answer],
    *,
    canary: re.Pattern[str] = CANARY,
    start: Sequence[str] = ("/",),
    on_progress: Callable[[int, int], None] | None = None,
    limit: int | None = None,
    concurrency: int = 4,
    skip: Callable[[str], bool] | None = None,
) -> CrawlReport:
    """Follow every link of the site that `client` reaches, breadth first, and report what should not be there.

    The client needs a `base_url`; only its origin is followed. `limit` bounds the pages, `skip` leaves addresses out
    (a log-out link). `on_progress` is told pages done and known.
    """
    site = _Site(client, Needles(answers), canary, skip or (lambda url: False))
    level = [(site.absolute(url, "/"), "start") for url in (*start, *_STARTS)]
    optional = {site.absolute(url, "/") for url in _STARTS}
    known = {url for url, _ in level if url}
    report = CrawlReport()
    slots = anyio.CapacityLimiter(concurrency)

    while level:
        if limit is not None and report.pages + len(level) > limit:
            level = level[: max(0, limit - report.pages)]
            report.truncated = True
        found: list[tuple[str, str]] = []

        async def visit(url: str, source: str, into: list[tuple[str, str]]) -> None:
            async with slots:
                links = await site.read(url, source, report, may_lack=url in optional)
            into.extend((link, url) for link in links)
            if on_progress is not None:
                on_progress(report.pages, len(known))

        async with anyio.create_task_group() as group:
            for url, source in level:
                if url:
                    group.start_soon(visit, url, source, found)
        level = []
        for url, source in found:
            if url not in known:
                known.add(url)
                level.append((url, source))
        if report.truncated:
            break
    return report


@dataclass(slots=True)
class _Site:
    client: httpx2.AsyncClient
    needles: Needles
    canary: re.Pattern[str]
    skip: Callable[[str], bool]
    bodies: set[bytes] = field(default_factory=set)
    """Digests of bodies that were searched."""

    async def read(self, url: str, source: str, report: CrawlReport, *, may_lack: bool) -> list[str]:
        """Fetch one address, note what is wrong with it, and give the addresses it names."""
        response = await self.client.get(url, follow_redirects=False)
        body = response.content
        report.pages += 1
        report.bytes += len(body)
        report.statuses[response.status_code] = report.statuses.get(response.status_code, 0) + 1
        if response.status_code >= 500:
            report.errors.append(Fault(url, response.status_code, source))
        elif response.status_code in {404, 410} and not may_lack:
            report.dead.append(Fault(url, response.status_code, source))
        text = body.decode("utf-8", "replace")
        links, words = _links(response.headers, text)
        self._search(url, response.headers, body, (text, words), report)
        return [link for link in dict.fromkeys(self.absolute(link, url) for link in links) if link]

    def _search(
        self, url: str, headers: Mapping[str, str], body: bytes, texts: tuple[str, str], report: CrawlReport
    ) -> None:
        for name, value in headers.items():
            self._note(url, f"header {name}", value, report)
        self._note(url, "address", unquote(url), report, only_canary=True)
        digest = hashlib.blake2b(body, digest_size=16).digest()
        if digest not in self.bodies:
            self.bodies.add(digest)
            self._note(url, "body", texts[0], report)
            self._note(url, "words", texts[1], report)

    def _note(self, url: str, part: str, text: str, report: CrawlReport, *, only_canary: bool = False) -> None:
        report.leaks.extend(Leak(url, Answer(match[0]), part) for match in self.canary.finditer(text))
        if not only_canary:
            report.leaks.extend(Leak(url, answer, part) for answer in self.needles.find(text))

    def absolute(self, link: str, base: str) -> str:
        """The address of a link on this site, without its fragment; empty for one that leads elsewhere."""
        try:
            url = urldefrag(urljoin(str(self.client.base_url.join(base)), link.strip()))[0]
            parts, home = urlsplit(url), urlsplit(str(self.client.base_url))
        except ValueError:
            return ""
        if parts.scheme not in {"http", "https"} or parts.netloc != home.netloc:
            return ""
        path = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
        return "" if self.skip(path) else path


def _links(headers: Mapping[str, str], text: str) -> tuple[list[str], str]:
    """The addresses a response names, and for a page the text between its tags, which highlighting cuts into pieces."""
    kind = headers.get("content-type", "")
    found = [match[1] for match in _LINK.finditer(headers.get("link", ""))]
    if "location" in headers:
        found.append(headers["location"])
    if _SCRIPTS.search(kind):
        return found, ""
    if "html" in kind:
        page = _Page()
        page.feed(text)
        page.close()
        return found + page.links, "".join(page.words)
    if "json" in kind:
        try:
            found += _addresses(json.loads(text))
        except (ValueError, RecursionError):
            return found, ""
    elif "text/plain" not in kind or text.startswith(("User-agent", "#", "Sitemap")):
        found += [next(filter(None, match.groups())) for match in _ADDRESS.finditer(text)]
    return found, ""


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
        self.words: list[str] = []
        self._form: str | None = None
        self._fields: list[tuple[str, str]] = []
        self._choices: dict[str, list[str]] = {}
        self._select: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        for name in ("href", "src", "data", "poster", "data-src", "data-url"):
            if given.get(name) and tag not in {"base"}:
                self.links.append(given[name])
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
