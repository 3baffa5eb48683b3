"""The operators' settings file."""

import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from rlx.errors import BadInput
from rlx.ids import parse_key
from rlx.store.instance import FILE, Banner, Instance, InstanceFile


def write(store: Path, text: str, *, at: int) -> None:
    path = store / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, ns=(at, at))


def test_an_unconfigured_instance_has_defaults(tmp_path: Path) -> None:
    assert InstanceFile(tmp_path).current() == Instance()


def test_a_change_is_seen_and_a_broken_file_leaves_the_last_good_one(tmp_path: Path) -> None:
    file = InstanceFile(tmp_path)
    write(tmp_path, '{"hidden": ["org/name"], "unknown": 1}', at=1)
    assert file.current().hides(parse_key("org/name"))
    write(tmp_path, '{"hidden": "all of th', at=2)
    assert file.current().hides(parse_key("org/name"))
    write(tmp_path, '{"pinned": ["a/b"]}', at=3)
    assert file.current() == Instance(pinned=("a/b",))
    (tmp_path / FILE).unlink()
    assert file.current() == Instance()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"collections": [{"id": "Secret Plan", "title": "t"}]}', "collections.0.id: String should match pattern"),
        ('{"hidden": "secret"}', "hidden: Input should be a valid"),
        ('{"banner": {"id": "x", "text": "secret", "url": "/"}}', "banner.label: Field required"),
        ('{"hidden": ["secret', "Invalid JSON"),
    ],
)
def test_a_broken_file_is_told_once_by_field_and_reason_without_its_values(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str, told: str
) -> None:
    write(tmp_path, text, at=1)
    file = InstanceFile(tmp_path)
    assert file.current() == file.current() == Instance()
    assert len(caplog.messages) == 1
    assert f"is not used: {told}" in caplog.text
    assert "secret" not in caplog.text.lower()


def test_settings_that_cannot_be_read_for_a_while_leave_the_last_ones_and_are_read_afterwards(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = InstanceFile(tmp_path)
    write(tmp_path, '{"hidden": ["org/name"]}', at=1)
    assert file.current().hides(parse_key("org/name"))
    admin = (tmp_path / FILE).parent
    admin.rename(tmp_path / "away")
    admin.write_text("no folder")
    assert file.current().hides(parse_key("org/name"))
    admin.unlink()
    (admin / "settings.json").mkdir(parents=True)
    assert file.current().hides(parse_key("org/name"))
    assert len(caplog.messages) == 1
    (admin / "settings.json").rmdir()
    write(tmp_path, '{"pinned": ["a/b"]}', at=1)
    assert file.current() == Instance(pinned=("a/b",))


def test_a_file_of_the_same_size_and_time_is_seen_when_it_is_another(tmp_path: Path) -> None:
    file = InstanceFile(tmp_path)
    write(tmp_path, '{"pinned": ["a/b"]}', at=1)
    assert file.current().pinned == ("a/b",)
    other = tmp_path / "other.json"
    other.write_text('{"pinned": ["a/c"]}')
    os.utime(other, ns=(1, 1))
    other.replace(tmp_path / FILE)
    assert file.current().pinned == ("a/c",)


def test_what_is_saved_is_read_by_another_process(tmp_path: Path) -> None:
    settings = Instance(banner=Banner(id="news-1", text="New here", label="Read", url="/d/org/name"))
    InstanceFile(tmp_path).save(settings)
    assert InstanceFile(tmp_path).current() == settings
    assert [path.name for path in (tmp_path / "admin").iterdir()] == ["settings.json"]


def test_keys_that_name_nothing_are_not_saved(tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        InstanceFile(tmp_path).save(Instance(hidden=frozenset({"../etc"})))
    assert not (tmp_path / FILE).exists()


@pytest.mark.parametrize("url", ["javascript:alert(1)", "http://plain.test", 'https://x" onload="', ""])
def test_a_banner_links_only_to_this_site_or_https(url: str) -> None:
    with pytest.raises(ValidationError):
        Banner(id="x", text="t", label="l", url=url)
