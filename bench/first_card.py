"""When the first environment can be seen after a navigation to explore: `python bench/first_card.py [--hub DIR]`.

A warm server on this machine, headless Chromium. Times are the browser's own, in ms from the start of the navigation:
the paint in which the first card stood, by the Element Timing API. Bytes are those on the wire. What the browser itself
takes is told by a page of one line from a bare server, without a style or a script. Asserted nowhere.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, sync_playwright

GOAL_MS = 150
SCREENS = {"phone": (360, 780), "wide": (1440, 900)}
WATCH = """
const card = "main li.card, main ol.index > li";
new MutationObserver((records, observer) => {
  const found = document.querySelector(card);
  if (!found) return;
  for (const part of found.querySelectorAll("*")) part.setAttribute("elementtiming", "card");
  observer.disconnect();
}).observe(document, { childList: true, subtree: true });
window.cardSeen = new Promise((done) => {
  new PerformanceObserver((list) => done(list.getEntries()[0].renderTime)).observe({ type: "element", buffered: true });
});
"""
FIGURES = """async () => {
  const entries = performance.getEntriesByType("resource"), page = performance.getEntriesByType("navigation")[0];
  const bytes = (kind) => entries.reduce((sum, item) => sum + (kind.test(item.name) ? item.transferSize : 0), 0);
  return {
    card: await window.cardSeen,
    first: performance.getEntriesByName("first-contentful-paint")[0].startTime,
    document: page.encodedBodySize, styles: bytes(/[.]css$/), scripts: bytes(/[.]js$/),
  };
}"""


@dataclass(frozen=True, slots=True)
class Visit:
    card: float
    """ms to the paint that showed the first card."""
    first: float
    """ms to the first contentful paint."""
    document: int
    styles: int
    scripts: int


class _Line(BaseHTTPRequestHandler):
    """A page of one line, drawn like the first card is looked for."""

    protocol_version = "HTTP/1.1"
    page = b"<!doctype html><title>line</title><main><ol class=index><li><p>one line</p></li></ol></main>"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(self.page)))
        self.end_headers()
        self.wfile.write(self.page)

    def log_message(self, format: str, *args: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that closes a connection it opened in advance is no error."""


@contextmanager
def one_line() -> Iterator[str]:
    """The address of a bare server of one page."""
    with _Server(("127.0.0.1", 0), _Line) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def served(*arguments: str) -> Iterator[str]:
    """The address of `rlx serve` over a store of its own."""
    with tempfile.TemporaryDirectory() as store, Path(store, "log").open("w+") as log:
        command = [sys.executable, "-m", "rlx", "serve", *arguments, "--store", store, "--port", "0"]
        server = subprocess.Popen(command, stderr=log)
        try:
            found = None
            while found is None and server.poll() is None:
                found = re.search(r"http://127\.0\.0\.1:\d+", Path(store, "log").read_text())
            if found is None:
                raise SystemExit("The server did not start.")
            yield found[0]
        finally:
            server.terminate()
            server.wait()


def visit(context: BrowserContext, before: str) -> Visit:
    """Explore, in a tab that showed the page `before`: its process is there before the navigation that counts."""
    page = context.new_page()
    page.goto(before)
    page.goto("/", wait_until="load")
    seen = Visit(**page.evaluate(FIGURES))
    page.close()
    return seen


BEFORE = {"first": "/llms.txt", "again": "/llms.txt", "from a page": "/login"}
"""Visits by newcomers, whose browser keeps nothing yet; in another tab; and from a page of the same site."""


def measure(
    browser: Browser, url: str, screen: str, count: int, kinds: Iterable[str] = BEFORE
) -> dict[str, list[Visit]]:
    width, height = SCREENS[screen]
    visits: dict[str, list[Visit]] = {who: [] for who in kinds}
    for _ in range(count):
        context = browser.new_context(viewport={"width": width, "height": height}, base_url=url)
        context.add_init_script(WATCH)
        for who, seen in visits.items():
            seen.append(visit(context, BEFORE[who]))
        context.close()
    return visits


def tell(who: str, visits: list[Visit]) -> None:
    cards = sorted(item.card for item in visits)
    first = statistics.median(item.first for item in visits)
    slow = cards[round(0.95 * (len(cards) - 1))]
    last = visits[-1]
    weight = f"{last.document:,} + {last.styles:,} + {last.scripts:,}"
    print(f"| {who} | {statistics.median(cards):.0f} | {slow:.0f} | {first:.0f} | {weight} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hub", help="a folder of repositories, instead of the demo")
    parser.add_argument("--visits", type=int, default=20, help="how many of each kind")
    options = parser.parse_args()
    chromium = shutil.which("chromium") or sys.exit("Chromium is not installed.")
    with served(*(("--hub", options.hub) if options.hub else ("--demo",))) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        measure(browser, url, "wide", 5)  # warms the server and the browser
        load = os.getloadavg()[0]
        print(f"{options.visits} visits each, load {load:.1f} on {os.cpu_count()} cores; the goal is {GOAL_MS} ms.\n")
        print("| visit | card p50, ms | card p95, ms | first paint p50, ms | bytes: page + styles + scripts |")
        print("|---|---|---|---|---|")
        for screen in SCREENS:
            with one_line() as bare:
                tell(f"one line, {screen}", measure(browser, bare, screen, options.visits, ["again"])["again"])
            for who, visits in measure(browser, url, screen, options.visits).items():
                tell(f"{screen}, {who}", visits)
        browser.close()


if __name__ == "__main__":
    main()
