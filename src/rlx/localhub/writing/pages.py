"""Discussions and pull requests as pages, where the Hub has them: plain, and read alone."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from jinja2 import Environment, FunctionLoader, StrictUndefined

from rlx.localhub.repo import Repo
from rlx.localhub.snapshot import iso
from rlx.localhub.wire import Answer
from rlx.localhub.writing import talk
from rlx.localhub.writing.ledger import Ledger
from rlx.localhub.writing.pulls import Pulls

STYLE: Final = "/-/localhub.css"
_POLICY: Final = b"default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_SHOWN: Final = 400_000
"""Characters of a diff on a page."""


@dataclass(frozen=True, slots=True)
class Pages:
    ledger: Ledger
    pulls: Pulls

    def discussions(self, repo: Repo) -> Answer:
        found = talk.discussions(self.ledger, repo.key)
        return _page("discussions.html", repo=repo, address=_address(repo), found=found)

    def discussion(self, repo: Repo, num: str) -> Answer:
        one = talk.find(self.ledger, repo.key, num)
        diff = self.pulls.diff(one) if one.is_pull else ""
        return _page(
            "discussion.html",
            repo=repo,
            address=_address(repo),
            one=one,
            events=talk.events(self.ledger, one),
            conflicts=self.pulls.conflicts(one) if one.is_pull else [],
            files=_by_file(diff[:_SHOWN]),
            is_cut=len(diff) > _SHOWN,
        )


def stylesheet() -> Answer:
    css = (files(__package__) / "pages.css").read_bytes()
    return Answer(200, [(b"content-type", b"text/css; charset=utf-8"), (b"cache-control", b"max-age=300")], css)


def _address(repo: Repo) -> str:
    return f"/{'' if repo.kind == 'models' else f'{repo.kind}/'}{repo.id}"


def _by_file(diff: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Path of each file, and its lines with what each is: `head`, `hunk`, `add`, `del` or `same`."""
    found: list[tuple[str, list[tuple[str, str]]]] = []
    in_hunk = False
    for line in diff.removesuffix("\n").split("\n"):
        if line.startswith("diff --git "):
            found.append((line.rpartition(" b/")[2], []))
            in_hunk = False
            continue
        in_hunk = in_hunk or line.startswith("@@")
        if in_hunk:
            kind = {"@": "hunk", "+": "add", "-": "del", "\\": "head"}.get(line[:1], "same")
            found[-1][1].append((kind, line))
        elif found and not line.startswith(("--- ", "+++ ")):  # they name the file again
            found[-1][1].append(("head", line))
    return found


def _page(name: str, **values: object) -> Answer:
    html = _templates().get_template(name).render(style=STYLE, **values).encode()
    headers = [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-security-policy", _POLICY),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
    ]
    return Answer(200, headers, html)


@cache
def _templates() -> Environment:
    folder = files(__package__) / "pages"
    loader = FunctionLoader(lambda name: (folder / name).read_text(encoding="utf-8"))
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.filters["iso"] = iso
    return made
