"""A format from another distribution: a repository with a `toy.json` of tasks, registered by entry point alone."""

import json
from pathlib import Path

from rlx.answers import ShownJson, Withheld, name, prose, record
from rlx.errors import BadInput, NotFound
from rlx.formats.base import Claim
from rlx.formats.repo_files import RepoFiles
from rlx.hub.repo import Repo
from rlx.model import (
    Alias,
    Blob,
    Capability,
    Listing,
    Page,
    Prompt,
    RunOption,
    Section,
    Summary,
    Support,
    Task,
    TaskCard,
    TaskQuery,
    Value,
    Viewer,
)

MARKER = "toy.json"


class Toy:
    name = "toy"

    async def claim(self, repo: Repo) -> Claim | None:
        return Claim(0.99, name("It holds toy.json.")) if MARKER in await repo.tree() else None

    async def open(self, repo: Repo, viewer: Viewer) -> "ToyEnvironment":
        return ToyEnvironment(repo, json.loads(await repo.read(MARKER)))


class ToyEnvironment:
    format = "toy"

    def __init__(self, repo: Repo, tasks: list[dict[str, object]]) -> None:
        self._repo = repo
        self._tasks = {str(task["ref"]): task for task in tasks}
        self._files = RepoFiles(repo)

    async def summary(self, subset: str | None = None) -> Summary:
        return Summary(
            key=self._repo.key,
            title=name("Toys"),
            brief=name("Toy tasks of another distribution."),
            format=self.format,
            support=SUPPORT,
            revision=self._repo.sha,
            tasks=len(self._tasks),
            why=None,
            how=(name("Each element of toy.json is a task."),),
            sections=(),
            facets=(),
            tiles=None,
            subsets=(),
            withheld=(),
        )

    async def tasks(self, query: TaskQuery) -> Page[TaskCard]:
        cards = [self._card(ref) for ref in self._tasks if query.text.lower() in ref.lower()]
        picked = cards[query.offset : query.offset + query.limit]
        return Page(tuple(picked), len(cards), query.offset, query.limit)

    async def canonical(self, ref: str) -> str:
        spelled = ref.removeprefix("old/")
        self._find(spelled)
        return spelled

    async def task(self, ref: str) -> Task:
        value, withheld = self._shown(ref)
        refs = list(self._tasks)
        place = refs.index(ref)
        return Task(
            ref=ref,
            title=name(ref),
            brief=name("A toy."),
            sections=(
                Section("prompt", name("Prompt"), (Prompt(prose(str(self._find(ref).get("prompt", "")))),)),
                Section("fields", name("Fields"), (Value(value),)),
            ),
            glance=(),
            withheld=withheld,
            run_options=await self.run_options(ref),
            support=SUPPORT,
            facets={},
            previous=refs[place - 1] if place else None,
            next=refs[place + 1] if place + 1 < len(refs) else None,
            position=place,
            total=len(refs),
        )

    async def files(self, ref: str | None, path: str = "", *, offset: int = 0) -> Listing | Blob:
        if ref is not None:
            self._find(ref)
        return await self._files.open(path, offset)

    async def run_options(self, ref: str) -> tuple[RunOption, ...]:
        self._find(ref)
        return (RunOption("toy", None, name("Toy runner"), ok=False, reason=name("Toys do not run.")),)

    async def aliases(self, ref: str) -> tuple[Alias, ...]:
        self._find(ref)
        return ()

    async def random(self) -> str | None:
        return next(iter(self._tasks), None)

    async def materialize(self, ref: str, into: Path) -> Path:
        raise BadInput("A toy is no folder.")

    def _find(self, ref: str) -> dict[str, object]:
        if ref not in self._tasks:
            raise NotFound(f"No toy {ref!r}.")
        return self._tasks[ref]

    def _shown(self, ref: str) -> tuple[ShownJson, tuple[Withheld, ...]]:
        masked = record(self._find(ref))
        return masked.value, masked.withheld

    def _card(self, ref: str) -> TaskCard:
        return TaskCard(ref, name(ref), name("A toy."), {})


SUPPORT = Support(
    framework="rows",
    label="Toy",
    lifecycle=name("One step"),
    reward=name("None"),
    transport=None,
    evidence=name("toy.json"),
    capabilities=(Capability("browse", "available", name("Read from toy.json.")),),
)
