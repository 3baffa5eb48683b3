"""What others are shown of a rollout: no owner, no address of somebody's endpoint, no path of a machine, no secret."""

import re
from collections.abc import Mapping
from typing import Any, Final

from rlx.rollout import Event, ModelUse, Rollout

OWN_PROVIDERS: Final = frozenset({"endpoint", "scripted"})
"""Providers that are somebody's own; any other is known to everybody, and so is its host."""
_SECRETS: Final = re.compile(
    r"""(?x)
      \b hf_[A-Za-z0-9]{8,}
    | \b (?:sk|pk|rk)-[A-Za-z0-9_-]{12,}
    | \b gh[opsu]_[A-Za-z0-9]{16,}
    | \b (?:AKIA|ASIA)[A-Z0-9]{16} \b
    | \b eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*
    | (?i: (?<= bearer\s ) [A-Za-z0-9._~+/=:-]{8,} )
    | (?<= :// ) [^\s/@:]{1,200} : [^\s/@]{1,200} (?= @ )
    """
)
_HOMES: Final = re.compile(r"(?<![\w./-])(?:/root|/home/[^\s/'\":]+|/Users/[^\s/'\":]+)(?=/|\b)(?:/[^\s'\":,;)\]}]*)?")
_SHORTEST: Final = 3
"""Characters of a name that is taken out of texts; a shorter one stands in half the words there are."""


def public(rollout: Rollout) -> Rollout:
    """The same rollout for eyes other than its owner's. What the environment says of the task stays as it is."""
    scrub = Scrub.of(rollout)
    failure = rollout.failure
    if failure is not None:
        failure = failure.model_copy(update={"message": scrub.text(failure.message)})
    return rollout.model_copy(
        update={
            "owner": None,
            "model": _of_anybody(rollout.model, scrub),
            "judge": _of_anybody(rollout.judge, scrub),
            "failure": failure,
            "fields": scrub.value(rollout.fields),
            "notes": tuple(scrub.text(note) for note in rollout.notes),
            "steps": tuple(
                step.model_copy(update={"name": scrub.text(step.name), "error": scrub.value(step.error)})
                for step in rollout.steps
            ),
        }
    )


def _of_anybody(model: ModelUse | None, scrub: "Scrub") -> ModelUse | None:
    """Where somebody's own model is, is their business."""
    if model is None or model.provider not in OWN_PROVIDERS:
        return model
    return model.model_copy(update={"host": None, "id": scrub.text(model.id)})


def public_event(event: Event, rollout: Rollout) -> Event:
    """An event of `rollout` for eyes other than its owner's."""
    return event.model_copy(update={"data": Scrub.of(rollout).value(event.data)})


class Scrub:
    """Takes out of texts what belongs to whoever ran a rollout."""

    def __init__(self, *names: str | None) -> None:
        kept = sorted({name for name in names if name and len(name) >= _SHORTEST}, key=len, reverse=True)
        self._names = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in kept), re.I) if kept else None

    @classmethod
    def of(cls, rollout: Rollout) -> "Scrub":
        """Knows the owner, and the host of their endpoint with and without its port."""
        own = [
            model for model in (rollout.model, rollout.judge) if model is not None and model.provider in OWN_PROVIDERS
        ]
        hosts = [model.host for model in own if model.host]
        bare = [re.sub(r":\d+$", "", host) for host in hosts]
        return cls(rollout.owner, *hosts, *(host for host in bare if host not in {"localhost", "127.0.0.1"}))

    def text(self, text: str) -> str:
        text = _HOMES.sub("‹path›", _SECRETS.sub("‹secret›", text))
        return text if self._names is None else self._names.sub("‹withheld›", text)

    def value(self, value: Any) -> Any:
        """Every text in a JSON value, keys too."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(key): self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value
