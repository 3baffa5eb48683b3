"""Refs and paths survive a URL whatever they hold."""

from urllib.parse import quote

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from rlx.errors import BadInput
from rlx.ids import EnvKey
from rlx.model import TaskQuery
from rlx.web.address import check_path, env_address, file_address, task_address
from rlx.web.facets import MAX_KEYS, MAX_VALUES, box, format_filters, parse_filters
from rlx.web.links import Links
from tests.toy import FILES, MAIN, REFS, SERVER
from tests.web.conftest import BASE

ODD = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=60) | st.text(
    st.sampled_from("./~%#?&=+;:@ '\"\\abé漢"), min_size=1, max_size=40
)
KEYS = st.sampled_from([MAIN, SERVER, EnvKey("space", "a.b", "c_d-e")])
LINKS = Links("build")


def request(url: str) -> Request:
    """As a browser would send `url`: dots collapsed, the path decoded once by the server, the raw path kept."""
    sent = httpx2.Request("GET", f"{BASE}{url}")
    scope = {
        "type": "http",
        "method": "GET",
        "headers": [],
        "path": sent.url.path,
        "raw_path": sent.url.raw_path.split(b"?")[0],
        "query_string": sent.url.query,
    }
    return Request(scope)


@given(KEYS, ODD)
def test_a_ref_comes_back_from_its_page(key: EnvKey, ref: str) -> None:
    found = task_address(request(key.task_page(ref)))
    assert found.key == key
    assert found.rest == ref


@given(KEYS, ODD.filter(lambda path: path.strip("/") == path))
def test_a_path_comes_back_from_its_page_and_its_raw_page(key: EnvKey, path: str) -> None:
    for url in (LINKS.file(key, None, path), LINKS.raw(key, None, path)):
        found = file_address(request(url))
        assert found.key == key
        assert found.rest == path


@given(KEYS, ODD, ODD)
def test_a_file_of_a_task_comes_back_from_its_page(key: EnvKey, ref: str, path: str) -> None:
    for url in (LINKS.file(key, ref, path), LINKS.raw(key, ref, path)):
        sent = request(url)
        assert task_address(sent).rest == ref
        assert sent.query_params["path"] == path


def test_a_page_whose_address_is_no_text_still_leads_to_the_sign_in_page() -> None:
    assert Links("build").login("/d/\udcff") == "/login?next=%2Fd%2F%3F"


@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=30))
def test_any_path_is_read_or_refused(org: str, name: str, rest: str) -> None:
    path = f"/d/{org}/{name}/files/{rest}"
    try:
        scope = {"type": "http", "method": "GET", "headers": [], "path": path, "raw_path": quote(path).encode()}
        key = env_address(Request(scope))
    except (BadInput, UnicodeEncodeError):
        return
    assert "/" not in key.org + key.name


@pytest.mark.parametrize("path", ["a\x00b", "a\nb", "a\x7f", "\ud800", "x" * 5000])
def test_a_path_no_file_can_have_is_refused(path: str) -> None:
    with pytest.raises(BadInput):
        check_path(path)


WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20)
FILTERS = st.dictionaries(
    WORDS, st.lists(WORDS, min_size=1, max_size=5, unique=True).map(tuple), max_size=MAX_KEYS
).filter(lambda filters: sum(len(quote(v)) for values in filters.values() for v in values) < 6000)


@given(FILTERS)
def test_filters_come_back_from_the_url(filters: dict[str, tuple[str, ...]]) -> None:
    assert parse_filters([format_filters(filters)]) == filters


@given(FILTERS)
def test_boxes_of_a_form_say_what_one_parameter_says(filters: dict[str, tuple[str, ...]]) -> None:
    boxes = [box(key, value) for key, values in filters.items() for value in values]
    assert parse_filters(boxes) == filters


@given(FILTERS)
def test_filters_of_a_page_come_back_from_its_link(filters: dict[str, tuple[str, ...]]) -> None:
    sent = request(LINKS.env(MAIN, TaskQuery(filters=filters)))
    assert parse_filters(sent.query_params.getlist("f")) == filters


@given(st.lists(st.text(max_size=60), max_size=4))
def test_any_filter_is_read_within_limits_or_refused(parameters: list[str]) -> None:
    try:
        found = parse_filters(parameters)
    except BadInput:
        return
    assert len(found) <= MAX_KEYS
    assert all(0 < len(values) <= MAX_VALUES for values in found.values())


@pytest.mark.anyio
@pytest.mark.parametrize("ref", REFS)
@pytest.mark.parametrize("key", [MAIN, SERVER])
async def test_every_odd_ref_is_served_by_its_page_and_the_api(
    client: httpx2.AsyncClient, key: EnvKey, ref: str
) -> None:
    page = await client.get(f"{key.task_page(ref)}?format=json")
    asked = await client.get(f"{key.api}/task", params={"ref": ref})
    assert page.json()["ref"] == asked.json()["ref"] == ref
    assert page.json()["url"] == key.task_page(ref)


@pytest.mark.anyio
@pytest.mark.parametrize("path", [path for path in FILES if not path.startswith("secret")])
async def test_every_odd_path_is_served_in_repository_and_task(client: httpx2.AsyncClient, path: str) -> None:
    for url in (LINKS.file(MAIN, None, path), LINKS.file(MAIN, "a%2Fb", path)):
        assert (await client.get(url)).status_code == 200
        assert (await client.get(LINKS.twin(url, "json"))).json()["path"] == path
    asked = await client.get(f"{MAIN.api}/file", params={"ref": "what?", "path": path})
    assert asked.json()["path"] == path
