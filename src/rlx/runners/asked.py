"""What somebody asks for when they start a rollout, and whether the option they picked takes it."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

from rlx.errors import BadInput
from rlx.model import Field, RunOption

type Value = str | int | float | bool | None

MAX_TEXT = 500
"""Characters of a field."""
MAX_VALUE = 8_000
"""Characters of a variable."""


@dataclass(frozen=True, slots=True)
class ModelAsked:
    """The model that an agent is to speak with."""

    kind: Literal["scripted", "endpoint", "router"] = "scripted"
    id: str = "solve"
    """Of an endpoint: the model's name there. Of the scripted model: the script to play. Of the router: `org/name`, and
    after a colon a policy or a provider."""
    base_url: str | None = None
    """Of an endpoint: the address before `/chat/completions`."""
    api_key: str | None = field(default=None, repr=False)
    """Never written anywhere."""
    dollars_in: float | None = None
    dollars_out: float | None = None
    """Price of a million tokens, where it is known."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Whatever is None or missing has the option's default."""

    env: str
    """The environment's key."""
    ref: str
    agent: str
    revision: str | None = None
    runner: str = "harbor"
    sandbox: str | None = "local"
    model: ModelAsked | None = None
    fields: Mapping[str, Value] = field(default_factory=dict)
    """Texts of a form, or values of their own kind."""
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What `${NAME}` stands for in the task's settings. Never written anywhere."""
    visibility: Literal["private", "public"] = "private"


def checked_fields(option: RunOption, given: Mapping[str, Value]) -> dict[str, Value]:
    """Every field of the option with the value that was given or its default. Raises `BadInput` for any other."""
    known = {each.key: each for each in option.fields}
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise BadInput(
            f"There is no field {unknown[0][:60]!r}.", hint=f"There are {', '.join(known)}." if known else None
        )
    return {key: _checked(each, given.get(key)) for key, each in known.items()}


def checked_variables(
    option: RunOption, given: Mapping[str, str], *, solves: bool, replaced: Collection[str] = ()
) -> dict[str, str]:
    """What was given for variables of the task.

    `solves`: the agent plays the reference solution, which reads some too. `replaced`: something else gives these.

    Raises `BadInput` for a name that the task does not read, and where it cannot do without one that was not given. No
    message holds a value.
    """
    known = {each.name: each for each in option.variables}
    found = {name: value for name, value in given.items() if value != ""}
    unknown = sorted(set(found) - set(known))
    if unknown:
        hint = f"It reads {', '.join(known)}." if known else "It reads none."
        raise BadInput(f"This task reads no variable {unknown[0][:60]!r}.", hint=hint)
    for name, value in found.items():
        if len(value) > MAX_VALUE or "\0" in value:
            raise BadInput(f"The variable {name} takes at most {MAX_VALUE:,} characters, none of them NUL.")
    lacking = [
        each.name
        for each in option.variables
        if each.required and each.name not in {*found, *replaced} and (solves or each.readers != ("solution",))
    ]
    if lacking:
        raise BadInput(
            f"This task reads {', '.join(lacking)}, which was not given.",
            hint=f"Give a value in the form, as `variables` in JSON, or with --var {lacking[0]}=VALUE.",
        )
    return found


def _checked(one: Field, given: Value) -> Value:
    if given is None or given == "":
        if one.required and one.default is None:
            raise BadInput(f"The field {one.key!r} has to be given.")
        return one.default
    match one.type:
        case "bool":
            return _truth(one.key, given)
        case "number":
            return _number(one, given)
    text = str(given)
    if len(text) > MAX_TEXT:
        raise BadInput(f"The field {one.key!r} takes at most {MAX_TEXT} characters.")
    if one.type == "select" and text not in one.options:
        raise BadInput(f"The field {one.key!r} cannot be {text[:60]!r}.", hint=f"One of {', '.join(one.options)}.")
    return text


def _truth(key: str, given: Value) -> bool:
    if isinstance(given, bool):
        return given
    found = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}.get(str(given).lower())
    if found is None:
        raise BadInput(f"The field {key!r} is true or false.")
    return found


def _number(one: Field, given: Value) -> int | float:
    try:
        if isinstance(given, bool) or given is None:
            raise ValueError
        number = float(given)
    except ValueError as error:
        raise BadInput(f"The field {one.key!r} takes a number.") from error
    low, high = one.minimum, one.maximum
    if not math.isfinite(number) or (low is not None and number < low) or (high is not None and number > high):
        raise BadInput(
            f"The field {one.key!r} takes a number from {low:g} to {high:g}."
            if low is not None and high is not None
            else f"The number in the field {one.key!r} is out of bounds."
        )
    if one.step is not None and float(one.step).is_integer() and not number.is_integer():
        raise BadInput(f"The field {one.key!r} takes a whole number.")
    return int(number) if number.is_integer() and (one.step is None or float(one.step).is_integer()) else number
