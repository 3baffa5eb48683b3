"""Proposing the tags of an environment: which ones its files support, and the commit or pull request that adds them."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from rlx.errors import BadInput
from rlx.hub.writing import Committed, HubWriter, Thread
from rlx.ids import EnvKey
from rlx.publish.detect.base import Detection
from rlx.publish.frameworks import FRAMEWORKS, MEMBER
from rlx.publish.tags import add_tags, tags_of

TITLE: Final = "Add RL environment tags"
"""Of the commit or pull request, by which an earlier one is found."""
CARD: Final = "README.md"


@dataclass(frozen=True, slots=True)
class Proposal:
    """The card before and after, and the tags that it lacked."""

    before: bytes
    after: bytes
    added: tuple[str, ...]

    @property
    def diff(self) -> str:
        """A unified diff; empty where nothing changes."""
        old, new = (side.decode("utf-8", "replace").splitlines(keepends=True) for side in (self.before, self.after))
        lines = unified_diff(old, new, CARD, CARD)
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def wanted(detection: Detection, asked: Sequence[str], *, claim: bool = False) -> tuple[str, ...]:
    """The tags to add: `rl-environment` and the frameworks that the files support, or those that were asked for.

    Raises `BadInput` for a framework that there is not, for one that the files do not support unless it is claimed all
    the same, and where the files support none.
    """
    supported = [support.framework for support in detection.supports if support.state != "claimed"]
    for name in asked:
        if name not in FRAMEWORKS:
            raise BadInput(f"No framework is called {name[:60]!r}.", hint=f"There are {', '.join(FRAMEWORKS)}.")
        if name not in supported and not claim:
            offered = f"They support {', '.join(supported)}." if supported else "They support no framework."
            raise BadInput(f"The files do not support {name}.", hint=f"{offered} --claim tags it all the same.")
    if not asked and not supported:
        raise BadInput("The files support no framework, so there is nothing to tag.", hint="See rlx hub detect.")
    return (MEMBER, *(asked or supported))


def propose(card: bytes, tags: Sequence[str]) -> Proposal:
    """Raises what `add_tags` raises."""
    after = add_tags(card, tags)
    known = set(tags_of(card))
    return Proposal(card, after, tuple(tag for tag in tags_of(after) if tag not in known))


def read_card(writer: HubWriter, key: EnvKey, sha: str) -> bytes:
    """The card at a commit; empty where there is none."""
    if CARD not in writer.files(key, sha):
        return b""
    with TemporaryDirectory() as folder:
        return writer.download(key, CARD, sha, Path(folder)).read_bytes()


def open_proposal(writer: HubWriter, key: EnvKey) -> Thread | None:
    """A pull request that adds such tags and is open, whoever opened it."""
    return next((one for one in writer.threads(key, "pull_request") if one.title == TITLE), None)


def send(writer: HubWriter, key: EnvKey, sha: str, proposal: Proposal, *, pull: bool) -> Committed:
    """Raises `Conflict` when the repository changed since `sha`, and what `HubWriter.commit` raises."""
    names = " and ".join((", ".join(proposal.added[:-1]), proposal.added[-1]) if proposal.added[1:] else proposal.added)
    text = (
        f"Adds the tags {names} to the card's front matter. No file of the data and no other byte of the card changes."
    )
    return writer.commit(key, {CARD: proposal.after}, title=TITLE, message=text, parent=sha, pull=pull)
