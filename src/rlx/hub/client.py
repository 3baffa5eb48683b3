"""The Hugging Face Hub over its HTTP API: lists, info, trees, bytes. Raw JSON, because building the SDK's objects costs
more than the request. Every call takes the viewer's token or False explicitly; the machine's token is never implied.

Raises `NotFound` (missing, or private to somebody else: the Hub does not tell which), `Forbidden` (gated, refused
token) and `Upstream` (down, slow, rate limited, lying). Reads are tried three times on network errors, 408 and
5xx; a 429 is not waited for, it is told with `retry_after`. A Hub that cannot be connected to is tried again only once
it has ever answered: till then it is away, or this machine is.
"""

import json
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote, urlencode, urljoin, urlsplit

import httpx2
import stamina

from rlx import __version__
from rlx.errors import Forbidden, NotFound, TooLarge, Upstream, UserError
from rlx.hub.budget import BudgetMeter, retry_after
from rlx.hub.desk import Desk
from rlx.hub.info import Commit, FolderEntry, RepoInfo, TreeEntry, read_commit, read_entry, read_info
from rlx.ids import EnvKey, Kind
from rlx.telemetry import span

if TYPE_CHECKING:
    from rlx.hub.rows import ViewerClient

type Token = str | Literal[False]

ATTEMPTS = 3
MAX_JSON = 64 * 1024 * 1024
"""Bytes of one JSON answer."""
PATHS_A_CALL = 500
CONVERTED = "refs/convert/parquet"
"""The branch on which the Hub keeps rows it converted itself."""
_NEXT = re.compile(r'<([^<>]{1,4000})>\s*;[^,]*rel="?next"?')
_UNCONNECTED = (httpx2.ConnectError, httpx2.ConnectTimeout)
_RETRIED = frozenset({408, 500, 502, 503, 504})
_COMMON_FIELDS = (
    *("author", "cardData", "createdAt", "disabled", "lastModified", "likes", "private", "sha", "tags"),
    "trendingScore",
)
_FIELDS: Mapping[Kind, tuple[str, ...]] = {
    "dataset": (*_COMMON_FIELDS, "description", "downloads", "gated"),
    "space": (*_COMMON_FIELDS, "runtime", "sdk", "subdomain"),
}


@dataclass(frozen=True, slots=True)
class Answer:
    """A response whose body was read whole, within a limit."""

    status: int
    headers: httpx2.Headers
    data: bytes


class _Busy(Exception):
    """An answer worth asking for again."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


class HubClient:
    """One client for one Hub, shared by every viewer.

    `transport` replaces the network (a hub in this process); `folder`: what is behind it is a folder, and told as one.
    """

    def __init__(
        self,
        endpoint: str,
        *,
        transport: httpx2.AsyncBaseTransport | None = None,
        connections: int = 48,
        timeout: float = 20.0,
        clock: Callable[[], float] = time.monotonic,
        pause: float = 0.3,
        folder: bool = False,
    ) -> None:
        self.endpoint = endpoint.rstrip("/")
        self.connections = connections
        self.budget = BudgetMeter(clock)
        self.desk: Desk | None = None
        """Where files too big to be read at once are dealt with; None: nothing of them is kept."""
        self.viewer: ViewerClient | None = None
        """The dataset viewer beside this Hub; None: nobody asks it."""
        self._pause = pause
        self._folder = folder
        self._answered = False
        self._http = httpx2.AsyncClient(
            transport=transport,
            timeout=httpx2.Timeout(timeout, connect=5.0, pool=None),
            limits=httpx2.Limits(max_connections=connections, max_keepalive_connections=connections),
            headers={"user-agent": f"rl-explorer/{__version__}"},
        )

    async def aclose(self) -> None:
        await self._http.aclose()

    async def repos(
        self,
        kind: Kind,
        *,
        token: Token,
        filters: Sequence[str] = (),
        search: str | None = None,
        author: str | None = None,
        limit: int | None = None,
    ) -> list[RepoInfo]:
        """Repositories by trending score. Elements the Hub garbles are left out."""
        params = [("sort", "trendingScore"), ("limit", str(min(limit or 1000, 1000)))]
        params += [("expand", name) for name in _FIELDS[kind]] + [("filter", value) for value in filters]
        params += [(name, value) for name, value in (("search", search), ("author", author)) if value]
        url = f"{self.endpoint}/api/{kind}s?{urlencode(params)}"
        found: list[RepoInfo] = []
        try:
            async for item in self._pages(url, token=token, what=f"the list of {kind}s"):
                try:
                    found.append(read_info(kind, item))
                except Upstream:
                    continue
                if limit and len(found) >= limit:
                    break
        except NotFound as error:  # a list is always there: this is no Hub, or one in trouble
            raise Upstream(f"The Hub gave no list of {kind}s.", hint="Check the Hub's address.") from error
        return found

    async def info(self, key: EnvKey, *, token: Token, revision: str | None = None) -> RepoInfo:
        """One repository, its sha always set."""
        at = f"/revision/{quote(revision, safe='')}" if revision else ""
        url = f"{self._api(key)}{at}?{urlencode([('expand', name) for name in _FIELDS[key.kind]])}"
        info = read_info(key.kind, await self._json("GET", url, token=token, what=str(key)))
        if info.sha is None:
            raise Upstream(f"The Hub gave no revision for {key}.", hint="Try again in a minute.")
        return info

    async def may_read(self, key: EnvKey, *, token: Token) -> None:
        """Return when `token` may read `key`; raises what a read would."""
        await self._json("GET", f"{self._api(key)}/auth-check", token=token, what=str(key))

    async def whoami(self, token: str) -> str:
        """The name of the token's owner. Raises `Forbidden` for a token the Hub does not know."""
        return (await self.accounts(token))[0]

    async def accounts(self, token: str) -> tuple[str, ...]:
        """The name of the token's owner, and of the organisations they belong to. Raises as `whoami`."""
        raw = await self._json("GET", f"{self.endpoint}/api/whoami-v2", token=token, what="the token's owner")
        name = raw.get("name") if isinstance(raw, Mapping) else None
        if not isinstance(raw, Mapping) or not isinstance(name, str) or not name:
            raise Upstream("The Hub did not say whose token it is.")
        orgs = raw.get("orgs")
        named = [org.get("name") for org in orgs if isinstance(org, Mapping)] if isinstance(orgs, list) else []
        return (name[:100], *(org[:100] for org in named if isinstance(org, str) and org))

    async def refs(self, key: EnvKey, *, token: Token) -> dict[str, str]:
        """Branches and tags by name, each with its commit."""
        raw = await self._json("GET", f"{self._api(key)}/refs", token=token, what=f"the branches of {key}")
        groups = [raw.get(name) for name in ("branches", "tags")] if isinstance(raw, Mapping) else []
        return {
            ref["name"]: ref["targetCommit"]
            for group in groups
            if isinstance(group, list)
            for ref in group
            if isinstance(ref, Mapping)
            and isinstance(ref.get("name"), str)
            and isinstance(ref.get("targetCommit"), str)
        }

    async def converted(self, key: EnvKey, *, token: Token) -> str | None:
        """The commit of the branch to which the Hub converted the rows of `key`; None where there is none."""
        raw = await self._json("GET", f"{self._api(key)}/refs", token=token, what=f"the branches of {key}")
        found = raw.get("converts") if isinstance(raw, Mapping) else None
        for ref in found if isinstance(found, list) else []:
            if isinstance(ref, Mapping) and ref.get("ref") == CONVERTED and isinstance(ref.get("targetCommit"), str):
                return str(ref["targetCommit"])
        return None

    async def commits(self, key: EnvKey, *, token: Token, limit: int = 50) -> list[Commit]:
        """The newest commits of the default branch, newest first."""
        url = f"{self._api(key)}/commits/main?limit={limit}"
        raw = await self._json("GET", url, token=token, what=f"the history of {key}")
        found = [read_commit(item) for item in raw] if isinstance(raw, list) else []
        return [commit for commit in found if commit is not None][:limit]

    async def tree(
        self, key: EnvKey, sha: str, *, token: Token, limit: int, folder: str = "", recursive: bool = True
    ) -> AsyncGenerator[TreeEntry | FolderEntry]:
        """What lies in `folder` at `sha`, at every depth unless told not to, in the Hub's order.

        Raises `TooLarge` past `limit` entries, and `NotFound` when there is no such folder.
        """
        below = f"/{quote(folder, safe='')}" if folder else ""
        url = f"{self._api(key)}/tree/{sha}{below}?recursive={'true' if recursive else 'false'}&expand=false"
        count = 0
        async for item in self._pages(url, token=token, what=f"the files of {key}"):
            entry = read_entry(item)
            if entry is not None:
                count += 1
                if count > limit:
                    raise TooLarge(f"{key} holds more than {limit:,} files and folders, too many to list.")
                yield entry

    async def paths_info(
        self, key: EnvKey, sha: str, paths: Sequence[str], *, token: Token
    ) -> list[TreeEntry | FolderEntry]:
        """Those of up to `PATHS_A_CALL` paths that are there."""
        raw = await self._json(
            "POST",
            f"{self._api(key)}/paths-info/{sha}",
            token=token,
            what=f"files of {key}",
            data={"paths": list(paths), "expand": "false"},
        )
        entries = [read_entry(item) for item in raw] if isinstance(raw, list) else []
        asked = frozenset(paths)
        return [entry for entry in entries if entry is not None and entry.path in asked]

    async def read(
        self, key: EnvKey, sha: str, path: str, *, token: Token, limit: int, expected: int | None = None
    ) -> bytes:
        """A whole file. Raises `TooLarge` past `limit` bytes and `Upstream` when it is not `expected` bytes long."""
        data = await self._bytes(self._resolve(key, sha, path), token=token, what=f"{path} of {key}", limit=limit)
        if expected is not None and len(data) != expected:
            raise Upstream(
                f"{path} of {key} was listed with {expected:,} bytes and came with {len(data):,}.",
                hint="The repository may be changing; try again in a minute.",
            )
        return data

    async def read_range(self, key: EnvKey, sha: str, path: str, *, token: Token, start: int, end: int) -> bytes:
        """Bytes `start` up to, not including, `end`; fewer at the end of the file."""
        headers = {"range": f"bytes={start}-{end - 1}"}
        what = f"{path} of {key}"
        url = self._resolve(key, sha, path)
        data = await self._bytes(url, token=token, what=what, limit=end - start, headers=headers, status=206)
        if len(data) > end - start:
            raise Upstream(f"The Hub sent {len(data):,} bytes of {what} for a range of {end - start:,}.")
        return data

    def _api(self, key: EnvKey) -> str:
        return f"{self.endpoint}/api/{key.kind}s/{key.repo_id}"

    def _resolve(self, key: EnvKey, sha: str, path: str) -> str:
        return f"{self.endpoint}/{key.kind}s/{key.repo_id}/resolve/{sha}/{quote(path)}"

    async def _pages(self, url: str, *, token: Token, what: str) -> AsyncIterator[object]:
        seen: set[str] = set()
        next_url: str | None = url
        while next_url and next_url not in seen:
            seen.add(next_url)
            answer = await self._send("GET", next_url, token=token, what=what)
            items = _parse(answer.data, what)
            if not isinstance(items, list):
                raise Upstream(f"The Hub's answer for {what} is not a list.")
            for item in items:
                yield item
            link = _NEXT.search(answer.headers.get("link", ""))
            next_url = _joined(next_url, link[1], what) if link else None
            if next_url and not self._is_ours(next_url):
                raise Upstream(f"The Hub's answer for {what} continues on another server.")

    async def _json(
        self, method: str, url: str, *, token: Token, what: str, data: Mapping[str, object] | None = None
    ) -> object:
        answer = await self._send(method, url, token=token, what=what, data=data)
        return _parse(answer.data, what)

    async def _bytes(
        self,
        url: str,
        *,
        token: Token,
        what: str,
        limit: int,
        headers: Mapping[str, str] | None = None,
        status: int = 200,
    ) -> bytes:
        answer = await self._send("GET", url, token=token, what=what, headers=headers, limit=limit)
        if answer.status == 416:
            return b""
        if answer.status != status:
            raise Upstream(f"The Hub answered {answer.status} where {status} was due, for {what}.")
        return answer.data

    async def _send(
        self,
        method: str,
        url: str,
        *,
        token: Token,
        what: str,
        headers: Mapping[str, str] | None = None,
        data: Mapping[str, object] | None = None,
        limit: int = MAX_JSON,
    ) -> Answer:
        """Send with retries and follow up to three redirects, read the body within `limit`, and map errors."""
        try:
            async for attempt in stamina.retry_context(
                on=self._is_passing,
                attempts=ATTEMPTS,
                wait_initial=self._pause,
                wait_jitter=self._pause,
                timeout=None,
            ):
                with attempt, span("hub"):
                    answer = await self._once(method, url, token, headers, data, limit, what)
                    self._answered = True
                    self.budget.read(answer.headers)
                    if answer.status in _RETRIED:
                        raise _Busy(answer)
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            slow = isinstance(error, httpx2.TimeoutException)
            away = isinstance(error, _UNCONNECTED) and not self._answered
            raise Upstream(
                f"The Hub {'took too long' if slow else 'could not be reached'} for {what}.",
                hint=f"Is this machine online, and {self.endpoint} right?" if away else "Try again in a minute.",
                retry_after=30,
            ) from error
        except _Busy as busy:
            raise _error(busy.answer, what, signed_in=bool(token), folder=self._folder) from busy
        if not 200 <= answer.status < 300 and answer.status != 416:
            raise _error(answer, what, signed_in=bool(token), folder=self._folder)
        return answer

    async def _once(
        self,
        method: str,
        url: str,
        token: Token,
        headers: Mapping[str, str] | None,
        data: Mapping[str, object] | None,
        limit: int,
        what: str,
    ) -> Answer:
        for _ in range(4):
            own = self._is_ours(url)
            auth = {"authorization": f"Bearer {token}"} if token and own else {}
            request = self._http.build_request(method, url, headers={**auth, **(headers or {})}, data=data)
            response = await self._http.send(request, stream=True, follow_redirects=False)
            try:
                if not response.has_redirect_location:
                    return Answer(response.status_code, response.headers, await _read_within(response, limit, what))
            finally:
                await response.aclose()
            url = _joined(url, response.headers["location"], what)
            if not self._is_ours(url) and urlsplit(url).scheme != "https":
                raise Upstream(f"The Hub pointed to an address that is not https, for {what}.")
        raise Upstream(f"The Hub redirected in circles for {what}.")

    def _is_passing(self, error: Exception) -> bool:
        """Whether asking again may help."""
        if isinstance(error, _UNCONNECTED):
            return self._answered
        return isinstance(error, httpx2.TransportError | httpx2.DecodingError | _Busy)

    def _is_ours(self, url: str) -> bool:
        mine, theirs = urlsplit(self.endpoint), urlsplit(url)
        return (mine.scheme, mine.netloc) == (theirs.scheme, theirs.netloc)


def _joined(base: str, told: str, what: str) -> str:
    """The address that the Hub tells in an answer from `base`."""
    try:
        return str(httpx2.URL(urljoin(base, told)))
    except (ValueError, httpx2.InvalidURL) as error:
        raise Upstream(f"The Hub pointed to an address that is none, for {what}.") from error


async def _read_within(response: httpx2.Response, limit: int, what: str) -> bytes:
    """The body, at most `limit` bytes of it."""
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > limit:
            raise TooLarge(f"{what} is larger than {limit:,} bytes, the most that is read here.")
        parts.append(part)
    return b"".join(parts)


def _parse(data: bytes, what: str) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Upstream(f"The Hub's answer for {what} is not JSON.") from error


def _error(answer: Answer, what: str, *, signed_in: bool, folder: bool) -> UserError:
    code = answer.headers.get("x-error-code", "")
    status = answer.status
    missing = what.removeprefix("the ")
    if code == "GatedRepo":
        return Forbidden(f"{what} is gated.", hint="Accept its terms on the Hub, then sign in with that account.")
    if code == "RevisionNotFound":
        return NotFound(f"No such revision of {what}.")
    if code == "EntryNotFound":
        return NotFound(f"No {missing}.")
    if folder and (code == "RepoNotFound" or status in (401, 404)):
        return NotFound(f"No {missing} in the folder that is read here, or it is private.", hint="Check the name.")
    if code == "RepoNotFound" or status == 404 or (status == 401 and not signed_in):
        hint = (
            "Check the name."
            if signed_in
            else "Check the name. If it is private, sign in with an account that may read it."
        )
        return NotFound(f"No {missing} on the Hub, or it is private.", hint=hint)
    if status in (401, 403):
        return Forbidden(f"The Hub refused this account for {what}.", hint="Sign in again, or with another account.")
    wait = retry_after(answer.headers)
    if status == 429:
        return Upstream(
            f"The Hub's rate limit is reached ({what}).",
            hint=f"Try again in {wait or 60} seconds.",
            retry_after=wait or 60,
        )
    return Upstream(f"The Hub answered {status} for {what}.", hint="Try again in a minute.", retry_after=wait or 30)
