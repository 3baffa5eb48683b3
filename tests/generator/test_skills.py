"""Skills say what this release does: its commands, its versions, its questions."""

import re
import shlex

import typer

from rlx.cli.new import app
from rlx.generator.interview import KEYS
from rlx.generator.registry import archetypes, targets
from rlx.generator.skills import QUESTIONS, UMBRELLA, render_skills, skill_name

NAMES = {UMBRELLA, *map(skill_name, targets())}


def test_there_is_a_skill_for_all_frameworks_and_one_for_each_the_same_each_time() -> None:
    tree = render_skills()
    assert {path.split("/")[0] for path in tree} == NAMES
    assert tree == render_skills()


def test_front_matter_names_the_folder_and_describes_it_in_one_line() -> None:
    tree = render_skills()
    for name in NAMES:
        found = re.match(r"---\nname: (\S+)\ndescription: (.{40,1024})\n---\n\n# ", tree[f"{name}/SKILL.md"])
        assert found is not None, name
        assert found[1] == name
        assert ": " not in found[2], "YAML would read a mapping"


def test_every_option_and_name_of_a_command_in_a_skill_exists() -> None:
    command = typer.main.get_command(app)
    commands = [command, *getattr(command, "commands", {}).values()]
    options = {option for one in commands for parameter in one.params for option in parameter.opts}
    seen = 0
    for path, text in render_skills().items():
        for written in re.findall(r"`(rlx [^`]+)`", text):
            words = shlex.split(written)
            assert words[1] == "new", (path, written)
            assert {word for word in words if word.startswith("--")} <= options, (path, written)
            for option, known in (("--target", targets()), ("--example", {**archetypes(), "NAME": None})):
                if option in words and words[words.index(option) + 1] != "NAME":
                    assert words[words.index(option) + 1] in known, (path, written)
            seen += 1
    assert seen > 15


def test_references_that_a_skill_names_are_there() -> None:
    tree = render_skills()
    for path, text in tree.items():
        for named in re.findall(r"`(references/[^`]+)`", text):
            assert f"{path.split('/')[0]}/{named}" in tree, (path, named)


def test_versions_are_those_that_variants_are_rendered_for() -> None:
    tree = render_skills()
    for name, target in targets().items():
        for path in (f"{UMBRELLA}/SKILL.md", f"{skill_name(name)}/SKILL.md", f"{UMBRELLA}/references/{name}.md"):
            assert target.requirement in tree[path], path


def test_every_question_of_the_interview_and_every_archetype_is_told() -> None:
    tree = render_skills()
    assert tuple(QUESTIONS) == KEYS
    assert re.findall(r"^## `(\w+)`", tree[f"{UMBRELLA}/references/interview.md"], re.MULTILINE) == list(KEYS)
    for name, found in archetypes().items():
        assert f"- `{name}`: {found.says}." in tree[f"{UMBRELLA}/SKILL.md"]
