"""COPY and ADD take what Docker takes to where Docker puts it."""

import pytest

from rlx.sandboxes.dockerfile import Entry, Tree, Write, pick
from tests.sandboxes.dockerfile.making import files, names, planned, refused, the_copy

CONTEXT = files("a.txt", ".bashrc", "d/x", "d/.hidden", "d/e/y", "empty/", "w/1.py", "w/2.py", "w/3.txt", "s p.txt")


@pytest.mark.parametrize(
    ("line", "copied", "dest", "into"),
    [
        ("COPY a.txt /b.txt", {"a.txt": "a.txt"}, "/b.txt", False),
        ("COPY a.txt /b/", {"a.txt": "a.txt"}, "/b", True),
        ("COPY a.txt .", {"a.txt": "a.txt"}, "/w", True),
        ("COPY a.txt ./b", {"a.txt": "a.txt"}, "/w/b", False),
        ("COPY .bashrc /root/.bashrc", {".bashrc": ".bashrc"}, "/root/.bashrc", False),
        ("COPY ./.bashrc ./", {".bashrc": ".bashrc"}, "/w", True),
        ("COPY /a.txt /b", {"a.txt": "a.txt"}, "/b", False),
        ("COPY d /b", {"x": "d/x", ".hidden": "d/.hidden", "e/y": "d/e/y"}, "/b", True),
        ("COPY d/ d/e/ /b/", {"x": "d/x", ".hidden": "d/.hidden", "e/y": "d/e/y", "y": "d/e/y"}, "/b", True),
        ("COPY empty /b", {}, "/b", True),
        ("COPY w/*.py /b/", {"1.py": "w/1.py", "2.py": "w/2.py"}, "/b", True),
        ("COPY w/?.txt /b", {"3.txt": "w/3.txt"}, "/b", False),
        ("COPY w/[12].* /b/", {"1.py": "w/1.py", "2.py": "w/2.py"}, "/b", True),
        ("COPY */y /b/", {}, "/b", True),
        ("COPY */*/y /b/", {"y": "d/e/y"}, "/b", True),
        ("COPY d* /b/", {"x": "d/x", ".hidden": "d/.hidden", "e/y": "d/e/y"}, "/b", True),
        ('COPY ["s p.txt", "/b c/"]', {"s p.txt": "s p.txt"}, "/b c", True),
        ("COPY ../../a.txt /b", {"a.txt": "a.txt"}, "/b", False),
        ("COPY d/../a.txt /b", {"a.txt": "a.txt"}, "/b", False),
        ("COPY $F $T/", {"a.txt": "a.txt"}, "/t", True),
        ("COPY --link a.txt /b", {"a.txt": "a.txt"}, "/b", False),
        ("COPY --parents d/e/y a.txt /b/", {"d/e/y": "d/e/y", "a.txt": "a.txt"}, "/b", True),
        ("COPY --parents d/./e/y /b/", {"e/y": "d/e/y"}, "/b", True),
        ("COPY --parents w/*.py /b/", {"w/1.py": "w/1.py", "w/2.py": "w/2.py"}, "/b", True),
        ("COPY --exclude=.h* --exclude=e d /b", {"x": "d/x"}, "/b", True),
        ("ADD d /b", {"x": "d/x", ".hidden": "d/.hidden", "e/y": "d/e/y"}, "/b", True),
    ],
)
def test_sources_are_found_and_placed(line: str, copied: dict[str, str], dest: str, into: bool) -> None:
    copy = the_copy(planned(f"ENV F=a.txt T=/t\nWORKDIR /w\n{line}", CONTEXT))
    assert (names(copy), copy.dest, copy.into) == (copied, dest, into)


def test_the_whole_context_is_copied_with_its_dotfiles() -> None:
    copy = the_copy(planned("COPY . /app", CONTEXT))
    assert set(names(copy)) == {path for path, entry in CONTEXT.items() if entry.kind == "file"}
    assert {item.name for item in copy.items if item.entry.kind == "folder"} == {"", "d", "d/e", "empty", "w"}


def test_folders_come_before_what_they_hold() -> None:
    seen: set[str] = set()
    for item in the_copy(planned("COPY . /app", CONTEXT)).items:
        assert item.name == "" or item.name.rpartition("/")[0] in seen
        seen.add(item.name)


def test_owner_and_mode_are_kept() -> None:
    copy = the_copy(planned("ARG U=me\nUSER other\nCOPY --chown=$U:users --chmod=0750 a.txt /b", CONTEXT))
    assert (copy.owner, copy.mode) == ("me:users", 0o750)
    assert the_copy(planned("USER other\nCOPY a.txt /b", CONTEXT)).owner is None


def test_archives_that_are_added_are_unpacked_and_copied_ones_are_not() -> None:
    context = files("a.tar.gz", "d/b.tar")
    assert the_copy(planned("ADD a.tar.gz d /x/", context)).unpack == ("a.tar.gz",)
    assert the_copy(planned("ADD --unpack=false a.tar.gz /x/", context)).unpack == ()
    assert the_copy(planned("COPY a.tar.gz /x/", context)).unpack == ()


def test_links_that_are_named_are_followed_and_others_are_kept() -> None:
    context = files("d/x", "real", up="../real", root="/d", broken="none", loop="loop") | {
        "d/l": Entry("link", target="../../real"),
    }
    assert names(the_copy(planned("COPY up /b", context))) == {"up": "real"}
    assert names(the_copy(planned("COPY root/x /b", context))) == {"x": "d/x"}
    assert names(the_copy(planned("COPY root /b", context))) == {"x": "d/x", "l": "d/l"}
    assert names(the_copy(planned("COPY d/l /b", context))) == {"l": "real"}
    for name in ("broken", "loop"):
        assert refused(f"COPY {name} /b", context).why.key == "dockerfile.copy.missing"


def test_a_file_written_in_place_is_written() -> None:
    found = planned('ENV X=1\nCOPY --chmod=755 <<A <<"B" /b/\na $X "$X"\nA\nb $X\nB')
    first, second = (step for step in found.steps if isinstance(step, Write))
    assert (first.name, first.content, first.dest, first.into, first.mode) == ("A", 'a 1 "1"\n', "/b", True, 0o755)
    assert second.content == "b $X\n"


def test_a_dockerignore_is_obeyed() -> None:
    copy = the_copy(planned("COPY . /app", CONTEXT, ignore="*\n!d\nd/e\n!w/*.py\n"))
    assert set(names(copy)) == {"d/x", "d/.hidden", "w/1.py", "w/2.py"}
    assert refused("COPY a.txt /b", CONTEXT, ignore="a.txt").why.key == "dockerfile.copy.missing"


def test_programs_of_known_images_are_those_of_the_host() -> None:
    found = planned("COPY --from=ghcr.io/astral-sh/uv:0.8 /uv /uvx /bin/")
    assert (the_copy(found).origin, [item.source for item in the_copy(found).items]) == ("host", ["uv", "uvx"])
    assert "dockerfile.note.carried" in {note.key for note in found.notes}


def test_what_is_as_in_docker_but_surprising_is_noted() -> None:
    notes = {note.key for note in planned("COPY ../a.txt none* /b/", CONTEXT).notes}
    assert {"dockerfile.note.outside", "dockerfile.note.nothing"} <= notes


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("COPY none /b", "syntax"),
        ("COPY a.txt", "syntax"),
        ("COPY a.txt d/x /b", "syntax"),
        ("COPY w/*.py /b", "syntax"),
        ("COPY a.txt <<E /b\nx\nE", "syntax"),
        ("COPY --what a.txt /b", "syntax"),
        ("COPY --chmod=999 a.txt /b", "syntax"),
        ("COPY --chmod=u=rwX a.txt /b", "unsupported"),
        ("COPY --exclude=a.txt a.txt /b", "unsupported"),
        ("COPY --chown= a.txt /b", "syntax"),
        ("COPY [a /b", "syntax"),
        ("COPY w/[ /b/", "syntax"),
        ("COPY 'a.txt /b", "syntax"),
        ("COPY --from=ghcr.io/astral-sh/uv /etc/passwd /b", "base"),
        ("COPY https://a.b/c /b", "syntax"),
    ],
)
def test_what_docker_refuses_or_cannot_be_right_is_refused(line: str, kind: str) -> None:
    assert refused(line, CONTEXT).kind == kind


def test_files_of_a_finished_stage_are_picked_by_the_same_rules() -> None:
    tree = Tree(files("opt/a.whl", "opt/b.whl", "opt/c/d", latest="opt/c"))
    assert [item.source for item in pick(tree, ["/opt/*.whl"]).items] == ["opt/a.whl", "opt/b.whl"]
    assert pick(tree, ["/latest"]).folder
    assert pick(tree, ["/opt/*.none"]).empty == ("/opt/*.none",)


def test_paths_that_lead_outside_are_no_part_of_a_context() -> None:
    entry = Entry("file", digest="x")
    copy = the_copy(
        planned("COPY . /b", {"../x": entry, "/etc/passwd": entry, "a/../../y": entry, "ok": entry, "": entry})
    )
    assert set(names(copy)) == {"ok"}
