"""Every mistake can still be planted: the texts that mutants change are in what is rendered."""

from pathlib import Path

import pytest

from rlx.generator.check.mutation import plant
from rlx.generator.registry import targets
from rlx.generator.render import write
from rlx.generator.spec import FRAMEWORKS
from tests.generator.trees import ARCHETYPES, example, tree

KINDS = {"reward", "done", "shared_state", "error", "coercion", "leaked_answer", "tool_name", "split"}


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_there_is_a_mutant_of_each_kind(framework: str) -> None:
    assert {mutant.kind for mutant in targets()[framework].mutants} == KINDS


@pytest.mark.parametrize("name", ARCHETYPES)
def test_every_mutant_changes_its_wrapper(name: str, tmp_path: Path) -> None:
    write(tree(name), tmp_path)
    for framework in FRAMEWORKS:
        folder = tmp_path / example(name).target.folder(framework)
        for mutant in targets()[framework].mutants:
            path = folder / mutant.file.replace("{package}", example(name).package)
            before = path.read_text()
            plant(example(name), folder, mutant)
            assert path.read_text() != before
            path.write_text(before)
