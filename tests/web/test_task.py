"""The page of a task: the prompt exactly, grading with its answers drawn as withheld, settings, steps, ways to run."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import httpx2
import pytest

from rlx.services import create_services
from rlx.settings import Settings
from rlx.web.app import create_app
from tests.web.conftest import visitor

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def reader(hub: Path, tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    """A visitor of the app over a folder of repositories."""
    settings = Settings(hub=str(hub), store=tmp_path / "store", cache_dir=tmp_path / "cache")
    async with (
        create_services(settings) as services,
        visitor(create_app(services, token=lambda settings: None)) as client,
    ):
        yield client


async def opened(client: httpx2.AsyncClient, url: str) -> str:
    """A page, once its environment is read."""
    for _ in range(100):
        answer = await client.get(url)
        if answer.status_code != 202:
            assert answer.status_code == 200, answer.text
            return answer.text
    raise AssertionError(f"{url} was never read")


def prompts(page: str) -> list[str]:
    """The texts of prompts, as a browser would hold them, with spelled-out characters as what they are."""
    found = []
    for block in re.findall(r'<div class="prompt" data-copies>(.*?)</div>', page, re.DOTALL):
        parts = re.findall(r"<pre>\n(.*?)</pre>", block, re.DOTALL)
        marked = re.compile(r'<span class="inv"[^>]* data-u="([^"]+)">[^<]*</span>')
        spelled = [
            marked.sub(lambda mark: "".join(chr(int(code, 16)) for code in mark[1].split()), part) for part in parts
        ]
        found.append(unescape("".join(spelled)))
    return found


class Ids(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        self.ids += [str(told["id"])] if told.get("id") else []
        href = told.get("href") or ""
        self.targets += [href[1:]] if href.startswith("#") else []


@pytest.mark.parametrize("name", ["markup", "zero-width", "bidi", "ansi", "crlf", "bom"])
async def test_the_prompt_is_exactly_what_the_agent_gets(name: str, fixture_hub: Path, tmp_path: Path) -> None:
    async with reader(fixture_hub, tmp_path) as client:
        page = await opened(client, f"/t/acme/odd-bytes/tasks/{name}")
    written = (fixture_hub / f"datasets/acme/odd-bytes/tasks/{name}/instruction.md").read_bytes().decode()
    expected = written.replace("\r\n", "\n").rstrip("\n")
    assert prompts(page)[0].rstrip("\n") == expected
    assert "<script>alert" not in page


async def test_a_prompt_that_is_long_is_folded_and_loses_nothing(fixture_hub: Path, tmp_path: Path) -> None:
    lines = [f"{n}: do this" for n in range(2000)]
    hub = one_task(tmp_path, {"instruction.md": "\n\n  first\n" + "\n".join(lines)})
    async with reader(hub, tmp_path) as client:
        page = await opened(client, "/t/org/name/task")
        rendered = await opened(client, "/t/org/name/task?view=rendered")
    (shown,) = prompts(page)
    assert shown.strip("\n") == ("  first\n" + "\n".join(lines))
    head = re.search(r'<div class="prompt" data-copies><pre>\n(.*?)</pre><details class="rest">', page, re.DOTALL)
    assert head is not None
    assert head[1].count("\n") < 60
    assert "1999: do this" in rendered


async def test_a_long_prompt_is_folded_when_rendered_and_copied_as_it_is_written(
    fixture_hub: Path, tmp_path: Path
) -> None:
    url = "/t/acme/answers-at-root/tasks/long-instruction"
    text = fixture_hub.joinpath("datasets/acme/answers-at-root/tasks/long-instruction/instruction.md").read_text()
    async with reader(fixture_hub, tmp_path) as client:
        page = await opened(client, f"{url}?view=rendered")
        short = await opened(client, "/t/acme/layout-tasks/tasks/fix-parser?view=rendered")
    source = re.search(r"<pre hidden data-source>\n(.*?)</pre>", page, re.DOTALL)
    assert source
    assert unescape(source[1]) == text
    assert '<div class="prompt-md tall"' in page
    assert '<div class="prompt-md"' in short


async def test_every_step_of_many_is_in_the_contents(tmp_path: Path) -> None:
    task = tmp_path / "hub" / "datasets" / "acme" / "long" / "tasks" / "many"
    names = [f"part-{n}" for n in range(1, 16)]
    for step in names:
        (task / "steps" / step / "tests").mkdir(parents=True)
        (task / "steps" / step / "instruction.md").write_text(f"Do {step}.")
        (task / "steps" / step / "tests" / "test.sh").write_text("echo 1 > /logs/verifier/reward.txt\n")
    (task / "task.toml").write_text("".join(f'[[steps]]\nname = "{step}"\n' for step in names))
    async with reader(tmp_path / "hub", tmp_path) as client:
        page = await opened(client, "/t/acme/long/tasks/many")
    rail = re.findall(r'<li class="inner"><a href="#([^"]+)">([^<]+)</a>', page)
    assert [label for _, label in rail] == [f"Step {n}: part-{n}" for n in range(1, 16)]
    assert {id for id, _ in rail} <= set(Ids(page).ids)


async def test_both_views_of_a_prompt_are_links(fixture_hub: Path, tmp_path: Path) -> None:
    async with reader(fixture_hub, tmp_path) as client:
        text = await opened(client, "/t/acme/odd-bytes/tasks/markup")
        rendered = await opened(client, "/t/acme/odd-bytes/tasks/markup?view=rendered")
    assert 'href="/t/acme/odd-bytes/tasks/markup?view=rendered#prompt"' in text
    assert 'href="/t/acme/odd-bytes/tasks/markup#prompt"' in rendered
    assert "The agent gets the text." in rendered
    assert "Exactly as the agent gets it" in text


async def test_answers_are_drawn_as_withheld_and_what_is_withheld_leads_to_them(
    fixture_hub: Path, tmp_path: Path
) -> None:
    async with reader(fixture_hub, tmp_path) as client:
        page = await opened(client, "/t/acme/layout-tasks/tasks/fix-parser")
    found = Ids(page)
    assert re.search(r'<span class="l mask" id="tests/test_outputs\.py-L8">.*?<i>.*?withheld</i>', page)
    assert "lines 9–10 withheld" in page
    linked = [target for target in found.targets if target.startswith("tests/test_outputs.py-L")]
    assert linked
    assert set(found.targets) <= set(found.ids)
    assert len(found.ids) == len(set(found.ids))
    assert "‹withheld›" not in page


async def test_settings_stand_beside_what_the_file_says(fixture_hub: Path, tmp_path: Path) -> None:
    hub = one_task(tmp_path, {"task.toml": "[agent]\ntimeout_sec = 90\n"})
    async with reader(hub, tmp_path) as client:
        page = await opened(client, "/t/org/name/task")
    rows = re.findall(r'<tr><th scope="row"><code>(.*?)</code></th>(.*?)</tr>', page)
    cells = {key: re.sub(r"<[^>]+>", "|", row).strip("|") for key, row in rows}
    assert re.split(r"\|+", cells["agent.timeout_sec"]) == ["90", "90 seconds"]
    assert re.split(r"\|+", cells["verifier.timeout_sec"]) == ["absent", "10 minutes"]


async def test_each_step_has_its_prompt_and_its_grader_folded(fixture_hub: Path, tmp_path: Path) -> None:
    async with reader(fixture_hub, tmp_path) as client:
        page = await opened(client, "/t/acme/multi-step/tasks/build-then-serve")
    sections = re.findall(r'aria-labelledby="(step-\d)">(.*?)</section>', page, re.DOTALL)
    assert [name for name, _ in sections] == ["step-1", "step-2", "step-3"]
    for name, text in sections:
        assert len(prompts(text)) == 1
        assert re.search(rf'<details class="fold" id="{name}\.\d+"><summary>How it is graded</summary>', text)
        assert f'href="#{name}"' in page


async def test_a_problem_is_told_once(fixture_hub: Path, tmp_path: Path) -> None:
    async with reader(fixture_hub, tmp_path) as client:
        page = await opened(client, "/t/acme/broken-toml/adapters/alpha/template")
        twin = await opened(client, "/t/acme/broken-toml/adapters/alpha/template?format=md")
    for text in (page, twin):
        assert text.count("Its task.toml cannot be parsed: ") == 1


async def test_ways_that_say_the_same_are_told_once(fixture_hub: Path, tmp_path: Path) -> None:
    async with reader(fixture_hub, tmp_path) as client:
        broken = panel(await opened(client, "/t/acme/broken-toml/adapters/alpha/template"))
        network = panel(await opened(client, "/t/acme/settings/tasks/no-network"))
    assert broken.count("Its task.toml cannot be parsed.") == 1
    assert "Local sandbox, Docker, HF Sandbox" in broken
    assert network.count("not here") == 2
    assert "HF Sandboxes cannot cut it off" in network


async def test_where_the_same_task_is_found_is_told_only_when_it_is(client: httpx2.AsyncClient) -> None:
    assert 'id="also"' in (await client.get("/t/toy/main/plain")).text
    assert 'id="also"' not in (await client.get("/t/toy/main/50%25")).text


async def test_the_page_names_keys_and_values_to_copy(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/t/toy/main/it's%20%22quoted%22")).text
    assert 'data-key="j ArrowRight"' in page
    assert 'data-key="k ArrowLeft"' in page
    values = [unescape(value) for value in re.findall(r'data-copy-value="([^"]*)"', page)]
    assert 'it\'s "quoted"' in values
    assert "rlx task show toy/main 'it'\"'\"'s \"quoted\"' --hub https://hub.example" in values
    assert "/t/toy/main/it%27s%20%22quoted%22" in values


async def test_a_brief_that_begins_the_prompt_is_not_said_twice(fixture_hub: Path, tmp_path: Path) -> None:
    async with reader(fixture_hub, tmp_path) as client:
        page = await opened(client, "/t/acme/layout-tasks/tasks/fix-parser")
    assert 'class="lede"' not in page
    assert re.search(r'<meta name="description" content="[^"]{10}', page)


def panel(page: str) -> str:
    found = re.search(r'<section class="panel" aria-labelledby="run">.*?</section>', page, re.DOTALL)
    assert found is not None
    return found[0]


def one_task(tmp_path: Path, files: dict[str, str]) -> Path:
    """A folder of one repository with one task."""
    usual = {
        "task.toml": "",
        "instruction.md": "Do it.\n",
        "environment/Dockerfile": "FROM scratch\n",
        "tests/test.sh": "echo 1 > /logs/verifier/reward.txt\n",
    }
    for path, text in {**usual, **files}.items():
        file = tmp_path / "hub" / "datasets" / "org" / "name" / "task" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "hub"
