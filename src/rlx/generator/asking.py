"""A model reads a description for the interview: it answers questions by what the description says, and proves each.

An answer counts only with words of the description that say so. What cannot be proven is told to the model, twice at
most, and then stays open: it is asked of a person.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx2
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rlx.errors import BadInput, Upstream
from rlx.generator.interview import Ask, Question
from rlx.generator.spec import problems
from rlx.settings import DEFAULT_ROUTER

ROUNDS: Final = 3
MAX_TOKENS: Final = 1000
ASKED: Final = ("action", "state", "reward", "backend", "termination", "path")
_OPEN: Final = ("action", "state", "reward", "measure", "backend", "end", "end_open", "path")
"""Texts of the questions that a model may answer. What contradicts itself, or fits only in part, a person settles."""
_LARGEST: Final = 1_000_000
_KEYS: Final = ("OPENAI_API_KEY", "HF_TOKEN")


@dataclass(frozen=True, slots=True)
class Endpoint:
    url: str
    model: str
    key: str | None

    def __repr__(self) -> str:
        return f"Endpoint({self.url!r}, {self.model!r})"  # a key is never printed


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")
    question: str
    answer: str = Field(min_length=1, max_length=500)
    quote: str = Field(min_length=2, max_length=2000)


class _Answers(BaseModel):
    model_config = ConfigDict(extra="forbid")
    answers: list[_Answer] = Field(max_length=20)


def choose(model: str | None, url: str | None, variables: Mapping[str, str], folder: Path) -> Endpoint:
    """The model that reads: at `url`, else OpenAI's where there is a key, else Qwen through the router.

    Keys are read from variables, then from `folder/.env`. Raises `BadInput` where there is none.
    """
    secrets = {**_dotenv(folder / ".env"), **{key: variables[key] for key in _KEYS if variables.get(key)}}
    if bad := sorted(name for name, value in secrets.items() if not (value.isascii() and value.isprintable())):
        raise BadInput(f"{bad[0]} holds characters that no key has.", hint="Set it anew.")
    if url is not None:
        if model is None:
            raise BadInput(f"Which model at {url}?", hint="Add --model ID.")
        return Endpoint(url.rstrip("/"), model, secrets.get("OPENAI_API_KEY"))
    if key := secrets.get("OPENAI_API_KEY"):
        return Endpoint("https://api.openai.com/v1", model or "gpt-5-mini", key)
    if key := secrets.get("HF_TOKEN"):
        return Endpoint(DEFAULT_ROUTER, model or "Qwen/Qwen3-Coder-30B-A3B-Instruct", key)
    raise BadInput(
        "There is no key for a model, in the environment or in .env.",
        hint="Set HF_TOKEN or OPENAI_API_KEY, or add --base-url URL; without --ask-model rules read the description.",
    )


def read_by_model(description: str, endpoint: Endpoint) -> dict[str, str]:
    """Answers by question that the description proves. Raises `Upstream` when the model cannot be reached."""
    messages: list[dict[str, str]] = [
        {"role": "system", "content": _TOLD},
        {"role": "user", "content": f"<description>\n{description}\n</description>"},
    ]
    proven: dict[str, str] = {}
    with httpx2.Client(timeout=120) as client:
        for _ in range(ROUNDS):
            said = _said(_complete(client, endpoint, messages))
            found, wrong = _proven(said, description)
            proven = {**found, **proven}
            if not wrong:
                break
            messages.append({"role": "user", "content": "Call the tool again. " + " ".join(wrong)[:4000]})
    return proven


def before(answers: Mapping[str, str], ask: Ask) -> Ask:
    """Asks only what `answers` leaves open."""

    def answer(question: Question) -> str:
        known = question.text.key in {f"new.ask_{name}" for name in _OPEN}
        return (answers.get(question.key, "") if known else "") or ask(question)

    return answer


_TOLD: Final = (
    "You read the description of a reinforcement-learning environment. Call the tool `answer` with what the "
    f"description itself says, one entry for each question that it answers. Questions: {', '.join(ASKED)}. `quote` "
    "is copied from the description word by word and says the answer. Leave out every question that it "
    "does not answer; never guess. "
    "`reward` is per_step, on_terminate, post_episode, or the measure of success; `termination` is a number of calls; "
    "`state` is none, memory or sandbox; `backend` is none, local_sandbox, e2b, web, database or judge."
)


def _complete(client: httpx2.Client, endpoint: Endpoint, messages: Sequence[Mapping[str, str]]) -> bytes:
    function = {"name": "answer", "parameters": _Answers.model_json_schema(), "description": "What is said."}
    body = {
        "model": endpoint.model,
        "messages": list(messages),
        "tools": [{"type": "function", "function": function}],
        "tool_choice": {"type": "function", "function": {"name": "answer"}},
        "max_completion_tokens" if "api.openai.com" in endpoint.url else "max_tokens": MAX_TOKENS,
    }
    headers = {"authorization": f"Bearer {endpoint.key or 'none'}"}
    told = f"{endpoint.model} at {endpoint.url}"
    try:
        with client.stream("POST", f"{endpoint.url}/chat/completions", json=body, headers=headers) as response:
            if response.status_code != 200:
                raise Upstream(f"{told} answered {response.status_code}.", hint="Does this model exist there?")
            data = bytearray()
            for chunk in response.iter_bytes():
                data += chunk
                if len(data) > _LARGEST:
                    raise Upstream(f"{told} answered with more than {_LARGEST:,} bytes.")
            return bytes(data)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise Upstream(f"{told} could not be asked: {type(error).__name__}.", hint="Is the address right?") from error


def _said(data: bytes) -> str:
    """The arguments of the first call in a completion; empty where there is none to be found."""
    try:
        found: Any = json.loads(data)["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"]
    except (ValueError, RecursionError, LookupError, TypeError):
        return ""
    return found if isinstance(found, str) else ""


def _proven(said: str, description: str) -> tuple[dict[str, str], list[str]]:
    """Answers with a quote that is there, and what is wrong with the others."""
    try:
        answers = _Answers.model_validate_json(said).answers
    except ValidationError as error:
        return {}, problems(error)
    plain = _plain(description)
    found, wrong = {}, []
    for each in answers:
        if each.question not in ASKED:
            wrong.append(f"There is no question {each.question[:40]!r}.")
        elif _plain(each.quote) not in plain:
            wrong.append(f"The quote for {each.question} is not in the description: copy it, or leave this out.")
        elif each.question == "path" and _plain(each.answer) not in plain:
            wrong.append("The path is not in the description: leave it out.")
        else:
            found[each.question] = " ".join(each.answer.split())
    return found, wrong


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def _dotenv(path: Path) -> dict[str, str]:
    """Keys of ours in a file of `NAME=value` lines; none where there is no such file."""
    if not path.is_file():
        return {}
    pairs = (line.removeprefix("export ").partition("=") for line in path.read_text("utf-8", "replace").splitlines())
    return {name.strip(): value.strip().strip("'\"") for name, _, value in pairs if name.strip() in _KEYS and value}
