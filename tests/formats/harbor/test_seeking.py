"""What is looked for in a task that is not listed: whatever its grader would be followed to, within bounds."""

from hypothesis import given
from hypothesis import strategies as st

from rlx.formats.harbor.discovery import SETTINGS
from rlx.formats.harbor.scripts import followed
from rlx.formats.harbor.seeking import MAX_NAMED, MAX_STEPS, sought

NAMES = ("a.sh", "b.py", "c.py", "lib/d.sh", "lib/e.py", "f-g.sh", "h.v2.py")
CALLS = st.sampled_from(
    ("bash /tests/{}", "python3 tests/{} --fast", "source ./{}", "node {}; true", "# {}", "cp x.txt y", "import json")
)
LINES = st.builds(str.format, CALLS, st.sampled_from(NAMES)) | st.sampled_from(("import b", "from c import x"))
ODD = (r'"\u0000"', '".."', '"a/../../b"', '"/etc"', '""', '"a//b"', '"s/"', '"."', '"two\\nlines"')
SCRIPTS = st.dictionaries(st.sampled_from(NAMES), st.lists(LINES, max_size=4), max_size=len(NAMES))


def found(files: dict[str, str]) -> set[str]:
    """The files that are reached by asking again with what was read."""
    known: dict[str, bytes] = {}
    while new := {path for path in sought(known) if path in files} - known.keys():
        known |= {path: files[path].encode() for path in new}
    return set(known)


@given(st.lists(LINES, max_size=4), SCRIPTS)
def test_every_script_that_a_grader_is_followed_to_is_found(entry: list[str], others: dict[str, list[str]]) -> None:
    files = {"tests/test.sh": "\n".join(entry)}
    files |= {f"tests/{name}": "\n".join(lines) for name, lines in others.items()}
    reached = found(files)
    assert set(followed("tests/test.sh", files)) <= reached
    assert followed("tests/test.sh", {path: files[path] for path in sorted(reached)})[:1] == ("tests/test.sh",)


def test_steps_are_looked_for_by_the_names_that_the_settings_give() -> None:
    files = {
        SETTINGS: '[[steps]]\nname = "one"\n[[steps]]\nname = "two"\n',
        "steps/one/instruction.md": "",
        "steps/two/tests/test.sh": "python /tests/grade.py",
        "tests/grade.py": "import own",
        "steps/one/tests/own.py": "",
    }
    assert found(files) == files.keys()


@given(st.binary(max_size=400))
def test_no_bytes_raise_and_no_path_leaves_the_task(data: bytes) -> None:
    steps = "".join(f"[[steps]]\nname = {name}\n" for name in ODD).encode()
    steps += "".join(f'[[steps]]\nname = "s{n}"\n' for n in range(MAX_STEPS)).encode()
    paths = list(sought({SETTINGS: steps, "tests/test.sh": data, "steps/s1/tests/x.py": data}))
    assert len(paths) < 20 + 6 * MAX_STEPS + (MAX_STEPS + 3) * MAX_NAMED
    assert all(path.isprintable() and not {"", ".", ".."} & set(path.split("/")) for path in paths)


def test_a_script_cannot_ask_for_more_than_a_few_files() -> None:
    script = "\n".join(f"bash /tests/{n}.sh ../../{n}.sh {'long' * 99}{n}.sh" for n in range(999)).encode()
    named = [path for path in sought({"tests/test.sh": script}) if path.endswith(".sh")]
    assert len(named) <= MAX_NAMED + 1
    assert not [path for path in named if ".." in path or "long" in path]
