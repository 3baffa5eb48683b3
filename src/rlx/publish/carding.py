"""A card for an environment that has none: front matter, and a README that says what it is, how it is graded and how
it is run."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_SIZES: Final = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


@dataclass(frozen=True, slots=True)
class About:
    """What a card says. Nothing of it gives an answer away."""

    title: str
    repo: str
    """`org/name`."""
    kind: str
    """`dataset` or `space`."""
    what: str
    """A sentence or two."""
    tags: Sequence[str]
    tasks: int | None
    graded: Sequence[str]
    run: Sequence[str]
    """Commands, one a line."""
    sdk: str | None = None
    license: str | None = None
    port: int | None = None


def card(about: About) -> str:
    """The whole README."""
    return f"{front_matter(about)}\n{body(about)}"


def front_matter(about: About) -> str:
    """Between its dashes, with a line's end."""
    lines = ["---"]
    if about.kind == "space":
        lines += [f"title: {_text(about.title)}", f"sdk: {about.sdk or 'docker'}"]
        lines += [f"app_port: {about.port}"] if about.port else []
    else:
        lines.append(f"pretty_name: {_text(about.title)}")
    if about.license:
        lines.append(f"license: {_text(about.license)}")
    lines += ["tags:", *(f"  - {_text(tag)}" for tag in about.tags)]
    if about.tasks and about.kind == "dataset":
        size = next((name for most, name in _SIZES if about.tasks < most), "n>1M")
        lines += ["size_categories:", f"  - {size}"]
    return "\n".join([*lines, "---", ""])


def body(about: About) -> str:
    count = "" if about.tasks is None else f"\n\n{about.tasks:,} {'task' if about.tasks == 1 else 'tasks'}."
    parts = [f"# {about.title}\n\n{about.what}{count}"]
    if about.graded:
        parts.append("## How it is graded\n\n" + "\n".join(f"- {line}" for line in about.graded))
    if about.run:
        parts.append("## How to run it\n\n```console\n" + "\n".join(about.run) + "\n```")
    return "\n\n".join(parts) + "\n"


def with_front_matter(about: About, readme: str) -> str:
    """A README that has none, with it; every byte of the README stays."""
    return front_matter(about) + ("" if readme.startswith(("\n", "\r")) else "\n") + readme


def _text(value: str) -> str:
    """A YAML scalar: plain where that is safe, else quoted as JSON, which YAML reads too."""
    plain = value.isascii() and value.replace("-", "").replace("_", "").replace(" ", "").isalnum()
    word = value.strip().lower()
    odd = (
        word in {"", "null", "true", "false", "yes", "no", "on", "off"}
        or not word[0].isalpha()
        or value != value.strip()
    )
    return value if plain and not odd else json.dumps(value, ensure_ascii=False)
