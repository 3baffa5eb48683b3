"""Guessing games with one tool: a secret word, and marks that tell how near a guess came."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from rlx.generator.archetypes.base import Archetype, Call, Kind
from rlx.generator.spec import Action, EnvSpec, Parameter, Reward, Task, Termination, Tool

_PROMPT = """\
Find a secret word of five letters with guess_word. Each guess is answered with its number, and a mark for each letter:
+ for a letter in its place, ? for one that the word has elsewhere, . for one that it has not, or not once more."""
_SECRETS = (
    ("train", "crane"),
    ("train", "lemon"),
    ("train", "sheep"),
    ("train", "vivid"),
    ("validation", "joker"),
    ("test", "abbey"),
)
_GUESSES = ("slate", "crane", "eerie", "LEMON", "round", "geese", "abc", "toolong", "fünfe", "12345", "")
_NAMED = (
    r"wordle(?:-like)?|word guessing|guess(?:es|ing)? (?:a |the )?(?:secret |hidden )?(?:five-letter )?words?"
    r"|워들|단어를? (?:맞히|추측)\w*"
)


def example() -> EnvSpec:
    tasks = [
        Task(id=f"{split}-{number}", split=split, prompt=_PROMPT, hidden={"secret": secret})
        for number, (split, secret) in enumerate(_SECRETS)
    ]
    return EnvSpec(
        name="guess-word",
        title="Word guessing",
        archetype="guessing",
        module="game",
        goal="Find a secret word before the guesses are used up.",
        loop=(
            "The model reads the marks of its guesses so far.",
            "It chooses a word that they allow.",
            "The rules refuse what is no word of that length, with a reason.",
            "They mark each letter: in its place, elsewhere, or not there.",
            "The model sees the marks, or that the game is over.",
        ),
        action=Action(
            tools=(
                Tool(
                    name="guess_word",
                    description="Guess the word and see how near that is.",
                    parameters=(Parameter(name="word", type="string", description="Five letters from a to z."),),
                ),
            )
        ),
        reward=Reward(criterion="1 for the word within the guesses, 0 otherwise."),
        termination=Termination(max_calls=12, condition="The word is found, or no guesses are left."),
        tasks=tuple(tasks),
    )


def problems(spec: EnvSpec) -> Sequence[str]:
    """Why this module cannot serve a specification."""
    options = ARCHETYPE.options_of(spec)
    length, guesses = options["letters"], options["guesses"]
    found = []
    tools = spec.action.tools
    if len(tools) != 1 or [(each.name, each.type) for each in tools[0].parameters] != [("word", "string")]:
        found.append("there is one tool, which takes word as a string.")
    if spec.reward.style == "per_step":
        found.append("a guess is rewarded when the game ends: set reward.style to 'on_terminate'.")
    if not isinstance(length, int) or not isinstance(guesses, int) or not (2 <= length <= 20 and 1 <= guesses <= 100):
        found.append("option letters is a whole number from 2 to 20, and guesses one from 1 to 100.")
    elif not all(_is_word(task.hidden.get("secret"), length) for task in spec.tasks):
        found.append(f"each task hides secret, a word of {length} letters from a to z in lower case.")
    return found


def _is_word(value: object, length: int) -> bool:
    return isinstance(value, str) and len(value) == length and value.isascii() and value.isalpha() and value.islower()


def script(spec: EnvSpec) -> Sequence[Call]:
    """Words with common letters, cut or repeated to the length of this game."""
    length = len(str(spec.tasks[0].hidden["secret"]))
    tool = spec.action.tools[0].name
    return [Call(tool, {"word": (word * length)[:length]}) for word in ("slate", "round", "chimp", "lucky")]


def guess(spec: EnvSpec, source: random.Random, task: Mapping[str, Any]) -> Call:
    """Some word, now and then the right one, now and then none at all."""
    secret = str(task["secret"])
    near = secret[1:] + secret[0]
    word = source.choice([*_GUESSES, secret, secret.upper(), near, near])
    return Call(spec.action.tools[0].name, {"word": word})


ARCHETYPE = Archetype(
    name="guessing",
    says="one tool makes guesses at a secret, and each answer tells how near one came",
    example=example,
    options={"letters": 5, "guesses": 6},
    script=script,
    guess=guess,
    problems=problems,
    turns="guesses",
    kinds=(
        Kind(
            _NAMED,
            r"games?|guess(?:es|ing|ed)?|words?|secrets?|hidden|marks?|feedback|right|correct|near|clues?|hints?|finds?|found"
            r"|비밀|단어\w*|맞히\w*|추측\w*|정답\w*|힌트\w*",
            example,
        ),
    ),
)
