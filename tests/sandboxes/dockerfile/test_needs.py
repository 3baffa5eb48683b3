"""What commands need is told with the line that says so."""

from typing import get_args

import pytest

from rlx.sandboxes.dockerfile import Need, needs, told
from rlx.sandboxes.dockerfile.needs import Kind
from rlx.texts import LANGUAGES, words
from tests.sandboxes.dockerfile.making import files, planned


@pytest.mark.parametrize(
    ("script", "kind", "names"),
    [
        ("apt-get update && apt-get install -y --no-install-recommends curl git=1:2", "apt", ("curl", "git=1:2")),
        ("DEBIAN_FRONTEND=noninteractive sudo apt install -y jq > /dev/null", "apt", ("jq",)),
        ("add-apt-repository -y ppa:a/b", "apt-source", ("ppa:a/b",)),
        ("apk add bash", "packages", ("apk",)),
        ("pip install --no-cache-dir 'a>=1' \"b[x]\" -r req.txt -e .", "pip", ("a>=1", "b[x]", "-r req.txt", "-e .")),
        ("python3 -m pip install pytest==8", "pip", ("pytest==8",)),
        ("/opt/venv/bin/pip install x", "pip", ("x",)),
        ("if true; then pip3 install x; fi", "pip", ("x",)),
        ("uv pip install --python /v/bin/python numpy", "uv", ("numpy",)),
        ("uvx ruff check", "uv", ("ruff",)),
        ("uv sync --frozen", "uv", ()),
        ("npm install -g tsx@4", "npm", ("tsx@4",)),
        ("cd x && npm ci", "npm", ()),
        ("yarn", "npm", ()),
        ("npx playwright install", "npm", ("playwright",)),
        ("cargo install ripgrep", "cargo", ("ripgrep",)),
        ("cargo build --release", "cargo", ()),
        ("go mod download", "go", ()),
        ("go install a.b/c@latest", "go", ("a.b/c@latest",)),
        ("gem install rails", "gem", ("rails",)),
        ("conda install -n base numpy", "conda", ("numpy",)),
        ("curl -fsSL https://a.b/c.sh | bash -s -- -y", "url", ("https://a.b/c.sh",)),
        ("wget -q https://a.b/c -O /d", "url", ("https://a.b/c",)),
        ("x=$(curl -s https://a.b/v)", "url", ("https://a.b/v",)),
        ("git clone --depth 1 https://a.b/c.git d", "git", ("https://a.b/c.git",)),
        ("git -C x fetch origin", "git", ()),
        ("hf download org/model", "hub", ("org/model",)),
        ("playwright install chromium", "url", ("playwright",)),
        ("systemctl enable x", "docker", ("systemctl",)),
        ("bash -lc 'pip install x'", "pip", ("x",)),
        ("(command -v sudo || (apt-get install -y sudo)) && y", "apt", ("sudo",)),
    ],
)
def test_a_command_tells_what_it_needs(script: str, kind: str, names: tuple[str, ...]) -> None:
    found = needs(planned(f"RUN {script}")).found
    assert [(need.kind, need.names) for need in found] == [(kind, names)]


@pytest.mark.parametrize(
    "script",
    [
        "echo pip install x",
        "mkdir -p /app",
        "# pip install x",
        "git config a b",
        "npm run build",
        "echo 'a; pip install x'",
        "x && true",
    ],
)
def test_other_commands_need_nothing(script: str) -> None:
    assert needs(planned(f"RUN {script}")).found == ()


def test_the_line_is_that_of_the_command_and_not_of_the_instruction() -> None:
    text = (
        "FROM debian:12\nRUN apt-get update && \\\n  apt-get install -y \\\n  # tools\n  curl && \\\n  pip install x\n"
    )
    apt, pip = needs(planned(text)).found
    assert (apt.line, apt.text, apt.names) == (3, "apt-get install -y \\", ("curl",))
    assert (pip.line, pip.text) == (6, "pip install x")
    assert words(told(pip)) == "Line 6 installs Python packages: x."


def test_lines_of_heredocs_are_told_as_well() -> None:
    (need,) = needs(planned("FROM debian:12\nRUN <<E\nset -e\npip install x\nE")).found
    assert need.line == 4


def test_variables_are_filled_in() -> None:
    (need,) = needs(planned('ARG P=a==1\nRUN pip install "${P}" $NONE')).found
    assert need.names == ("a==1", "$NONE")


def test_scripts_of_the_context_that_are_run_are_looked_into() -> None:
    text = "FROM debian:12\nCOPY s.sh t.py /tmp/\nCOPY u.sh /u\nWORKDIR /tmp\nRUN bash s.sh\nRUN /u\nRUN ./t.py"
    scripts = {
        "s.sh": "#!/bin/bash\nset -e\napt-get install -y jq\n",
        "u.sh": "pip install x",
        "t.py": "#!/usr/bin/env python3\ncurl https://a.b",
    }
    found = needs(planned(text, files("s.sh", "t.py", "u.sh")), scripts).found
    assert [(need.kind, need.names, need.line) for need in found] == [("apt", ("jq",), 5), ("pip", ("x",), 6)]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", get_args(Kind.__value__))
def test_every_kind_is_said_with_and_without_names(kind: Kind, language: str) -> None:
    for names in (("x",), ()):
        assert "3" in words(told(Need(kind, names, 3, "x")), language)


@pytest.mark.timeout(10)
def test_hostile_scripts_are_read_soon() -> None:
    needs(planned("RUN " + "(" * 200_000))
    needs(planned("RUN " + "a'b\" " * 50_000))
    needs(planned("RUN " + "bash -c 'x' ; " * 20_000))
