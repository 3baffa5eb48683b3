"""JSON bodies of requests that write, and who may send them."""

import json

from rlx.localhub.access import Visitor
from rlx.localhub.repo import Repo
from rlx.localhub.wire import Refusal, Request


async def read_json(request: Request) -> dict[str, object]:
    """The body as an object; none at all is an empty one."""
    body = await request.body()
    try:
        told = json.loads(body) if body.strip() else {}
    except (ValueError, RecursionError):
        raise Refusal(400, "", "The body is not JSON.") from None
    if told is None:
        return {}
    if not isinstance(told, dict):
        raise Refusal(400, "", "The body is not a JSON object.")
    return told


def writer_name(visitor: Visitor) -> str:
    """The name of a visitor whose token may write. Refuses all others."""
    if visitor.user is None:
        raise Refusal(401, "", "Invalid username or password.")
    if visitor.user.role != "write":
        raise Refusal(403, "", "Your token may only read. Use one with the role write.")
    return visitor.user.name


def owner_name(visitor: Visitor, repo: Repo, why: str) -> str:
    """The name of a visitor who may change the repository itself."""
    name = writer_name(visitor)
    if not visitor.owns(repo):
        raise Refusal(403, "", why)
    return name
