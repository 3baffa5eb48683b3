"""How a task is graded, from its settings and the scripts that grade it. Facts only; `told` words them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rlx.formats.harbor.schema import Step, TaskSettings
from rlx.formats.harbor.scores import score_names
from rlx.formats.harbor.scripts import (
    CODE,
    MAX_INSTALLS,
    SHELL,
    bare,
    fetches,
    followed,
    installs,
    runners,
    script_dependencies,
    suffix,
)
from rlx.formats.harbor.secrets import variables

_MODEL_IMPORT = re.compile(
    r"^[ \t]*(?:from|import)[ \t]+(openai|anthropic|litellm|google\.genai|google\.generativeai|mistralai|groq|cohere"
    r"|langchain_openai|langchain_anthropic)\b",
    re.MULTILINE,
)
_MODEL_CALL = re.compile(
    r"\.(?:completions|messages|responses)\.(?:create|parse)\s*\(|\blitellm\.a?completion\s*\(|\ba?completion\s*\("
    r"|\.generate_content\s*\(|\.beta\.chat\.completions\.parse\s*\(|\bChat(?:OpenAI|Anthropic)\s*\("
)
_MODEL_HOST = re.compile(
    r"\b(api\.openai\.com|api\.anthropic\.com|openrouter\.ai|generativelanguage\.googleapis\.com)\b"
)
_PLAIN_REWARD = re.compile(r"\b(?:echo|printf) +(?:-n +)?[\"']?(\d(?:\.\d+)?)(?:\\n)?[\"']? *>+ *[^\s>]*reward\.txt")


@dataclass(frozen=True, slots=True)
class Judge:
    """A model that takes part in grading, and what says so."""

    path: str | None
    """The script that calls it; None when only the settings name its key."""
    line: int | None
    client: str
    """The client library, the host, or the variable that holds the key."""


@dataclass(frozen=True, slots=True)
class Grading:
    """Of one grader: the task's, or a step's."""

    entry: str | None
    """The script Harbor runs, task-relative; None when there is none."""
    scripts: tuple[str, ...]
    """The entry and what it calls, as far as they were read."""
    rewards: tuple[str, ...]
    """`reward.json`, `reward.txt`: the files the scripts name."""
    scores: tuple[str, ...]
    """Names of the scores of `reward.json`, when the code tells."""
    whole: bool
    """The only rewards written are 0 and 1."""
    runners: tuple[str, ...]
    packages: tuple[str, ...]
    """Installed while grading."""
    network: str | None
    """The script that installs or downloads while grading."""
    judge: Judge | None

    @property
    def kind(self) -> str:
        """named, one, unknown, none: which score file decides. `reward.json` wins over `reward.txt`."""
        if self.entry is None:
            return "none"
        if "reward.json" in self.rewards:
            return "named" if self.scores != ("reward",) else "one"
        return "one" if self.rewards else "unknown"


def entry_script(paths: Sequence[str], *, windows: bool, step: str | None = None) -> str | None:
    """The script Harbor would run. A step's own wins over the shared one; only the OS's kind counts."""
    name = "test.bat" if windows else "test.sh"
    known = set(paths)
    wanted = [f"steps/{step}/tests/{name}", f"tests/{name}"] if step else [f"tests/{name}"]
    return next((path for path in wanted if path in known), None)


def read_grading(
    settings: TaskSettings, paths: Sequence[str], texts: Mapping[str, str], step: Step | None = None
) -> Grading:
    """`texts` are the files that were read, task-relative, as in the repository."""
    entry = entry_script(paths, windows=settings.environment.os == "windows", step=step.name if step else None)
    folders = ["tests/"] + ([f"steps/{step.name}/tests/"] if step else [])
    near = {path: text for path, text in texts.items() if path.startswith(tuple(folders)) and suffix(path) in CODE}
    scripts = followed(entry, near) if entry and entry in near else ()
    stripped = {path: bare(near[path]) for path in scripts}
    every = "\n".join(stripped.values())
    commands = {path: text for path, text in stripped.items() if suffix(path) in SHELL}
    packages: dict[str, None] = {}
    network = None
    for path in scripts:
        new = [*installs(commands.get(path, "")), *script_dependencies(near[path])]
        packages.update(dict.fromkeys(new))
        if network is None and (new or fetches(commands.get(path, ""))):
            network = path
    return Grading(
        entry=entry,
        scripts=scripts,
        rewards=tuple(name for name in ("reward.json", "reward.txt") if name in every),
        scores=_scores(stripped, near) if "reward.json" in every else (),
        whole=_is_whole(every),
        runners=runners("\n".join(commands.values())),
        packages=tuple(packages)[:MAX_INSTALLS],
        network=network,
        judge=_judge(settings, near, scripts, step),
    )


def _scores(stripped: Mapping[str, str], texts: Mapping[str, str]) -> tuple[str, ...]:
    """From the scripts that name the file, else from every script it is handed to."""
    writers = [path for path, text in stripped.items() if "reward.json" in text]
    for path in writers:
        found = score_names(texts[path], python=path.endswith(".py"))
        if found:
            return found
    for path in stripped:
        if path not in writers and path.endswith(".py"):
            found = score_names(texts[path], python=True)
            if found:
                return found
    return ()


def _is_whole(text: str) -> bool:
    """Every line that names the reward file writes a plain 0 or 1 to it."""
    lines = [line for line in text.splitlines() if "reward.txt" in line]
    values = [float(value) for line in lines for value in _PLAIN_REWARD.findall(line)]
    return bool(values) and len(values) >= len(lines) and set(values) <= {0.0, 1.0}


def _judge(settings: TaskSettings, texts: Mapping[str, str], scripts: Sequence[str], step: Step | None) -> Judge | None:
    for path in scripts or texts:
        text = texts[path]
        found = _MODEL_IMPORT.search(text) if path.endswith(".py") else None
        if found and _MODEL_CALL.search(text):
            return Judge(path, text.count("\n", 0, found.start()) + 1, found[1])
        host = _MODEL_HOST.search(text)
        if host and re.search(r"curl|requests|httpx|urllib|fetch", text):
            return Judge(path, text.count("\n", 0, host.start()) + 1, host[1])
    tables = {"verifier.env", "verifier.environment.env"}
    if step:
        tables |= {f"steps.{step.name}.verifier.env", f"steps.{step.name}.verifier.environment.env"}
    named = next((item for item in variables(settings) if item.where in tables and item.of_model), None)
    return Judge(None, None, named.name) if named else None
