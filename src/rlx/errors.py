"""The two error trees, and the one table that maps an error to an HTTP status and a CLI exit code.

`UserError`: somebody asked for something that cannot be had; it is answered, not recorded.
`RolloutError`: part of a rollout failed; it is recorded on the rollout, typed by the boundary it crossed.

A message says what was tried, what was found and, in `hint`, what to do. It never holds a token or an answer.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypedDict


class RlxError(Exception):
    """Root of everything this package raises on purpose."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UserError(RlxError):
    """The request cannot be met as asked."""


class NotFound(UserError):
    """No such environment, task or file, or none that this viewer may know of."""


class Hidden(NotFound):
    """An environment that operators hide."""


class Forbidden(UserError):
    """It exists and this viewer may know it, but may not have it."""


class BadInput(UserError):
    """The request itself is malformed."""


class TooLarge(BadInput):
    """The request, or what it asks for, is past a limit."""


class TooMany(UserError):
    """A rate limit of ours."""

    def __init__(self, message: str, *, hint: str | None = None, retry_after: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


class Upstream(UserError):
    """The Hub, or another server we depend on, failed, refused or lied. `retry_after` in seconds when it is known."""

    def __init__(self, message: str, *, hint: str | None = None, retry_after: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


class NotReady(UserError):
    """An environment is being read for the first time, at `revision`; ask again, or follow its progress.

    `before` is another revision, read before, that can be opened meanwhile.
    """

    def __init__(
        self, message: str, *, hint: str | None = None, revision: str | None = None, before: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.revision = revision
        self.before = before


class RolloutError(RlxError):
    """A rollout stage failed."""


class ModelError(RolloutError):
    """The model endpoint failed or refused."""


class SandboxError(RolloutError):
    """The sandbox could not be made, reached or kept."""


class AgentError(RolloutError):
    """The agent itself broke."""


class TaskError(RolloutError):
    """The task's own files are at fault."""


class VerifierError(RolloutError):
    """The verifier gave no usable reward."""


class LimitError(RolloutError):
    """A time, token, money or size limit ended the stage."""


@dataclass(frozen=True, slots=True)
class Outcome:
    code: str
    """Stable word for scripts, as in the JSON envelope."""
    status: int
    """HTTP status."""
    exit_code: int
    """CLI exit code: 1 failed, 2 bad input, 3 upstream, 4 not permitted."""


_OUTCOMES: dict[type[RlxError], Outcome] = {
    NotFound: Outcome("not_found", 404, 2),
    Forbidden: Outcome("forbidden", 403, 4),
    TooLarge: Outcome("too_large", 413, 2),
    BadInput: Outcome("bad_input", 400, 2),
    TooMany: Outcome("too_many", 429, 3),
    Upstream: Outcome("upstream", 503, 3),
    NotReady: Outcome("indexing", 202, 3),
    RlxError: Outcome("failed", 500, 1),
}


def outcome(error: RlxError) -> Outcome:
    """How `error` is told to a browser, a script and a shell."""
    return next(_OUTCOMES[kind] for kind in type(error).__mro__ if kind in _OUTCOMES)


class ErrorBody(TypedDict):
    code: str
    message: str
    hint: str | None


class Envelope(TypedDict):
    error: ErrorBody


def envelope(error: RlxError) -> Envelope:
    """The one JSON shape of an error."""
    return {"error": {"code": outcome(error).code, "message": error.message, "hint": error.hint}}


@asynccontextmanager
async def boundary(kind: type[RolloutError], what: str) -> AsyncIterator[None]:
    """Re-type whatever escapes as `kind`; errors that crossed an inner boundary pass unchanged."""
    try:
        yield
    except RlxError:
        raise
    except TimeoutError as error:
        raise LimitError(f"{what} took longer than its time limit.") from error
    except Exception as error:
        raise kind(f"{what} failed: {type(error).__name__}.") from error
