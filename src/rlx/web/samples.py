"""One of everything the pages are made of, with the content it has to hold. For `/-/patterns` alone."""

from dataclasses import replace
from datetime import UTC, datetime

from rlx.answers import MARK, name, prose, record
from rlx.formats.conversation import tools, turns
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

_MESSAGES = [
    {"role": "system", "content": "You are a careful assistant."},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "What is the weather in Oslo, which this is about?"},
            {"type": "image_url", "image_url": {"url": "‹application/pdf, 48,211 bytes: media/0.pdf›"}},
        ],
    },
    {"role": "assistant", "content": MARK},
]
_ROLLOUT = [
    {"role": "system", "content": "You are a careful assistant. " * 40},
    {"role": "user", "content": "Which of Oslo and Rome is warmer?"},
    {
        "role": "assistant",
        "reasoning_content": "Two cities, so two calls.\nThey can be made side by side.",
        "content": "I ask for both.",
        "usage": {"completion_tokens": 212},
        "tool_calls": [
            {"id": "call_1", "function": {"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}},
            {"id": "call_2", "function": {"name": "bash", "arguments": {"command": "cd /srv\ncurl rome.json | jq ."}}},
            {"id": "call_3", "function": {"name": "list_cities", "arguments": "{}"}},
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": "4 degrees, rain"},
    {"role": "tool", "tool_call_id": "call_2", "content": "curl: (6) Could not resolve host", "is_error": True},
    *({"role": "user" if at % 2 else "assistant", "content": f"Turn {at}"} for at in range(12)),
    {"role": "tool", "name": "late", "content": "\n".join(f"line {at}" for at in range(90))},
    {"role": "assistant", "content": "Rome is warmer."},
]
_TOOLS = [
    {
        "type": "function",
        "name": "get_weather",
        "description": "Weather of a city.\n\nIn degrees Celsius, for today and up to nine days ahead.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Its English name."},
                "days": {"type": "integer"},
                "unit": {"enum": ["C", "F"]},
                "hours": {"type": "array", "items": {"type": "number"}},
            },
            "required": ["city"],
        },
    },
    {"type": "web_search"},
]

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
    Messages(turns(_MESSAGES)),
    Transcript(turns(_ROLLOUT), note=name("A recorded rollout.")),
    Tools(tools(_TOOLS)),
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
