"""What a repository's card says: its title, a brief and the README itself."""

import re

from rlx.answers import Shown, name, prose
from rlx.errors import UserError
from rlx.hub.info import RepoInfo
from rlx.hub.repo import Repo

README_LIMIT = 512 * 1024
"""Bytes. A longer README is left to the file viewer."""
_BRIEF = 280
_FRONT_MATTER = re.compile(r"\A\s*---\r?\n.*?\r?\n---\s*?(\r?\n|\Z)", re.DOTALL)
_TAGS = (
    "a|abbr|b|blockquote|br|center|code|dd|details|div|dl|dt|em|font|h[1-6]|hr|i|img|kbd|li|ol|p|picture|pre|q|s|small"
    "|source|span|strong|sub|summary|sup|svg|table|tbody|td|th|thead|tr|tt|u|ul|video"
)
_MARKUP = re.compile(
    rf"<!--.*?-->|</?(?:{_TAGS})(?:\s[^<>]*)?/?>"
    r"|!?\[([^\]\[]*)\]\([^()]*\)|[*`#|]+|^\s*>+|(?<![^\W_])_+|_+(?![^\W_])",
    re.MULTILINE,
)
_CANARY = re.compile(r"canary", re.IGNORECASE)


def title(info: RepoInfo) -> Shown:
    """The card's `pretty_name` or `title`, else the repository's name."""
    for field in ("pretty_name", "title"):
        value = info.card.get(field)
        if isinstance(value, str) and value.strip():
            return name(value.strip()[:200])
    return name(info.key.name)


def brief(info: RepoInfo, readme: str = "") -> Shown:
    """One sentence or two: the card's short description, else the first paragraph that reads like prose."""
    short = info.card.get("short_description")
    if isinstance(short, str) and short.strip():
        return name(short.strip()[:_BRIEF])
    for text in (readme, info.description):
        for paragraph in re.split(r"\n\s*\n", body(text)):
            plain = " ".join(_MARKUP.sub(lambda found: found[1] or "", paragraph).split())
            prose_like = len(plain) >= 40 and not paragraph.lstrip().startswith(("#", "```", "|", "<", "- ", "!["))
            if prose_like and not _CANARY.search(plain):
                return name(plain if len(plain) <= _BRIEF else plain[: _BRIEF - 1].rsplit(" ", 1)[0] + "…")
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
