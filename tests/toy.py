"""Services of the web app in one small file: real classes over data written here, with every trouble on demand."""

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from rlx.answers import Shown, Withheld, name, prose
from rlx.errors import BadInput, Forbidden, NotFound, NotReady, Upstream
from rlx.formats.base import Environment
from rlx.hub.info import RepoInfo
from rlx.hub.repo import Repo
from rlx.ids import EnvKey, parse_key
from rlx.index.catalog import CatalogStatus
from rlx.index.jobs import Job, Work
from rlx.index.snapshot.rows import Counts
from rlx.jobs.queue_service import Rollouts
from rlx.model import (
    Alias,
    Blob,
    Capability,
    Changes,
    Count,
    EnvCard,
    EnvPage,
    EnvQuery,
    Facet,
    FacetValue,
    FileChange,
    FileEntry,
    Listing,
    Page,
    Progress,
    Prompt,
    Relative,
    Revision,
    RunOption,
    Section,
    Summary,
    Support,
    Task,
    TaskCard,
    TaskChanges,
    TaskHit,
    TaskHits,
    TaskQuery,
    TaskSearch,
    Tile,
    Tiles,
    Viewer,
)
from rlx.runners.models.router import Router
from rlx.settings import Settings
from rlx.store.health import HealthStore
from rlx.store.instance import Instance
from rlx.store.storage import DirectoryStorage
from rlx.texts import say
from rlx.web.samples import BLOCKS

MAIN = EnvKey("dataset", "toy", "main")
SERVER = EnvKey("space", "toy", "server")
FILES_ONLY = EnvKey("dataset", "toy", "files-only")
PRIVATE = EnvKey("dataset", "toy", "private")
SLOW = EnvKey("dataset", "toy", "slow")
DOWN = EnvKey("dataset", "toy", "down")
BROKEN = EnvKey("dataset", "toy", "broken")

TOKEN = "hf_ada_0123456789"
OWNER = "ada"

REFS = (
    ".",
    "plain",
    "tasks/with space",
    "50%",
    "a%2Fb",
    "what?",
    "c#-sharp",
    'it\'s "quoted"',
    "größe/漢字",
    "../up",
    "a//b",
    "~tilde",
    "x" * 200,
)
FILES: Mapping[str, str | bytes] = {
    "media/0.pdf": b"%PDF-",
    "README.md": "# Toy\n\nSee [the rest](docs/a%20b.md).\n",
    "docs/a b.md": "more\n",
    "run.py": "import os\n\nprint('é')\n",
    "page.html": "<script>alert(1)</script>\n",
    "drawing.svg": "<svg onload='alert(1)'/>\n",
    "long.txt": "".join(f"line {n}\n" for n in range(1, 2001)),
    "empty.txt": "",
    "dot.png": b"\x89PNG\r\n\x1a\n" + b"\0" * 16,
    "data.bin": bytes(range(256)),
    "100% of #1?/a&b.txt": "odd\n",
    "docs/more.md": "even more\n",
    "docs/chart.png": b"\x89PNG",
    "chart.png": b"\x89PNG",
    "environment/Dockerfile": "FROM scratch\n",
    "tests/test_outputs.py": "assert True\n",
    "a folder/with spaces/and-a-rather-long-name-that-has-to-break-somewhere.txt": "far\n",
    "secret/answer.txt": "RLX-CANARY-WEB-TOY",
    "huge.txt": "head\n",
}

REVISIONS = tuple(
    Revision(digit * 40, name(f"Commit <{digit}>"), datetime(2026, 7, 9 - int(digit), tzinfo=UTC)) for digit in "123"
)
"""The newest first. The oldest is still being read."""

SUPPORT = Support(
    framework="rows",
    label="Toy",
    lifecycle=name("One step"),
    reward=name("0 or 1"),
    transport=None,
    evidence=name("Written in the tests."),
    capabilities=(Capability("browse", "available", name("Read from memory.")),),
)


@dataclass(slots=True)
class ToyEnvironment:
    key: EnvKey
    refs: tuple[str, ...] = REFS
    prompt: Shown = field(default_factory=lambda: prose("Do <it>.\n"))

    @property
    def format(self) -> str:
        return "toy"

    async def summary(self, subset: str | None = None) -> Summary:
        return Summary(
            key=self.key,
            title=name("Toy <b>tasks</b>"),
            brief=name("Tasks & refs of every kind."),
            format=self.format,
            support=SUPPORT,
            revision="1" * 40,
            tasks=len(self.refs) or None,
            why=None if self.refs else name("Nothing here reads it."),
            how=(name("It is written in the tests."),),
            sections=(Section("all", name("All"), BLOCKS),),
            facets=(),
            tiles=Tiles("level", (Tile(name("easy"), 2), Tile(name("hard"), 1))),
            subsets=(),
            withheld=(Withheld("secret/answer.txt", say("web.withheld_why")),),
            readme=prose(str(FILES["README.md"])),
        )

    async def tasks(self, query: TaskQuery) -> Page[TaskCard]:
        levels = query.filters.get("level", ())
        found = [ref for ref in self.refs if query.text in ref and (not levels or _level(ref) in levels)]
        cards = tuple(_card(ref) for ref in found[query.offset : query.offset + query.limit])
        values = tuple(FacetValue(name(level), 1, level in levels) for level in ("easy", "hard"))
        facets = (Facet("level", name("Level"), values, ordered=True),)
        return Page(cards, len(found), query.offset, query.limit, facets)

    async def canonical(self, ref: str) -> str:
        spelled = ref.removeprefix("old/")
        if spelled not in self.refs:
            raise NotFound(f"No task {spelled[:80]!r} in {self.key}.")
        return spelled

    async def task(self, ref: str) -> Task:
        place = self.refs.index(await self.canonical(ref))
        return Task(
            ref=ref,
            title=name(f"Task {ref}"[:80]),
            brief=name("A toy."),
            sections=(
                Section("prompt", name("Prompt"), (Prompt(self.prompt),)),
                Section("all", name("All"), BLOCKS, note=name("a note")),
            ),
            glance=(),
            withheld=(Withheld("secret/answer.txt", say("web.withheld_why")),),
            run_options=await self.run_options(ref),
            support=SUPPORT,
            facets={"level": (name(_level(ref)),)},
            previous=self.refs[place - 1] if place else None,
            next=self.refs[place + 1] if place + 1 < len(self.refs) else None,
            position=place,
            total=len(self.refs),
        )

    async def files(self, ref: str | None, path: str = "", *, offset: int = 0) -> Listing | Blob:
        if ref is not None:
            await self.canonical(ref)
        if path.startswith("secret"):
            raise Forbidden("secret/answer.txt holds the answer.")
        if path in FILES:
            return _blob(path, FILES[path])
        start = f"{path}/" if path else ""
        inner = {file.removeprefix(start).partition("/")[0] for file in FILES if file.startswith(start)}
        if not inner:
            raise NotFound(f"No file {path[:80]!r}.")
        entries = tuple(
            FileEntry(
                start + part,
                len(FILES.get(start + part, "")),
                is_dir=start + part not in FILES,
                withheld=say("web.withheld_why") if part == "secret" else None,
            )
            for part in sorted(inner)
        )
        return Listing(path, entries, len(entries))

    async def run_options(self, ref: str) -> tuple[RunOption, ...]:
        return (RunOption("toy", "local", name("Local"), ok=False, reason=name("Toys do not run.")),)

    async def aliases(self, ref: str) -> tuple[Alias, ...]:
        return (Alias(SERVER, "plain", name("The same toy.")),) if ref == "plain" else ()

    async def random(self) -> str | None:
        return self.refs[1] if self.refs else None

    async def materialize(self, ref: str, into: Path) -> Path:
        raise BadInput("A toy is no folder.")


def _level(ref: str) -> str:
    return "hard" if len(ref) > 5 else "easy"


def _card(ref: str) -> TaskCard:
    return TaskCard(ref, name(f"Task {ref}"), name("A toy."), {"level": (name(_level(ref)),)})


def _blob(path: str, content: str | bytes) -> Blob:
    if isinstance(content, bytes):
        kind = {"png": "image/png", "pdf": "application/pdf"}.get(path[-3:], "application/octet-stream")
        return Blob(path, len(content), None, content, kind)
    cut = path == "huge.txt"
    masked = (3,) if path == "run.py" else ()
    withheld = (Withheld("run.py: line 3", say("web.withheld_why")),) if masked else ()
    size = 10**9 if cut else len(content)
    return Blob(path, size, prose(content), media_type="text/plain", masked=masked, withheld=withheld, truncated=cut)


def env_card(key: EnvKey, kind: str = "harbor") -> EnvCard:
    return EnvCard(
        key=key,
        title=name(key.name),
        brief=name(f"Brief of {key.name}"),
        kind=kind,
        framework="toy",
        format="toy",
        tasks=len(REFS),
        why=None,
        revision="1" * 40,
        tags=(),
        graded=(name("Tests"),),
        runs=(),
        levels=(Count(name("easy"), 3), Count(name("hard"), 10)),
        facets={"graded": (name("Tests"),)},
        modified=datetime(2026, 7, 5, tzinfo=UTC),
        downloads=1204,
        likes=None,
        trending=None,
        state="ready",
    )


@dataclass(slots=True)
class ToyCatalog:
    cards: tuple[EnvCard, ...] = (env_card(MAIN), env_card(SERVER, "openenv"), env_card(FILES_ONLY, "rows"))
    is_ready: bool = True

    async def search(self, query: EnvQuery, viewer: Viewer) -> EnvPage:
        own = (env_card(PRIVATE),) if query.mine and viewer.token == TOKEN else ()
        matched = [card for card in (*own, *self.cards) if all(word in str(card.key) for word in query.text.split())]
        found = [card for card in matched if query.kind in (None, card.kind)]
        kinds = tuple((card.kind, 1) for card in matched)
        items = tuple(found[query.offset : query.offset + query.limit])
        chosen = query.filters.get("graded", ())
        facets = (Facet("graded", name("Graded by"), (FacetValue(name("Tests"), 3, "Tests" in chosen),)),)
        return EnvPage(items, len(found), kinds, facets, len(self.cards), len(REFS), query.offset, query.limit)

    async def card(self, key: EnvKey) -> EnvCard | None:
        return next((card for card in self.cards if card.key == key), None)

    async def rank(self, key: EnvKey) -> tuple[int, int] | None:
        return (1, 1) if await self.card(key) else None

    async def tasks(self, search: TaskSearch) -> TaskHits:
        found = tuple(TaskHit(MAIN, _card(ref)) for ref in REFS if search.text in ref)
        levels = Counter(_level(hit.card.ref) for hit in found)
        values = tuple(FacetValue(name(level), n) for level, n in levels.items())
        items = found[search.offset : search.offset + search.limit]
        facets = (Facet("difficulty", name("Difficulty"), values),)
        return TaskHits(items, len(found), False, facets, search.offset, search.limit)

    async def relatives(self, key: EnvKey, ref: str) -> tuple[Relative, ...]:
        same, near = TaskHit(SERVER, _card("what?")), TaskHit(MAIN, _card("what?"))
        return (Relative(same, 1.0, True), Relative(near, 0.61, False)) if ref == "plain" else ()

    async def random(self) -> tuple[EnvKey, str] | None:
        return (parse_key("toy/main"), "a%2Fb")

    def status(self) -> CatalogStatus:
        if not self.is_ready:
            return CatalogStatus("none", None, None, None, None, None, None)
        built = datetime(2026, 7, 5, tzinfo=UTC)
        counts = Counts(len(self.cards), 2, 1, len(REFS))
        return CatalogStatus("published", "catalog-20260705T000000Z.db", built, counts, built, built, None)


@dataclass(slots=True)
class ToyLibrary:
    steps: tuple[Progress, ...] = (Progress("listing"), Progress("reading", 3, 10), Progress("done", 10, 10, tasks=4))

    async def open(
        self, key: EnvKey, viewer: Viewer, *, wait: float | None = 2.0, revision: str | None = None
    ) -> Environment:
        await self.info(key, viewer)
        if revision not in (None, *(item.sha for item in REVISIONS)):
            raise NotFound(f"No such revision of {key}.")
        if key == SLOW or revision == REVISIONS[-1].sha:
            raise NotReady(f"{key} is being read.", hint="Ask again.", revision=revision, before=REVISIONS[0].sha)
        if key == DOWN:
            raise Upstream("The Hub does not answer.", retry_after=7)
        if key == BROKEN:
            raise RuntimeError(f"a bug that knows {TOKEN}")
        return ToyEnvironment(key, () if key == FILES_ONLY else REFS)

    async def repo(self, key: EnvKey, viewer: Viewer, revision: str | None = None) -> Repo:
        raise NotFound(f"{key} is a toy without a repository.")

    async def info(self, key: EnvKey, viewer: Viewer, revision: str | None = None) -> RepoInfo:
        if revision == "gone":
            raise NotFound(f"No such revision of {key}.")
        if key not in {MAIN, SERVER, FILES_ONLY, SLOW, DOWN, BROKEN} and not (key == PRIVATE and viewer.token == TOKEN):
            raise NotFound(f"No {key} on the Hub, or it is private.")
        return RepoInfo(
            key=key,
            sha="1" * 40,
            private=key == PRIVATE,
            gated=False,
            tags=(),
            card={},
            description="",
            downloads=1204,
            likes=None,
            trending=None,
            created=None,
            modified=datetime(2026, 7, 5, tzinfo=UTC),
        )

    async def progress(self, key: EnvKey, viewer: Viewer, *, revision: str | None = None) -> Progress | None:
        return self.steps[1]

    async def follow(self, key: EnvKey, viewer: Viewer, *, revision: str | None = None) -> AsyncIterator[Progress]:
        for step in self.steps:
            yield step

    async def revisions(self, key: EnvKey, viewer: Viewer) -> tuple[Revision, ...]:
        return REVISIONS

    async def changes(self, key: EnvKey, viewer: Viewer, old: str, new: str) -> Changes:
        for revision in (old, new):
            await self.open(key, viewer, revision=revision)
        return Changes(old, new, added=("50%",), removed=("plain",), changed=(".", "what?"), same=9)

    async def task_changes(self, key: EnvKey, viewer: Viewer, old: str, new: str, ref: str) -> TaskChanges:
        files = (
            FileChange("instruction.md", "changed", name("@@ -1 +1 @@\n-Do <it>.\n+Do <that>.")),
            FileChange("tests/new.py", "added"),
        )
        alone = {"50%": (FileChange("tests/new.py", "added"),), "plain": (FileChange("run.py", "removed"),)}
        return TaskChanges(ref, files if ref == "." else alone.get(ref, ()))


class ToyHub:
    async def whoami(self, token: str) -> str:
        if token != TOKEN:
            raise Forbidden("The Hub does not know this token.")
        return OWNER


@dataclass(slots=True)
class ToyInstance:
    told: Instance = field(default_factory=Instance)

    def current(self) -> Instance:
        return self.told


class ToyBackground:
    def start(self, name: tuple[str, ...], work: Work) -> Job:
        """A job that nobody works on."""
        return Job()


@dataclass(slots=True)
class ToyServices:
    settings: Settings
    hub: ToyHub = field(default_factory=ToyHub)
    catalog: ToyCatalog = field(default_factory=ToyCatalog)
    library: ToyLibrary = field(default_factory=ToyLibrary)
    instance: ToyInstance = field(default_factory=ToyInstance)
    router: Router = field(default_factory=lambda: Router("http://127.0.0.1:9/v1"))

    health: HealthStore = field(default_factory=lambda: HealthStore(DirectoryStorage(Path("/nowhere"))))
    background: ToyBackground = field(default_factory=ToyBackground)

    def rollouts(self) -> Rollouts:
        """None are kept: pages that only mention them do without."""
        raise Upstream("No rollouts are kept here.")
