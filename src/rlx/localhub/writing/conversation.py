"""The routes of discussions: lists, details, comments, titles, states, merges."""

from dataclasses import dataclass, replace

from anyio.to_thread import run_sync

from rlx.localhub.access import Visitor, require_files
from rlx.localhub.repo import Repo
from rlx.localhub.wire import Answer, Refusal, Request, json_answer
from rlx.localhub.writing import talk
from rlx.localhub.writing.asked import owner_name, read_json, writer_name
from rlx.localhub.writing.draft import MAX_TEXT, text
from rlx.localhub.writing.pulls import Pulls
from rlx.localhub.writing.talk import Discussion, Event
from rlx.localhub.writing.writer import Writer

_PAGE = 50


@dataclass(frozen=True, slots=True)
class Conversation:
    writer: Writer
    pulls: Pulls

    def listing(self, request: Request, repo: Repo) -> Answer:
        """`GET discussions`: newest first, in pages from 0."""
        kind, status, author = request.param("type"), request.param("status"), request.param("author")
        found = [
            one
            for one in talk.discussions(self.writer.ledger, repo.key)
            if (kind in {None, "all"} or one.is_pull == (kind == "pull_request"))
            and (status in {None, "all"} or (one.status in talk.OPEN) == (status == "open"))
            and author in {None, one.author}
        ]
        page = request.param("p") or "0"
        start = _PAGE * (int(page) if page.isascii() and page.isdigit() and len(page) < 8 else 0)
        shown = [one.view() for one in found[start : start + _PAGE]]
        return json_answer({"discussions": shown, "count": len(found), "start": start})

    async def details(self, request: Request, visitor: Visitor, repo: Repo, num: str) -> Answer:
        one = talk.find(self.writer.ledger, repo.key, num)
        told = one.view() | {"events": [event.view() for event in talk.events(self.writer.ledger, one)]}
        if one.is_pull:
            require_files(visitor, repo)
            changes: dict[str, object] = {"base": one.target}
            if one.merged:
                changes["mergeCommitId"] = one.merged
            told |= {"changes": changes, "filesWithConflicts": await run_sync(self.pulls.conflicts, one)}
            if request.flag("diff"):
                told["diff"] = await run_sync(self.pulls.diff, one)
        return json_answer(told)

    async def begin(self, request: Request, visitor: Visitor, repo: Repo) -> Answer:
        """`POST discussions`: a discussion, or a draft of a pull request."""
        name = writer_name(visitor)
        require_files(visitor, repo)
        asked = await read_json(request)
        title = text(asked.get("title"), 200, "The title")
        description = text(asked.get("description") or "", MAX_TEXT, "The description")
        pull = asked.get("pullRequest") is True

        def work() -> Discussion:
            written = self.writer.written(repo)
            if pull:
                return self.pulls.open_empty(written, name, title, description)
            ledger, now = self.writer.ledger, self.writer.now_ms()
            with ledger.change():
                opened = talk.begin(ledger, repo.key, name, title, now)
                talk.say(ledger, opened, "comment", name, now, talk.comment_data(description, name, now))
            return opened

        opened = await run_sync(work)
        kind = "" if repo.kind == "models" else f"{repo.kind}/"
        url = f"{request.base_url}/{kind}{repo.id}/discussions/{opened.num}"
        return json_answer({"num": opened.num, "pullRequest": opened.is_pull, "url": url})

    async def change(self, request: Request, visitor: Visitor, repo: Repo, num: str, what: list[str]) -> Answer:
        """`POST discussions/{num}/…`."""
        name = writer_name(visitor)
        require_files(visitor, repo)
        one = talk.find(self.writer.ledger, repo.key, num)
        asked = await read_json(request)
        may = visitor.owns(repo) or one.author == name
        match what:
            case ["comment"]:
                said = text(asked.get("comment"), MAX_TEXT, "The comment")
                if not said.strip():
                    raise Refusal(400, "", "The comment is empty.")
                return json_answer({"newMessage": self._say(one, "comment", name, self._comment(said, name)).view()})
            case ["comment", id, "edit" | "hide" as action]:
                return self._rewrite(one, id, name, None if action == "hide" else asked, owns=visitor.owns(repo))
            case ["title"] if may:
                title = text(asked.get("title"), 200, "The title").strip()
                if len(title) < 3:
                    raise Refusal(400, "", "A title has 3 to 200 characters.")
                return json_answer({"newTitle": self._retitle(one, title, name).view()})
            case ["status"] if may:
                return json_answer({"newStatus": self._turn(one, asked, name).view()})
            case ["merge"]:
                owner_name(visitor, repo, "Only those who may write to this repository merge pull requests.")
                if not one.is_pull:
                    raise Refusal(400, "", "A discussion cannot be merged.")
                comment = text(asked.get("comment") or "", MAX_TEXT, "The comment")
                written = await run_sync(self.writer.written, repo)
                commit = await run_sync(self.pulls.merge, written, one, name, comment)
                return json_answer({"mergeCommitId": commit.id})
            case ["title" | "status"]:
                raise Refusal(403, "", "Only its author and those who may write to this repository change this.")
        raise Refusal(404, "", "This local hub has no such route of discussions.")

    def _comment(self, said: str, name: str) -> dict[str, object]:
        return talk.comment_data(said, name, self.writer.now_ms())

    def _say(self, one: Discussion, type: str, name: str, data: dict[str, object]) -> Event:
        return talk.say(self.writer.ledger, one, type, name, self.writer.now_ms(), data)

    def _retitle(self, one: Discussion, title: str, name: str) -> Event:
        with self.writer.ledger.change():
            talk.update(self.writer.ledger, replace(one, title=title))
            return self._say(one, "title-change", name, {"from": one.title, "to": title})

    def _turn(self, one: Discussion, asked: dict[str, object], name: str) -> Event:
        status = asked.get("status")
        if status not in {"open", "closed"}:
            raise Refusal(400, "", "A status is open or closed.")
        comment = text(asked.get("comment") or "", MAX_TEXT, "The comment")
        with self.writer.ledger.change():
            now = talk.find(self.writer.ledger, one.repo, str(one.num)).status
            if now == "merged" or now == status:
                raise Refusal(400, "", f"It is {now} already.")
            if comment:
                self._say(one, "comment", name, self._comment(comment, name))
            talk.update(self.writer.ledger, replace(one, status=str(status)))
            return self._say(one, "status-change", name, {"status": status})

    def _rewrite(self, one: Discussion, id: str, name: str, asked: dict[str, object] | None, *, owns: bool) -> Answer:
        """Another text for a comment, or none: hidden."""
        with self.writer.ledger.change():
            found = [event for event in talk.events(self.writer.ledger, one) if event.id == id.lower()]
            if not found or found[0].type != "comment":
                raise Refusal(404, "", "No comment of this id.")
            event = found[0]
            if event.author != name and (asked is not None or not owns):
                raise Refusal(403, "", "A comment is changed by whoever wrote it.")
            said = "" if asked is None else text(asked.get("content"), MAX_TEXT, "The comment")
            now = self.writer.now_ms()
            data = talk.comment_data(said, name, now, edited=True, hidden=asked is None)
            return json_answer({"updatedComment": talk.rewrite(self.writer.ledger, event, data).view()})
