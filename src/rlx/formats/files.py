"""A repository no format claims: browsable files, no task list, and why."""

from pathlib import Path
from typing import Never

from rlx.errors import BadInput, NotFound
from rlx.formats import card
from rlx.formats.repo_files import RepoFiles
from rlx.hub.repo import Repo
from rlx.hub.tree import Tree
from rlx.model import Alias, Blob, Capability, Listing, Page, RunOption, Summary, Support, Task, TaskCard, TaskQuery
from rlx.texts import Say, say


class FilesEnvironment:
    """Meets `rlx.formats.base.Environment`; it has no tasks."""

    format = "files"

    def __init__(self, repo: Repo, framework: str) -> None:
        self._repo = repo
        self._framework = framework
        self._files = RepoFiles(repo)

    async def summary(self, subset: str | None = None) -> Summary:
        readme = await card.readme(self._repo)
        return Summary(
            key=self._repo.key,
            title=card.title(self._repo.info, readme or ""),
            brief=card.brief(self._repo.info, readme or ""),
            format=self.format,
            support=self._support(),
            revision=self._repo.sha,
            tasks=None,
            why=why_no_tasks(self._framework),
            how=(self._how(await self._repo.listing()),),
            sections=(),
            facets=(),
            tiles=None,
            subsets=(),
            withheld=(),
            readme=readme,
        )

    async def tasks(self, query: TaskQuery) -> Page[TaskCard]:
        return Page((), 0, query.offset, query.limit, note=why_no_tasks(self._framework))

    async def canonical(self, ref: str) -> str:
        self._no_tasks(ref)

    async def task(self, ref: str) -> Task:
        self._no_tasks(ref)

    async def files(self, ref: str | None, path: str = "", *, offset: int = 0) -> Listing | Blob:
        if ref is not None:
            self._no_tasks(ref)
        return await self._files.open(path, offset)

    async def run_options(self, ref: str) -> tuple[RunOption, ...]:
        self._no_tasks(ref)

    async def aliases(self, ref: str) -> tuple[Alias, ...]:
        self._no_tasks(ref)

    async def random(self) -> str | None:
        return None

    async def materialize(self, ref: str, into: Path) -> Path:
        raise BadInput(f"{self._repo.key} has no tasks that could become a folder.")

    def _no_tasks(self, ref: str) -> Never:
        raise NotFound(f"No task {ref[:200]!r}: {self._repo.key} has no task list here.")

    def _how(self, listing: Tree) -> Say:
        return say("files.how", n=len(listing.files)) if listing.is_whole else say("files.how_many")

    def _support(self) -> Support:
        unread = say("files.unread")
        return Support(
            framework=self._framework,
            label=FRAMEWORKS.get(self._framework, self._framework),
            lifecycle=say("files.unknown"),
            reward=say("files.unknown"),
            transport=None,
            evidence=say("files.claimed_by_tag") if self._framework not in {"rows", "servers"} else unread,
            capabilities=(
                Capability("browse", "available", say("files.browse")),
                Capability("run", "unknown", unread),
                Capability("play", "unknown", unread),
                Capability("mcp", "unknown", unread),
            ),
        )


FRAMEWORKS = {
    "harbor": "Harbor",
    "openenv": "OpenEnv",
    "openenv-data": "OpenEnv",
    "servers": "Server",
    "verifiers": "Verifiers",
    "nemo-gym": "NeMo Gym",
    "verl": "verl",
    "skyrl": "SkyRL",
    "mimo": "MiMo",
    "rows": "Dataset",
}
"""Framework word to the name people know it by."""


def why_no_tasks(framework: str) -> Say:
    """Why a repository that nothing here reads yet shows no tasks."""
    return say("files.why_server") if framework in {"openenv", "servers"} else say("files.why_rows")
