"""What others wrote is named with its licence, and is what it was."""

import tomllib
from hashlib import sha256
from pathlib import Path

VENDOR = Path(__file__).parent / "vendor"
OWN = {"README.md", "VENDOR.toml"}


def test_every_vendored_file_has_a_licence_and_the_hash_it_came_with() -> None:
    listed = tomllib.loads((VENDOR / "VENDOR.toml").read_text())
    known = {path: digest for item in listed.values() for path, digest in item["sha256"].items()}
    held = {str(path.relative_to(VENDOR)) for path in VENDOR.rglob("*") if path.is_file()} - OWN
    assert held == set(known)
    assert all(item["licence"] and item["version"] and item["source"] for item in listed.values())
    assert {path: sha256((VENDOR / path).read_bytes()).hexdigest() for path in known} == known
