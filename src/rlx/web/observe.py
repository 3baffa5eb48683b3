"""The outermost layer of a request: its id, its times, one line in the log, and the page for what nobody expected."""

import logging
import secrets
import time

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rlx.errors import RlxError
from rlx.telemetry import collect_spans, redact, server_timing
from rlx.web.security import Refuse

_access = logging.getLogger("rlx.web.access")
_log = logging.getLogger("rlx.web")


class Observe:
    def __init__(self, app: ASGIApp, *, refuse: Refuse) -> None:
        self.app = app
        self.refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        request_id = secrets.token_hex(8)
        start = time.perf_counter()
        status = 0
        with collect_spans() as spans:

            async def send_observed(message: Message) -> None:
                nonlocal status
                if message["type"] == "http.response.start":
                    status = message["status"]
                    headers = MutableHeaders(scope=message)
                    headers["x-request-id"] = request_id
                    took = (time.perf_counter() - start) * 1000
                    headers["server-timing"] = server_timing({**spans, "total": took})
                await send(message)

            try:
                await self.app(scope, receive, send_observed)
            except Exception:
                _log.exception("Request %s failed.", request_id)
                if status:
                    raise  # the response has begun; the server can only cut it off
                error = RlxError("Something went wrong here.", hint=f"Tell the operator the request id {request_id}.")
                await self.refuse(scope, error)(scope, receive, send_observed)
            finally:
                took = (time.perf_counter() - start) * 1000
                path = scope.get("raw_path") or scope["path"].encode()
                shown = redact(path.decode("ascii", "backslashreplace"))[:500]
                _access.info("%s %s %s %.1fms %s", scope["method"], shown, status, took, request_id)
        return None
