"""Environments side by side."""

import re

import httpx2
import pytest

from rlx.hub.info import read_info
from rlx.twins.comparison import Side
from rlx.web.links import Links
from rlx.web.pages.comparison import comparison_json
from tests.toy import DOWN, MAIN, SERVER, SLOW, ToyServices

pytestmark = pytest.mark.anyio

BOTH = f"/envs?env={MAIN}&env={SERVER}"


async def test_each_environment_is_a_column_that_can_be_taken_away(client: httpx2.AsyncClient) -> None:
    page = (await client.get(BOTH)).text
    heads = re.findall(r'<th scope="col"><a href="([^"]+)">([^<]+)</a>', page)
    assert heads == [(MAIN.page, MAIN.name), (SERVER.page, SERVER.name)]
    assert f'href="/envs?env=space%3A{SERVER.org}%2F{SERVER.name}"' in page
    assert page.count("Tasks &amp; refs of every kind.") == 2


async def test_only_what_differs_is_left_when_asked_for(client: httpx2.AsyncClient) -> None:
    page = (await client.get(f"{BOTH}&rows=differ")).text
    labels = re.findall(r'<th scope="row">([^<]+)</th>', page)
    assert labels == ["Kind"]
    assert "rows that say the same of all are left off" in page


async def test_one_in_trouble_says_so_beside_the_others(client: httpx2.AsyncClient) -> None:
    answer = await client.get(f"/envs?env={MAIN}&env={SLOW}&env={DOWN}&env=toy/nowhere")
    assert answer.status_code == 200
    assert "The Hub does not answer." in answer.text
    assert "No toy/nowhere on the Hub" in answer.text
    told = (await client.get(f"/envs?env={MAIN}&env={SLOW}&env={DOWN}&format=json")).json()["environments"]
    assert [side["state"] for side in told] == ["ready", "indexing", "failed"]
    assert [side["tasks"] for side in told] == [13, None, None]


async def test_what_is_private_is_compared_for_nobody_else(client: httpx2.AsyncClient) -> None:
    unknown = (await client.get("/envs?env=toy/nowhere&format=json")).json()["environments"][0]
    private = (await client.get("/envs?env=toy/private&format=json")).json()["environments"][0]
    assert {name: value for name, value in private.items() if name not in {"id", "url", "trouble"}} == {
        name: value for name, value in unknown.items() if name not in {"id", "url", "trouble"}
    }
    assert private["trouble"] == unknown["trouble"].replace("nowhere", "private")


async def test_the_same_one_counts_once_and_five_are_too_many(client: httpx2.AsyncClient) -> None:
    once = await client.get(f"/envs?env={MAIN}&env={MAIN}&env=&format=json")
    assert len(once.json()["environments"]) == 1
    many = await client.get("/envs?" + "&".join(f"env=toy/e{n}" for n in range(5)))
    assert many.status_code == 400


async def test_a_name_that_is_no_key_keeps_the_comparison_and_offers_what_its_words_match(
    client: httpx2.AsyncClient,
) -> None:
    answer = await client.get(f"/envs?env={MAIN}&rows=differ&env=toy+server")
    assert answer.status_code == 200
    assert f'<th scope="col"><a href="{MAIN.page}">' in answer.text
    assert re.search(r'id="add"[^>]* value="toy server" aria-invalid="true"', answer.text)
    offered = re.findall(r'rel="nofollow" href="([^"]+)" title="([^"]+)"', answer.text)
    assert offered == [
        (f"/envs?env=toy%2Fmain&amp;env=space%3A{SERVER.org}%2F{SERVER.name}&amp;rows=differ", str(SERVER))
    ]
    told = (await client.get(f"/envs?env={MAIN}&env=toy+server&format=json")).json()
    assert [side["id"] for side in told["environments"]] == [str(MAIN)]
    assert told["unknown"] == {"name": "toy server", "matches": [str(SERVER)]}
    markdown = (await client.get(f"/envs?env={MAIN}&env=toy+server&format=md")).text
    assert "`toy server`: No environment is called this." in markdown
    assert f"[`{SERVER}`](" in markdown


async def test_a_name_whose_words_match_nothing_says_how_names_look(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/envs?env=%3Cb%3Enothing")).text
    assert "none matches its words" in page
    assert 'value="&lt;b&gt;nothing"' in page
    full = f"{BOTH}&env={SLOW}&env={DOWN}"
    assert (await client.get(f"{full}&env=more")).status_code == 400
    assert (await client.get(f"{BOTH}&env=no%00key")).status_code == 400


async def test_others_are_offered_until_four_are_chosen(client: httpx2.AsyncClient, services: ToyServices) -> None:
    page = (await client.get(f"/envs?env={MAIN}")).text
    assert re.findall(r'<button class="btn" name="env" value="([^"]+)"', page) == [
        str(card.key) for card in services.catalog.cards if card.key != MAIN
    ]
    full = (await client.get(f"{BOTH}&env={SLOW}&env={DOWN}")).text
    assert '<button class="btn" name="env"' not in full
    assert 'id="add"' not in full


async def test_the_markdown_twin_is_a_table(client: httpx2.AsyncClient) -> None:
    told = (await client.get(f"{BOTH}&format=md")).text
    assert "|  | toy/main | space:toy/server |" in told
    assert "| Tasks | 13 | 13 |" in told


async def test_an_environment_and_its_quick_look_lead_to_it(client: httpx2.AsyncClient) -> None:
    for url in (MAIN.page, f"/?look={MAIN}"):
        assert 'href="/envs?env=toy%2Fmain"' in (await client.get(url)).text


async def test_tags_turn_no_text_around() -> None:
    info = read_info("dataset", {"id": str(MAIN), "tags": ["\u202eevil\u2066 tag", "harbor"]})
    told = comparison_json([Side(MAIN, info=info)], [], Links("build"), "en")
    assert isinstance(told, dict)
    assert isinstance(told["environments"], list)
    side = told["environments"][0]
    assert isinstance(side, dict)
    assert side["tags"] == ["evil tag", "harbor"]
