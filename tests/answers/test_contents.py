"""The text of files: masked by what they hold, withheld where that cannot be told."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.answers import MARK, Masked, Withheld, file_text
from rlx.answers.contents import LIMIT
from rlx.answers.rows import delimiter, header_row

CANARY = "RLX-CANARY-FILE0001"


def text(path: str, data: str | bytes, task_root: str | None = None) -> Masked:
    found = file_text(path, data if isinstance(data, bytes) else data.encode(), task_root=task_root)
    assert isinstance(found, Masked)
    return found


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("data/a.json", json.dumps([{"question": "q", "answer": CANARY}])),
        ("data/a.jsonl", json.dumps({"question": "q", "answer": CANARY}) + "\n<PLACEHOLDER ROW>\n"),
        ("data/a.jsonl", '{"answer": "' + CANARY + '", "answer": ""}\n'),
        ("logs/verifier/test-stdout.jsonl", json.dumps({"test": "a", "answer": CANARY}) + "\n"),
        ("logs/verifier/results.csv", f"test,answer\na,{CANARY}\n"),
        ("logs/run.yaml", f"test: a\nanswer: {CANARY}\n"),
        ("data/a.jsonl", '{"answer": "' + CANARY + '", broken\n'),
        ("data/a.json", '{"answer": "' + CANARY + '", // comment\n}'),
        ("data/a.json", '[\n  {\n    "answer": [\n      "a",\n      "' + CANARY + '",\n'),
        ("data/a.jsonl", '{\n"answer":\n"' + CANARY + '"\n}\n'),
        ("data/rows", '[\n{"q": 1,\n"answer": [\n[],\n"' + CANARY + '"'),
        ("data/a.csv", f'question,answer\n"a\nb",{CANARY}\n'),
        ("data/a.csv", f"a title\nquestion;answer;answer\nq;x;{CANARY}\n"),
        ("data/a.tsv", f"question\tgold_answer\nq\t{CANARY}\n"),
        ("data/a.csv", 'q,info\nx,"{""answer"": ""' + CANARY + '""}"\n'),
        ("data/a.yaml", f"question: q\nanswer: {CANARY}\n"),
        ("data/a.yaml", f"answer:\n  - a\n  - {CANARY}\nquestion: q\n"),
        ("data/a.yaml", f"answer:\n- a\n- {CANARY}\nquestion: q\n"),
        ("data/a.yaml", f"answer: |\n  line\n  {CANARY}\nq: 1\n"),
        ("data/a.yaml", f'rows: [{{q: a, answer: "{CANARY}"}}]\n'),
        ("data/a.yaml", f"- question: q\n  answer: {CANARY}\n"),
        ("data/a.yaml", f"# answer: {CANARY}\nq: 1\n"),
        ("data/a.toml", f'answer = "{CANARY}"\n'),
        ("data/a.txt", json.dumps({"answer": CANARY})),
        ("data/rows", json.dumps({"answer": CANARY}) + "\n" + json.dumps({"answer": CANARY})),
        ("tests/run", f"#!/bin/bash\nexpected={CANARY}\n"),
        ("a.traj", json.dumps({"info": {"submission": CANARY}, "history": []})),
        (
            "a.ipynb",
            json.dumps(
                {
                    "cells": [
                        {"cell_type": "code", "source": [f"expected = '{CANARY}'\n"], "outputs": [{"text": CANARY}]},
                        {"cell_type": "markdown", "source": ["# Title"]},
                    ]
                }
            ),
        ),
        ("jobs/a/b__c/verifier/test-stdout.txt", f"E       AssertionError: expected {CANARY}\n1 failed\n"),
        ("jobs/a/b__c/verifier/test-stdout.txt", f"FAILED t.py::test - assert 'x' == '{CANARY}'\n"),
    ],
)
def test_an_answer_in_a_file_is_masked(path: str, data: str) -> None:
    found = text(path, data)
    assert CANARY not in found.text
    assert MARK in found.text or '"answer": ""' in found.text
    assert found.withheld or '"answer": ""' in found.text


NOTES = st.sampled_from(["", "A note.", "Made by us, in May", "a;b", '"quoted, once"', "x\ty", "Licence: MIT"])


@given(
    st.lists(NOTES, max_size=150), st.sampled_from([",", ";", "\t", "|"]), st.sampled_from(["question", "text", "id"])
)
def test_an_answer_column_below_notes_never_appears(notes: list[str], separator: str, asked: str) -> None:
    rows = [separator.join(row) for row in ([asked, "level", "answer"], ["q", "easy", CANARY], ["r", "hard", CANARY])]
    found = text("data/a.csv", "\n".join([*notes, *rows, ""]))
    assert CANARY not in found.text
    octets = "\n".join([*notes, *rows, ""])
    head = [line.split(delimiter("data/a.csv", octets)) for line in octets.split("\n")]
    assert head[header_row(head)] == [asked, "level", "answer"]


@pytest.mark.parametrize(
    "data",
    [
        "word,count\n" + "a,1\n" * 8 + "solution,2\nanswer,3\n",
        "text,level\n" + "hello,easy\n" * 30 + "I know the answer,hard\nmore,of it,here\n",
        "a\n" * 20 + "the answer\n",
    ],
)
def test_a_cell_far_below_that_names_an_answer_is_no_header(data: str) -> None:
    assert text("data/a.csv", data).text == data


def test_what_stands_above_a_header_is_looked_into_too() -> None:
    notes = 'note\n"{""answer"": ""' + CANARY + '""}"\n'
    assert CANARY not in text("data/a.csv", f"{notes}question,answer\nq,a\n").text


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("data/a.yaml", f"? answer\n: {CANARY}\n"),
        ("data/a.yaml", f'{{"x": 1, ? answer : {CANARY}}}\n'),
    ],
)
def test_yaml_that_hides_an_answer_is_withheld_whole(path: str, data: str) -> None:
    assert isinstance(file_text(path, data.encode(), task_root=None), Withheld)


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("data/a.json", '{ "question":"q",   "tags":[1,2] }\n'),
        ("data/a.jsonl", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n"),
        ("environment/data/medals.csv", "Rank,NOC,Gold,Silver,Bronze\r\n1,USA,40,44,42\r\n"),
        (
            "environment/docker-compose.yaml",
            "services:\n  main:\n    build: {target: x}\n    healthcheck: {test: ls}\n",
        ),
        ("environment/package.json", '{"scripts": {"test": "jest"}}\n'),
        ("environment/tsconfig.json", '{"compilerOptions": {"target": "es2020"}}\n'),
        ("environment/notes.md", "# Notes\n\nThe [answer] goes to /app.\n"),
        ("environment/list.txt", "[section]\nanswer me\n"),
        ("instruction.md", "Write the answer: `42` to a file. {{ x }} <T>\r\n"),
    ],
)
def test_a_file_without_answers_is_shown_to_the_letter(path: str, data: str) -> None:
    found = text(path, data, "tasks/one" if not path.startswith("data/") else None)
    assert found.text == data
    assert found.withheld == ()


def test_rows_stay_on_their_lines() -> None:
    found = text("rows.jsonl", '{"q": 1}\n{"q": 2, "answer": 3}\n\n{"q": 4}\n')
    assert found.text == '{"q": 1}\n{"q": 2, "answer": "' + MARK + '"}\n\n{"q": 4}\n'
    assert found.masked == (2,)
    assert [one.where for one in found.withheld] == ["rows.jsonl: answer"]


def test_bytes_that_are_not_utf_8_are_replaced() -> None:
    assert text("environment/a.txt", b"caf\xe9\n", "t").text == "caf\ufffd\n"


def test_binary_data_is_no_text() -> None:
    found = file_text("environment/a.bin", b"\x7fELF\0\0", task_root="t")
    assert isinstance(found, Withheld)
    assert found.reason.key == "answers.not_text"


def test_data_without_an_ending_beside_a_grader_is_withheld() -> None:
    assert isinstance(file_text("tests/answers_of_all", b"42\n", task_root="t"), Withheld)


def test_only_the_head_of_a_huge_file_is_shown() -> None:
    line = b'{"question": "' + b"q" * 1000 + b'", "answer": "' + CANARY.encode() + b'"}\n'
    found = text("rows.jsonl", line * (LIMIT // len(line) + 10))
    assert CANARY not in found.text
    assert len(found.text) < LIMIT + 100
    assert found.withheld[-1].reason.key == "answers.too_large"


def test_only_so_many_rows_are_shown() -> None:
    found = text("rows.jsonl", '{"q": 1}\n' * 30_000)
    assert found.withheld[-1].reason.key == "answers.too_many"
    assert len(found.text.split("\n")) < 20_005


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("a.json", "[" * 100_000),
        ("a.jsonl", "[" * 100_000 + "\n" + json.dumps({"answer": CANARY})),
        ("a.json", '{"n": ' + "9" * 1_000_000 + ', "answer": "' + CANARY + '"}'),
        ("a.yaml", "[" * 100_000),
        (
            "a.yaml",
            "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)),
        ),
        ("a.csv", 'a,answer\n"' + "x" * 300_000),
        ("a.txt", "{" * 100_000),
        ("a.ipynb", '{"cells": ' + "[" * 50_000),
    ],
    ids=["nested", "nested rows", "digits", "yaml", "bomb", "quote", "braces", "notebook"],
)
def test_a_hostile_file_is_answered_in_bounded_time(path: str, data: str) -> None:
    found = file_text(path, data.encode(), task_root=None)
    assert isinstance(found, Withheld) or CANARY not in found.text


@given(
    st.sampled_from(["json", "jsonl", "csv", "tsv", "yaml", "toml", "py", "sh", "js", "ipynb", "txt", "md", "log", ""]),
    st.binary(max_size=200) | st.text(max_size=200).map(lambda value: value.encode("utf-8", "replace")),
    st.sampled_from([None, "", "tasks/one"]),
    st.sampled_from(["environment", "tests", "data", "jobs/a/verifier"]),
)
def test_any_bytes_under_any_name_are_answered(suffix: str, data: bytes, task_root: str | None, folder: str) -> None:
    found = file_text(f"{folder}/x.{suffix}", data, task_root=task_root)
    assert isinstance(found, Masked | Withheld)


@given(
    st.sampled_from(["answer", "gold_patch", "expectedOutput", "ground truth", "final-answer", "rubric"]),
    st.lists(st.dictionaries(st.sampled_from(["q", "n", "meta"]), st.text(max_size=10), max_size=3), max_size=3),
)
def test_an_answer_column_of_any_file_of_rows_never_appears(key: str, rows: list[dict[str, str]]) -> None:
    planted = [*rows, {"q": "x", key: CANARY}]
    assert CANARY not in text("a.jsonl", "\n".join(map(json.dumps, planted))).text
    assert CANARY not in text("a.json", json.dumps(planted, indent=2)).text
    assert CANARY not in text("a.csv", f'q,{key}\nx,{CANARY}\n"a ""b""",{CANARY}\n').text
    found = file_text("a.yaml", f"q: 1\n{key}: {CANARY}\n".encode(), task_root=None)
    assert isinstance(found, Withheld) or CANARY not in found.text
