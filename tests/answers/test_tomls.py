"""task.toml as it was written: answers masked, lines kept, whether or not it parses."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.answers import MARK, toml_text, toml_values

CANARY = "RLX-CANARY-TOML0001"


@pytest.mark.parametrize(
    "text",
    [
        f'[metadata]\nexpected_decision = "{CANARY}"\n',
        f'[metadata]\ngrading = {{ gold_answer = "{CANARY}", weight = 1 }}\n',
        f'[metadata]\ncases = [ {{ q = "a", answer = "{CANARY}" }}, {{ q = "b" }} ]\n',
        f'[metadata]\ncases = [\n  # first\n  {{ q = "a", answer = "{CANARY}" }},\n]\n',
        f'[[metadata.items]]\nquestion = "a"\nanswer = "{CANARY}"\n',
        f'[metadata.expected]\nvalue = "{CANARY}"\nother = "{CANARY}"\n',
        f'metadata.expected.value = "{CANARY}"\n',
        f'[metadata]\n"final answer" = "{CANARY}"\n',
        f"[metadata]\nanswer = '''\none\n{CANARY}\n'''\nkept = 1\n",
        f'[metadata]\nexpected = """{CANARY}\\\n  more"""\n',
        f'[metadata]\nexpected_list = [\n  "a",\n  "{CANARY}",\n]\n',
        f'[[steps]]\nname = "one"\n[steps.verifier.env]\nEXPECTED_NAME = "{CANARY}"\n',
        f'# expected_answer = "{CANARY}"\n[metadata]\na = 1\n',
        f"[metadata]\na = 1 # the answer is {CANARY}\n",
        f'[metadata]\nsolution_explanation = "{CANARY}"\nsession_resolution_reasoning = "{CANARY}"\n',
        f'[metadata]\nconfusable_with = "{CANARY}"\ns1_state = "{CANARY}"\nvalue_tolerance = "{CANARY}"\n',
        f'[metadata]\nextra = "{{\\"answer\\": \\"{CANARY}\\"}}"\n',
        f'[solution.env]\nANSWER = "{CANARY}"\n',
        f'[solution.env]\nFIX = "{CANARY}"\nN = 3\n',
        f'[solution]\nenv = {{ FIX = "{CANARY}", KEY = "${{KEY}}" }}\n',
        f'solution.env.FIX = "{CANARY}"\n',
        f'[solution.env]\nFIX = "${{FIX:-{CANARY}}}"\n',
        f'answer = "{CANARY}"\r\nkept = 1\r\n',
        f'[metadata]\n"\\u0061nswer" = "{CANARY}"\n',
    ],
)
def test_an_answer_is_masked_in_every_form_that_toml_has(text: str) -> None:
    found = toml_text(text, path="task.toml")
    assert CANARY not in found.text
    assert found.text.count("\n") == text.count("\n")
    assert found.masked
    assert found.withheld


@pytest.mark.parametrize(
    "text",
    [
        f'difficulty = {{{{ x }}}}\nanswer = "{CANARY}"\n',
        f"tags = {{tags}}\n[metadata]\nexpected = {CANARY}\n",
        f'[metadata\nanswer = "{CANARY}"\n',
        f'expected = ["a", \n"{CANARY}"\n[agent]\n',
        f'notes = """never closed\nanswer {CANARY}\n',
        f'a = 1 b = 2\n[metadata]\nground_truth = "{CANARY}"\n',
        f'a = 1\na = 2\nanswer = "{CANARY}"\n',
        f"\ufeffanswer = '{CANARY}'\n= =\n",
    ],
)
def test_an_answer_is_masked_where_the_toml_does_not_parse(text: str) -> None:
    with pytest.raises(tomllib.TOMLDecodeError):
        tomllib.loads(text)
    found = toml_text(text, path="task.toml")
    assert CANARY not in found.text
    assert found.text.count("\n") == text.count("\n")


def test_what_is_no_answer_stays_to_the_letter() -> None:
    text = (
        'version = "1.0"\r\n[task]\nname = "a/b" # canary GUID 1\n[metadata]\nexpected_order = []\nexpected = ""\n'
        'resolution = "done"\nexpected_runtime_min = 3\ntags = ["a", "b"]\n[verifier]\ntimeout_sec = 60\n'
        '[verifier.env]\nKEY = "${KEY:-x}"\n[solution.env]\nMODE = "${MODE}"\n[environment]\nmemory = "4G"\n'
    )
    found = toml_text(text, path="task.toml")
    assert found.text == text
    assert found.masked == ()


def test_the_masked_lines_are_named() -> None:
    found = toml_text("[metadata]\na = 1\nexpected = [\n  1,\n  2,\n]\n", path="task.toml")
    assert found.masked == (3, 4, 5, 6)
    assert [one.where for one in found.withheld] == ["task.toml: lines 3-6"]
    assert found.text.split("\n")[2] == f"expected = {MARK}"


@pytest.mark.parametrize(
    "text",
    [
        ".".join(["a"] * 20_000) + " = 1\n",
        "x = " + "[" * 20_000,
        "x = " + "{a=" * 20_000,
        "[" * 100_000,
        'x = "' * 50_000,
        "k = [1, 2, 3]\n" * 350_000,
        "a." * 100_000,
        "'''" * 60_000,
    ],
    ids=["dotted", "arrays", "tables", "brackets", "quotes", "4 MB", "dots", "literals"],
)
def test_hostile_toml_is_read_in_bounded_time(text: str) -> None:
    found = toml_text(f'{text}\nanswer = "{CANARY}"\n', path="task.toml")
    assert CANARY not in found.text


def test_parsed_values_are_masked() -> None:
    table = tomllib.loads('[metadata]\nexpected = 1\nday = 2024-01-01\n[solution.env]\nMODE = "x"\nKEY = "${KEY}"\n')
    assert toml_values(table, path="task.toml").value.value == {
        "metadata": {"expected": MARK, "day": "2024-01-01"},
        "solution": {"env": {"MODE": MARK, "KEY": "${KEY}"}},
    }


KEY = st.sampled_from(["answer", "expected_value", '"gold answer"', "groundTruth", "'final-answer'", "meta.solution"])
VALUE = st.sampled_from(
    [
        f'"{CANARY}"',
        f"'{CANARY}'",
        f'"""\n{CANARY}"""',
        f"'''{CANARY}\n'''",
        f'["{CANARY}"]',
        f'[\n "{CANARY}", # x\n]',
        f'{{ v = "{CANARY}" }}',
        f'[{{ a = ["{CANARY}"] }}]',
    ]
)
NOISE = st.sampled_from(
    [
        "",
        "# a comment",
        "[table]",
        "[[rows]]",
        "plain = 1",
        'text = "a # b = c"',
        "list = [\n 1, # one\n 2,\n]",
        'inline = { a = 1, b = "x" }',
        "date = 2024-05-01T10:00:00Z",
        'multi = """\nanswer = no\n"""',
        "broken = {{ x }}",
    ]
)


@given(st.lists(NOISE, max_size=6), KEY, VALUE, st.lists(NOISE, max_size=6), st.sampled_from(["\n", "\r\n"]))
def test_an_answer_in_any_toml_never_appears(
    before: list[str], key: str, value: str, after: list[str], newline: str
) -> None:
    text = newline.join([*before, f"{key} = {value}", *after])
    found = toml_text(text, path="task.toml")
    assert CANARY not in found.text
    assert found.text.count("\n") == text.count("\n")


@given(st.text(max_size=300))
def test_any_text_is_answered_with_as_many_lines(text: str) -> None:
    assert toml_text(text, path="task.toml").text.count("\n") == text.count("\n")
