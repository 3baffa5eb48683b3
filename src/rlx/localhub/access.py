"""Who asks, and what they may have: tokens of test users, private and gated repositories."""

import hashlib
from dataclasses import dataclass

from rlx.localhub.repo import Repo
from rlx.localhub.sidecar import SidecarFile, User
from rlx.localhub.wire import Refusal, Request


@dataclass(frozen=True, slots=True)
class Visitor:
    user: User | None
    key: str
    """Whose quota is spent: a digest of the token, or the peer's address."""

    def owns(self, repo: Repo) -> bool:
        return self.user is not None and (repo.author == self.user.name or repo.author in self.user.orgs)

    def sees(self, repo: Repo) -> bool:
        return not repo.meta.private or self.owns(repo)

    def reads(self, repo: Repo) -> bool:
        """May have the files of a repository they see."""
        granted = self.user is not None and self.user.name in repo.meta.granted
        return not repo.meta.gated or granted or self.owns(repo)


def identify(request: Request, sidecar: SidecarFile) -> Visitor:
    """The visitor behind a request. Refuses a token of nobody; a hub without users takes every token for none."""
    header = request.headers.get(b"authorization")
    if header is None or not sidecar.has_users:
        return Visitor(None, request.client)
    scheme, _, token = header.decode("latin-1").partition(" ")
    user = sidecar.user(token.strip()) if scheme.lower() == "bearer" else None
    if user is None:
        raise Refusal(401, "", "Invalid credentials in Authorization header")
    return Visitor(user, hashlib.sha256(header).hexdigest())


def not_found(visitor: Visitor, kind: str) -> Refusal:
    """A repository that is not there, or that this visitor must not know of: told the same way."""
    if visitor.user is None:
        return Refusal(401, "RepoNotFound", "Invalid username or password.")
    return Refusal(404, "RepoNotFound", f"{kind.removesuffix('s').capitalize()} not found")


def require_files(visitor: Visitor, repo: Repo) -> None:
    """Refuse visitors who may not read the files of a gated or disabled repository."""
    if repo.meta.disabled:
        raise Refusal(403, "", "Access to this resource is disabled.")
    if visitor.reads(repo):
        return
    what = f"Access to {repo.kind.removesuffix('s')} {repo.id} is restricted"
    if visitor.user is None:
        raise Refusal(401, "GatedRepo", f"{what}. You must have access to it and be authenticated to access it.")
    raise Refusal(403, "GatedRepo", f"{what} and you are not in the authorized list.")
