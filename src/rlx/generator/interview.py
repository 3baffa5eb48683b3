"""From a description and a few answers to a specification, by rules and archetypes, without a model.

Only what the description leaves open is asked. What no archetype's rules serve stays open in the specification, which
is then not rendered: nothing is written under a person's name that plays another game.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from rlx.errors import BadInput
from rlx.generator.archetypes.base import Archetype, Kind
from rlx.generator.describe import Reading, cap_of, read, style_of
from rlx.generator.registry import archetypes
from rlx.generator.spec import EnvSpec, make_spec
from rlx.texts import Say, say, words

KEYS = ("goal", "scope", "action", "state", "reward", "backend", "termination", "path")
_YES = {"yes", "y", "ok", "네", "예", "응"}


@dataclass(frozen=True, slots=True)
class Question:
    key: str
    """One of `KEYS`."""
    text: Say
    because: Say
    default: str | None
    """What an empty answer means. None: there is none, and an empty answer leaves it open."""


type Ask = Callable[[Question], str]
"""Asks a person, or a file of answers. An empty answer takes the default."""


@dataclass(slots=True)
class Outcome:
    spec: EnvSpec
    language: str
    told: list[Say] = field(default_factory=list)
    """What was chosen and why, and what is still open."""


def interview(description: str, ask: Ask, *, place_known: bool = False) -> Outcome:
    """The specification of a description. `place_known`: somebody said already where it is written.

    Raises `BadInput` for a wish that no environment answers, and where nobody says a path.
    """
    reading = read(description)
    if reading.training:
        raise BadInput(
            words(say("new.training"), reading.language), hint=words(say("new.training_hint"), reading.language)
        )
    if reading.vague or len(reading.kinds) > 1:
        named = ", ".join(kind.make().title for _, kind in reading.kinds)
        text = say("new.ask_which", names=named) if reading.kinds else say("new.ask_goal")
        if answer := ask(Question("goal", text, say("new.because_goal"), None)):
            reading = _read_again(reading, answer)
    return _Interview(reading, ask, place_known).run()


def _read_again(before: Reading, answer: str) -> Reading:
    """An answer about the goal replaces a choice between two, and adds to what was vague."""
    together = read(f"{before.text.rstrip('. ')}. {answer}")
    if len(before.kinds) < 2:
        return together
    alone = read(answer)
    return alone if alone.paths or not before.paths else read(f"{answer} at {before.paths[0]}/")


class _Interview:
    def __init__(self, reading: Reading, ask: Ask, place_known: bool) -> None:
        self.reading = reading
        self.asked = ask
        self.place_known = place_known
        self.undecided: list[str] = []
        self.told: list[Say] = []
        self.turns: str | None = None

    def run(self) -> Outcome:
        chosen = self.reading.kinds[0] if len(self.reading.kinds) == 1 else None
        if chosen is not None and self.reading.uncovered and not self._without_the_rest():
            chosen = None
        values = self._chosen(*chosen) if chosen else self._draft()
        self._settle_text(values)
        self._settle_reward(values)
        self._settle_end(values)
        path = self._path()
        values["target"] = {**values.get("target", {}), "path": path}
        if chosen is None:
            values |= _names(path)
        spec = make_spec({**values, "undecided": tuple(dict.fromkeys(self.undecided))}, "What was answered")
        if chosen and (problems := chosen[0].problems(spec)):
            self.told.append(say("new.not_served", archetype=chosen[0].name, problems=" ".join(problems)))
            spec = spec.model_copy(update={"undecided": (*spec.undecided, "reward")})
        if spec.undecided:
            self.told.append(say("new.open", parts=", ".join(spec.undecided)))
        return Outcome(spec, self.reading.language, self.told)

    def _ask(self, key: str, text: Say, because: Say, default: str | None) -> str:
        return self.asked(Question(key, text, because, default)).strip()

    def _without_the_rest(self) -> bool:
        title, rest = self.reading.kinds[0][1].make().title, ", ".join(self.reading.uncovered)
        answer = self._ask("scope", say("new.ask_scope", title=title, rest=rest), say("new.because_scope"), "no")
        if answer.lower() in _YES:
            return True
        self.told.append(say("new.uncovered", title=title, rest=rest))
        return False

    def _chosen(self, owner: Archetype, kind: Kind) -> dict[str, Any]:
        spec = kind.make()
        self.told.append(say("new.chosen", title=spec.title, archetype=owner.name, because=owner.says))
        self.turns = owner.turns
        return {**spec.model_dump(), "options": owner.options_of(spec)}

    def _draft(self) -> dict[str, Any]:
        """What a description that no rules serve comes to: its open parts are marked."""
        if not self.reading.kinds:
            self.told.append(say("new.nothing_fits", names=", ".join(sorted(archetypes()))))
        self.undecided += ["domain", "loop", "action", "tasks"]
        action = self._ask("action", say("new.ask_action"), say("new.because_action"), "tools")
        state = self._ask("state", say("new.ask_state"), say("new.because_state"), "memory")
        backend = self._ask("backend", say("new.ask_backend"), say("new.because_backend"), "none")
        goal = _line(self.reading.text)
        return {
            "goal": goal,
            "loop": ("Undecided.",) * 5,
            "action": {"tools": [{"name": "act", "description": f"Undecided; said was: {_line(action)[:400]}"}]},
            "state": self._choice("state", "kind", state, ("none", "memory", "sandbox")),
            "backend": self._choice(
                "backend", "kind", backend, ("none", "local_sandbox", "e2b", "web", "database", "judge")
            ),
            "reward": {"criterion": "Undecided."},
            "tasks": [{"id": "train-0", "prompt": goal}],
        }

    def _choice(self, part: str, key: str, answer: str, known: tuple[str, ...]) -> dict[str, str]:
        word = answer.lower().replace(" ", "_")
        if word in known:
            return {key: word}
        self.undecided.append(part)
        return {}

    def _settle_text(self, values: dict[str, Any]) -> None:
        if not (self.reading.wants_text or self.reading.tools_and_none):
            return
        answer = self._ask("action", say("new.ask_text"), say("new.because_text"), "tools")
        if answer.lower() not in {"tools", *_YES}:
            self.undecided.append("action")

    def _settle_reward(self, values: dict[str, Any]) -> None:
        reading, reward = self.reading, dict(values["reward"])
        known = reward["criterion"] != "Undecided."
        if len(reading.styles) > 1:
            answer = self._ask(
                "reward", say("new.ask_styles", styles=", ".join(reading.styles)), say("new.because_styles"), None
            )
        elif reading.styles:
            answer = reading.styles[0]
        elif reading.unscorable and not known:
            answer = self._ask("reward", say("new.ask_measure"), say("new.because_measure"), None)
        elif known:
            text = say("new.ask_reward", criterion=reward["criterion"])
            answer = self._ask("reward", text, say("new.because_reward"), reward.get("style", "on_terminate"))
        else:
            answer = self._ask("reward", say("new.ask_measure"), say("new.because_reward_open"), None)
        style = style_of(answer)
        if style is not None:
            reward["style"] = style
        elif answer and answer.lower() not in _YES:
            reward["criterion"] = _line(answer)
        if (style is None or not known) and answer.lower() not in (_YES if known else ()):
            self.undecided.append("reward")
        values["reward"] = reward

    def _settle_end(self, values: dict[str, Any]) -> None:
        reading, end = self.reading, dict(values.get("termination", {"max_calls": 20, "condition": ""}))
        default = str(values["options"][self.turns] if self.turns else end["max_calls"])
        if len(reading.caps) > 1 or (reading.caps and reading.endless):
            said = [*map(str, reading.caps), *(["no limit"] if reading.endless else [])]
            text, because, offered = say("new.ask_caps", caps=", ".join(said)), say("new.because_caps"), None
        elif reading.caps:
            self._limit(values, end, reading.caps[0])
            return
        else:
            text = say("new.ask_end", condition=end["condition"]) if end["condition"] else say("new.ask_end_open")
            because, offered = say("new.because_end"), default
        answer = self._ask("termination", text, because, offered)
        cap = cap_of(answer)
        if cap is not None:
            self._limit(values, end, cap)
            return
        if answer.lower() not in _YES or offered is None:
            self.undecided.append("termination")
        values["termination"] = end

    def _limit(self, values: dict[str, Any], end: dict[str, Any], cap: int) -> None:
        values["termination"] = {**end, "max_calls": cap}
        if self.turns is not None:
            values["options"][self.turns] = cap
            values["termination"]["max_calls"] = 2 * cap

    def _path(self) -> str | None:
        paths = self.reading.paths
        if self.place_known:
            return None
        if len(paths) == 1:
            return paths[0]
        text = say("new.ask_paths", paths=", ".join(paths)) if paths else say("new.ask_path")
        answer = self._ask("path", text, say("new.because_path"), None)
        if not answer:
            language = self.reading.language
            raise BadInput(words(say("new.no_path"), language), hint=words(say("new.no_path_hint"), language))
        return answer


def _names(path: str | None) -> dict[str, str]:
    """What an environment that has no name yet is called: as its folder, where that can be a name."""
    last = re.sub(r"[^a-z0-9]+", "-", PurePath(path or "environment").name.lower()).strip("-")[:50].strip("-")
    name = last if re.match(r"[a-z]", last) else "environment"
    return {"name": name, "title": name.replace("-", " ").capitalize(), "module": "rules"}


def _line(text: str) -> str:
    """A text as one line that a specification takes."""
    return re.sub(r"[\x00-\x1f\x7f]+", " ", " ".join(text.split()))[:500] or "Undecided."
