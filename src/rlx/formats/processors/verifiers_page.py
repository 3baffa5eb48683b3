"""The page of a row of Verifiers: the messages it makes, what scores an answer, where it runs, and how to run it."""

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from rlx.answers import MARK, Json, name, prose
from rlx.formats.conversation import is_conversation, tools, turns
from rlx.formats.frameworks import ReasoningTask, table
from rlx.formats.processors.base import ShownRow
from rlx.formats.processors.prompts.cells import at, held, is_empty, text_of, told, withheld_places
from rlx.formats.processors.support import run_there
from rlx.formats.prose import tidy
from rlx.ids import EnvKey
from rlx.model import Block, Messages, Note, Prompt, Section, Steps, Text, Tools
from rlx.texts import say

LEGACY: Final = "0.3.1"
"""The last release that runs packages with `load_environment`."""
_ASKED: Final = ("prompt", "question", "problem_statement")
_TOOLS: Final = ("info.tool_defs", "info.tools", "info.oai_tools", "tool_defs", "tools")
_WORLD: Final = (
    *("docker_image", "image_name", "image_url", "image", "repo", "base_commit", "workdir", "agent_user", "resources"),
    *("timeout", "network_allow", "network_block", "skills", "artifacts"),
)
_USED: Final = frozenset({*_ASKED, *_WORLD, "system_prompt", "answer", "tools", "tool_defs"})
_READERS: Final = {
    "parquet": "read_parquet({where})",
    "csv": "read_csv({where})",
    "jsonl": "read_json({where}, lines=True)",
    "json": "read_json({where})",
}
_CARD: Final = ("verifiers", "environment", "environment_id", "env_id", "taskset")
_ENVIRONMENT: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,99}(?:/[A-Za-z0-9][\w.-]{0,99})?(?:@[\w.]{1,40})?")


@dataclass(frozen=True, slots=True)
class Shape:
    """What is the same for all rows of a table."""

    key: EnvKey
    sha: str
    kind: str
    """`reasoning`, `data`, `rows`, `swe` or `bare`."""
    environment: str | None
    """As the card names it."""
    split: str
    paths: tuple[str, ...]


def environment_id(card: Mapping[str, object]) -> str | None:
    """The environment whose rows these are, where the card's front matter tells: nothing else does."""
    for key in _CARD:
        told: Any = card.get(key)
        if isinstance(told, Mapping):
            told = next((told[inner] for inner in ("environment", "env", "id", "taskset") if inner in told), None)
        if isinstance(told, str) and _ENVIRONMENT.fullmatch(told):
            return told
    return None


def asked(row: Mapping[str, Json]) -> str:
    """What the user asks."""
    for key in _ASKED:
        value = row.get(key)
        if is_conversation(value):
            said = [message.text for message in turns(value) if message.role == "user"]
            return said[-1] if said else text_of(value)
        if isinstance(value, str) and value.strip() and value != MARK:
            return value
    return ""


def reasoning_task(row: Mapping[str, Json]) -> ReasoningTask | None:
    """The generator of reasoning-gym that made a row."""
    known = table("reasoning_gym").tasks
    named = (at(row, "info.source_dataset"), at(row, "metadata.source_dataset"), row.get("task"))
    return next((known[item] for item in named if isinstance(item, str) and item in known), None)


def sections(row: ShownRow, shape: Shape) -> tuple[Section, ...]:
    rest = [column for column in row.value if column not in _USED]
    known = (
        Section("prompt", say("rows.section.prompt"), tuple(_prompt(row))),
        Section("grading", say("rows.section.grading"), tuple(_grading(row, shape))),
        Section("environment", say("rows.section.environment"), told(row.value, _WORLD)),
        _run_there(row, shape),
        Section("metadata", say("rows.section.metadata"), told(row.value, rest)),
    )
    return tuple(section for section in known if section.blocks)


def tools_of(row: Mapping[str, Json]) -> Tools | None:
    """The tools a row offers."""
    found = next((made for path in _TOOLS if (made := tools(at(row, path)))), ())
    return Tools(tuple(found)) if found else None


def _prompt(row: ShownRow) -> Iterator[Block]:
    value = next((item for key in _ASKED if not is_empty(item := row.value.get(key))), None)
    system = row.value.get("system_prompt")
    opening: list[Json] = [{"role": "system", "content": system}] if isinstance(system, str) and system.strip() else []
    if isinstance(value, list) and is_conversation(value):
        yield Messages(turns([*opening, *value]))
    elif isinstance(value, str) and opening:
        yield Messages(turns([*opening, {"role": "user", "content": value}]))
    elif isinstance(value, str):
        yield Prompt(prose(value), say("verifiers.prompt.user", n=len(value.split())))
    else:
        yield Note(say("verifiers.prompt.none"), "warn")
    offered = tools_of(row.value)
    if offered is not None:
        yield offered


def _grading(row: ShownRow, shape: Shape) -> Iterator[Block]:
    hidden = say("verifiers.grading.withheld" if withheld_places(row) else "verifiers.grading.nothing")
    made = reasoning_task(row.value) if shape.kind == "reasoning" else None
    if made is not None:
        how: Text = say("verifiers.grading.exact" if made.exact else "verifiers.grading.program", name=made.name)
        yield Steps((how, *((name(tidy(made.about)),) if made.about else ()), hidden))
    else:
        yield Steps((say(f"verifiers.grading.{'data' if shape.kind == 'data' else 'rubric'}"), hidden))
    yield from held(row)


def _run_there(row: ShownRow, shape: Shape) -> Section:
    release = table("verifiers").source.version
    environment = shape.environment or "<environment-id>"
    notes: list[Text] = [say("verifiers.run.needs", version=release)]
    if shape.kind == "reasoning":
        notes.append(say("verifiers.run.reasoning", version=table("reasoning_gym").source.version))
    notes.append(say("verifiers.run.card" if shape.environment else "verifiers.run.unnamed"))
    if shape.kind != "data":
        notes.append(say("verifiers.run.legacy", version=LEGACY))
    sandboxed = any(not is_empty(row.value.get(column)) for column in _WORLD[:4])
    harness, runtime = ("bash", "docker") if sandboxed else ("null", "subprocess")
    chosen = shlex.quote(environment) if shape.environment else environment
    lines = [
        f"vf-eval {chosen} -n 1 -r 1 -m MODEL \\",
        "  --client.base-url https://HOST/v1 --client.api-key-var KEY_VAR \\",
        f"  --env.agent.harness.id {harness} --env.agent.runtime.type {runtime} --no-push",
    ]
    if shape.kind != "data":
        lines = [f"# Verifiers {release}", *lines, f"# Verifiers {LEGACY}, for a package that defines load_environment"]
        lines += [legacy_command(chosen)]
    if shape.kind == "reasoning":
        lines += _score(row, shape)
    return run_there("Verifiers", prose("\n".join(lines)), *notes)


def legacy_command(environment: str, model: str = "MODEL") -> str:
    """How releases before 0.4 ran an environment."""
    return f"vf-eval {environment} -m {model} -b https://HOST/v1 -k KEY_VAR -n 1 -r 1"


def _score(row: ShownRow, shape: Shape) -> Iterator[str]:
    """Score an answer to this very row with reasoning-gym alone."""
    made = reasoning_task(row.value)
    column = next((item for item in ("info", "metadata") if not is_empty(row.value.get(item))), None)
    reader = _READERS.get(row.path.rpartition(".")[2])
    if made is None or column is None or reader is None or len(shape.paths) != 1:
        return
    where = f"hf://datasets/{shape.key.repo_id}@{shape.sha}/{row.path}"
    about = f"json.loads(row[{column!r}])" if isinstance(row.value[column], str) else f"row[{column!r}]"
    version = table("reasoning_gym").source.version
    yield ""
    yield f"uvx --from reasoning-gym=={version} --with pandas,pyarrow,huggingface_hub python - <<'END'"
    yield "import json, pandas, reasoning_gym"
    yield f"row = pandas.{reader.format(where=repr(where))}.iloc[{row.at}]"
    yield f"entry = {{'question': row['question'], 'answer': row['answer'], 'metadata': {about}}}"
    yield f"print(reasoning_gym.get_score_answer_fn({made.name!r})('YOUR ANSWER', entry))"
    yield "END"
