"""The dataset viewer over its HTTP API: splits, rows, search, filter and statistics of a dataset's newest commit.

Raises `NotFound` (it has no such rows, or this account may not see them: it does not tell which), `BadInput` (a
condition it cannot follow) and `Upstream` (down, slow, still at work, rate limited, lying). A read is tried three times
within its seconds, a search twice. A short `Retry-After` is waited for; until a longer one is over, the same account
asks nothing more.
"""

import json
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

import anyio
import httpx2
import stamina

from rlx import __version__
from rlx.errors import BadInput, NotFound, TooLarge, Upstream, UserError
from rlx.hub.budget import BudgetMeter, retry_after
from rlx.hub.client import Token
from rlx.ids import EnvKey
from rlx.telemetry import span

PAGE: Final = 100
"""Rows of one answer."""
MAX_JSON: Final = 32 * 1024 * 1024
"""Bytes of one answer."""
SECONDS: Final = 30.0
SHORT: Final = 12.0
"""Seconds of a search or a filter."""
PATIENCE: Final = 4
"""Seconds of a `Retry-After` that is waited for."""
MAX_SPLITS: Final = 10_000
_AT_ONCE: Final = 8
_BUSY: Final = frozenset({408, 429, 500, 502, 503, 504})
_PASSING: Final = ("ResponseNotReady", "ResponseAlreadyComputed", "Unexpected", "Server", "Job")
"""How codes begin that tell of the viewer's own state; other codes tell of the dataset, and asking again is no use."""
_REFUSED: Final = {400: "malformed", 422: "not what it takes"}


@dataclass(frozen=True, slots=True)
class ViewerSplits:
    splits: tuple[tuple[str, str], ...]
    """Config and split, in the viewer's order."""
    revision: str | None
    """The commit that the answer is about, where the viewer names it."""


@dataclass(frozen=True, slots=True)
class ViewerRow:
    number: int
    """In the split, from 0."""
    cells: Mapping[str, object]
    """Hostile, not masked yet."""
    truncated: tuple[str, ...]
    """Columns of which only the beginning is here, as text."""


@dataclass(frozen=True, slots=True)
class ViewerPage:
    features: Mapping[str, object]
    """Types by column, in the viewer's notation, in the order of the columns."""
    rows: tuple[ViewerRow, ...]
    total: int
    """Rows in all: of the split, or of those found."""
    partial: bool
    """The viewer holds the beginning of the split alone."""
    revision: str | None


@dataclass(frozen=True, slots=True)
class ColumnStatistics:
    name: str
    type: str
    """int, float, bool, string_label, string_text, class_label, list, …"""
    told: Mapping[str, object]
    """As the viewer tells them. Hostile."""


@dataclass(frozen=True, slots=True)
class ViewerStatistics:
    examples: int
    columns: tuple[ColumnStatistics, ...]
    partial: bool
    revision: str | None


@dataclass(frozen=True, slots=True)
class Valid:
    """What the viewer can be asked about a dataset."""

    viewer: bool
    search: bool
    filter: bool
    statistics: bool


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    headers: httpx2.Headers
    data: bytes


class _Busy(Exception):
    """An answer worth asking for again."""

    def __init__(self, answer: _Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


class ViewerClient:
    """One client for one viewer, at `base`. Every call takes a token or False explicitly, which goes there alone.

    `transport` replaces the network.
    """

    def __init__(
        self,
        base: str,
        *,
        transport: httpx2.AsyncBaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
        pause: float = 0.3,
        seconds: float = SECONDS,
        short: float = SHORT,
    ) -> None:
        self.base = base.rstrip("/")
        self.budget = BudgetMeter(clock)
        self._clock = clock
        self._pause = pause
        self._seconds = seconds
        self._short = short
        self._slots = anyio.Semaphore(_AT_ONCE)
        self._closed: OrderedDict[str, float] = OrderedDict()
        self._http = httpx2.AsyncClient(
            transport=transport,
            timeout=httpx2.Timeout(seconds, connect=5.0, pool=None),
            limits=httpx2.Limits(max_connections=_AT_ONCE, max_keepalive_connections=_AT_ONCE),
            headers={"user-agent": f"rl-explorer/{__version__}"},
            follow_redirects=False,
        )

    async def aclose(self) -> None:
        await self._http.aclose()

    async def valid(self, key: EnvKey, *, token: Token) -> Valid:
        told, _ = await self._ask("is-valid", key, {}, token)
        return Valid(*(told.get(name) is True for name in ("viewer", "search", "filter", "statistics")))

    async def splits(self, key: EnvKey, *, token: Token) -> ViewerSplits:
        told, revision = await self._ask("splits", key, {}, token)
        named = [(item.get("config"), item.get("split")) for item in _objects(told.get("splits"))[:MAX_SPLITS]]
        found = [(config, split) for config, split in named if isinstance(config, str) and isinstance(split, str)]
        return ViewerSplits(tuple(dict.fromkeys(found)), revision)

    async def rows(
        self, key: EnvKey, config: str, split: str, *, token: Token, offset: int, length: int = PAGE
    ) -> ViewerPage:
        """At most `PAGE` rows from `offset`, from 0."""
        asked = {"config": config, "split": split, "offset": str(offset), "length": str(min(length, PAGE))}
        return _page(*await self._ask("rows", key, asked, token))

    async def search(
        self, key: EnvKey, config: str, split: str, query: str, *, token: Token, offset: int = 0, length: int = PAGE
    ) -> ViewerPage:
        """Rows with a word of `query` in any column, withheld ones too: never for a visitor who may not see those."""
        asked = {"config": config, "split": split, "query": query, "offset": str(offset), "length": str(length)}
        return _page(*await self._ask("search", key, asked, token, is_short=True))

    async def filter(
        self,
        key: EnvKey,
        config: str,
        split: str,
        where: str,
        *,
        token: Token,
        order: str | None = None,
        offset: int = 0,
        length: int = PAGE,
    ) -> ViewerPage:
        """Rows that meet `where`; see `equal` for how one is written. Of withheld columns as `search`."""
        asked = {"config": config, "split": split, "where": where, "offset": str(offset), "length": str(length)}
        if order is not None:
            asked["orderby"] = order
        return _page(*await self._ask("filter", key, asked, token, is_short=True))

    async def statistics(self, key: EnvKey, config: str, split: str, *, token: Token) -> ViewerStatistics:
        told, revision = await self._ask("statistics", key, {"config": config, "split": split}, token)
        columns: list[ColumnStatistics] = []
        for item in _objects(told.get("statistics")):
            name, values = item.get("column_name"), item.get("column_statistics")
            if isinstance(name, str) and isinstance(values, Mapping):
                columns.append(ColumnStatistics(name, str(item.get("column_type")), values))
        return ViewerStatistics(_count(told, "num_examples"), tuple(columns), told.get("partial") is True, revision)

    async def _ask(
        self, route: str, key: EnvKey, asked: Mapping[str, str], token: Token, *, is_short: bool = False
    ) -> tuple[Mapping[str, object], str | None]:
        what = f"{route} of {key}"
        account = sha256(str(token).encode()).hexdigest()[:16]
        left = self._closed.get(account, 0.0) - self._clock()
        if left > 0:
            raise _limited(what, int(left) + 1)
        seconds = self._short if is_short else self._seconds
        with anyio.move_on_after(seconds):
            async with self._slots:
                answer = await self._send(route, {"dataset": key.repo_id, **asked}, token, what, 2 if is_short else 3)
            wait = retry_after(answer.headers)
            if answer.status == 429 or (answer.status == 503 and wait):
                self._close(account, 60 if wait is None else wait)
            if answer.status != 200:
                raise _error(answer, what, signed_in=bool(token))
            revision = answer.headers.get("x-revision")
            return _parse(answer.data, what), revision
        raise Upstream(f"The dataset viewer took longer than {seconds:g} s for {what}.", hint="Try again in a minute.")

    def _close(self, account: str, wait: int) -> None:
        self._closed[account] = self._clock() + wait
        while len(self._closed) > 1000:
            self._closed.popitem(last=False)

    async def _send(self, route: str, asked: Mapping[str, str], token: Token, what: str, attempts: int) -> _Answer:
        try:
            async for attempt in stamina.retry_context(
                on=_again,
                attempts=attempts,
                wait_initial=self._pause,
                wait_jitter=self._pause,
                timeout=None,
            ):
                with attempt, span("viewer"):
                    answer = await self._once(route, asked, token, what)
                    self.budget.read(answer.headers)
                    code = answer.headers.get("x-error-code", "")
                    if answer.status in _BUSY and (not code or code.startswith(_PASSING)):
                        raise _Busy(answer)
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            raise Upstream(
                f"The dataset viewer could not be reached for {what}.", hint="Try again in a minute.", retry_after=30
            ) from error
        except _Busy as busy:
            return busy.answer
        return answer

    async def _once(self, route: str, asked: Mapping[str, str], token: Token, what: str) -> _Answer:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        request = self._http.build_request("GET", f"{self.base}/{route}", params=dict(asked), headers=headers)
        response = await self._http.send(request, stream=True)
        try:
            parts: list[bytes] = []
            size = 0
            async for part in response.aiter_bytes():
                size += len(part)
                if size > MAX_JSON:
                    raise TooLarge(f"{what} is larger than {MAX_JSON:,} bytes, the most that is read here.")
                parts.append(part)
            return _Answer(response.status_code, response.headers, b"".join(parts))
        finally:
            await response.aclose()


def equal(column: str, value: str | int | float | bool) -> str:
    """A condition of `filter`: the column holds just that."""
    name = column.replace('"', '""')
    if isinstance(value, str):
        text = value.replace("'", "''")
        return f"\"{name}\"='{text}'"
    return f'"{name}"={str(value).lower()}'


def _again(error: Exception) -> bool | float:
    """Whether asking again may help, and after how many seconds the viewer wants it."""
    if isinstance(error, _Busy):
        wait = retry_after(error.answer.headers)
        return wait is None or (wait <= PATIENCE and float(wait))
    return isinstance(error, httpx2.TransportError | httpx2.DecodingError)


def _error(answer: _Answer, what: str, *, signed_in: bool) -> UserError:
    code = answer.headers.get("x-error-code", "")[:80]
    status, wait = answer.status, retry_after(answer.headers)
    if status == 429:
        return _limited(what, wait or 60)
    if code.startswith("External") or (not code and status in (401, 403, 404)):
        hint = None if signed_in else "If the dataset is private, sign in with an account that may read it."
        return NotFound(f"The dataset viewer has no {what}, or not for this account.", hint=hint)
    if status in _REFUSED:
        return BadInput(f"The dataset viewer refused to tell {what}: what was asked is {_REFUSED[status]}.")
    if code.startswith("ResponseNotReady"):
        hint = "Try again in a minute."
        return Upstream(f"The dataset viewer is still preparing {what}.", hint=hint, retry_after=wait or 30)
    if code and not code.startswith(_PASSING):
        return NotFound(f"The dataset viewer has no {what} ({code}).")
    return Upstream(
        f"The dataset viewer answered {status} for {what}.", hint="Try again in a minute.", retry_after=wait or 30
    )


def _limited(what: str, wait: int) -> Upstream:
    return Upstream(
        f"The dataset viewer's rate limit is reached ({what}).", hint=f"Try again in {wait} seconds.", retry_after=wait
    )


def _parse(data: bytes, what: str) -> Mapping[str, object]:
    try:
        told = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Upstream(f"The dataset viewer's answer for {what} is not JSON.") from error
    if not isinstance(told, dict):
        raise Upstream(f"The dataset viewer's answer for {what} is not an object.")
    return told


def _page(told: Mapping[str, object], revision: str | None) -> ViewerPage:
    features = {str(item["name"]): item.get("type") for item in _objects(told.get("features")) if "name" in item}
    rows: list[ViewerRow] = []
    for item in _objects(told.get("rows")):
        number, cells = item.get("row_idx"), item.get("row")
        if isinstance(number, int) and isinstance(cells, Mapping):
            rows.append(ViewerRow(number, cells, _names(item.get("truncated_cells"))))
    return ViewerPage(features, tuple(rows), _count(told, "num_rows_total"), told.get("partial") is True, revision)


def _objects(value: object) -> Sequence[Mapping[str, object]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _names(value: object) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _count(told: Mapping[str, object], name: str) -> int:
    value = told.get(name)
    if type(value) is not int or not 0 <= value < 2**53:
        raise Upstream(f"The dataset viewer did not tell how many rows there are ({name}).")
    return value
