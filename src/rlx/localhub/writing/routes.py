"""The routes that write to a local hub, and those that show what was written."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from anyio.to_thread import run_sync

from rlx.localhub.access import Visitor, not_found, require_files
from rlx.localhub.repo import Repo
from rlx.localhub.shelf import KINDS, Shelf, revision
from rlx.localhub.wire import Answer, Refusal, Request, decode_segment, json_answer
from rlx.localhub.writing import talk
from rlx.localhub.writing.asked import owner_name, read_json, writer_name
from rlx.localhub.writing.cards import validate
from rlx.localhub.writing.conversation import Conversation
from rlx.localhub.writing.draft import MAX_BODY, Draft, read_draft
from rlx.localhub.writing.ledger import Ledger
from rlx.localhub.writing.objects import fill
from rlx.localhub.writing.pages import Pages
from rlx.localhub.writing.pulls import Pulls
from rlx.localhub.writing.upload import Uploads
from rlx.localhub.writing.writer import Writer, branch

INLINE: Final = 64 * 1024 * 1024
_NO_WRITE: Final = "Forbidden: pass `create_pr=1` as a query parameter to create a Pull Request"


@dataclass(frozen=True, slots=True)
class Writing:
    """`writer`'s shelf serves what the ledger holds."""

    shelf: Shelf
    writer: Writer
    pulls: Pulls
    talk: Conversation
    uploads: Uploads
    pages: Pages

    @staticmethod
    def over(
        shelf: Shelf, ledger: Ledger, *, inline: int = INLINE, now_ms: Callable[[], int] | None = None
    ) -> "Writing":
        writer = Writer(shelf, ledger, now_ms or (lambda: time.time_ns() // 1_000_000))
        pulls = Pulls(writer)
        return Writing(shelf, writer, pulls, Conversation(writer, pulls), Uploads(ledger, inline), Pages(ledger, pulls))

    async def answer(self, request: Request, visitor: Visitor, parts: list[str]) -> Answer | None:
        """None of a route that is no matter of writing."""
        match request.method, parts:
            case "POST", ["api", "validate-yaml"]:
                asked = await read_json(request)
                told = validate(str(asked.get("content") or ""))
                return json_answer(told, status=400 if told["errors"] else 200)
            case "POST", ["api", "repos", "create"]:
                return await self._create(request, visitor)
            case "DELETE", ["api", "repos", "delete"]:
                return await self._delete(request, visitor)
            case _, ["api", kind, org, name, *rest] if kind in KINDS and rest:
                return await self._repo(request, visitor, f"{kind}/{_id(org, name)}", rest)
            case _, [kind, org, name, *rest] if kind in {"datasets", "spaces"} and rest:
                return await self._beside(request, visitor, kind, [org, name], rest)
            case _, [org, name, *rest] if rest:
                return await self._beside(request, visitor, "models", [org, name], rest)
        return None

    async def _repo(self, request: Request, visitor: Visitor, key: str, rest: list[str]) -> Answer | None:
        match request.method, rest:
            case "GET" | "HEAD", ["discussions"]:
                return self.talk.listing(request, await self._find(key, visitor))
            case "GET" | "HEAD", ["discussions", num]:
                return await self.talk.details(request, visitor, await self._find(key, visitor), num)
            case "POST", ["discussions"]:
                return await self.talk.begin(request, visitor, await self._find(key, visitor))
            case "POST", ["discussions", num, *what]:
                return await self.talk.change(request, visitor, await self._find(key, visitor), num, what)
            case "POST", ["preupload", rev]:
                return await self._preupload(request, visitor, await self._find(key, visitor), decode_segment(rev))
            case "POST", ["commit", rev]:
                return await self._commit(request, visitor, await self._find(key, visitor), decode_segment(rev))
            case "PUT", ["settings"]:
                return await self._settings(request, visitor, await self._find(key, visitor))
            case "POST" | "DELETE", ["branch" | "tag" as what, name]:
                return await self._ref(request, visitor, await self._find(key, visitor), what, decode_segment(name))
            case "GET", ["xet-write-token", _]:
                raise Refusal(501, "", "This local hub has no Xet storage: set HF_HUB_DISABLE_XET=1 for large files.")
        return None

    async def _beside(
        self, request: Request, visitor: Visitor, kind: str, repo: list[str], rest: list[str]
    ) -> Answer | None:
        """Routes at a repository's own address: LFS, and pages."""
        org, name = repo
        prefix = "" if kind == "models" else f"/{kind}"
        match request.method, rest:
            case "POST", ["info", "lfs", "objects", "batch"] if name.endswith(".git"):
                name = name.removesuffix(".git")
                found = await self._find(f"{kind}/{_id(org, name)}", visitor)
                writer_name(visitor)
                require_files(visitor, found)
                asked = await read_json(request)
                return await self.uploads.batch(request, found, asked, f"{prefix}/{org}/{name}/lfs")
            case "PUT", ["lfs", oid, size]:
                found_repo = await run_sync(self.shelf.known, f"{kind}/{_id(org, name)}")
                if found_repo is None:
                    raise not_found(visitor, kind)
                return await self.uploads.receive(request, found_repo, oid, size)
            case "GET" | "HEAD", ["discussions", *num] if len(num) < 2:
                found = await self._find(f"{kind}/{_id(org, name)}", visitor)
                require_files(visitor, found)
                if num:
                    return await run_sync(self.pages.discussion, found, num[0])
                return await run_sync(self.pages.discussions, found)
        return None

    async def _find(self, key: str, visitor: Visitor) -> Repo:
        kind, _, id_ = key.partition("/")
        return await self.shelf.repo(kind, id_, visitor)

    async def _preupload(self, request: Request, visitor: Visitor, repo: Repo, rev: str) -> Answer:
        writer_name(visitor)
        require_files(visitor, repo)
        return self.uploads.preupload(revision(repo, rev), await read_json(request))

    async def _commit(self, request: Request, visitor: Visitor, repo: Repo, rev: str) -> Answer:
        name, pull = self._may_commit(request, visitor, repo, rev)
        written = await run_sync(self.writer.written, repo)
        ledger = self.writer.ledger
        with ledger.objects.incoming() as path:
            await fill(path, request.pieces(MAX_BODY))
            draft = await run_sync(read_draft, path, ledger.objects, lambda oid: ledger.held(repo.key, oid))
        await self.shelf.repo(repo.kind, repo.id, visitor)  # it may be gone since
        url = f"{request.base_url}/{'' if repo.kind == 'models' else f'{repo.kind}/'}{repo.id}"
        if request.flag("create_pr"):
            opened, commit = await run_sync(self.pulls.open, written, rev, name, draft)
            pull_url: str | None = f"{url}/discussions/{opened.num}"
        else:
            pull_url = None

            def work() -> str:
                one = None if pull is None else talk.find(ledger, repo.key, pull)
                if one is not None:
                    return self.pulls.commit(written, one, name, draft).id
                return self.writer.commit(written, branch(rev), name, draft).id

            return _committed(url, await run_sync(work), draft, pull_url)
        return _committed(url, commit.id, draft, pull_url)

    def _may_commit(self, request: Request, visitor: Visitor, repo: Repo, rev: str) -> tuple[str, str | None]:
        """Who commits, and the number of the pull request that is committed to."""
        name = writer_name(visitor)
        require_files(visitor, repo)
        if rev.startswith("refs/pr/"):
            if request.flag("create_pr"):
                raise Refusal(400, "", "A pull request is not asked for on top of another.")
            one = talk.find(self.writer.ledger, repo.key, rev.removeprefix("refs/pr/"))
            if one.author != name and not visitor.owns(repo):
                raise Refusal(403, "", "Only its author and those who may write to this repository commit to it.")
            return name, str(one.num)
        if not request.flag("create_pr"):
            owner_name(visitor, repo, _NO_WRITE)
        revision(repo, rev)
        return name, None

    async def _create(self, request: Request, visitor: Visitor) -> Answer:
        name = writer_name(visitor)
        asked = await read_json(request)
        kind, org, repo = _named(asked, name)
        if visitor.user is None or (org != name and org not in visitor.user.orgs):
            raise Refusal(
                403, "", f"You don't have the rights to create a {kind.removesuffix('s')} under '{org[:100]}'"
            )
        meta: dict[str, object] = {"private": _private(asked) or False}
        if kind == "spaces":
            meta["stage"] = "STOPPED"  # no Space runs here
        url = f"{request.base_url}/{'' if kind == 'models' else f'{kind}/'}{org}/{repo}"
        try:
            await run_sync(self.writer.create, kind, org, repo, meta)
        except Refusal as refusal:
            if refusal.status != 409:
                raise
            # Clients that are content with a repository that is there take its address from the refusal.
            return json_answer({"error": refusal.message, "url": url}, status=409)
        return json_answer({"url": url, "name": f"{org}/{repo}", "private": meta["private"]})

    async def _delete(self, request: Request, visitor: Visitor) -> Answer:
        name = writer_name(visitor)
        kind, org, repo = _named(await read_json(request), name)
        found = await self._find(f"{kind}/{org}/{repo}", visitor)
        owner_name(visitor, found, "Only those who may write to this repository delete it.")
        await run_sync(self.writer.delete, found)
        return Answer(200, [])

    async def _settings(self, request: Request, visitor: Visitor, repo: Repo) -> Answer:
        owner_name(visitor, repo, "Only those who may write to this repository change its settings.")
        asked = await read_json(request)
        meta: dict[str, object] = {}
        private, gated = _private(asked), asked.get("gated")
        if private is not None:
            meta["private"] = private
        if "gated" in asked:
            if gated is not False and gated not in {"auto", "manual"}:
                raise Refusal(400, "", "'gated' is auto, manual or false.")
            meta["gated"] = gated
        if not meta:
            raise Refusal(400, "", "Of settings, 'private', 'visibility' and 'gated' are known.")
        written = await run_sync(self.writer.written, repo)
        await run_sync(self.writer.set_meta, written, meta)
        return json_answer(meta)

    async def _ref(self, request: Request, visitor: Visitor, repo: Repo, what: str, name: str) -> Answer:
        owner_name(visitor, repo, f"Only those who may write to this repository have a {what} made or removed.")
        written = await run_sync(self.writer.written, repo)
        asked = await read_json(request)
        folder = "refs/heads/" if what == "branch" else "refs/tags/"
        if request.method == "DELETE":
            if branch(name) == branch("main") and what == "branch":
                raise Refusal(403, "", "The branch main stays.")
            await run_sync(self.writer.set_ref, written, f"{folder}{name}", None)
            return Answer(200, [])
        start = asked.get("startingPoint") if what == "branch" else name
        wanted = name if what == "branch" else asked.get("tag")
        if not isinstance(wanted, str) or not _is_ref(wanted):
            raise Refusal(400, "", f"This is no name for a {what}.")
        await run_sync(self.writer.set_ref, written, f"{folder}{wanted}", str(start or "main"))
        return json_answer({})


def _committed(url: str, id: str, draft: Draft, pull_url: str | None) -> Answer:
    told: dict[str, object] = {"success": True, "commitOid": id, "commitUrl": f"{url}/commit/{id}", "hookOutput": ""}
    if pull_url is not None:
        told["pullRequestUrl"] = pull_url
    return json_answer(told)


def _id(org: str, name: str) -> str:
    return f"{decode_segment(org)}/{decode_segment(name)}"


def _named(asked: dict[str, object], user: str) -> tuple[str, str, str]:
    """Kind, owner and name of the repository that a request names."""
    kind, org, name = asked.get("type") or "model", asked.get("organization") or user, asked.get("name")
    if isinstance(name, str) and "/" in name:
        org, _, name = name.partition("/")
    if not isinstance(kind, str) or f"{kind}s" not in KINDS or not isinstance(org, str) or not isinstance(name, str):
        raise Refusal(400, "", "A repository has a type (model, dataset or space), an organization and a name.")
    return f"{kind}s", org, name


def _private(asked: dict[str, object]) -> bool | None:
    """Whether a repository is to be private; None where that is not said."""
    private, visibility = asked.get("private"), asked.get("visibility")
    if private is None and visibility is None:
        return None
    return private is True or visibility == "private"


def _is_ref(name: str) -> bool:
    """Whether a branch or tag may be called so: as git has it, and short."""
    plain = name.isascii() and name.isprintable() and not any(char in " ~^:?*[\\" for char in name)
    parts = name.split("/")
    return (
        plain
        and len(name) <= 200
        and ".." not in name
        and "@{" not in name
        and not name.startswith(("refs/", "-"))
        and all(part and not part.startswith(".") and not part.endswith((".", ".lock")) for part in parts)
    )
