"""The crawl behind `rlx doctor --leaks`: the whole site over a folder, served and read within this process."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import httpx2

from rlx.cli.output import Output, Record, Tell, note
from rlx.cli.session import with_services
from rlx.health.leaks import Answer, CrawlReport, Leak, crawl, load, planted
from rlx.model import Viewer
from rlx.services import Services
from rlx.settings import Settings
from rlx.web.app import create_app

SITE = "http://127.0.0.1"


@dataclass(frozen=True, slots=True)
class Crawled:
    answers: int
    """How many texts were looked for."""
    report: CrawlReport


def crawl_site(settings: Settings, folder: Path, lists: Sequence[Path], tell: Tell) -> Crawled:
    """Read every environment of the folder, then follow every link of the site as a stranger would."""
    answers = [answer for path in lists for answer in load(path)] + planted(folder)

    async def work(services: Services, viewer: Viewer) -> CrawlReport:
        await services.catalog.all(viewer)
        app = create_app(services, token=lambda settings: None)
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url=SITE, timeout=60) as client:
            return await crawl(client, answers, on_progress=tell)

    return Crawled(len(answers), with_services(settings, work))


def report(crawled: Crawled, output: Output) -> bool:
    """Print what was found; True when it is nothing. Answers are told by where they stand."""
    found = crawled.report
    if output.format == "json":
        output.json(_record(crawled))
    else:
        rows: list[Record] = [{"fault": "answer", "url": leak.url, "detail": _where(leak)} for leak in found.leaks]
        for fault, items in (("error", found.errors), ("dead link", found.dead)):
            rows += [
                {"fault": fault, "url": item.url, "detail": f"{item.status}, linked from {item.source}"}
                for item in items
            ]
        output.table(rows, ("fault", "url", "detail"), id_columns=("url",))
    note(
        f"{found.pages:,} addresses, {found.bytes / 2**20:,.1f} MiB, {crawled.answers:,} answers looked for: "
        f"{len(found.leaks):,} shown, {len(found.errors):,} errors, {len(found.dead):,} dead links."
    )
    return found.ok


def _where(leak: Leak) -> str:
    return f"{_name(leak.answer)}, in its {leak.part}"


def _name(answer: Answer) -> str:
    """Where an answer of a list stands; a canary that no file of the folder holds, by itself."""
    return f"{answer.repo} {answer.where}".strip() or answer.text


def _record(crawled: Crawled) -> Record:
    found = crawled.report
    return {
        "ok": found.ok,
        "addresses": found.pages,
        "bytes": found.bytes,
        "answers": crawled.answers,
        "statuses": {str(status): count for status, count in sorted(found.statuses.items())},
        "leaks": [{"url": leak.url, "part": leak.part, "answer": _name(leak.answer)} for leak in found.leaks],
        "errors": [asdict(item) for item in found.errors],
        "dead": [asdict(item) for item in found.dead],
    }
