"""Graders and set-up programs: the answers in them masked, how they grade left readable."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.answers import MARK, script

CANARY = "RLX-CANARY-CODE0001"


def lines(text: str, path: str = "tests/test_outputs.py") -> str:
    return str(script(text, path=path).text)


@pytest.mark.parametrize(
    "text",
    [
        f'expected = "{CANARY}"\n',
        f'EXPECTED = [\n    "a",\n    "{CANARY}",\n]\n',
        f'expected: str = "{CANARY}"\n',
        f'expected = ("{CANARY}",)\n',
        f'a, expected = 1, "{CANARY}"\n',
        f'first = expected_csp = """{CANARY}\nmore"""\n',
        f'self.expected = "{CANARY}"\n',
        f'case["expected"] = "{CANARY}"\n',
        f'expected = {{"a": ["{CANARY}"]}}\n',
        f'expected = f"{CANARY} {{x}}"\n',
        f'expected = "{CANARY}".strip().split()\n',
        f'expected = set(["{CANARY}"])\n',
        f"expected = json.loads('[\"{CANARY}\"]')\n",
        f'expected = normalise(["{CANARY} x"])\n',
        f'expected = Point("{CANARY}")\n',
        f'expected = hashlib.sha256(b"{CANARY}").hexdigest()\n',
        f'expected += "{CANARY}"\n',
        f'check(expected="{CANARY}")\n',
        f'def check(value, expected="{CANARY}"): ...\n',
        f'def get_expected():\n    return "{CANARY}"\n',
        f'CASE = {{"input": 1, "expected_output": "{CANARY}"}}\n',
        f'if (answer := "{CANARY}"):\n    pass\n',
        f'cases = [(1, "{CANARY}"), (2, "x y")]\nfor given, expected in cases:\n    pass\n',
        f'for given, expected in [(1, "{CANARY}")]:\n    pass\n',
        f'names = ["{CANARY}"]\nfor given, expected in zip(inputs, names):\n    pass\n',
        f'@pytest.mark.parametrize("given, expected", [(1, "{CANARY}")])\ndef test(given, expected): ...\n',
        f'@pytest.mark.parametrize("given,want", [pytest.param(1, "{CANARY}")])\ndef test(given, want): ...\n',
        f'assert out == "{CANARY}"\n',
        f'assert "{CANARY}" == out.strip()\n',
        f'assert "{CANARY}" in output\n',
        f'assert answer in ("{CANARY}", "b")\n',
        f'assert out == "{CANARY}", "Not {CANARY}"\n',
        f'assert sorted(move) == sorted(["{CANARY}"])\n',
        f'assert content.startswith("{CANARY}")\n',
        f'assert re.search("{CANARY}", text)\n',
        f'self.assertEqual(result, "{CANARY}")\n',
        f'if output.strip() == "{CANARY}":\n    reward = 1\n',
        f'"""It must say {CANARY}."""\nassert out == "{CANARY}"\n',
        f"# answer: {CANARY}\n",
        f"x = 1  # the expected value = {CANARY}\n",
        f'FLAG = "{CANARY}"\nSECRET_VALUE = "{CANARY}"\n',
        f'def reference_solution(x):\n    y = "{CANARY}"\n    return y\n',
        f'print "old python"\nexpected = "{CANARY}"\n',
        f'{{{{ template }}}}\nEXPECTED = ["{CANARY}",\n "b"]\n',
    ],
)
def test_an_answer_in_a_python_grader_is_masked(text: str) -> None:
    found = script(text, path="tests/test_outputs.py")
    assert CANARY not in found.text
    assert found.text.count("\n") == text.count("\n")
    assert found.masked
    assert found.withheld


@pytest.mark.parametrize(
    "text",
    [
        "expected_rows = []\nexpected_lines = 0\nexpected = None\nfound_answer = False\nexpected = {}\nanswer = ''\n",
        "expected_lines += 1\n",
        "expected = compute(rows)\nexpected = json.loads(Path('/tests/x.json').read_text())['answer']\n",
        "ANSWER_PATH = APP / 'answer.json'\nSOLUTION_DIR = '/app/solution'\n",
        "assert os.path.isfile(path), f'{path} is missing.'\nassert result.returncode == 0\n",
        "assert response.status == 200\nassert len(rows) == 10\nassert accuracy >= 0.8\n",
        "assert 'user_id' in frame.columns\nassert 'sys.argv[1]' not in content\n",
        "if __name__ == '__main__':\n    main()\n",
        "if group.get('type') == 'stock':\n    pass\n",
        "output = run()\nresponse = client.get('/x')\ntarget = '/app/out'\n",
        "assert solve('input text', 3) == expected\n",
        "metrics['missing_solution'] = 1\n",
        "# Expected matches based on the last date\n# 4. tests pass AND count >= expected_test_count\n",
        "expected = solve(curve, [2.0, 0.0], (1, 5), 3)\n",
        "expected = len(re.findall('404', log))\nrow = cursor.execute('SELECT answer FROM t').fetchone()\n",
    ],
)
def test_how_it_is_graded_stays_readable(text: str) -> None:
    found = script(text, path="tests/test_outputs.py")
    assert found.text == text
    assert found.masked == ()


def test_only_the_value_is_replaced() -> None:
    assert lines('def test():\n    expected = ["a",\n        "b"]\n    assert got == expected, f"{got}"\n') == (
        f'def test():\n    expected = {MARK}\n⋯\n    assert got == expected, f"{{got}}"\n'
    )


def test_columns_are_counted_in_characters() -> None:
    assert lines('x = "é😀"; expected = "é😀!?"; y = "ü"\n') == f'x = "é😀"; expected = {MARK}; y = "ü"\n'


@pytest.mark.parametrize(
    "text",
    [
        f"cat > /root/gold_code.patch <<'EOF_GOLD_CODE'\n{CANARY}\nEOF_GOLD_CODE\necho done\n",
        f"cat > /app/answer.json <<JSON\n{CANARY}\nJSON\n",
        f"cat <<-ANSWER > /tmp/x\n\t{CANARY}\n\tANSWER\n",
        f"cat > /tmp/x <<EOF\ndiff --git a/x b/x\n+{CANARY}\nEOF\n",
        f'cat > /tmp/x <<EOF\n{{"answer": "{CANARY}"}}\nEOF\n',
        f'python3 - <<"PY"\nexpected = "{CANARY}"\nassert out == "{CANARY}"\nPY\n',
        f'cat > check.py <<EOF\nEXPECTED = ["{CANARY}"]\nEOF\n',
        f'expected="{CANARY}"\n',
        f"EXPECTED_TEXT='{CANARY}'; run\n",
        f"export GOLD_ANSWER={CANARY}\n",
        f"expected=(a {CANARY})\n",
        f'expected="a\n{CANARY}"\n',
        f'if [ "$actual" = "{CANARY}" ]; then\n',
        f'[[ $answer == "{CANARY}" ]] && pass\n',
        f'[ "$(cat /app/out)" = "{CANARY}" ] && pass\n',
        f'echo "{CANARY}" > /tests/expected.txt\n',
        f"printf '%s' {CANARY} >> /app/.expected_checksum\n",
        f'# The image says {CANARY}\nEXPECTED_TEXT="{CANARY}"\n',
        f"cat <<NEVER_CLOSED_ANSWER\n{CANARY}\n",
    ],
)
def test_an_answer_in_a_shell_grader_is_masked(text: str) -> None:
    found = script(text, path="tests/test.sh")
    assert CANARY not in found.text
    assert found.text.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        'AGENT_ANSWER=$(cat /app/answer.txt)\nexpected="$1"\nanswer=\n',
        "if [ $? -eq 0 ]; then\n  echo 1 > /logs/verifier/reward.txt\nelse\n  echo 0 > /logs/verifier/reward.txt\nfi\n",
        'if [ "$HTTP_RESPONSE" = "200" ]; then\n',
        "cat > /app/config.yaml <<EOF\nport: 80\nEOF\n",
        'echo "Expected: $expected"\ncp /app/answer.sql /logs/verifier/answer.sql\n',
        "grep -q IntersectionObserver src/App.tsx && pass\n",
    ],
)
def test_a_shell_grader_stays_readable(text: str) -> None:
    assert lines(text, "tests/test.sh") == text


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("tests/a.test.js", f"const expected = '{CANARY}';\n"),
        ("tests/a.test.ts", f"const expected: string[] = [\n  '{CANARY}',\n];\n"),
        ("tests/a.test.ts", f"expect(run()).toEqual({{ a: '{CANARY}' }});\n"),
        ("tests/a.test.ts", f"expect(run()).toBe(`{CANARY}`);\n"),
        ("tests/a.js", f"t.is(stdout, '{CANARY}');\nt.deepEqual(x, ['{CANARY}']);\n"),
        ("tests/a.js", f"const cases = [{{ input: 1, expected: '{CANARY}' }}];\n"),
        ("tests/a.js", f"assert.strictEqual(out, '{CANARY}');\n"),
        ("tests/a.rs", f'let expected = "\\\n{CANARY}\n";\nassert_eq!(out, "{CANARY}");\n'),
        ("tests/a_test.go", f'assert.Equal(t, "{CANARY}", got)\nwant := "{CANARY}"\n'),
        ("tests/A.java", f'assertEquals("{CANARY}", out);\n'),
        (
            "environment/Dockerfile",
            f"FROM x\nENV EXPECTED_ANSWER={CANARY}\nRUN echo '{CANARY}' > /expected.txt\n",
        ),
        ("tests/run", f"#!/usr/bin/env python3\nexpected = '{CANARY}'\n"),
        ("tests/run", f"#!/bin/sh\nexpected='{CANARY}'\n"),
    ],
)
def test_an_answer_in_another_language_is_masked(path: str, text: str) -> None:
    found = script(text, path=path)
    assert CANARY not in found.text
    assert found.text.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        "const expected: string = run(a);\nlet answer = null;\nexpect(x).toBe(true);\n",
        "test('it works', async t => {\n  const {stdout} = await execa('noop', ['foo']);\n});\n",
        "t.throws(() => {\n  run();\n});\n",
        "if (answer === other) { done(); }\nconst f = (expected) => expected + 1;\n",
    ],
)
def test_a_javascript_grader_stays_readable(text: str) -> None:
    assert lines(text, "tests/a.test.js") == text


@pytest.mark.parametrize("path", ["tests/t.py", "tests/t.sh", "tests/t.js", "environment/Dockerfile", "tests/plain"])
@pytest.mark.parametrize(
    "text",
    [
        "expected = " + "[" * 20_000,
        "expected = " + "-" * 3_000 + "1",
        "expected = " + "+".join(['"a"'] * 3_000),
        "expected = [\n" * 10_000,
        'expected=("' * 20_000,
        "expect(x).toBe(" * 10_000,
        "echo " * 20_000,
        "cat <<EOF\n" * 5_000,
        "a" * 200_000,
        "# " + "-" * 100_000,
        '[ "$a" = ' * 10_000,
        "\0\ud800",
    ],
    ids=["brackets", "signs", "sum", "lines", "quotes", "calls", "echo", "heredocs", "word", "dashes", "tests", "odd"],
)
def test_a_hostile_program_is_read_in_bounded_time(path: str, text: str) -> None:
    assert script(text, path=path).text.count("\n") == text.count("\n")


PIECES = st.lists(
    st.sampled_from(
        [
            "expected",
            "answer",
            "=",
            "==",
            "(",
            ")",
            "[",
            "]",
            "{",
            "}",
            "'",
            '"',
            '"""',
            "\n",
            " ",
            "assert",
            "in",
            ":",
            "def f",
            "#",
            "<<EOF",
            "EOF",
            "$x",
            "1",
            "é",
            "\\",
            ",",
            "f'",
            "lambda",
            "\t",
            "\r\n",
            "`",
            "//",
            "cat >",
        ]
    ),
    max_size=40,
)


@given(PIECES, st.sampled_from(["a.py", "a.sh", "a.js", "Dockerfile", "a.rs", "noext"]))
def test_any_program_is_answered_with_as_many_lines(pieces: list[str], path: str) -> None:
    text = "".join(pieces)
    assert script(text, path=path).text.count("\n") == text.count("\n")


@given(st.text(max_size=200), st.sampled_from(["a.py", "a.sh", "a.js"]))
def test_any_text_is_answered_as_a_program(text: str, path: str) -> None:
    assert script(text, path=path).text.count("\n") == text.count("\n")


@given(
    st.sampled_from(["expected", "EXPECTED", "gold_answer", "expectedOutput", "solution", "ground_truth"]),
    st.sampled_from([f'"{CANARY}"', f"['{CANARY}']", f"{{1: '{CANARY}'}}", f"(1, '{CANARY}')", f'"""\n{CANARY}\n"""']),
    st.lists(st.sampled_from(["x = 1", "import os", "def f():\n    return 2", "# note", "y = 'text'"]), max_size=4),
)
def test_an_answer_assigned_anywhere_in_python_never_appears(name: str, value: str, around: list[str]) -> None:
    text = "\n".join([*around, f"{name} = {value}", *around])
    assert CANARY not in script(text, path="tests/t.py").text
