"""The proof that no answer leaves: a crawl of every link of a site that looks for answers in all it is given.

It shares no code with `rlx.answers`. What it looks for is a list derived by hand from real data, and canaries planted
in folders.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urldefrag, urlencode, urljoin, urlsplit

import anyio
import httpx2

from rlx.health.links import links_of
from rlx.health.needles import CANARY, Answer, Needles, load, planted

__all__ = ["CANARY", "Answer", "CrawlReport", "Fault", "Leak", "crawl", "load", "planted"]

_STARTS = ("/robots.txt", "/sitemap.xml", "/llms.txt")


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


async def crawl(
    client: httpx2.AsyncClient,
    answers: Sequence[Answer],
    *,
    canary: re.Pattern[str] = CANARY,
    start: Sequence[str] = ("/",),
    on_progress: Callable[[int, int], None] | None = None,
    limit: int | None = None,
    concurrency: int = 4,
    variants: int = 60,
    skip: Callable[[str], bool] | None = None,
) -> CrawlReport:
    """Follow every link of the site that `client` reaches, breadth first, and report what should not be there.

    The client needs a `base_url`; only its origin is followed. `limit` bounds the pages, `skip` leaves addresses out
    (a log-out link). Filters and sorts combine without end, so of each path the `variants` addresses with the fewest
    parameters are followed. `on_progress` is told pages done and known.
    """
    site = _Site(client, Needles(answers), canary, skip or (lambda url: False))
    level = [(site.absolute(url, "/"), "start") for url in (*start, *_STARTS)]
    site.may_lack |= {site.absolute(url, "/") for url in _STARTS}
    known = {url for url, _ in level if url}
    followed: Counter[str] = Counter()
    report = CrawlReport()
    slots = anyio.CapacityLimiter(concurrency)

    while level:
        if limit is not None and report.pages + len(level) > limit:
            level = level[: max(0, limit - report.pages)]
            report.truncated = True
        found: list[tuple[str, str]] = []

        async def visit(url: str, source: str, into: list[tuple[str, str]]) -> None:
            async with slots:
                links = await site.read(url, source, report)
            into.extend((link, url) for link in links)
            if on_progress is not None:
                on_progress(report.pages, len(known))

        async with anyio.create_task_group() as group:
            for url, source in level:
                if url:
                    group.start_soon(visit, url, source, found)
        level = []
        for url, source in sorted(found, key=lambda item: item[0].count("&")):
            path = url.partition("?")[0]
            if url not in known and followed[path] < variants:
                followed[path] += 1
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
    may_lack: set[str] = field(default_factory=set)
    """Addresses that a document names, or that a site need not have."""

    async def read(self, url: str, source: str, report: CrawlReport) -> list[str]:
        """Fetch one address, note what is wrong with it, and give the addresses it names."""
        response = await self.client.get(url, follow_redirects=False)
        body = response.content
        report.pages += 1
        report.bytes += len(body)
        report.statuses[response.status_code] = report.statuses.get(response.status_code, 0) + 1
        if response.status_code >= 500:
            report.errors.append(Fault(url, response.status_code, source))
        elif response.status_code in {404, 410} and url not in self.may_lack:
            report.dead.append(Fault(url, response.status_code, source))
        text = body.decode("utf-8", "replace")
        links = links_of(response.headers, text, told=url in _STARTS)
        self._search(url, response.headers, body, (text, links.words), report)
        self.may_lack |= {self.absolute(link, url) for link in links.theirs}
        named = [self.absolute(link, url) for link in (*links.ours, *links.theirs)]
        return [link for link in dict.fromkeys(named) if link]

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
        query = urlencode([item for item in parse_qsl(parts.query) if item[1]])  # an empty field changes nothing
        path = f"{parts.path or '/'}{f'?{query}' if query else ''}"
        return "" if self.skip(path) else path
