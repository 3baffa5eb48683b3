"""What may be done with a file, judged by its path alone.

A task's folder has zones. `solution/` is never shown. `environment/` is the agent's world and is shown, but for patches
(a `bug.patch` is the solution in reverse) and files named as answers. In `tests/` the grader's code is shown, masked;
data, fixtures and snapshots beside it are withheld, because graders keep their answers there. That holds for upstream
test trees too: the code says how it is graded, the snapshots and fixtures say with what result. What stands at the top
of a task and is not among its known public files is something the agent does not get, so it is withheld. Elsewhere in a
repository rows and settings are looked into, and containers that cannot be looked into are withheld.
"""

import re
from dataclasses import dataclass
from typing import Literal

from rlx.answers import keys
from rlx.answers.shown import FileVerdict, Withheld
from rlx.texts import Say, say

type Zone = Literal["solution", "tests", "environment", "root", "repository"]

_SHOW = FileVerdict("show")
_LOOK = FileVerdict("look")

CODE = keys.names(
    "sh bash zsh bat cmd ps1 py pyi js mjs cjs jsx ts tsx mts cts rb rs go java kt scala pl pm r jl c h cc cpp cxx hpp "
    "cs php swift lua hs ml ex exs clj dart zig nim vue svelte"
)
MEDIA = keys.names(
    "png jpg jpeg gif webp bmp ico avif tif tiff wav mp3 ogg oga flac m4a mp4 webm mov mkv avi pdf woff woff2 ttf otf"
)
CONTAINERS = keys.names(
    "parquet arrow feather gz tgz bz2 xz zst zip tar 7z rar whl db sqlite sqlite3 npz npy pkl pickle joblib pt pth "
    "safetensors h5 hdf5 xlsx xls ods docx pptx avro orc mat rds rdata msgpack bin lance tfrecord duckdb"
)
LISTED = keys.names("parquet zip whl tar tgz gz tbz2 bz2 txz xz")
"""Containers that are looked into: rows are masked like those of a text file, archives only tell names and sizes.
Their bytes are withheld like those of every container."""
_PACKED_ROWS = re.compile(r"\.(?:jsonl|ndjson|json|csv|tsv)\.(?:gz|bz2|zst|zstd)$")
_PATCHES = keys.names("patch diff rej orig")
_DATA = keys.names(
    "json jsonl ndjson json5 csv tsv txt text yaml yml toml xml ini cfg conf sql log out snap lock dat html htm md rst "
    "graphql tex"
)
_PROSE = keys.names("md rst txt markdown")
_SECRET_FOLDERS = keys.names(
    "solution solutions oraclesolution referencesolution goldsolution gold golden answers answer answerkey expected "
    "groundtruth groundtruths expectedoutput expectedoutputs hiddentests privatetests"
)
_FIXTURE_FOLDERS = keys.names(
    "fixtures fixture snapshots snapshot goldens golden testdata data resources cassettes baselines baseline"
)
_PUBLIC_STEMS = keys.names(
    "readme license licence licenses notice copying changelog contributing authors security codeofconduct citation "
    "instruction credits maintainers agents claude gemini"
)
PROMPT_STEMS = (
    "instruction instructions prompt problemstatement problem question task taskdescription statement challenge "
    "description"
)
"""Names of a task's prompt, run together, the likeliest first."""
_PROMPTS = keys.names(f"{PROMPT_STEMS} introduction")
_TASK_FILES = keys.names(
    "task.yaml task.yml meta.json db.json trajectory.json dataset.toml registry.json package.json tsconfig.json "
    "pyproject.toml requirements.txt "
    "config.yaml config.yml docker-compose.yaml docker-compose.yml compose.yaml compose.yml openenv.yaml "
    "environment.yml metadata.json .gitignore .dockerignore .harborignore .gitattributes"
)
"""Data at the top of a task that is known to be no answer; it is looked into all the same."""
CONFIGURATION = keys.names(
    "package.json package-lock.json tsconfig.json composer.json pyproject.toml cargo.toml go.mod deno.json "
    ".eslintrc.json .prettierrc requirements.txt docker-compose.yaml docker-compose.yml compose.yaml compose.yml"
)
"""Tools' own settings, in which `target` and `test` mean what the tool says they mean."""
_NOTES = keys.names(
    "fixsummary usersimulationprompt canonicalgoals originalsession oracleintents oraclesession referencepatch gold "
    "scoringtable answerkey rubric rubrics reviewnotes authornotes"
)
"""Stems of files that real sets keep beside their tasks and that tell the answer."""
_GRADES = keys.names(
    "test tests check checks checker grade grader grading verify verifier verification validate validator score scorer "
    "scoring eval evaluate evaluator evaluation extract extraction run runner judge compare schema template service "
    "query task runtime util utils helper helpers conftest"
)
"""Words in a program's name that say it deals with answers and does not hold one: `check_solution.py`."""
_REFERENCES = keys.names("reference golden oracle canonical exemplar ideal")
_HARD = keys.names("answer answers solution solutions gold expected groundtruth gt truth")
_LOGS = re.compile(r"(?:^|/)(?:verifier|logs?)/|(?:stdout|stderr)\.txt$|\.log$|ctrf\.json$")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a file is: its zone, its path from there, and its name in parts."""

    zone: Zone
    folders: tuple[str, ...]
    """Below the zone's own folder, lower case."""
    file: str
    """Lower case."""

    @property
    def stem(self) -> str:
        return self.file.lstrip(".").split(".")[0]

    @property
    def suffix(self) -> str:
        return self.file.rsplit(".", 1)[1] if "." in self.file.lstrip(".") else ""


def place(path: str, task_root: str | None) -> Place:
    """The zone of a path relative to a task, or, with `task_root=None`, to a repository that may hold tasks."""
    parts = [part for part in path.replace("\\", "/").lower().split("/") if part not in {"", "."}]
    folders, file = tuple(parts[:-1]), parts[-1] if parts else ""
    if any(keys.flat(folder) in {"solution", "solutions"} for folder in folders):
        return Place("solution", folders, file)
    for at, folder in enumerate(folders):
        if folder in {"environment", "workdir"} and (folder != "workdir" or "steps" in folders[:at]):
            return Place("environment", folders[at + 1 :], file)
        if folder in {"tests", "test"} and (task_root is not None or folder == "tests"):
            return Place("tests", folders[at + 1 :], file)
    return Place("repository" if task_root is None else "root", folders, file)


def file_verdict(path: str, *, task_root: str | None) -> FileVerdict:
    """What may be done with the file at `path`: relative to the task, or to the repository when `task_root` is None."""
    where = place(path, task_root)
    if where.zone == "solution":
        return _withhold("answers.solution")
    if ".git" in where.folders or any(keys.flat(folder) in _SECRET_FOLDERS for folder in where.folders):
        return _withhold("answers.folder")
    if where.suffix in _PATCHES:
        return _withhold("answers.patch")
    if where.zone == "tests":
        return _in_tests(where)
    if where.zone == "environment":
        return _in_environment(where)
    return _at_root(where) if where.zone == "root" else _in_repository(where)


def _withhold(key: str) -> FileVerdict:
    return FileVerdict("withhold", say(key))


def _in_tests(where: Place) -> FileVerdict:
    if any(_is_fixture(folder) for folder in where.folders):
        return _withhold("answers.fixture")
    if _is_program(where) or (where.suffix == "" and where.file != ""):
        return _withhold("answers.named") if _tells_answer(where) else _LOOK
    return _withhold("answers.beside_grader")


def _in_environment(where: Place) -> FileVerdict:
    if where.file.endswith((".label.txt", ".labels.txt", ".answer.txt")) or (
        not _is_program(where) and _HARD.intersection(keys.words(where.stem)) and _tells_answer(where)
    ):
        return _withhold("answers.named")
    return _LOOK


def _at_root(where: Place) -> FileVerdict:
    if keys.flat(where.stem) in _NOTES:
        return _withhold("answers.not_given")
    if where.file == "task.toml":
        return _LOOK
    if _is_public_prose(where) or _is_prompt(where):
        return _SHOW
    if _is_program(where):
        return _withhold("answers.named") if _solves(where) or _tells_answer(where) else _LOOK
    if where.file in _TASK_FILES or (where.suffix in MEDIA and not _tells_answer(where)) or where.suffix == "keep":
        return _LOOK
    return _withhold("answers.not_given")


def _in_repository(where: Place) -> FileVerdict:
    if _is_public_prose(where):
        return _SHOW
    if keys.flat(where.stem) in _NOTES or (not _is_program(where) and _tells_answer(where)):
        return _withhold("answers.named")
    if where.suffix in CONTAINERS - LISTED and not is_packed_rows(where.file):
        return _withhold("answers.container")
    if where.file == "oracle.txt" or (_is_program(where) and keys.flat(where.stem) in {"solve", "solution"}):
        return _withhold("answers.named")
    return _LOOK


def file_bytes_ok(path: str, task_root: str | None) -> Withheld | None:
    """Why the bytes may not be served as they are. They may: media, and in the agent's world whatever is no text."""
    verdict = file_verdict(path, task_root=task_root)
    where = place(path, task_root)
    reason: Say | None = verdict.reason
    if verdict.kind != "withhold":
        is_text = where.suffix in _DATA or where.suffix in CODE or where.suffix in {"ipynb", "svg", "traj", "jsonc"}
        if is_text:
            reason = say("answers.unread_text")
        elif where.suffix not in MEDIA and where.zone != "environment":
            reason = say("answers.container")
    return None if reason is None else Withheld(path, reason)


def is_packed_rows(path: str) -> bool:
    """Whether the file is a compressed table, by its name: its rows are looked into like those of any other."""
    return _PACKED_ROWS.search(path.lower()) is not None


def is_log(path: str) -> bool:
    """Whether the file is what a grader printed in a rollout."""
    return _LOGS.search(path.replace("\\", "/").lower()) is not None


def _is_program(where: Place) -> bool:
    return where.suffix in CODE or where.file.startswith(("dockerfile", "makefile", "containerfile"))


def _is_public_prose(where: Place) -> bool:
    return (where.suffix in _PROSE or where.suffix == "") and keys.flat(where.stem) in _PUBLIC_STEMS


def _is_prompt(where: Place) -> bool:
    """Whether a file at the top of a task, or in an exercise's `.docs`, is named as what the agent is told."""
    is_there = where.folders == (".docs",) or (not where.folders and where.file.count(".") == 1)
    return is_there and where.suffix in _PROSE and keys.flat(where.stem) in _PROMPTS


def _solves(where: Place) -> bool:
    """Whether a program of a task is named as its solution: `solve.py`, `reference_model.py`, `.meta/example.rs`."""
    parts = keys.words(where.stem)
    if ".meta" in where.folders or keys.flat(where.stem) in {"solve", "solution", "oracle", "gold", "answer", "sol"}:
        return True
    return not _REFERENCES.isdisjoint((*parts[:1], *parts[-1:])) and _GRADES.isdisjoint(parts)


def _is_fixture(folder: str) -> bool:
    return keys.flat(folder) in _FIXTURE_FOLDERS or keys.hold(folder) == "always"


def _tells_answer(where: Place) -> bool:
    """Whether a file is named as an answer: `gold.json`, `expected_index.js`; not `check_solution.py`."""
    name = where.file.rsplit(".", 1)[0] if where.suffix else where.file
    parts = keys.words(name)
    if where.suffix in {"bib", "ris"} or not _GRADES.isdisjoint(parts):
        return False
    if where.suffix in MEDIA or (_is_program(where) and where.zone != "tests"):
        hard = bool(parts) and (parts[-1] in _HARD or parts[0] in _HARD)
        return hard and where.zone != "environment" and keys.hold(name) == "always"
    return keys.hold(name) == "always"
