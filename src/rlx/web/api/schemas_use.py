"""The shapes of what frameworks an environment is for, and how it is used."""

from typing import Literal

from rlx.web.api.shape import Shape


class WayAnswer(Shape):
    kind: str
    path: str
    name: str
    version: str
    split: str
    tasks: int | None


class EvidenceAnswer(Shape):
    path: str
    told: str


class FrameworkAnswer(Shape):
    framework: str
    title: str
    state: Literal["supported", "claimed", "untagged"]
    library: bool
    ways: list[WayAnswer]
    evidence: list[EvidenceAnswer]


class StepAnswer(Shape):
    id: str
    title: str
    language: str
    text: str


class SnippetAnswer(Shape):
    framework: str
    title: str
    state: Literal["supported", "claimed", "untagged", "rows"]
    way: WayAnswer | None
    tested: list[str]
    needs: list[str]
    steps: list[StepAnswer]


class SnippetsAnswer(Shape):
    id: str
    revision: str | None
    tagged: bool
    whole: bool
    frameworks: list[FrameworkAnswer]
    snippets: list[SnippetAnswer]
