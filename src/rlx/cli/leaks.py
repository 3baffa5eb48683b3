"""The crawl behind `rlx doctor --leaks`: the whole site over a folder, served and read within this process."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import httpx2

from rlx.cli.output import Output, Record, Tell, note
from rlx.cli.session import with_services
from rlx.errors import BadInput
from rlx.health.leaks import Answer, CrawlReport, Leak, crawl, load, planted
from rlx.health.needles import SHORTEST, almost_planted, too_short
from rlx.model import Viewer
from rlx.services import Services
from rlx.settings import Settings
from rlx.web.app import create_app

SITE = "http://127.0.0.1"
_CANARY_FORM = "A canary is RLX-CANARY- and 6 or more of A-Z, 0-9 and dash."


@dataclass(frozen=True, slots=True)
class Crawled:
    answers: Mapping[str, Answer]
    """What was looked for, by its text."""
    report: CrawlReport

    def shown(self) -> list[Record]:
        """Each answer that an address shows, once: where it stands in the folder, and where on the page."""
        found: dict[tuple[str, str], Leak] = {}
        for leak in self.report.leaks:
            found.setdefault((leak.url, leak.answer.text), leak)
        return [{"url": leak.url, "part": leak.part, "answer": self._place(leak.answer)} for leak in found.values()]

    def _place(self, answer: Answer) -> str:
        """A canary that no file of the folder holds is told by itself."""
        known = self.answers.get(answer.text, answer)
        return f"{known.repo} {known.where}".strip() or answer.text


def crawl_site(settings: Settings, folder: Path, lists: Sequence[Path], tell: Tell) -> Crawled:
    """Read every environment of the folder, then follow every link of the site as a stranger would.

    Raises `BadInput` when there is nothing to look for, since then nothing would be proved.
    """
    answers = _wanted(folder, lists)

    async def work(services: Services, viewer: Viewer) -> CrawlReport:
        await services.catalog.all(viewer, tasks=True)
        app = create_app(services, token=lambda settings: None)
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url=SITE, timeout=60) as client:
            # What lies behind these addresses is another site's.
            return await crawl(client, answers, on_progress=tell, skip=lambda path: path.startswith("/-/image"))

    return Crawled({answer.text: answer for answer in answers}, with_services(settings, work))


def _wanted(folder: Path, lists: Sequence[Path]) -> list[Answer]:
    """What can be looked for. What cannot is told."""
    for near in almost_planted(folder):
        note(f"Warning: {near.text} in {near.repo} {near.where} is no canary, so it is not looked for. {_CANARY_FORM}")
    listed = [answer for path in lists for answer in load(path)]
    short = too_short(listed)
    if short:
        note(
            f"Warning: {len(short):,} of {len(listed):,} answers have fewer than {SHORTEST} characters: not looked for."
        )
    answers = [answer for answer in listed if answer not in short] + planted(folder)
    if not answers:
        raise BadInput(
            "There is nothing to look for: no canary is planted in the folder and no answer is listed.",
            hint=f"Plant one where an answer stands, or pass --answers FILE. {_CANARY_FORM}",
        )
    return answers


def report(crawled: Crawled, output: Output) -> bool:
    """Print what was found; True when it is nothing. Answers are told by where they stand."""
    found, shown = crawled.report, crawled.shown()
    if output.format == "json":
        output.json(
            {
                "ok": found.ok,
                "addresses": found.pages,
                "bytes": found.bytes,
                "answers": len(crawled.answers),
                "statuses": {str(status): count for status, count in sorted(found.statuses.items())},
                "leaks": shown,
                "errors": [asdict(item) for item in found.errors],
                "dead": [asdict(item) for item in found.dead],
            }
        )
    else:
        rows: list[Record] = [{"fault": "answer", "url": leak["url"], "detail": leak["answer"]} for leak in shown]
        for fault, items in (("error", found.errors), ("dead link", found.dead)):
            rows += [{"fault": fault, "url": x.url, "detail": f"{x.status}, linked from {x.source}"} for x in items]
        output.table(rows, ("fault", "url", "detail"), id_columns=("url",))
    note(
        f"{found.pages:,} addresses, {found.bytes / 2**20:,.1f} MiB, {len(crawled.answers):,} answers looked for: "
        f"{len(shown):,} shown, {len(found.errors):,} errors, {len(found.dead):,} dead links."
    )
    return found.ok
