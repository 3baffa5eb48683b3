"""An image is approximated by this system where that is honest, and refused with a reason where it is not."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.sandboxes.dockerfile import Base, Host, ImageFacts, Refusal, base_of
from rlx.sandboxes.dockerfile.bases import PATH, parse_reference
from rlx.texts import words
from tests.sandboxes.dockerfile.making import HOST, files, planned


@pytest.mark.parametrize(
    "reference",
    [
        "debian",
        "debian:bookworm-slim",
        "docker.io/library/debian:12",
        "ubuntu:24.04@sha256:" + "c4" * 32,
        "buildpack-deps:bookworm",
        "python:3.11-slim-bookworm",
        "node:20-slim",
        "node:lts",
        "gcc:12",
        "ghcr.io/astral-sh/uv:python3.12-bookworm-slim",
    ],
)
def test_an_image_of_this_family_is_approximated_and_a_note_says_so(reference: str) -> None:
    found = base_of(reference, HOST)
    assert isinstance(found, Base)
    assert "Debian GNU/Linux 12 (bookworm)" in words(found.notes[0])
    assert reference in words(found.notes[0])


@pytest.mark.parametrize(
    ("reference", "kind", "key"),
    [
        ("scratch", "base", "scratch"),
        ("alpine:3.22", "base", "why.libc"),
        ("python:3.12-alpine", "base", "why.libc"),
        ("nvidia/cuda:12.1.0-devel-ubuntu22.04", "base", "why.gpu"),
        ("fedora", "base", "why.packages"),
        ("mcr.microsoft.com/windows/servercore:ltsc2022", "platform", "why.windows"),
        ("python:3.12-windowsservercore", "platform", "why.windows"),
        ("ghcr.io/somebody/something:latest", "base", "why.content"),
        ("debian-like", "base", "why.content"),
        ("ghcr.io/astral-sh/uv:latest", "base", "why.bare"),
        ("golang:1.22", "base", "tool"),
        ("rust:1.83-slim", "base", "tool"),
        ("node:22", "base", "version"),
        ("node:20.30", "base", "version"),
        ("Not An Image", "base", "reference"),
        ("", "base", "reference"),
    ],
)
def test_other_images_are_refused_with_the_reason(reference: str, kind: str, key: str) -> None:
    found = base_of(reference, HOST)
    assert isinstance(found, Refusal)
    assert (found.kind, found.why.key) == (kind, f"dockerfile.base.{key}")


def test_a_tool_that_the_host_has_makes_an_image_of_it_possible() -> None:
    host = replace(HOST, tools={**HOST.tools, "go": "1.22.4"})
    found = base_of("golang:1.22-bookworm", host)
    assert isinstance(found, Base)
    assert found.env["PATH"] == f"/go/bin:/usr/local/go/bin:{PATH}"
    assert isinstance(base_of("golang:1.23", host), Refusal)
    assert isinstance(base_of("golang:1.22-alpine", host), Refusal)


@pytest.mark.parametrize(
    ("reference", "version", "noted"),
    [
        ("python:3.12-slim", "3.12", True),
        ("python:3.11.9", "3.11", False),
        ("python:3", None, False),
        ("python:slim", None, False),
        ("ghcr.io/astral-sh/uv:python3.13-trixie", "3.13", True),
    ],
)
def test_the_python_that_an_image_promises_is_told(reference: str, version: str | None, noted: bool) -> None:
    found = base_of(reference, HOST)
    assert isinstance(found, Base)
    assert (found.python, len(found.notes) == 2) == (version, noted)


def test_another_python_of_the_host_keeps_the_promise() -> None:
    found = base_of("python:3.12-slim", replace(HOST, tools={**HOST.tools, "python3.12": ""}))
    assert isinstance(found, Base)
    assert len(found.notes) == 1


def test_references_are_read_as_docker_reads_them() -> None:
    found = parse_reference("localhost:5000/a/b-c:v1")
    assert found
    assert (found.repository, found.tag) == ("localhost:5000/a/b-c", "v1")
    assert parse_reference("A") is None
    assert parse_reference("a:") is None
    assert parse_reference("{docker_image}") is None


@given(st.text(max_size=80))
def test_any_reference_is_told(reference: str) -> None:
    base_of(reference, Host("x"))


def test_a_host_without_python_does_not_stand_in_for_python() -> None:
    assert isinstance(base_of("python:3.12", replace(HOST, tools={})), Refusal)


def test_a_sandbox_that_runs_the_image_itself_plans_with_what_it_says() -> None:
    """No image is like this host then, and none is refused for it."""
    image = ImageFacts({"PATH": "/opt/bin:/bin", "HOME_OF": "it"}, "/srv")
    made = planned("FROM alpine:3.20\nENV PATH=/own:$PATH\nCOPY a .\n", host=Host("", image=image), context=files("a"))

    assert made.image.env == {"PATH": "/own:/opt/bin:/bin", "HOME_OF": "it"}
    assert made.image.workdir == "/srv"
    assert [getattr(step, "dest", None) for step in made.steps][-1] == "/srv"
    assert not made.notes
    assert isinstance(base_of("scratch", Host("", image=image)), Refusal)
