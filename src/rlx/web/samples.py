"""One of everything the pages are made of, with the content it has to hold. For `/-/patterns` alone."""

from dataclasses import replace
from datetime import UTC, datetime

from rlx.answers import name, prose, record
from rlx.ids import EnvKey
from rlx.model import (
    Block,
    Capability,
    Code,
    Count,
    Custom,
    Disclose,
    EnvCard,
    EnvPage,
    Facet,
    FacetValue,
    FileEntry,
    FilesBlock,
    KeyValues,
    Link,
    Links,
    Markdown,
    Message,
    Messages,
    Note,
    Prompt,
    Row,
    Setting,
    Settings,
    Shares,
    Stats,
    Steps,
    Support,
    TaskCard,
    Tile,
    Tool,
    Tools,
    Transcript,
    Value,
)
from rlx.texts import say
from rlx.twins.comparison import Cell, CompareRow

KEY = EnvKey("dataset", "example", "patterns")

ICONS = (
    "box",
    "check",
    "clock",
    "columns",
    "copy",
    "cross",
    "dash",
    "dice",
    "dir",
    "down",
    "edit",
    "file",
    "image",
    "info",
    "left",
    "lock",
    "logo",
    "out",
    "play",
    "plus",
    "right",
    "rows",
    "search",
    "server",
    "star",
    "tape",
    "tasks",
    "theme-dark",
    "theme-light",
    "theme-system",
    "warn",
)
"""Every icon of the sprite but the frameworks'."""

TILES = (Tile(name("Easy"), 1_204), Tile(name("Medium"), 860), Tile(name("Hard"), 190))

COMPARED = (
    CompareRow("framework", name("Framework"), (Cell(name("Harbor")), Cell(name("Harbor")))),
    CompareRow("tasks", name("Tasks"), (Cell(n=2_254), Cell(name("Nothing here reads it.")))),
    CompareRow(
        "difficulty",
        name("Difficulty"),
        (Cell(parts=(FacetValue(name("Easy"), 1_204), FacetValue(name("Hard"), 190)), more=2, of=2_254), Cell()),
    ),
)

CHARTS = (
    Shares(
        name("Category"),
        (
            Count(name("data-processing"), 1_240, ("category", "data-processing")),
            Count(name("a category with a rather long name"), 310, ("category", "long")),
            Count(name("security"), 9, ("category", "security")),
        ),
        2_254,
    ),
    Shares(
        say("facet.timeout"),
        (
            Count(name("Up to 5 min"), 12, ("timeout", "Up to 5 min")),
            Count(name("Up to 15 min"), 1_800, ("timeout", "Up to 15 min")),
            Count(name("Up to 30 min"), 0, ("timeout", "Up to 30 min")),
            Count(name("No limit"), 442, ("timeout", "No limit")),
        ),
        2_254,
        ordered=True,
    ),
)

_GRADER = """\
import re

expected_dates = ‹withheld›

def test_dates() -> None:
    # \u202eThis comment would read backwards\u202c
    assert re.findall(PATTERN, LOG, re.MULTILINE) == expected_dates
"""
_README = """\
## A heading of the repository

Text with *emphasis*, `code`, a [link](docs/more.md) and an image: ![a chart](chart.png).

- one
- two

| name | reward |
|---|---|
| oracle | 1 |

```python
print("hello")
```
"""

BLOCKS: tuple[Block, ...] = (
    KeyValues(
        (
            Row(name("Base"), name("ubuntu:24.04"), code=True),
            Row(name("Network"), (name("open"), name("closed while grading"))),
            Row(name("Memory"), say("web.not_told"), note=name("the sandbox decides")),
        )
    ),
    Stats((Row(name("Tasks"), name("9")), Row(name("Reward"), name("0 or 1")))),
    Settings(
        (
            Setting(name("agent.timeout_sec"), name("900.0"), name("15 minutes")),
            Setting(name("environment.docker_image"), name("registry.example/team/a-long-name-of-an-image:2.0")),
            Setting(name("environment.cpus"), None, name("the sandbox decides")),
        )
    ),
    Shares(
        name("Difficulty"),
        (Count(name("Easy"), 1), Count(name("Medium"), 6), Count(name("Hard"), 2)),
        9,
        note=name("as the authors say"),
        ordered=True,
    ),
    Markdown(prose(_README)),
    Prompt(prose("Write the last date of every line to `/app/dates.txt`.\n\nA zero-width\u200bspace is marked.\n")),
    Code(prose(_GRADER), path=name("tests/test_outputs.py"), masked=(3,)),
    Note(name("Both an image and a Dockerfile are declared."), "warn", prose("task.toml, line 12")),
    Note(name("The file cannot be parsed."), "bad", prose("Expected '=' after a key (line 3, column 9)")),
    Note(name("Harbor loads it."), "ok"),
    Note(name("The oracle needs no model.")),
    Value(record({"difficulty": "easy", "answer": 42, "nested": {"limit": 3}}).value, name("Metadata")),
    Messages(
        (
            Message(name("system"), prose("You are a careful assistant.")),
            Message(name("user"), prose("What is the weather in Oslo?")),
        )
    ),
    Transcript(
        (
            Message(name("assistant"), prose("The tool knows."), kind="reasoning"),
            Message(name("assistant"), prose('{"city": "Oslo"}'), "call", name("get_weather"), name("call_1")),
            Message(name("tool"), prose("4 degrees, rain"), "output", name("get_weather"), name("call_1")),
        ),
        note=name("A recorded rollout."),
    ),
    Tools((Tool(name("get_weather"), prose("Weather of a city."), record({"type": "object"}).value),)),
    Steps((name("The grader runs pytest."), name("Every test must pass: the reward is 1 or 0."))),
    Links((Link(name("Its environment"), "/"), Link(name("Elsewhere"), "https://example.com/"))),
    Disclose(name("task.toml as written"), (Code(prose('[task]\nname = "x"\n'), language="toml"),)),
    FilesBlock(
        (
            FileEntry("environment/Dockerfile", 918),
            FileEntry("solution", 0, is_dir=True, withheld=say("web.withheld_why")),
            FileEntry("tests/test_outputs.py", 3700),
            FileEntry("a folder/with spaces/and-a-rather-long-name-that-has-to-break-somewhere.txt", 12_000_000),
        ),
        truncated=True,
    ),
    Custom("board", record([[0, 1], [1, 0]]).value, prose("0 1\n1 0\n")),
)

FACET = Facet(
    "graded",
    say("web.graded_by"),
    (FacetValue(name("Tests"), 16, selected=True), FacetValue(name("Same answer"), 41), FacetValue(name("Judge"), 14)),
    more=3,
)

SUPPORT = Support(
    framework="harbor",
    label="Harbor",
    lifecycle=name("One agent, one sandbox"),
    reward=name("0 or 1"),
    transport=None,
    evidence=name("Nine folders hold a task.toml."),
    capabilities=(
        Capability("browse", "available", name("Read from the files.")),
        Capability("run", "external", name("Harbor's own command line runs it.")),
        Capability("play", "unavailable", name("It is no server.")),
        Capability("mcp", "unknown", name("Nobody asked yet.")),
    ),
)

_HARBOR = EnvCard(
    key=EnvKey("dataset", "example", "few-shots"),
    title=name("Few shots"),
    brief=name("Nine terminal tasks with a strict grader."),
    kind="harbor",
    framework="harbor",
    format="harbor",
    tasks=9,
    why=None,
    revision="0" * 40,
    tags=(),
    graded=(name("Tests"), name("Named scores")),
    runs=(name("Dockerfile"),),
    levels=(Count(name("Easy"), 1), Count(name("Medium"), 6), Count(name("Hard"), 2)),
    facets={},
    modified=datetime(2026, 7, 5, tzinfo=UTC),
    downloads=1204,
    likes=3,
    trending=None,
    state="ready",
)

ENVS = (
    _HARBOR,
    replace(
        _HARBOR,
        key=EnvKey("dataset", "example", "a-very-long-name-of-a-repository-that-has-to-break-where-it-must"),
        kind="nemo-gym",
        downloads=None,
        state="indexing",
    ),
    replace(
        _HARBOR,
        key=EnvKey("space", "example", "text-games"),
        brief=name("Games over a socket: a reward a move."),
        kind="openenv",
        tasks=None,
        why=name("A live server."),
        state="listed",
    ),
)

PAGE = EnvPage(ENVS, 136, (), (), 136, 2_254, 40, len(ENVS))

TASKS = (
    TaskCard("regex-log", name("regex-log"), name("Find the last date of a line."), {"graded": (name("Tests"),)}),
    TaskCard("tasks/broken", name("Broken"), name(""), {}, problem=name("task.toml cannot be parsed.")),
)
