"""Media in cells are told by kind and size, and nothing else is taken for media."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.formats.rows.media import Media, media_of, named

PNG = b"\x89PNG\r\n\x1a\n" + bytes(600)
WAV = b"RIFF\0\0\0\0WAVE" + bytes(600)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (PNG, "image/png"),
        (WAV, "audio/wav"),
        (base64.b64encode(PNG).decode(), "image/png"),
        (base64.b64encode(WAV).decode(), "audio/wav"),
        ("data:audio/x-wav;codecs=1;base64," + base64.b64encode(WAV).decode(), "audio/x-wav"),
    ],
)
def test_media_are_known_by_their_first_bytes(value: object, kind: str) -> None:
    found = media_of(value)
    assert found is not None
    assert found.kind == kind
    assert abs(found.size - 610) <= 5


@pytest.mark.parametrize(
    "value", [b"\0\1\2", "iVBORw0KGgo is how it begins " * 20, "data:image/png;base64,", 7, None, "UklGR" * 9]
)
def test_what_is_no_media_stays(value: object) -> None:
    assert media_of(value) is None
    assert named([{"a": value}]) == [{"a": value}]


def test_media_are_named_at_any_depth() -> None:
    assert named({"a": [{"bytes": PNG, "path": None}]}) == {
        "a": [{"bytes": str(Media("image/png", 608)), "path": None}]
    }


any_value = st.recursive(
    st.none() | st.text() | st.binary(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


@given(any_value)
def test_no_value_makes_it_fail(value: object) -> None:
    named(value)
