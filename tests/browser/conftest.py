"""A real Chromium over a real server: `site` serves the fixture hub, `demo` the demo hub, `visit` opens pages."""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect, sync_playwright

from rlx.jobs.queue_service import open_rollouts
from rlx.settings import Settings
from rlx.store.instance import InstanceFile
from tests.browser.page_types import DONE, FAILED, PAGE_TYPES, SEATED, SOLVED
from tests.recorded import Recorder

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

type Theme = Literal["light", "dark"]
type Contexts = dict[tuple[bool, str], BrowserContext]
"""By whether scripts run, and the language."""

FORGET = "() => { localStorage.clear(); sessionStorage.clear(); }"


# Without slots: Playwright hangs its wrappers on the owner of a bound handler.
@dataclass
class Visitor:
    """Opens pages of one server and remembers what went wrong on them."""

    browser: Browser
    url: str
    problems: list[str] = field(default_factory=list)
    """Console errors and warnings, uncaught exceptions, requests elsewhere. A test that expects some empties it."""
    pages: list[Page] = field(default_factory=list)
    status: int = 0
    """What the last page was answered with."""
    shared: Contexts | None = None
    """Where pages are opened in contexts that are there: a new renderer takes longer than a page."""

    def __call__(
        self,
        path: str = "/",
        *,
        width: int = 1080,
        height: int = 900,
        theme: Theme = "light",
        scripts: bool = True,
        locale: str = "en",
    ) -> Page:
        """A page, loaded, in a browser context of its own or, where they are shared, in the one for its kind."""
        context = (self.shared or {}).get((scripts, locale)) or self.browser.new_context(
            java_script_enabled=scripts, locale=locale, base_url=self.url
        )
        if self.shared is not None:
            self.shared[scripts, locale] = context
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=theme)
        page.set_default_timeout(15_000)
        self.pages.append(page)
        page.on("console", lambda said: self._note(page, said.type, said.text))
        page.on("pageerror", lambda error: self.problems.append(f"{page.url}: {error}"))
        page.on("request", self._check)
        answer = page.goto(path)
        self.status = answer.status if answer else 0
        return page

    def _note(self, page: Page, kind: str, text: str) -> None:
        if kind in {"error", "warning"}:
            self.problems.append(f"{page.url}: {text}")

    def _check(self, request: Request) -> None:
        if not request.url.startswith((self.url, "data:", "blob:", "about:")):
            self.problems.append(f"{request.frame.url} asked for {request.url}")

    def expect(self, status: int) -> None:
        """The last page was answered so. Of an error the browser itself logs one line: let that one pass."""
        assert self.status == status
        if status >= 400:
            self.problems[:] = [problem for problem in self.problems if f"status of {status}" not in problem]

    def close(self) -> None:
        for page in self.pages:
            if self.shared is None:
                page.context.close()
            else:
                page.evaluate(FORGET)
                page.context.clear_cookies()
                page.close()


@contextmanager
def served(*arguments: str, store: Path, worker: bool = False) -> Iterator[str]:
    """The address of `rlx serve ARGUMENTS` in a process of its own, with a worker of its own if one is asked for."""
    env = {"HOME": str(store), "RLX_CACHE_DIR": str(store / "cache"), "RLX_STORE": str(store / "store")}
    env["PATH"] = os.environ["PATH"] if worker else ""
    command = [sys.executable, "-m", "rlx", "serve", *arguments, "--port", "0", "--worker" if worker else "--no-worker"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=env)
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+", said)
        assert address, said
        # What it says later must be taken, or it waits for a reader once the pipe is full.
        drain = threading.Thread(target=process.stderr.read, daemon=True)
        drain.start()
        yield address[0]
    finally:
        if worker:
            process.terminate()
        else:
            process.kill()
        process.wait()
    drain.join()
    process.stderr.close()


def read(url: str, *paths: str) -> None:
    """Ask for pages until they are there. The server itself holds a request for an environment that is being read."""
    for path in paths:
        for _ in range(60):
            with urlopen(url + path, timeout=60) as answer:  # noqa: S310 - loopback
                if answer.status == 200:
                    break
        else:
            pytest.fail(f"{path} was never read")


def look_through(url: str) -> None:
    """Wait till the worklist knows every environment: until then it tells more with every visit."""
    for _ in range(600):
        with urlopen(f"{url}/worklist?format=json", timeout=60) as answer:  # noqa: S310 - loopback
            told = json.load(answer)
        if not told["running"] and not told["pending"]:
            return
    pytest.fail("The catalog was never looked through.")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, fixture_hub: Path) -> Iterator[str]:
    """The address of a server over the fixture hub."""
    store = tmp_path_factory.mktemp("site")
    with recording(store) as recorder:
        recorder.done(id=DONE)
        recorder.oracle(id=SOLVED)
        recorder.failed(id=FAILED)
        recorder.done(id=SEATED, agent="human")
    with served("--hub", str(fixture_hub), store=store) as url:
        # A page of an environment that is being read shows itself anew in the midst of what is looked at.
        read(url, *(item.path for item in PAGE_TYPES if item.status == 200 and re.match(r"/[dst]/", item.path)))
        look_through(url)
        yield url


@contextmanager
def recording(store: Path) -> Iterator[Recorder]:
    """Writes rollouts into the store of a server."""
    settings = Settings(store=store / "store", cache_dir=store / "cache")
    rollouts = open_rollouts(settings, InstanceFile(settings.store))
    yield Recorder(rollouts, "acme/layout-tasks", "tasks/fix-parser")
    rollouts.close()


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server over the demo hub, its environments read."""
    with served("--demo", store=tmp_path_factory.mktemp("demo")) as url:
        read(url, *(f"/{kind}/rl-explorer/{name}" for kind, name in DEMO))
        yield url


DEMO = (("d", "first-steps"), ("d", "word-puzzles"), ("s", "echo-env"))


@pytest.fixture(scope="session")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server over an environment whose first reading does not end: the Hub keeps its files back."""
    folder = tmp_path_factory.mktemp("held")
    for n in range(3):
        task = folder / "hub" / "datasets" / "acme" / "held" / "tasks" / f"task-{n}"
        task.mkdir(parents=True)
        (task / "instruction.md").write_text(f"Solve puzzle {n}.\n")
        (task / "task.toml").write_text('[metadata]\ndifficulty = "easy"\n')
    (folder / "hub" / "hub.json").write_text(json.dumps({"faults": [{"path": "*/resolve/*", "delay": 600}]}))
    with served("--hub", str(folder / "hub"), store=folder / "store") as url:
        yield url


# One module at a time: while Playwright's loop is open, no other test of the process may run a loop of its own.
@pytest.fixture(scope="module")
def browser(require_tool: Callable[[str], str]) -> Iterator[Browser]:
    chromium = require_tool("chromium")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        yield found
        found.close()


@pytest.fixture
def visit(browser: Browser, demo: str) -> Iterator[Visitor]:
    """Opens pages of the demo; fails the test when a page's console tells of a problem."""
    yield from _visitor(browser, demo)


@pytest.fixture
def visit_site(browser: Browser, site: str) -> Iterator[Visitor]:
    """The same over the fixture hub."""
    yield from _visitor(browser, site)


@pytest.fixture(scope="module")
def contexts(browser: Browser) -> Iterator[Contexts]:
    made: Contexts = {}
    yield made
    for context in made.values():
        context.close()


@pytest.fixture
def walk_site(browser: Browser, site: str, contexts: Contexts) -> Iterator[Visitor]:
    """The same for audits of every page: pages share contexts, and what one stored is gone before the next."""
    yield from _visitor(browser, site, contexts)


@pytest.fixture
def visit_held(browser: Browser, held: str) -> Iterator[Visitor]:
    """The same over an environment that stays being read."""
    yield from _visitor(browser, held)


def _visitor(browser: Browser, url: str, shared: Contexts | None = None) -> Iterator[Visitor]:
    visitor = Visitor(browser, url, shared=shared)
    yield visitor
    visitor.close()
    assert not visitor.problems, "\n".join(visitor.problems)


expect.set_options(timeout=30_000)  # a machine that does other work too is no fault of a page
