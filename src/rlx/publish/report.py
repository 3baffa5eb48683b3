"""Reporting a broken task: a discussion on its repository, with what is known of it and nothing of its answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from rlx.errors import BadInput
from rlx.hub.writing import HubWriter, Thread
from rlx.ids import ROOT_REF, EnvKey

LONGEST: Final = 8000
"""Characters of what a reporter says."""
_TITLE: Final = 190


@dataclass(frozen=True, slots=True)
class Draft:
    title: str
    text: str


def draft(key: EnvKey, ref: str, sha: str | None, evidence: Sequence[str], message: str, *, broken: bool) -> Draft:
    """`evidence` is what runs proved, in lines of Markdown; `broken` whether that is that the task is broken.

    Raises `BadInput` where nothing is said to be wrong: no message, and no run that found the task broken.
    """
    message = message.strip()
    if len(message) > LONGEST:
        raise BadInput(f"What is wrong takes {len(message):,} characters; the limit is {LONGEST:,}.")
    if not message and not broken:
        raise BadInput(
            f"Nothing says what is wrong with {ref[:200]}: no run found it broken.", hint="Say it in a message."
        )
    lines = [f"Task: {_code(key.name if ref == ROOT_REF else ref)}", f"Revision: {_code(sha or 'unknown')}", ""]
    if message:
        lines += [message, ""]
    if evidence:
        lines += [*evidence, ""]
    lines += ["Told by RL Explorer's `rlx hub report`. It holds nothing of the task's answer."]
    return Draft(_title(ref, key), "\n".join(lines))


def _title(ref: str, key: EnvKey) -> str:
    name = key.name if ref == ROOT_REF else ref
    plain = "".join(char if char.isprintable() else " " for char in name)
    return f"Broken task: {plain}"[:_TITLE]


def threads_of(writer: HubWriter, key: EnvKey, ref: str) -> list[Thread]:
    """Discussions that are open and name the task in their title."""
    return related(writer.threads(key, "discussion"), key, ref)


def related(threads: list[Thread], key: EnvKey, ref: str) -> list[Thread]:
    name = key.name if ref == ROOT_REF else ref
    short = name.rpartition("/")[2]
    return [one for one in threads if name in one.title or _names(one.title, short)]


def _names(title: str, name: str) -> bool:
    """Whether `name` stands in `title` as a word of its own."""
    return name in title.replace("`", " ").replace('"', " ").replace("'", " ").rstrip(".,:;!?").split()


def new_url(endpoint: str, key: EnvKey, written: Draft) -> str:
    """Where the Hub lets a person who is signed in there send the same."""
    prefix = "spaces" if key.kind == "space" else "datasets"
    query = urlencode({"title": written.title, "description": written.text})
    return f"{endpoint.rstrip('/')}/{prefix}/{key.repo_id}/discussions/new?{query}"


def _code(text: str) -> str:
    """Markdown's code, whatever the text holds."""
    plain = "".join(char if char.isprintable() else " " for char in text)
    ticks = "`"
    while ticks in plain:
        ticks += "`"
    space = " " if "`" in plain else ""
    return f"{ticks}{space}{plain}{space}{ticks}"
