"""The error trees and their one table."""

import pytest

from rlx import errors
from rlx.errors import LimitError, NotFound, RlxError, RolloutError, SandboxError, Upstream, boundary, envelope, outcome

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("kind", "code", "status", "exit_code"),
    [
        ("NotFound", "not_found", 404, 2),
        ("Forbidden", "forbidden", 403, 4),
        ("BadInput", "bad_input", 400, 2),
        ("TooLarge", "too_large", 413, 2),
        ("TooMany", "too_many", 429, 3),
        ("Upstream", "upstream", 503, 3),
        ("NotReady", "indexing", 202, 3),
        ("VerifierError", "failed", 500, 1),
    ],
)
async def test_every_error_has_one_status_and_one_exit_code(kind: str, code: str, status: int, exit_code: int) -> None:
    found = outcome(getattr(errors, kind)("message"))
    assert (found.code, found.status, found.exit_code) == (code, status, exit_code)


async def test_the_envelope_holds_code_message_and_hint() -> None:
    assert envelope(NotFound("No such task.", hint="Look again.")) == {
        "error": {"code": "not_found", "message": "No such task.", "hint": "Look again."}
    }


async def test_a_boundary_types_what_escapes_and_tells_no_detail_of_it() -> None:
    with pytest.raises(SandboxError, match=r"^Starting the sandbox failed: KeyError\.$") as caught:
        async with boundary(SandboxError, "Starting the sandbox"):
            raise KeyError("hf_secrettoken")
    assert isinstance(caught.value, RolloutError)


async def test_an_inner_boundary_wins_and_a_timeout_is_a_limit() -> None:
    with pytest.raises(Upstream):
        async with boundary(SandboxError, "The sandbox"):
            raise Upstream("The Hub is down.")
    with pytest.raises(LimitError, match="time limit"):
        async with boundary(SandboxError, "The sandbox"):
            raise TimeoutError


async def test_every_error_of_ours_has_an_outcome() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, RlxError)]
    assert len(kinds) > 12
    assert all(outcome(kind("message")).status >= 202 for kind in kinds)
