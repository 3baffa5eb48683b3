"""Skills for coding agents that drive `rlx new`: one for all frameworks and one for each, from the code's own data."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from rlx.generator.registry import archetypes, targets
from rlx.generator.spec import EnvSpec, Parameter, Tool
from rlx.generator.targets.base import Target
from rlx.texts import catalog

TEMPLATES = Path(__file__).parent / "templates"
UMBRELLA = "generate-rl-env"
QUESTIONS = {
    "goal": ("ask_goal", "because_goal"),
    "scope": ("ask_scope", "because_scope"),
    "action": ("ask_action", "because_action"),
    "state": ("ask_state", "because_state"),
    "reward": ("ask_measure", "because_reward_open"),
    "backend": ("ask_backend", "because_backend"),
    "termination": ("ask_end_open", "because_end"),
    "path": ("ask_path", "because_path"),
}
"""Where the words of each question of the interview, and of its reason, stand among the texts."""


def skill_name(framework: str) -> str:
    """The name of a framework's own skill: `generate-nemo-gym-env`."""
    return f"generate-{framework.replace('_', '-')}-env"


def render_skills() -> dict[str, str]:
    """Files of all skills by their paths, the same each time: `<skill>/SKILL.md` and `<skill>/references/*.md`."""
    values = {
        "targets": targets(),
        "archetypes": archetypes(),
        "asked": _asked(),
        "skill_name": skill_name,
        "umbrella": UMBRELLA,
        "parts": list(EnvSpec.model_fields),
        "tool_parts": list(Tool.model_fields),
        "parameter_parts": list(Parameter.model_fields),
    }
    tree = {
        f"{UMBRELLA}/SKILL.md": _text("umbrella.md.j2", values),
        f"{UMBRELLA}/references/interview.md": _text("interview.md.j2", values),
        f"{UMBRELLA}/references/specification.md": _text("specification.md.j2", values),
        f"{UMBRELLA}/references/rules.md": _text("rules.md.j2", values),
    }
    for name, target in targets().items():
        mine = {**values, "target": target, "commands": _commands(target), "own": _own(target)}
        tree[f"{UMBRELLA}/references/{name}.md"] = _text("reference.md.j2", mine)
        tree[f"{skill_name(name)}/SKILL.md"] = _text("framework.md.j2", mine)
        tree[f"{skill_name(name)}/references/{name}.md"] = tree[f"{UMBRELLA}/references/{name}.md"]
        tree[f"{skill_name(name)}/references/rules.md"] = tree[f"{UMBRELLA}/references/rules.md"]
    return dict(sorted(tree.items()))


def _asked() -> Mapping[str, tuple[str, str]]:
    """Each question with its reason, as the interview puts it; what it fills in stands in braces."""
    english = catalog("en")
    return {key: (english[f"new.{asked}"], english[f"new.{reason}"]) for key, (asked, reason) in QUESTIONS.items()}


def _commands(target: Target) -> list[str]:
    """What a target's folder is validated with, as typed there; a place that is filled in stands in braces."""
    here = str(target.folder)
    shown = (" ".join(command) for command in (*target.validators, *target.validators_online))
    return [command for command in shown if here not in command]


def _own(target: Target) -> str:
    """What the target says of itself; a target from elsewhere may say nothing."""
    path = target.folder / "skill.md"
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def _text(name: str, values: Mapping[str, object]) -> str:
    return _environment().get_template(name).render(values)


@cache
def _environment() -> Environment:
    return Environment(  # noqa: S701  # Markdown, not HTML
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
