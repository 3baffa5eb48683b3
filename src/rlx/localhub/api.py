"""The Hub's API routes that read: lists, info, trees, revisions, files, and who one is."""

import json
from urllib.parse import parse_qsl, urlencode

from rlx.localhub.access import Visitor, require_files
from rlx.localhub.catalog import PAGE, parse_query
from rlx.localhub.download import find_file, serve_file
from rlx.localhub.files import Changed
from rlx.localhub.repo import Repo
from rlx.localhub.shelf import Shelf, revision
from rlx.localhub.sidecar import User
from rlx.localhub.snapshot import Snapshot, iso
from rlx.localhub.views import info_view, list_view, object_id, render, runtime
from rlx.localhub.wire import Answer, Headers, Refusal, Request, decode_segment, json_answer, raw_json

_TREE_PAGE = 1000
_EXPANDED_PAGE = 50
_MAX_PATHS = 10_000
_ATTEMPTS = 3
NO_DISCUSSIONS = {"discussions": [], "count": 0, "start": 0}
"""Of a hub that only reads."""


async def list_repos(shelf: Shelf, request: Request, visitor: Visitor, kind: str) -> Answer:
    """`GET /api/{kind}`"""
    view = list_view(kind, full=request.flag("full"), expand=request.params("expand"))
    query = parse_query(request.query, limit=request.number("limit", PAGE, most=PAGE))
    repos, cursor = (await shelf.catalog(kind)).page(query, visitor)
    body = b",".join([render(repo, repo.head, view) for repo in repos])
    return raw_json(b"[%b]" % body, headers=_next_page(request, cursor))


async def repo_route(shelf: Shelf, request: Request, visitor: Visitor, kind: str, parts: list[str]) -> Answer:
    """`/api/{kind}/{org}/{name}/…`, `parts` being the segments after the kind, still encoded."""
    org, name, *rest = parts
    repo = await shelf.repo(kind, f"{decode_segment(org)}/{decode_segment(name)}", visitor)
    match rest:
        case []:
            return _info(request, repo, repo.head)
        case ["revision", rev]:
            return _info(request, repo, _at(repo, rev))
        case ["tree", rev, *path]:
            return _tree(request, _at(repo, rev), _path(path), decode_segment(rev))
        case ["paths-info", rev]:
            return await _paths_info(request, _at(repo, rev))
        case ["refs"]:
            return json_answer(_refs(repo, pulls=request.flag("include_prs")))
        case ["commits", rev]:
            return json_answer(_commits(repo, _at(repo, rev)))
        case ["discussions"]:
            return json_answer(NO_DISCUSSIONS)
        case ["auth-check"]:
            require_files(visitor, repo)
            return json_answer({})
        case ["runtime"] if kind == "spaces":
            return json_answer(runtime(repo))
    raise Refusal(404, "", "This local hub has no such route.")


async def resolve(
    shelf: Shelf, request: Request, visitor: Visitor, kind: str, parts: list[str], *, whole: bool = False
) -> Answer:
    """`/{kind}/{org}/{name}/resolve/{revision}/{path}`. A file that changed on disk is looked at again first."""
    org, name, rev, *path = parts
    repo = await shelf.repo(kind, f"{decode_segment(org)}/{decode_segment(name)}", visitor)
    require_files(visitor, repo)
    for _ in range(_ATTEMPTS):
        at = _at(repo, rev)
        file = find_file(repo, at, _path(path))
        try:
            return serve_file(request, repo, at, file, whole=whole)
        except Changed:
            await shelf.look(repo, force=True)
    raise Refusal(503, "", "The file keeps changing on disk.")


def whoami(user: User | None, *, writes: bool = False) -> Answer:
    """`GET /api/whoami-v2`"""
    if user is None:
        raise Refusal(401, "", "Invalid username or password.")
    role = user.role if writes else "read"
    told: dict[str, object] = {
        "type": "user",
        "id": object_id(f"user {user.name}"),
        "name": user.name,
        "fullname": user.fullname or user.name,
        "email": None,
        "emailVerified": False,
        "canPay": False,
        "isPro": False,
        "periodEnd": None,
        "avatarUrl": "",
        "orgs": [_org(name, role) for name in user.orgs],
        "auth": {
            "type": "access_token",
            "accessToken": {"displayName": "local hub", "role": role, "createdAt": iso(0)},
        },
    }
    return json_answer(told)


def _org(name: str, role: str) -> dict[str, object]:
    return {
        "type": "org",
        "id": object_id(f"org {name}"),
        "name": name,
        "fullname": name,
        "avatarUrl": "",
        "roleInOrg": role,
    }


def _at(repo: Repo, rev: str) -> Snapshot:
    return revision(repo, decode_segment(rev))


def _path(segments: list[str]) -> str:
    return "/".join(decode_segment(segment) for segment in segments).strip("/")


def _next_page(request: Request, cursor: str | None) -> Headers:
    if cursor is None:
        return []
    query = [*((key, value) for key, value in request.query if key != "cursor"), ("cursor", cursor)]
    url = f"{request.base_url}{request.path}?{urlencode(query)}"
    return [(b"link", f'<{url}>; rel="next"'.encode("latin-1"))]


def _info(request: Request, repo: Repo, at: Snapshot) -> Answer:
    view = info_view(repo.kind, request.params("expand"))
    return raw_json(render(repo, at, view, blobs=request.flag("blobs")))


def _tree(request: Request, at: Snapshot, folder: str, rev: str) -> Answer:
    if folder not in at.folders:
        commit: Headers = [(b"x-repo-commit", at.sha.encode())]
        raise Refusal(404, "EntryNotFound", f'{folder[:500]} does not exist on "{rev[:100]}"', commit)
    expand = request.flag("expand")
    page = _EXPANDED_PAGE if expand else _TREE_PAGE
    limit = request.number("limit", page, most=page)
    paths, start = at.below(folder, recursive=request.flag("recursive"), after=request.param("cursor") or "")
    shown = paths[start : start + limit]
    more = start + limit < len(paths)
    entries = [at.entry(path, expand=expand) for path in shown]
    headers = [*_next_page(request, shown[-1] if more else None), (b"x-repo-commit", at.sha.encode())]
    return json_answer(entries, headers=headers)


async def _paths_info(request: Request, at: Snapshot) -> Answer:
    paths, expand = _read_paths(await request.body(), request.header(b"content-type") or "")
    if len(paths) > _MAX_PATHS:
        raise Refusal(413, "", f"More than {_MAX_PATHS:,} paths were asked for.")
    entries = (at.entry(path.strip("/"), expand=expand) for path in dict.fromkeys(paths))
    return json_answer([entry for entry in entries if entry is not None])


def _read_paths(body: bytes, content_type: str) -> tuple[list[str], bool]:
    """Paths and `expand` from a form or from JSON, as the two clients send them."""
    if "json" not in content_type:
        pairs = parse_qsl(body.decode("latin-1"), keep_blank_values=True, errors="replace")
        expand = any(key == "expand" and value.lower() in {"true", "1"} for key, value in pairs)
        return [value for key, value in pairs if key == "paths"], expand
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        raise Refusal(400, "", "The body is not JSON.") from None
    paths = asked.get("paths") if isinstance(asked, dict) else None
    paths = [paths] if isinstance(paths, str) else paths
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise Refusal(400, "", "'paths' must be a list of strings.")
    return paths, asked.get("expand") is True


_REF_GROUPS = {"branches": "refs/heads/", "converts": "refs/convert/", "tags": "refs/tags/"}


def _refs(repo: Repo, *, pulls: bool) -> dict[str, object]:
    groups = _REF_GROUPS | ({"pullRequests": "refs/pr/"} if pulls else {})
    refs = repo.refs()
    told: dict[str, object] = {"pullRequests": []}
    for group, prefix in groups.items():
        told[group] = [
            {"name": name.removeprefix(prefix), "ref": name, "targetCommit": id}
            for name, id in refs.items()
            if name.startswith(prefix)
        ]
    return told


def _commits(repo: Repo, at: Snapshot) -> list[dict[str, object]]:
    return [
        {
            "id": one.id,
            "title": one.title,
            "message": one.message,
            "date": iso(one.made_ms),
            "authors": [{"user": one.author}],
        }
        for one in repo.log(at)
    ]
