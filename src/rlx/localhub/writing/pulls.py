"""Pull requests: opened with a commit or empty, committed to, compared with their branch, merged."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from rlx.localhub.wire import Refusal
from rlx.localhub.writing import talk
from rlx.localhub.writing.diff import diff_text
from rlx.localhub.writing.draft import Draft
from rlx.localhub.writing.ledger import MAIN, Changes, Commit, Entry
from rlx.localhub.writing.repo import WrittenRepo
from rlx.localhub.writing.talk import Discussion
from rlx.localhub.writing.writer import Writer, branch


@dataclass(frozen=True, slots=True)
class Pulls:
    writer: Writer

    def open(self, repo: WrittenRepo, revision: str, author: str, draft: Draft) -> tuple[Discussion, Commit]:
        """A pull request that holds `draft`: on top of its parent, or else of the branch's head."""
        ledger, target = self.writer.ledger, branch(revision)
        with ledger.lock:
            head = self.writer.at(repo, target)
            if draft.parent is not None and draft.parent not in {each.id for each in ledger.log(repo.key, head.sha)}:
                raise Refusal(404, "RevisionNotFound", f"Invalid rev id: {draft.parent}")
            base = self.writer.at(repo, draft.parent or target)
            with ledger.change():
                title = draft.title[:200] if len(draft.title) >= 3 else f"{draft.title}…"
                now = self.writer.now_ms()
                opened = talk.begin(ledger, repo.key, author, title, now, target=target, base=base.sha)
                if draft.message:
                    talk.say(ledger, opened, "comment", author, now, talk.comment_data(draft.message, author, now))
                commit = self.writer.add(repo, opened.ref, base, author, draft)
                if commit.id == base.sha:
                    raise Refusal(400, "", "The commit changes nothing, so that there is nothing to ask for.")
                self._note(opened, commit)
            return opened, commit

    def open_empty(self, repo: WrittenRepo, author: str, title: str, description: str) -> Discussion:
        """A draft without a commit."""
        ledger = self.writer.ledger
        with ledger.lock:
            base = self.writer.at(repo, MAIN)
            with ledger.change():
                now = self.writer.now_ms()
                opened = talk.begin(ledger, repo.key, author, title, now, status="draft", target=MAIN, base=base.sha)
                ledger.set_ref(repo.key, opened.ref, base.sha)
                if description:
                    talk.say(ledger, opened, "comment", author, now, talk.comment_data(description, author, now))
            return opened

    def commit(self, repo: WrittenRepo, pull: Discussion, author: str, draft: Draft) -> Commit:
        ledger = self.writer.ledger
        with ledger.lock:
            if pull.status not in talk.OPEN:
                raise Refusal(403, "", f"Pull request {pull.num} is {pull.status}.")
            before = ledger.refs(repo.key).get(pull.ref)
            with ledger.change():
                commit = self.writer.commit(repo, pull.ref, author, draft)
                if commit.id != before:
                    self._note(pull, commit)
            return commit

    def _note(self, pull: Discussion, commit: Commit) -> None:
        data = {"subject": commit.title, "oid": commit.id}
        talk.say(self.writer.ledger, pull, "commit", commit.author, commit.made_ms, data)

    def changes(self, pull: Discussion) -> Changes:
        """What a pull request changes, from where it began."""
        ledger = self.writer.ledger
        head = ledger.refs(pull.repo).get(pull.ref)
        if head is None or pull.base is None:
            return {}
        return _between(ledger.files(pull.repo, pull.base), ledger.files(pull.repo, head))

    def conflicts(self, pull: Discussion) -> list[str]:
        """Files that the branch changed in another way since."""
        ledger = self.writer.ledger
        head = ledger.refs(pull.repo).get(pull.target or "")
        if head is None or pull.base is None or pull.status == "merged":
            return []
        before, now = ledger.files(pull.repo, pull.base), ledger.files(pull.repo, head)
        wanted = self.changes(pull)
        moved = _between(before, now)
        return sorted(path for path, entry in wanted.items() if path in moved and moved[path] != entry)

    def diff(self, pull: Discussion) -> str:
        """The change as git would show it."""
        if pull.base is None:
            return ""
        before = self.writer.ledger.files(pull.repo, pull.base)
        return diff_text(self.writer.ledger.objects, before, self.changes(pull))

    def merge(self, repo: WrittenRepo, pull: Discussion, author: str, comment: str) -> Commit:
        """Put the change on the branch as one commit. Refuses a conflict, a draft and what is closed."""
        ledger = self.writer.ledger
        with ledger.lock:
            if pull.status != "open":
                raise Refusal(400, "", f"Pull request {pull.num} is {pull.status} and cannot be merged.")
            clashes = self.conflicts(pull)
            if clashes:
                raise Refusal(409, "", f"The branch changed the same files since: {', '.join(clashes)[:500]}")
            target = pull.target or MAIN
            head = self.writer.at(repo, target)
            now = ledger.files(repo.key, head.sha)
            changes = {path: entry for path, entry in self.changes(pull).items() if now.get(path) != entry}
            with ledger.change():
                if comment:
                    made = self.writer.now_ms()
                    talk.say(ledger, pull, "comment", author, made, talk.comment_data(comment, author, made))
                draft = Draft(f"{pull.title} (#{pull.num})", f"Merged from {pull.ref}, by {pull.author}.")
                commit = self.writer.record(repo, target, head.sha, author, draft, changes)
                talk.update(ledger, replace(pull, status="merged", merged=commit.id))
                talk.say(ledger, pull, "status-change", author, commit.made_ms, {"status": "merged"})
            self.writer.shelf.wrote(repo.key)
            return commit


def _between(before: dict[str, Entry], after: dict[str, Entry]) -> dict[str, Entry | None]:
    return dict(_differences(before, after))


def _differences(before: dict[str, Entry], after: dict[str, Entry]) -> Iterator[tuple[str, Entry | None]]:
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) != after.get(path):
            yield path, after.get(path)
