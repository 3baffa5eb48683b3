"""Tasks of several archives lie beside each other: none is lost, none in another's place."""

from hypothesis import example, given
from hypothesis import strategies as st

from rlx.formats.harbor.discovery import task_roots
from rlx.formats.packed.budget import Member
from rlx.formats.packed.layout import lay_out
from rlx.texts import say

folders = st.lists(st.sampled_from("abc"), max_size=3).map("/".join)
archives = st.dictionaries(
    st.sampled_from(["a.zip", "b.zip", "a.tar", "x/a.zip", "x/b.tar.gz", "c/task.toml.zip"]),
    st.frozensets(folders, min_size=1, max_size=4),
    max_size=4,
)


def held(folders_: frozenset[str]) -> tuple[Member, ...]:
    """The files of tasks in these folders, and one that is no part of a task unless a task is around it."""
    paths = [f"{folder}/{name}".lstrip("/") for folder in sorted(folders_) for name in ("instruction.md", "task.toml")]
    return tuple(Member(path, 1, at) for at, path in enumerate([*paths, "z/stray.txt"]))


@given(archives)
@example({"a.zip": frozenset({""}), "b.zip": frozenset({"c"}), "c/task.toml.zip": frozenset({"a"})})
def test_every_task_has_a_place_of_its_own(found: dict[str, frozenset[str]]) -> None:
    listed = {path: held(folders_) for path, folders_ in found.items()}
    layout = lay_out(listed)
    tasks = [(path, root) for path, of in listed.items() for root in task_roots(member.path for member in of)]
    roots = task_roots(layout.files)
    assert len(roots) == len(tasks)
    for root in roots:
        inside = [lying for path, lying in layout.files.items() if path.startswith(f"{root}/")]
        assert len({lying.archive for lying in inside}) == 1
    kept = sum(1 for path, root in tasks for member in listed[path] if not root or member.path.startswith(f"{root}/"))
    assert len(layout.files) == kept
    assert all(root.rpartition("/")[0] in layout.parents for root in roots)


@given(archives)
def test_a_task_that_holds_what_cannot_be_had_is_named_and_left_out(found: dict[str, frozenset[str]]) -> None:
    broken = {
        path: tuple(
            Member(member.path, 1, member.at, refused=say("packed.sparse") if member.path == "a/task.toml" else None)
            for member in held(folders_)
        )
        for path, folders_ in found.items()
    }
    layout = lay_out(broken)
    assert all(lying.member.refused is None for lying in layout.files.values())
    assert len(layout.refused) == sum(any(member.refused for member in of) for of in broken.values())
