"""What of a folder is sent, and what never is."""

import os
from pathlib import Path

import pytest

from rlx.errors import BadInput
from rlx.publish.folder import blob_of, contents, sha256_of

TOKEN = "hf_" + "a" * 34
SECRET = (
    ".env",
    ".env.local",
    "deploy.key",
    "x/id_rsa",
    "server.pem",
    ".netrc",
    "a/.git-credentials",
    "credentials.json",
)
TOOLS = (
    ".git/config",
    "a/__pycache__/m.pyc",
    ".venv/bin/python",
    "node_modules/x.js",
    ".cache/y",
    "m.pyc",
    ".DS_Store",
)
KEYS = {
    "notes.txt": f"token={TOKEN}\n",
    "tests/key.txt": "-----BEGIN OPENSSH PRIVATE KEY-----\n",
    "aws.cfg": "id = AKIA" + "A" * 16,
}
FINE = ("task.toml", "tests/test.sh", ".env.example", "keys.md", "a/monkey", "environment/Dockerfile", ".dockerignore")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path in (*SECRET, *TOOLS, *FINE, *KEYS):
        place = tmp_path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(KEYS.get(path, "x\n"))
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "away").symlink_to("/etc", target_is_directory=True)
    os.mkfifo(tmp_path / "pipe")
    return tmp_path


def test_secrets_caches_and_links_are_left_out_and_each_is_named(folder: Path) -> None:
    found = contents(folder)
    assert [file.path for file in found.files] == sorted(FINE)
    left = {one.path: one.why for one in found.left_out}
    assert {*SECRET, *KEYS, "link", "away", "pipe", ".git/", ".venv/", "node_modules/"} <= set(left)
    assert TOKEN not in str(left)
    assert (left["link"], left["away"], left["pipe"]) == ("a link", "a link", "no regular file")


def test_what_only_looks_like_a_secret_is_sent_when_it_is_named(folder: Path) -> None:
    found = contents(folder, ["server.pem", "tests/*", ".git/config", "link", "m.pyc"])
    assert {file.path for file in found.files} - set(FINE) == {"server.pem", "tests/key.txt"}


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is no folder"):
        contents(tmp_path / "nowhere")


def test_hashes_are_those_of_git_and_of_lfs(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"hello\n")
    assert blob_of(tmp_path / "a") == blob_of(b"hello\n") == "ce013625030ba8dba906f756967f9e9ca394464a"
    assert sha256_of(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
