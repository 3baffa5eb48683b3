"""Logging set-up, and the clock of one request: named spans that become its `Server-Timing` header."""

import logging
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_SECRET = re.compile(r"hf_[A-Za-z0-9_]{4,}|(?i:bearer)\s+\S+")
_spans: ContextVar[dict[str, float] | None] = ContextVar("spans", default=None)


def redact(text: str) -> str:
    """`text` without tokens."""
    return _SECRET.sub("[token]", text)


class Redact(logging.Filter):
    """Removes tokens from every record, whoever wrote it."""

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        clean = redact(message)
        if clean != message:
            record.msg, record.args = clean, ()
        return True


def configure_logging(*, verbose: bool = False) -> None:
    """Send logs to stderr: warnings, or with `verbose` everything of ours and every retry."""
    from stamina.instrumentation import LoggingOnRetryHook, set_on_retry_hooks  # imported late: `rlx --help` is quick

    set_on_retry_hooks([LoggingOnRetryHook])  # by default they go to standard output, which is for data
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(Redact())
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("rlx").setLevel(logging.DEBUG if verbose else logging.WARNING)
    logging.getLogger("stamina").setLevel(logging.DEBUG if verbose else logging.ERROR)


@contextmanager
def collect_spans() -> Iterator[dict[str, float]]:
    """Collect the spans of one request: name to milliseconds, summed over repeats."""
    spans: dict[str, float] = {}
    token = _spans.set(spans)
    try:
        yield spans
    finally:
        _spans.reset(token)


@contextmanager
def span(name: str) -> Iterator[None]:
    """Time a block under `name` (a token: letters, digits, dashes). Free outside a request."""
    spans = _spans.get()
    if spans is None:
        yield
        return
    start = time.perf_counter()
    try:
        yield
    finally:
        spans[name] = spans.get(name, 0.0) + (time.perf_counter() - start) * 1000


def server_timing(spans: dict[str, float]) -> str:
    """The `Server-Timing` header value of collected spans."""
    return ", ".join(f"{name};dur={duration:.1f}" for name, duration in spans.items())
