"""One request to a model's server and its answer, bounded in time and bytes, with what went wrong told apart."""

import json
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import anyio
import httpx2

from rlx.errors import Forbidden, RlxError
from rlx.runners.models.connect import open_client

MOST: Final = 8 * 1024 * 1024
"""Bytes of an answer. The longest that models give is a tenth of it."""
SECONDS: Final = 600.0
"""For a whole answer, however slowly it drips."""

type Trouble = Literal["unreachable", "tls", "slow", "too-large", "redirect", "encoded", "broken", "refused"]


class NoAnswer(RlxError):
    """Nothing came that could be read."""

    def __init__(self, trouble: Trouble, message: str) -> None:
        super().__init__(message)
        self.trouble = trouble


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    media_type: str
    """Without parameters, in small letters; empty where none is told."""
    data: bytes
    retry_after: str | None = None

    def json(self) -> Any:
        """Raises `ValueError` for what is no JSON, or nested too deep."""
        try:
            return json.loads(self.data)
        except RecursionError as error:
            raise ValueError("The JSON is nested too deep.") from error


@dataclass(frozen=True, slots=True)
class Server:
    """Where a model answers. `base_url` was checked, and what it stands for is checked again for every connection."""

    base_url: str
    key: str | None = None
    any_address: bool = False
    transport: httpx2.AsyncBaseTransport | None = None
    """Instead of the network, such as a hub in this process."""

    def __repr__(self) -> str:
        return f"Server({self.base_url!r})"  # keys stay out of logs


async def exchange(
    server: Server,
    path: str,
    body: Mapping[str, Any] | None = None,
    *,
    seconds: float = SECONDS,
    most: int = MOST,
    enough: Callable[[bytes], bool] = lambda data: False,
) -> Answer:
    """The answer to a GET, or with a body to a POST of JSON. `enough` looks at what came so far and may end it there.

    Raises `NoAnswer`.
    """
    headers = {"authorization": f"Bearer {server.key}"} if server.key else {}
    method, url = ("GET" if body is None else "POST"), f"{server.base_url}/{path}"
    try:
        with anyio.fail_after(seconds):
            async with (
                open_client(any_address=server.any_address, seconds=seconds, transport=_kept(server)) as client,
                client.stream(method, url, json=None if body is None else dict(body), headers=headers) as answer,
            ):
                return await _read(answer, most, enough)
    except Forbidden as error:
        raise NoAnswer("refused", error.message) from error
    except (TimeoutError, httpx2.ReadTimeout, httpx2.WriteTimeout) as error:
        raise NoAnswer("slow", f"The model gave no whole answer within {seconds:g} seconds.") from error
    except httpx2.ConnectTimeout as error:
        raise NoAnswer("unreachable", "The model could not be reached: no connection came about in time.") from error
    except httpx2.ConnectError as error:
        if _is_tls(error):
            raise NoAnswer("tls", "The model's server has no certificate that is valid for its name.") from error
        raise NoAnswer("unreachable", "The model could not be reached: nothing takes connections there.") from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise NoAnswer("broken", f"The model could not be reached: {type(error).__name__}.") from error


async def _read(answer: httpx2.Response, most: int, enough: Callable[[bytes], bool]) -> Answer:
    if 300 <= answer.status_code < 400:
        raise NoAnswer("redirect", "The model's address sends elsewhere, which is not followed.")
    if answer.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise NoAnswer("encoded", "The model's answer is compressed, though none such was asked for.")
    data = bytearray()
    async for part in answer.aiter_raw():
        data += part
        if len(data) > most:
            raise NoAnswer("too-large", f"The model's answer is larger than {most / 2**20:g} MB.")
        if enough(bytes(part)):
            break
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    return Answer(answer.status_code, kind, bytes(data), answer.headers.get("retry-after"))


def _is_tls(error: BaseException) -> bool:
    found: BaseException | None = error
    while found is not None:
        if isinstance(found, ssl.SSLError):
            return True
        found = found.__cause__ or found.__context__
    return False


class _Kept(httpx2.AsyncBaseTransport):
    """A transport that outlives the client of one call."""

    def __init__(self, transport: httpx2.AsyncBaseTransport) -> None:
        self._transport = transport

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return await self._transport.handle_async_request(request)


def _kept(server: Server) -> httpx2.AsyncBaseTransport | None:
    return _Kept(server.transport) if server.transport is not None else None
