"""What others wrote is named with its licence, and is what it was."""

import tomllib
from hashlib import sha256
from pathlib import Path

import pytest

VENDORED = (Path(__file__).parent / "vendor", Path(__file__).parent.parent / "src" / "rlx" / "web" / "vendor")
OWN = {"README.md", "VENDOR.toml"}


@pytest.mark.parametrize("folder", VENDORED, ids=["tests", "site"])
def test_every_vendored_file_has_a_licence_and_the_hash_it_came_with(folder: Path) -> None:
    listed = tomllib.loads((folder / "VENDOR.toml").read_text())
    known = {path: digest for item in listed.values() for path, digest in item["sha256"].items()}
    held = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} - OWN
    assert held == set(known)
    assert all(item["licence"] and item["version"] and item["source"] for item in listed.values())
    assert {path: sha256((folder / path).read_bytes()).hexdigest() for path in known} == known
