"""Health on pages, in twins and by the API."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

from rlx.demo import demo_hub
from rlx.ids import parse_key
from rlx.model import ANONYMOUS
from rlx.services import create_services
from rlx.settings import Settings
from rlx.store.health import HealthStore, Reason, State, TaskHealth, Trial
from rlx.store.storage import DirectoryStorage
from rlx.web.app import create_app
from tests.web.conftest import visitor

pytestmark = pytest.mark.anyio

KEY = parse_key("rl-explorer/first-steps")
TASK = f"/t/{KEY}/tasks/fix-median"


def evidence(ref: str, revision: str, state: State, reason: Reason | None = None) -> TaskHealth:
    trials = (
        Trial(agent="oracle", rollout="solved", scores=(1.0 if state == "proven" else 0.5,), seconds=12.5),
        Trial(agent="nop", rollout="idle", scores=(0.25,), seconds=2.0),
    )
    at = datetime(2026, 11, 1, tzinfo=UTC)
    return TaskHealth(ref=ref, revision=revision, state=state, reason=reason, trials=trials, checked_at=at)


@pytest.fixture
async def ask(tmp_path: Path) -> Any:
    """Answers of a site over the demo, and what puts evidence into its store."""
    settings = Settings(hub=str(demo_hub()), store=tmp_path / "store", cache_dir=tmp_path / "cache")
    async with create_services(settings) as services:
        await services.catalog.all(ANONYMOUS, tasks=True)
        revision = (await services.library.info(KEY, ANONYMOUS)).sha or ""

        def put(*tasks: tuple[str, State, Reason | None], of: str = revision) -> None:
            store = HealthStore(DirectoryStorage(settings.store))
            store.put(KEY, *(evidence(f"tasks/{ref}", of, state, reason) for ref, state, reason in tasks))

        async with visitor(create_app(services, token=lambda settings: None)) as client:

            async def get(path: str, **query: str) -> httpx2.Response:
                answer = await client.get(path, params=query)
                assert answer.status_code == 200, answer.text
                return answer

            yield get, put


async def test_a_task_tells_what_was_proved_of_it(ask: Any) -> None:
    get, put = ask
    put(("fix-median", "proven", None))

    page, twin = await get(TASK), (await get(TASK, format="json")).json()
    assert "Proven" in page.text
    assert "12.5 s a run" in page.text
    assert twin["health"]["state"] == "proven"
    assert twin["health"]["floor"] == {"runs": 1, "low": 0.25, "high": 0.25, "seconds": 2.0}
    assert "- Solution earns: 1, 12.5 s a run" in (await get(TASK, format="md")).text
    assert "증명됨" in (await get(TASK, lang="ko")).text
    assert "solved" not in page.text + str(twin)


async def test_a_broken_task_says_why(ask: Any) -> None:
    get, put = ask
    put(("fix-median", "broken", "oracle-below"))

    assert "does not earn the full reward" in (await get(TASK)).text
    assert "does not earn the full reward" in (await get(TASK, format="md")).text


async def test_another_revision_is_unproven_again(ask: Any) -> None:
    get, put = ask
    put(("fix-median", "proven", None), of="0" * 40)

    told = (await get(TASK, format="json")).json()["health"]
    assert (told["state"], told["stale"], told["checked_at"]) == ("unproven", True, None)
    assert "another revision" in (await get(TASK)).text
    assert (await get(f"/api/env/{KEY}/health")).json()["counts"]["proven"] == 0
    assert "Proven" not in (await get(f"/d/{KEY}")).text


async def test_what_nobody_checked_says_so(ask: Any) -> None:
    get, _ = ask
    told = (await get(f"/api/env/{KEY}/health")).json()

    assert told["counts"] == {"proven": 0, "broken": 0, "unproven": 0, "unchecked": 5}
    assert "Nobody has run its solution" in (await get(TASK)).text
    assert "None of its tasks was run" in (await get(f"/d/{KEY}")).text
    assert "## Health" not in (await get(TASK, format="md")).text
    assert len(await cards(get, f"/api/env/{KEY}/tasks", "health:unproven")) == 5
    assert await cards(get, f"/api/env/{KEY}/tasks", "health:proven") == []


async def test_lists_are_narrowed_by_health(ask: Any) -> None:
    get, put = ask
    put(("fix-median", "proven", None), ("tidy-config", "broken", "flaky"))
    page = f"/d/{KEY}"

    assert [card["ref"] for card in await cards(get, f"/api/env/{KEY}/tasks", "health:broken")] == ["tasks/tidy-config"]
    assert len(await cards(get, f"/api/env/{KEY}/tasks", "health:Unproven")) == 3
    assert [card["ref"] for card in await cards(get, "/api/search/tasks", "health:Proven")] == ["tasks/fix-median"]
    (card,) = await cards(get, "/api/search", "health:Broken")
    assert (card["id"], card["facets"]["health"]) == (str(KEY), ["Broken"])
    assert "2 of 5 tasks checked" in (await get(page)).text
    assert "tasks/tidy-config" in (await get(page, format="md")).text
    told = (await get(f"/api/env/{KEY}/health", limit="1")).json()
    assert [task["ref"] for task in told["tasks"]] == ["tasks/tidy-config"]
    assert told["total"] == 2


async def cards(get: Callable[..., Any], path: str, filters: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await get(path, f=filters)).json()["cards"]
    return found
