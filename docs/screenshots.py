"""Pictures of every type of page, in both themes, on a phone and on a wide screen: `python docs/screenshots.py`.

Serves the demo, or the hub given with --hub, and writes small images into --out. Needs Chromium.
"""

import argparse
import base64
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from playwright.sync_api import Browser, Page, sync_playwright

IMAGES = Path(__file__).parent / "images"
MOST = 120_000
"""Bytes of one image."""
WIDTHS = {"phone": (360, 780), "wide": (1440, 900)}
TASK = "/t/rl-explorer/first-steps/tasks/fix-median"
DEMO_PAGES = {
    "explore": "/",
    "tasks": "/tasks?q=file",
    "environment": "/d/rl-explorer/first-steps",
    "comparison": "/envs?env=rl-explorer/first-steps&env=rl-explorer/word-puzzles",
    "card": "/d/rl-explorer/word-puzzles/card",
    "files": "/d/rl-explorer/first-steps/files",
    "revisions": "/d/rl-explorer/first-steps/revisions",
    "server": "/s/rl-explorer/echo-env",
    "task": TASK,
    "steps": "/t/rl-explorer/first-steps/tasks/stock-take",
    "file": f"{TASK}?path=tests/check.py",
    "table": "/t/rl-explorer/first-steps/tasks/sales-figures?path=environment/orders.csv",
    "login": "/login",
    "missing": "/d/rl-explorer/nowhere",
    "patterns": "/-/patterns",
}


def main() -> None:
    options = _options()
    chromium = shutil.which("chromium") or sys.exit("Chromium is not installed.")
    pages = dict(item.split("=", 1) for item in options.page) if options.page else DEMO_PAGES
    options.out.mkdir(parents=True, exist_ok=True)
    hub = ("--hub", options.hub) if options.hub else ("--demo",)
    with served(*hub) as url, sync_playwright() as playwright:
        if not (options.hub or options.page):
            pages |= _run_pages(url)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for path in pages.values():
            _wait_until_read(f"{url}{path}")
        for theme in ("light", "dark"):
            for screen in WIDTHS:
                _take(browser, url, pages, theme, screen, options)
        browser.close()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hub", help="a folder of repositories, instead of the demo")
    parser.add_argument("--out", type=Path, default=IMAGES)
    parser.add_argument("--page", action="append", metavar="NAME=PATH", help="a page to take, instead of the demo's")
    parser.add_argument("--lang", default="en", choices=("en", "ko"))
    return parser.parse_args()


@contextmanager
def served(*arguments: str) -> Iterator[str]:
    """The address of `rlx serve ARGUMENTS` over a store of its own."""
    with tempfile.TemporaryDirectory() as store, tempfile.TemporaryFile("w+") as log:
        command = [sys.executable, "-m", "rlx", "serve", *arguments, "--store", store, "--port", "0"]
        process = subprocess.Popen(command, stderr=log, text=True)
        try:
            address = None
            while address is None and process.poll() is None:
                log.seek(0)
                address = re.search(r"http://127\.0\.0\.1:\d+", log.read())
            if address is None:
                sys.exit("The server did not start.")
            yield address[0]
        finally:
            process.terminate()
            process.wait()


def _wait_until_read(url: str) -> None:
    """The server holds a request for an environment that is being read; ask until it is there."""
    try:
        while True:
            with urlopen(url, timeout=60) as answer:
                if answer.status != 202:
                    return
    except OSError:
        return  # a page that is meant to be missing


def _run_pages(url: str) -> dict[str, str]:
    """Rollouts of the demo, run now where this machine can: an agent that solves a task, and one that does not."""
    found = {"runs": "/runs"}
    for name, script in (("run", "solve"), ("run-unsolved", "wrong")):
        model = {"kind": "scripted", "id": script}
        asked = {"env": "rl-explorer/first-steps", "ref": "tasks/tidy-config", "agent": "simple", "model": model}
        started = _ask(f"{url}/api/runs", asked)
        if started is None:
            print("No rollouts: this machine runs none.", file=sys.stderr)
            return found
        while not (_ask(f"{url}/api/runs/{started['id']}") or {}).get("finished_at"):
            time.sleep(0.5)
        found[name] = f"/run/{started['id']}"
    return found


def _ask(url: str, body: object = None) -> dict[str, str] | None:
    """What the API answers; None where it refuses."""
    data = None if body is None else json.dumps(body).encode()
    try:
        with urlopen(Request(url, data, {"content-type": "application/json"}), timeout=60) as answer:
            told: dict[str, str] = json.loads(answer.read())
            return told
    except HTTPError:
        return None


def _take(
    browser: Browser, url: str, pages: dict[str, str], theme: str, screen: str, options: argparse.Namespace
) -> None:
    width, height = WIDTHS[screen]
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if theme == "dark" else "light",
        locale=options.lang,
        base_url=url,
    )
    page = context.new_page()
    for name, path in pages.items():
        page.goto(path, wait_until="networkidle")
        target = options.out / f"{name}-{theme}-{screen}.webp"
        target.write_bytes(_image(page))
        print(f"{target} {target.stat().st_size:,}")
        if (name, theme, screen, options.hub) == ("explore", "light", "wide", None):
            page.screenshot(path=options.out / "explore.png")
    context.close()


def _image(page: Page) -> bytes:
    """What the window shows, as WebP, as fine as the limit allows."""
    session = page.context.new_cdp_session(page)
    for quality in (80, 60, 40, 20):
        shot = session.send("Page.captureScreenshot", {"format": "webp", "quality": quality})
        data = base64.b64decode(shot["data"])
        if len(data) <= MOST:
            return data
    raise SystemExit(f"{page.url} makes no image of {MOST:,} bytes.")


if __name__ == "__main__":
    main()
