"""What a target offers: templates for its framework, and how the result is installed, served, driven and validated.

The folder of a target holds `__init__.py` with `TARGET`, `templates/` (a tree of files; the suffix `.j2` marks a
template of Jinja2, and `{package}` in a path is the environment's name as Python's), `drive.py`, and `mutants.py`.

`drive.py` is a program for the framework's own Python, never imported here. It gets the folder of the generated variant
and a plan as JSON on standard input, plays the plan through the framework, and writes what it saw as JSON: see
`rlx.generator.check.plan`.

`skill.md`, where there is one, is what a skill for coding agents says of the framework.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Mutant:
    """A mistake that a wrapper could hold, as texts in a file that become others.

    In file and texts `{package}` is the environment's name, `{class}` the domain class, `{tool}` the first tool,
    `{spoil}` the arguments taken wrongly, `{leak}` a statement that answers with tasks and what they hide, and
    `{hidden}` the first task's hidden keys as JSON.
    """

    kind: str
    """One of reward, done, shared_state, error, coercion, leaked_answer, tool_name, split."""
    file: str
    """In the variant's folder."""
    changes: Sequence[tuple[str, str]]
    """What becomes what, at its first occurrence."""


@dataclass(frozen=True, slots=True)
class Target:
    name: str
    title: str
    requirement: str
    """What is installed, with the bounds that are tested: `openenv>=0.10,<0.11`."""
    python: str
    """The generated package's `requires-python`."""
    folder: Path
    """Of this target: `templates/` and `drive.py` are in it."""
    package: str
    """Where in the variant the copies of shared modules are: `.` or `{package}`."""
    mutants: Sequence[Mutant]
    validators: Sequence[Sequence[str]] = ()
    """Commands of the framework that check the variant, run in its folder. The words `{package}` and `{name}` are the
    environment's name."""
    imports: str = ""
    """A statement that imports what the variant imports of the framework; its time is what the framework costs."""
    served: Sequence[str] = ()
    """The command that serves the variant, run in its folder with HOST and PORT set. Empty: nothing is served."""
    ready: str = "/"
    """What answers 200 when the server is up."""
    validators_online: Sequence[Sequence[str]] = ()
    """As `validators`, with the server at `{url}`, and `{low}` and `{high}` the bounds of the reward."""
    rollout_imports: int = 1
    """How many processes of a rollout import the framework."""
    steps: bool = True
    """Whether the framework tells the reward of each step; otherwise only that of the episode is compared."""
