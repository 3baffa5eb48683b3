"""The page of an issue to solve: what the agent is told, which tests decide, where it works, and how to run it."""

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from rlx.answers import MARK, Json, name, prose
from rlx.formats.processors.base import ShownRow
from rlx.formats.processors.prompts.cells import held, text_of, told
from rlx.formats.processors.support import run_there
from rlx.ids import EnvKey
from rlx.model import Block, KeyValues, Link, Links, Note, Prompt, Row, Section, Steps, Text
from rlx.texts import say

AGENT: Final = "2.4.6"
"""The release of mini-SWE-agent whose options these are."""
HARNESSES: Final = {"5": "5.0.2", "4": "4.1.0"}
"""Releases of SWE-bench: from 5 on a row itself says in which image its tests run, and how."""
GRADING: Final = (say("swe.grading.patch"), say("swe.grading.tests"), say("swe.grading.solved"))
_IMAGES: Final = ("image", "image_name", "docker_image", "image_url", "dockerhub_tag")
_WITH: Final = ("interface", "requirements")
_WHERE: Final = (
    "environment_setup_commit",
    "version",
    "before_repo_set_cmd",
    "install_config",
    "environment",
    "workdir",
)
_ABOUT: Final = ("instance_id", "created_at", "issue_numbers", "issue_ids", "pull_number", "license", "license_name")
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,99}/[\w.-]{1,99}")
_COMMIT: Final = re.compile(r"[0-9a-f]{7,64}")
_ID: Final = re.compile(r"[\w.@:/+ -]{1,200}")


@dataclass(frozen=True, slots=True)
class Shape:
    """What is the same for all rows of a table."""

    key: EnvKey
    sha: str
    config: str
    split: str
    harness: str
    """Key of `HARNESSES`; empty where SWE-bench's own harness does not read such rows."""
    agent: bool
    """mini-SWE-agent reads such rows."""
    evidence: Text


def issue_of(row: Mapping[str, Json]) -> str:
    """What is to be solved, in its own words."""
    told = row.get("problem_statement")
    if isinstance(told, str) and told.strip() and told != MARK:
        return told
    issues = row.get("resolved_issues")
    parts = [(text_of(item.get("title")), text_of(item.get("body"))) for item in _objects(issues)]
    return "\n\n".join(f"# {title}\n\n{body}".strip() for title, body in parts) or text_of(told)


def repository_of(row: Mapping[str, Json]) -> str | None:
    org, repo = row.get("org"), row.get("repo")
    whole = f"{org}/{repo}" if isinstance(org, str) and isinstance(repo, str) and "/" not in repo else repo
    return whole if isinstance(whole, str) and _REPOSITORY.fullmatch(whole) else None


def commit_of(row: Mapping[str, Json]) -> str | None:
    base = row.get("base")
    commit = row.get("base_commit") or (base.get("sha") if isinstance(base, dict) else None)
    return commit if isinstance(commit, str) and _COMMIT.fullmatch(commit) else None


def image_of(row: Mapping[str, Json]) -> str | None:
    found = (row.get(column) for column in _IMAGES)
    return next((image for image in found if isinstance(image, str) and image.strip() and image != MARK), None)


def sections(row: ShownRow, shape: Shape) -> tuple[Section, ...]:
    issue = issue_of(row.value)
    prompt: tuple[Block, ...] = (
        (Prompt(prose(issue), say("prompts.words", n=len(issue.split()))), Note(say("swe.prompt")))
        if issue.strip()
        else (Note(say("prompts.no_task"), "warn"),)
    )
    grading = (Steps(GRADING), *held(row))
    known = [
        Section("prompt", say("rows.section.prompt"), (*prompt, *told(row.value, _WITH))),
        Section("grading", say("rows.section.grading"), (*grading, *told(row.value, ("log_parser", "eval_type")))),
        Section("environment", say("rows.section.environment"), tuple(_environment(row.value))),
        *_run_there(row.value, shape),
        Section("metadata", say("rows.section.metadata"), told(row.value, _ABOUT)),
    ]
    return tuple(section for section in known if section.blocks)


def _environment(row: Mapping[str, Json]) -> Iterator[Block]:
    repository, commit, image = repository_of(row), commit_of(row), image_of(row)
    values = (("repository", repository), ("commit", commit), ("image", image))
    rows = tuple(Row(say(f"swe.{key}"), name(value), code=True) for key, value in values if value)
    if rows:
        yield KeyValues(rows)
    yield from told(row, _WHERE)
    if repository and commit:
        url = f"https://github.com/{repository}/tree/{commit}"
        yield Links((Link(say("swe.browse", repository=repository), url),))
    if not image:
        yield Note(say("swe.no_image"))


def _run_there(row: Mapping[str, Json], shape: Shape) -> Iterator[Section]:
    instance = row.get("instance_id")
    if not isinstance(instance, str) or not _ID.fullmatch(instance) or not (shape.agent or shape.harness):
        yield Section("run-there", say("rows.section.run_there", framework="SWE-bench"), (Note(say("swe.no_command")),))
        return
    split = shlex.quote(shape.split)
    folder = shlex.quote(f"./{shape.key.name}")
    lines = [
        f"uvx --from huggingface_hub hf download {shape.key.repo_id} --repo-type dataset --revision {shape.sha} \\",
        f"  --local-dir {folder}",
    ]
    notes = [say("swe.needs")]
    if shape.agent:
        chosen = shlex.quote(f"^{re.escape(instance)}$")
        lines += [
            f"uvx --from mini-swe-agent=={AGENT} mini-extra swebench \\",
            f"  --subset {folder} --split {split} --filter {chosen} --model MODEL --output out",
        ]
        if not image_of({key: row.get(key) for key in ("image_name", "docker_image")}):
            notes.append(say("swe.guesses"))
    if shape.harness:
        notes.append(say(f"swe.harness_{shape.harness}", version=HARNESSES[shape.harness]))
        lines += [
            f"uvx --from swebench=={HARNESSES[shape.harness]} python -m swebench.harness.run_evaluation \\",
            f"  --dataset_name {folder} --split {split} --instance_ids {shlex.quote(instance)} \\",
            "  --predictions_path out/preds.json --max_workers 1 --run_id first",
        ]
    else:
        notes.append(say("swe.other_harness"))
    if shape.config != "default":
        notes.append(say("swe.config", config=shape.config))
    yield run_there("SWE-bench", prose("\n".join(lines)), *notes)


def _objects(value: Json) -> list[dict[str, Json]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
