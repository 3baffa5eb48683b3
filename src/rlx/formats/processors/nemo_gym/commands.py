"""How to run rows with NeMo Gym itself, by the commands of the release its table was read from."""

import shlex
from collections.abc import Iterator, Sequence

from rlx.answers import name, prose
from rlx.formats.frameworks import NeMoAgent, NeMoServer, table
from rlx.formats.processors.base import Table
from rlx.formats.processors.nemo_gym.servers import Known
from rlx.formats.processors.support import run_there
from rlx.model import Section, Text
from rlx.texts import say

_JSON_LINES = (".jsonl", ".ndjson")


def run_section(found: Known, of: Table, path: str, at: int | None) -> Section:
    """Download, start the servers, collect rollouts: for the row at `at` where its file tells which line that is; for
    all rows of the file at `path` where it is None."""
    told = table("nemo_gym")
    lines = "\n".join(_commands(found, of, path, at, told.source.version))
    return run_there("NeMo Gym", prose(lines), *_notes(found, path, told.python, told.source.version))


def selector(agent: NeMoAgent | None, server: NeMoServer | None) -> str | None:
    """The option of `gym env start` that loads what is needed."""
    if agent is not None:
        kind, _, rest = agent.config.partition("/")
        name_, _, file = rest.partition("/")
        flavour = file.rpartition("/")[2].removesuffix(".yaml")
        match kind:
            case "environments" if flavour == "config":
                return f"--environment {name_}"
            case "benchmarks" if "/" not in file:
                return f"--benchmark {name_ if flavour == 'config' else f'{name_}/{flavour}'}"
            case "resources_servers":
                return f"--resources-server {name_ if flavour == name_ else f'{name_}/{flavour}'}"
            case _:
                return f"--config {shlex.quote(agent.config)}"
    return f"--resources-server {server.config}" if server is not None and server.config else None


def _commands(found: Known, of: Table, path: str, at: int | None, version: str) -> Iterator[str]:
    repo = shlex.quote(of.key.repo_id)
    rows = "data/rows.jsonl"
    yield f"uv venv --python {shlex.quote(table('nemo_gym').python)} && . .venv/bin/activate"
    yield f"uv pip install 'nemo-gym=={version}'"
    if path.lower().endswith(_JSON_LINES):
        yield f"gym dataset download --repo-id {repo} --artifact {shlex.quote(path)} --output {rows}"
        if len(of.paths) == 1 and at is not None:
            yield f"sed -n '{at + 1}p' {rows} > data/row.jsonl"
            rows = "data/row.jsonl"
    else:
        yield f"gym dataset download --repo-id {repo} --split {shlex.quote(of.split)} --output {rows}"
    start = selector(found.agent, found.server) or "--config <config.yaml>"
    yield f"gym env start {start} --model-type openai_model \\"
    yield '  --model "$MODEL" --model-url "$MODEL_URL" --model-api-key "$MODEL_API_KEY"'
    agent = found.agent.name if found.agent is not None else found.named or "<agent>"
    yield f"gym eval run --no-serve --agent {shlex.quote(agent) if agent != '<agent>' else agent} \\"
    yield f"  --input {rows} --output results/rollouts.jsonl"


def _notes(found: Known, path: str, python: str, version: str) -> Sequence[Text]:
    notes: list[Text] = [say("nemo.run.needs", python=python, version=version), say("nemo.run.two")]
    if found.agent is None and found.server is None:
        notes.append(say("nemo.run.unknown"))
    elif found.agent is None:
        notes.append(say("nemo.run.agent"))
    if found.server is not None and found.server.judge:
        notes.append(say("nemo.run.judge"))
    notes.append(say("nemo.run.newest") if path.lower().endswith(_JSON_LINES) else say("nemo.run.arrow"))
    return notes


def agent_name(found: Known) -> Text | None:
    """The agent that is named, here or in the row."""
    told = found.agent.name if found.agent is not None else found.named
    return None if told is None else name(told)
