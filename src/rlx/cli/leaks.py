"""The crawl behind `rlx doctor --leaks`: the whole site over a folder, served and read within this process."""

from collections.abc import Sequence
from pathlib import Path

import anyio
import httpx2

from rlx.cli.output import Output, Record, Tell, note
from rlx.health.leaks import CANARY, CrawlReport, crawl, load, planted
from rlx.services import create_services
from rlx.settings import Settings
from rlx.web.app import create_app

SITE = "http://127.0.0.1"


def crawl_site(settings: Settings, folder: Path, lists: Sequence[Path], tell: Tell) -> CrawlReport:
    """Read every environment of the folder, then follow every link of the site from its front page."""
    answers = [answer for path in lists for answer in load(path)] + planted(folder)

    async def main() -> CrawlReport:
        async with create_services(settings) as services:
            await services.catalog.all(_nobody())
            transport = httpx2.ASGITransport(app=create_app(services), raise_app_exceptions=False)
            async with httpx2.AsyncClient(transport=transport, base_url=SITE, timeout=60) as client:
                return await crawl(client, answers, canary=CANARY, on_progress=tell)

    return anyio.run(main)
