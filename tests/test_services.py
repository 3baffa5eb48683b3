"""What an instance is put together from."""

from pathlib import Path

import pytest

from rlx.services import LOCAL_HUB, create_services, viewer_address
from rlx.settings import DEFAULT_HUB, DEFAULT_VIEWER, Settings


@pytest.mark.parametrize(
    ("hub", "told", "address"),
    [
        (DEFAULT_HUB, None, DEFAULT_VIEWER),
        (f"{DEFAULT_HUB}/", None, DEFAULT_VIEWER),
        (DEFAULT_HUB, "https://viewer.test", "https://viewer.test"),
        ("http://127.0.0.1:8765/", None, "http://127.0.0.1:8765/viewer"),
        ("https://hub.test", "https://viewer.test", "https://viewer.test"),
    ],
)
def test_a_hub_is_told_with_the_viewer_beside_it(hub: str, told: str | None, address: str) -> None:
    assert viewer_address(Settings(hub=hub, viewer_url=told)) == address


def test_no_token_of_a_folder_goes_to_another_viewer(tmp_path: Path) -> None:
    (tmp_path / "datasets").mkdir()
    assert viewer_address(Settings(hub=str(tmp_path), viewer_url="https://viewer.test")) == f"{LOCAL_HUB}/viewer"


@pytest.mark.anyio
async def test_rollouts_are_opened_once_and_only_for_who_asks(tmp_path: Path) -> None:
    (tmp_path / "hub" / "datasets").mkdir(parents=True)
    settings = Settings(hub=str(tmp_path / "hub"), store=tmp_path / "store", cache_dir=tmp_path / "cache")
    async with create_services(settings) as services:
        assert not (tmp_path / "cache" / "rollouts").exists()
        assert services.rollouts() is services.rollouts()
        assert services.rollouts().queue.active() == {}
    assert (tmp_path / "cache" / "rollouts").is_dir()
