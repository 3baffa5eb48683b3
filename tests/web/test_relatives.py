"""Where else a task is found, and which tasks are like it: on its page and in its twins."""

import re
from dataclasses import replace

import httpx2
import pytest

from rlx.answers import name, prose
from rlx.errors import Upstream
from rlx.ids import EnvKey
from rlx.model import Relative, TaskCard, TaskHit
from tests.toy import MAIN, SERVER, ToyCatalog, ToyServices

pytestmark = pytest.mark.anyio

OTHER = EnvKey("dataset", "toy", "other")


def near(ref: str, score: float, *, title: str = "Near", same: bool = False) -> Relative:
    card = TaskCard(ref, prose(title), name("A brief."), {"difficulty": (name("Hard"),)})
    return Relative(TaskHit(OTHER, card), score, same)


def telling(services: ToyServices, *relatives: Relative) -> None:
    """Let the catalog tell of these."""

    class Telling(ToyCatalog):
        async def relatives(self, key: EnvKey, ref: str) -> tuple[Relative, ...]:
            return relatives

    services.catalog = Telling()


async def test_like_tasks_are_rows_that_lead_on_and_say_how_alike_they_are(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/t/toy/main/plain")).text
    rows = page.partition('<h2 id="alike">')[2].partition("</section>")[0]
    assert re.findall(r'<h3 class="name"><a href="([^"]+)">', rows) == ["/t/toy/main/what%3F"]
    assert "61 % of the telling words in common" in rows
    assert '<a href="#alike">More like this</a>' in page
    assert '<h2 id="alike">' not in (await client.get("/t/toy/main/50%25")).text


async def test_tasks_with_the_same_files_stand_among_those_that_the_format_names(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/t/toy/main/plain")).text
    also = page.partition('<h2 id="also">')[2].partition("</section>")[0]
    assert re.findall(r'href="(/s[^"]+)"', also) == ["/s/toy/server/t/plain", "/s/toy/server/t/what%3F"]
    assert "The same toy." in also
    assert "All its files are the same." in also
    assert '<li><a href="#also">' in page


async def test_what_is_many_is_folded_and_never_left_off(client: httpx2.AsyncClient, services: ToyServices) -> None:
    telling(services, *(near(f"n{n}", 0.9) for n in range(8)), *(near(f"s{n}", 1.0, same=True) for n in range(9)))
    page = (await client.get("/t/toy/main/plain")).text
    for n in range(8):
        assert f'href="/t/toy/other/n{n}"' in page
    for n in range(9):
        assert f'href="/t/toy/other/s{n}"' in page
    open_part = re.sub(r'<details class="fold.*?</details>', "", page, flags=re.S)
    assert open_part.count('href="/t/toy/other/n') == 5
    assert open_part.count('href="/t/toy/other/s') == 5
    assert page.count("<summary>3 more</summary>") == 1
    assert page.count("<summary>4 more</summary>") == 1


async def test_a_hostile_title_of_another_task_stays_inert(client: httpx2.AsyncClient, services: ToyServices) -> None:
    telling(services, near("a/../b?", 0.5, title="<script>x</script> \u202eevil"))
    page = (await client.get("/t/toy/main/plain")).text
    assert "&lt;script&gt;x&lt;/script&gt; ⟨U+202E⟩evil" in page
    assert "\u202e" not in page.partition('<h2 id="alike">')[2]


async def test_a_repository_that_is_one_task_goes_by_its_name(
    client: httpx2.AsyncClient, services: ToyServices
) -> None:
    telling(services, near(".", 0.5, title="task"), near(".", 1.0, title="task", same=True))
    page = (await client.get("/t/toy/main/plain")).text
    assert '<a href="/t/toy/other">other</a>' in page
    assert '<a href="/t/toy/other">toy/other</a>' in page


async def test_the_twins_tell_the_same(client: httpx2.AsyncClient, services: ToyServices) -> None:
    told = (await client.get("/t/toy/main/plain?format=json")).json()
    assert [(item["id"], item["ref"], item["score"]) for item in told["alike"]] == [(str(MAIN), "what?", 0.61)]
    assert [(item["key"], item["ref"]) for item in told["aliases"]] == [(str(SERVER), "plain"), (str(SERVER), "what?")]
    api = (await client.get("/api/env/toy/main/task?ref=plain")).json()
    assert (api["alike"], api["aliases"]) == (told["alike"], told["aliases"])
    text = (await client.get("/t/toy/main/plain?format=md")).text
    assert "/t/toy/main/what%3F?format=md" in text
    assert "/s/toy/server/t/what%3F?format=md" in text
    assert "(61 % of the telling words in common)" in text.partition("## More like this")[2]
    telling(services, replace(near("x", 0.5), score=0.333_333))
    assert (await client.get("/t/toy/main/plain?format=json")).json()["alike"][0]["score"] == 0.333


async def test_a_task_is_shown_without_its_relatives_while_there_is_no_catalog(
    client: httpx2.AsyncClient, services: ToyServices
) -> None:
    class Away(ToyCatalog):
        async def relatives(self, key: EnvKey, ref: str) -> tuple[Relative, ...]:
            raise Upstream("The Hub does not answer.")

    services.catalog = Away()
    page = await client.get("/t/toy/main/plain")
    assert page.status_code == 200
    assert '<h2 id="alike">' not in page.text
    assert "The same toy." in page.text
