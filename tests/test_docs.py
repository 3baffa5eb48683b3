"""The documents say everything that exists: settings, commands and options, routes, JSON fields, facets, formats."""

import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path

import typer
from pydantic import BaseModel
from typer.core import TyperGroup

import rlx.errors
from rlx.cli.app import BRANCHES, load
from rlx.cli.env import COLUMNS, FACETS, FIELDS
from rlx.errors import UserError, outcome
from rlx.formats.harbor.facets import ORDER
from rlx.formats.registry import formats
from rlx.model import Block, Task
from rlx.settings import Settings
from rlx.store.instance import Banner, Collection, Instance
from rlx.web.api import API_ROUTES, schemas
from rlx.web.pages import PAGES

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def doc(name: str) -> str:
    return (DOCS / f"{name}.md").read_text()


def words_in_code(text: str) -> set[str]:
    """What stands in backticks."""
    return set(re.findall(r"`([^`\n]+)`", text))


def commands() -> Iterator[tuple[str, typer.core.TyperCommand]]:
    """Every command by its full name."""
    for branch in BRANCHES:
        command = load(branch)
        if isinstance(command, TyperGroup):
            for name, child in command.commands.items():
                assert isinstance(child, typer.core.TyperCommand)
                yield f"rlx {branch.name} {name}", child
        else:
            assert isinstance(command, typer.core.TyperCommand)
            yield f"rlx {branch.name}", command


def test_every_setting_is_documented_with_its_default() -> None:
    lines = {line.split("|")[1].strip(): line for line in doc("settings").splitlines() if line.startswith("| `RLX_")}
    for name, field in Settings.model_fields.items():
        line = lines[f"`RLX_{name.upper()}`"]
        if isinstance(field.default, int | float) and not isinstance(field.default, bool):
            assert f"`{field.default:g}`" in line or f"`{field.default}`" in line
    assert len(lines) == len(Settings.model_fields)


def test_every_field_that_operators_set_is_documented_and_the_example_holds() -> None:
    text = doc("settings").partition("## What operators set")[2]
    assert set(re.findall(r"^\| `(\w+)` \|", text, re.M)) == set(Instance.model_fields)
    assert {*Banner.model_fields, *Collection.model_fields} <= words_in_code(text)
    example = re.search(r"```json\n(.+?)```", text, re.S)
    assert example is not None
    assert Instance.model_validate_json(example[1]).banner is not None
    assert set(json.loads(example[1])) <= set(Instance.model_fields)


def test_every_command_has_a_heading_and_no_heading_lacks_a_command() -> None:
    headings = set(re.findall(r"^## (rlx .+)$", doc("cli"), re.M))
    assert headings == {name for name, _ in commands()}


def test_every_option_is_documented() -> None:
    text = doc("cli")
    missing = {
        f"{name} {option}"
        for name, command in commands()
        for parameter in command.params
        for option in [*parameter.opts, *parameter.secondary_opts]
        if option.startswith("--") and option not in text
    }
    assert missing == set()


def test_every_json_field_of_the_command_line_is_documented() -> None:
    known = words_in_code(doc("cli"))
    assert set(COLUMNS) <= known
    assert set(inspect.get_annotations(Task)) <= known
    assert all(name in doc("cli") for name in (*FIELDS, *FACETS))


def route_paths() -> set[str]:
    return {
        path.replace(":path}", "}") for path in [*(page.path for page in PAGES), *(route.path for route in API_ROUTES)]
    }


def test_every_route_is_documented_and_no_other() -> None:
    named = {line.split("|")[1].strip().strip("`") for line in doc("api").splitlines() if line.startswith("| `/")}
    assert named == route_paths()


def test_every_field_of_the_api_is_documented() -> None:
    known = words_in_code(doc("api"))
    shapes = [shape for shape in vars(schemas).values() if isinstance(shape, type) and issubclass(shape, BaseModel)]
    fields = {name for shape in shapes for name in shape.model_fields} - {"error"}
    envelope = {"code", "message", "hint"}
    assert fields - known - envelope == set()


def test_every_block_is_documented() -> None:
    blocks = {kind.__dataclass_fields__["type"].default for kind in Block.__value__.__args__}
    assert blocks - words_in_code(doc("api")) == set()


def user_errors() -> list[type[UserError]]:
    return [kind for kind in vars(rlx.errors).values() if isinstance(kind, type) and issubclass(kind, UserError)]


def test_every_error_is_documented_with_its_status() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (\d{3}) \|", doc("api"), re.M))
    assert {
        outcome(kind("x")).code: str(outcome(kind("x")).status) for kind in user_errors() if kind is not UserError
    }.items() <= rows.items()


def test_every_exit_code_is_documented() -> None:
    codes = set(re.findall(r"^\| (\d+) \|", doc("cli"), re.M))
    assert codes == {"0", "130"} | {str(outcome(kind("x")).exit_code) for kind in user_errors()} | {"1"}


def test_every_format_and_facet_is_documented() -> None:
    text = doc("formats")
    assert all(f"## {known.name}" in text for known in formats())
    assert set(ORDER) <= words_in_code(text)


def documents() -> list[Path]:
    return [*sorted(ROOT.glob("*.md")), *sorted(DOCS.glob("*.md"))]


def test_every_link_between_documents_leads_somewhere() -> None:
    broken = [
        f"{path.name}: {target}"
        for path in documents()
        for target in re.findall(r"\]\((?!https?://|#)([^)#\s]+)", path.read_text())
        if not (path.parent / target).exists()
    ]
    assert broken == []


def test_the_index_of_documents_names_each() -> None:
    named = {name.rstrip("/") for name in re.findall(r"^- `([^`]+)`", doc("README"), re.M)}
    assert named == {path.name for path in DOCS.iterdir()} - {"README.md"}


def test_the_rules_for_editors_stay_short() -> None:
    assert len((ROOT / "AGENTS.md").read_text().splitlines()) <= 60
