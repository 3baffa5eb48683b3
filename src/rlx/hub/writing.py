"""Writing to a Hub through the installed `huggingface_hub`: repositories, commits, pull requests. Blocks.

Every call takes one token, that of the person who writes. Raises `Forbidden` (no token, not allowed), `NotFound`,
`BadInput` (what the Hub refuses), `Conflict` (somebody else wrote meanwhile) and `Upstream` (worth trying again).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from rlx.errors import BadInput, Forbidden, NotFound, RlxError, Upstream
from rlx.hub.client import Token
from rlx.ids import EnvKey

if TYPE_CHECKING:
    from huggingface_hub import HfApi

THREADS: Final = 500
_CONFLICTS = frozenset({409, 412})


class Conflict(BadInput):
    """Somebody else wrote to the repository meanwhile."""


@dataclass(frozen=True, slots=True)
class RemoteFile:
    path: str
    size: int
    blob: str
    """Git blob id."""
    sha256: str | None
    """Of what is kept in LFS; its blob id is a pointer's."""


@dataclass(frozen=True, slots=True)
class Committed:
    sha: str
    url: str
    pull: int | None
    """Number of the pull request that was opened."""


@dataclass(frozen=True, slots=True)
class Thread:
    """A discussion or a pull request."""

    number: int
    title: str
    author: str
    url: str


@dataclass(frozen=True, slots=True)
class HubWriter:
    endpoint: str
    token: Token = field(repr=False)

    @property
    def _api(self) -> "HfApi":
        from huggingface_hub import HfApi  # imported late: it takes half a second

        return HfApi(endpoint=self.endpoint, token=self.token, library_name="rl-explorer")

    def name(self) -> str:
        """Whose token it is."""
        with told("the token's owner"):
            return str(self._api.whoami()["name"])

    def exists(self, key: EnvKey) -> bool:
        with told(str(key)):
            return self._api.repo_exists(key.repo_id, repo_type=key.kind)

    def create(self, key: EnvKey, *, private: bool, sdk: str | None = None) -> None:
        """A new repository; one that is there already is left as it is."""
        with told(str(key)):
            self._api.create_repo(key.repo_id, repo_type=key.kind, private=private, space_sdk=sdk, exist_ok=True)

    def head(self, key: EnvKey, revision: str | None = None) -> str:
        """The commit of a branch."""
        with told(str(key)):
            info = self._api.repo_info(key.repo_id, repo_type=key.kind, revision=revision)
        if info.sha is None:
            raise Upstream(f"The Hub gave no revision for {key}.", hint="Try again in a minute.")
        return info.sha

    def files(self, key: EnvKey, revision: str) -> dict[str, RemoteFile]:
        """Every file by path."""
        from huggingface_hub.hf_api import RepoFile

        with told(str(key)):
            entries = self._api.list_repo_tree(key.repo_id, repo_type=key.kind, revision=revision, recursive=True)
            return {
                entry.path: RemoteFile(entry.path, entry.size, entry.blob_id, entry.lfs.sha256 if entry.lfs else None)
                for entry in entries
                if isinstance(entry, RepoFile)
            }

    def download(self, key: EnvKey, path: str, revision: str, folder: Path) -> Path:
        """The file below `folder`; a part that is there already is gone on from."""
        with told(f"{path[:200]} of {key}"):
            got = self._api.hf_hub_download(key.repo_id, path, repo_type=key.kind, revision=revision, local_dir=folder)
        return Path(got)

    def commit(
        self,
        key: EnvKey,
        files: Mapping[str, Path | bytes],
        *,
        title: str,
        message: str = "",
        parent: str,
        revision: str = "main",
        pull: bool = False,
    ) -> Committed:
        """Add or replace files, on top of `parent`: on `revision`, whose head that is, or as a new pull request."""
        from huggingface_hub import CommitOperationAdd

        adds = [
            CommitOperationAdd(path, content if isinstance(content, bytes) else str(content))
            for path, content in files.items()
        ]
        with told(str(key)):
            made = self._api.create_commit(
                key.repo_id,
                adds,
                repo_type=key.kind,
                commit_message=title,
                commit_description=message,
                revision=revision,
                create_pr=pull,
                parent_commit=parent,
            )
        return Committed(str(made.oid), str(made.pr_url or made.commit_url), made.pr_num if pull else None)

    def pulls(self, key: EnvKey, author: str) -> Sequence[tuple[int, str]]:
        """Number and title of the pull requests of `author` that are open, newest first."""
        return [(one.number, one.title) for one in self.threads(key, "pull_request", author=author)]

    def threads(
        self, key: EnvKey, kind: Literal["pull_request", "discussion"], *, author: str | None = None
    ) -> list["Thread"]:
        """The discussions or pull requests that are open, newest first; at most `THREADS` of them."""
        with told(f"the discussions of {key}"):
            found = self._api.get_repo_discussions(
                key.repo_id, repo_type=key.kind, discussion_type=kind, discussion_status="open", author=author
            )
            return [Thread(one.num, one.title, one.author, one.url) for one in islice(found, THREADS)]

    def discuss(self, key: EnvKey, title: str, text: str) -> "Thread":
        """Open a discussion."""
        with told(str(key)):
            made = self._api.create_discussion(key.repo_id, title, repo_type=key.kind, description=text)
        return Thread(made.num, made.title, made.author, made.url)

    def comment(self, key: EnvKey, number: int, text: str) -> None:
        """Add to a discussion or a pull request."""
        with told(f"discussion {number} of {key}"):
            self._api.comment_discussion(key.repo_id, number, text, repo_type=key.kind)


@contextmanager
def told(what: str) -> Iterator[None]:
    """Turn what `huggingface_hub` raises into this package's errors."""
    from httpx2 import HTTPError
    from huggingface_hub.errors import HfHubHTTPError

    try:
        yield
    except HfHubHTTPError as error:
        status = error.response.status_code if error.response is not None else None
        raise _error(what, status, _said(error.server_message or "")) from error
    except (HTTPError, ConnectionError) as error:
        raise Upstream(f"The Hub could not be reached for {what}.", hint="Try again in a minute.") from error
    except (ValueError, RuntimeError) as error:
        cause = error.__cause__
        if isinstance(cause, HTTPError | OSError):
            raise Upstream(f"Sending to the Hub broke off for {what}.", hint="Run it again: it goes on.") from error
        raise BadInput(f"The Hub took no part of {what}: {_said(str(error))}") from error


def _error(what: str, status: int | None, said: str) -> RlxError:
    detail = f" It says: {said}" if said else ""
    match status:
        case 401:
            return Forbidden(
                f"The Hub knows no {what}, or not for this token.{detail}", hint="Set HF_TOKEN, or run hf auth login."
            )
        case 403:
            return Forbidden(
                f"The Hub does not allow this for {what}.{detail}", hint="Use a token that may write, or --pr."
            )
        case 404:
            return NotFound(f"The Hub has no {what}, or not for this token.{detail}")
        case 429:
            return Upstream(f"The Hub's rate limit is used up for {what}.", hint="Run it again later: it goes on.")
        case status if status in _CONFLICTS:
            return Conflict(f"Somebody else wrote to {what} meanwhile.{detail}", hint="Run it again: it goes on.")
        case status if status is not None and status < 500:
            return BadInput(f"The Hub refused {what} ({status}).{detail}")
    return Upstream(f"The Hub is in trouble over {what} ({status or 'no answer'}).", hint="Run it again: it goes on.")


def _said(text: str) -> str:
    """What a server said, on one line, and nothing in it that could be a token."""
    return re.sub(r"\bhf_\w+", "hf_…", " ".join(text.split()))[:300]
