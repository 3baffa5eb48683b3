"""A snippet, and what it is made for."""

from dataclasses import dataclass

from rlx.publish.detect.base import Way


@dataclass(frozen=True, slots=True)
class Choices:
    """What a reader chose."""

    framework: str | None = None
    config: str | None = None
    """Of a table."""
    task: str | None = None
    """A ref."""
    model: str | None = None
    sandbox: str = "docker"
    """Harbor's name of an environment, or `module:Class`."""
    agent: str = "opencode"
    """OpenEnv's name of a harness, or `module:Class`."""


@dataclass(frozen=True, slots=True)
class Step:
    id: str
    language: str
    """bash, python, yaml or sql."""
    text: str


@dataclass(frozen=True, slots=True)
class Snippet:
    framework: str
    """A framework's tag; `rows` for a table read as such."""
    way: Way | None
    state: str
    """As in `rlx.publish.detect.base.Support`; `rows` for a table read as such."""
    tested: tuple[str, ...]
    """Packages with the versions that the commands were checked against."""
    needs: tuple[str, ...]
    """Names of texts `publish.needs.…`."""
    steps: tuple[Step, ...]
