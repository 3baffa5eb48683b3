"""The interview of `rlx new`: who answers its questions, and what its outcome says."""

import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import typer

from rlx.cli.output import note
from rlx.errors import BadInput
from rlx.generator.asking import MAX_TOKENS, ROUNDS, Endpoint, before, read_by_model
from rlx.generator.interview import KEYS, Ask, Outcome, Question, interview
from rlx.generator.render import SPEC_FILE, write
from rlx.generator.spec import EnvSpec, dump_spec
from rlx.texts import say, words


def interviewed(
    description: str, answers: Path | None, yes: bool, out: Path | None, endpoint: Endpoint | None = None
) -> Outcome:
    """The outcome of an interview: with a person, or with a file of answers, or with what is proposed.

    The model at `endpoint`, if there is one, reads the description first.
    """
    language = "ko" if any("가" <= letter <= "힣" for letter in description) else "en"
    if answers is not None:
        ask = _from_file(_read_answers(answers))
    elif yes:
        ask = _proposed
    else:
        ask = _person(language)
    if endpoint is not None:
        ask = before(_read_by_model(description, endpoint), ask)
    outcome = interview(description, ask, place_known=out is not None)
    for line in outcome.told:
        note(words(line, outcome.language))
    return outcome


def _read_by_model(description: str, endpoint: Endpoint) -> dict[str, str]:
    note(
        f"{endpoint.model} at {endpoint.url} reads the description: at most {ROUNDS} calls of {MAX_TOKENS:,} tokens "
        "that it writes, at the price of whoever serves it."
    )
    found = read_by_model(description, endpoint)
    note(f"It found there: {', '.join(sorted(found)) or 'nothing'}.")
    return found


def write_open(spec: EnvSpec, out: Path | None, force: bool) -> None:
    """Write a specification that leaves something open, and end with exit code 1."""
    where = out if out is not None else Path(spec.target.path or ".")
    write({SPEC_FILE: dump_spec(spec)}, where, force=force)
    note(str(where / SPEC_FILE))
    raise typer.Exit(1)


def _proposed(question: Question) -> str:
    return question.default or ""


def _from_file(answers: Mapping[str, str]) -> Ask:
    return lambda question: answers.get(question.key) or _proposed(question)


def _person(language: str) -> Ask:
    def ask(question: Question) -> str:
        note(words(question.text, language))
        because = question.because
        if question.default is not None:
            because = say("new.proposed", default=question.default, because=because)
        note(f"  {words(because, language)}")
        line = sys.stdin.readline()
        if not line:
            raise BadInput(
                f"Nobody answered: {words(question.text, language)}",
                hint="Add --yes to take what is proposed, or --answers FILE.",
            )
        return line.strip() or _proposed(question)

    return ask


def _read_answers(path: Path) -> dict[str, str]:
    """A TOML file of answers by the key of their question."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"{path} cannot be read as answers: {error}.", hint="Give a TOML file of texts.") from error
    if unknown := sorted(set(found) - set(KEYS)):
        raise BadInput(f"{path} answers {unknown[0]!r}, which is not asked.", hint=f"There are {', '.join(KEYS)}.")
    return {key: str(value) for key, value in found.items()}
