"""The tool layer is what was pinned, or is not made."""

import hashlib
import io
import zipfile
from pathlib import Path

import pytest

from rlx.errors import Upstream
from rlx.sandboxes.local.layers import LayerStore
from rlx.sandboxes.local.tools import prepare_tools, tool_environment, tools_key, wheels


def index(data: bytes) -> "dict[str, bytes]":
    """A package index where every wheel has the same bytes."""
    pages = {}
    for wheel in wheels():
        link = f'<a data-x="1" href="../../files/{wheel.name}#sha256={wheel.sha256}">{wheel.name}</a>'
        pages[f"https://index.example/simple/{wheel.project}/"] = link.encode()
        pages[f"https://index.example/files/{wheel.name}"] = data
    return pages


def archive() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("pytest/__init__.py", "")
    return out.getvalue()


def test_a_wheel_that_is_another_is_refused_and_no_layer_is_made(tmp_path: Path) -> None:
    layers, pages = LayerStore(tmp_path), index(archive())
    with pytest.raises(Upstream, match="not the file that was pinned"):
        prepare_tools(layers, fetch=lambda address, limit: pages[address], index="https://index.example/simple")
    assert list(tmp_path.iterdir()) == []


def test_an_index_without_a_wheel_is_told_without_its_credentials(tmp_path: Path) -> None:
    with pytest.raises(Upstream) as raised:
        prepare_tools(LayerStore(tmp_path), fetch=lambda address, limit: b"", index="https://me:secret@index.example/s")
    assert "secret" not in str(raised.value.message)
    assert "index.example has no" in raised.value.message


def test_an_index_that_is_away_is_told_as_such(tmp_path: Path) -> None:
    def away(address: str, limit: int) -> bytes:
        raise OSError("no route")

    with pytest.raises(Upstream, match="no route"):
        prepare_tools(LayerStore(tmp_path), fetch=away)


def test_every_wheel_is_pinned_by_its_hash() -> None:
    assert {wheel.project for wheel in wheels()} >= {"uv", "pip", "pytest", "pytest-json-ctrf"}
    assert all(len(wheel.sha256) == hashlib.sha256().digest_size * 2 for wheel in wheels())
    assert tools_key() == tools_key()


def test_without_a_network_pip_and_uv_look_at_the_layer_alone() -> None:
    assert tool_environment("none")["UV_OFFLINE"] == tool_environment("none")["PIP_NO_INDEX"] == "1"
    assert "UV_OFFLINE" not in tool_environment("public")
