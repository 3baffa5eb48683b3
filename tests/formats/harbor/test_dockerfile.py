"""A Dockerfile says what a task starts from and ends in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.formats.harbor.dockerfile import compose_services, read_dockerfile


@pytest.mark.parametrize(
    ("text", "base"),
    [
        ("FROM ubuntu:24.04", "ubuntu:24.04"),
        ("# comment\n\nfrom --platform=linux/amd64 python:3.13-slim AS base", "python:3.13-slim"),
        ("ARG tag=3.12\nFROM python:${tag}", "python:3.12"),
        ("ARG image\nFROM ${image:-debian:12}", "debian:12"),
        ("FROM {docker_image}", "{docker_image}"),
        ("FROM a AS build\nRUN x\nFROM b\nCOPY --from=build /x /x", "b"),
        ("FROM a AS one\nFROM one AS two\nFROM two", "a"),
        ("RUN x", None),
        ("FROM", None),
    ],
)
def test_the_base_is_what_the_last_stage_starts_from(text: str, base: str | None) -> None:
    assert read_dockerfile(text).base == base


def test_folder_and_user_are_the_last_ones_of_the_last_stage() -> None:
    found = read_dockerfile("FROM a AS x\nUSER root\nWORKDIR /a\nFROM b\nWORKDIR /srv\nWORKDIR app\nUSER agent\n")
    assert (found.workdir, found.user, found.stages) == ("/srv/app", "agent", 2)


def test_heredocs_and_continued_lines_are_not_instructions() -> None:
    text = (
        "FROM a\nRUN <<EOF\nFROM evil\nUSER evil\nEOF\nRUN apt-get install \\\n  # a note\n  curl \\\n  git\nUSER me\n"
    )
    found = read_dockerfile(text)
    assert (found.base, found.user, found.instructions) == ("a", "me", 4)


def test_services_of_a_compose_file_are_named() -> None:
    text = "version: '3'\nservices:\n  main:\n    image: a\n  # db is next\n  db:\n    build: .\nvolumes:\n  data:\n"
    assert compose_services(text) == ("main", "db")
    assert compose_services("x: 1") == ()


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    read_dockerfile(text)
    compose_services(text)


@pytest.mark.timeout(10)
@pytest.mark.parametrize("text", ["FROM a \\\n" * 20_000, "RUN <<A\n" * 20_000, "ARG a=$a\n" * 20_000 + "FROM $a"])
def test_hostile_files_are_read_soon(text: str) -> None:
    read_dockerfile(text)
