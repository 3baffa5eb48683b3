"""What a repository's card says: its title, a brief and the README itself."""

import re

from rlx.answers import Shown, name, prose
from rlx.errors import UserError
from rlx.formats.readme import heading, letters, paragraphs, plain
from rlx.hub.info import RepoInfo
from rlx.hub.repo import Repo

README_LIMIT = 512 * 1024
"""Bytes. A longer README is left to the file viewer."""
_BRIEF = 280
_LEAST = 40
"""Letters of a paragraph that reads like prose."""
_FRONT_MATTER = re.compile(r"\A\s*---\r?\n.*?\r?\n---\s*?(\r?\n|\Z)", re.DOTALL)
_CANARY = re.compile(r"canary", re.IGNORECASE)
_NO_BRIEF = re.compile(r"canary|\A(?:keywords|tags|키워드|关键词|キーワード)\s*[:：]", re.IGNORECASE)


def title(info: RepoInfo, text: str = "") -> Shown:
    """The card's `pretty_name` or `title`, else the heading its text opens with, else the repository's name."""
    for field in ("pretty_name", "title"):
        value = info.card.get(field)
        if isinstance(value, str) and value.strip():
            return name(value.strip()[:200])
    found = heading(body(text))
    return name(info.key.name if not found or _CANARY.search(found) else found)


def brief(info: RepoInfo, text: str = "") -> Shown:
    """One sentence or two: the card's short description, else the first paragraph that reads like prose."""
    short = info.card.get("short_description")
    if isinstance(short, str) and short.strip():
        return name(short.strip()[:_BRIEF])
    for source in (text, info.description):
        for paragraph in paragraphs(body(source)):
            told = plain(paragraph).lstrip("… ")
            prose_like = letters(told) >= _LEAST and not paragraph.lstrip().startswith(("|", "<", "- "))
            if prose_like and not _NO_BRIEF.search(told):
                return name(told if len(told) <= _BRIEF else _cut(told))
    return name("")


def body(readme: str) -> str:
    """A README without its front matter."""
    return _FRONT_MATTER.sub("", readme.removeprefix("\ufeff"), count=1)


async def readme(repo: Repo) -> Shown | None:
    """The README's body, or None when there is none to show. A card is public prose: it is shown whole."""
    entry = await repo.entry("README.md")
    if entry is None or entry.size > README_LIMIT:
        return None
    try:
        data = await repo.fetch(entry)
    except UserError:
        return None
    return prose(body(data.decode("utf-8", "replace")))


def _cut(text: str) -> str:
    """At a word, where one ends near: some languages put no space between theirs."""
    kept = text[: _BRIEF - 1]
    at = kept.rfind(" ")
    return f"{kept[:at] if at >= _BRIEF // 2 else kept}…"
