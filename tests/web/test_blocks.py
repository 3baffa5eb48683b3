"""Every block has a macro and a Markdown renderer, and an unknown one fails loudly."""

from dataclasses import dataclass, replace
from typing import Any, cast

import pytest

from rlx.answers import name, prose
from rlx.ids import EnvKey
from rlx.model import Block, Code, FileEntry, FilesBlock, KeyValues, Link, Links, Note, Row, Shares, TaskCard
from rlx.texts import LANGUAGES, say
from rlx.twins.blocks import RENDERERS, block_markdown
from rlx.twins.jsonable import to_json
from rlx.web.assets import assets
from rlx.web.blocks_html import HEAD, MACROS, SHOWN_LINES, UNFOLDED, Anchors, Spot, known_blocks
from rlx.web.links import Links as SiteLinks
from rlx.web.render import Renderer
from rlx.web.samples import BLOCKS

SPOT = Spot(EnvKey("dataset", "o", "n"), "ref", "s-1")


@pytest.fixture(scope="module")
def renderer() -> Renderer:
    return Renderer(SiteLinks(assets().build))


def draw(renderer: Renderer, block: Block, spot: Spot = SPOT) -> str:
    return str(renderer.block(block, spot, "en"))


def test_every_block_of_the_contract_is_registered_and_sampled() -> None:
    kinds = set(known_blocks())
    assert set(MACROS) == set(RENDERERS) == kinds == {block.type for block in BLOCKS}


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.type)
def test_every_block_is_drawn_and_told(renderer: Renderer, block: Block) -> None:
    assert draw(renderer, block).strip()
    assert block_markdown(block, "en").strip()
    assert cast(dict[str, object], to_json(block))["type"] == block.type


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_draws_blocks(renderer: Renderer, language: str) -> None:
    assert renderer.block(BLOCKS[0], SPOT, language)


def test_an_unknown_block_fails_loudly(renderer: Renderer) -> None:
    @dataclass
    class Odd:
        type: str = "odd"

    with pytest.raises(LookupError, match="odd"):
        draw(renderer, cast(Any, Odd()))
    with pytest.raises(LookupError, match="odd"):
        block_markdown(cast(Any, Odd()), "en")


def test_what_blocks_hold_is_escaped(renderer: Renderer) -> None:
    hostile = "<script>alert(1)</script>"
    for block in BLOCKS:
        holder = {field: prose(hostile) for field in ("text", "detail") if isinstance(getattr(block, field, None), str)}
        assert "<script" not in draw(renderer, replace(block, **cast(Any, holder)))
    row = Row(name(hostile), (name(hostile), say("web.lines", n=2)), note=name(hostile))
    assert "<script" not in draw(renderer, KeyValues((row,)))


def test_links_that_could_act_are_words(renderer: Renderer) -> None:
    for url in ("javascript:alert(1)", "//evil.example", "data:text/html,x", "http://plain.example"):
        assert "href" not in draw(renderer, Links((Link(name("x"), url),)))
    assert 'href="/d/o/n"' in draw(renderer, Links((Link(name("x"), "/d/o/n"),)))


def test_a_chart_has_its_figures_in_a_table(renderer: Renderer) -> None:
    block = next(block for block in BLOCKS if isinstance(block, Shares))
    html = draw(renderer, block)
    assert "<table" in html
    assert '<td class="num">67 %</td>' in html


def test_long_code_is_cut_with_a_link_to_the_rest(renderer: Renderer) -> None:
    block = Code(prose("x\n" * (SHOWN_LINES + 5)), path=name("a b.txt"))
    html = draw(renderer, block)
    assert html.count('class="l"') == SHOWN_LINES
    assert "5 more lines are in the file." in html
    assert 'href="/t/o/n/ref?path=a%20b.txt"' in html


def test_code_is_folded_after_its_beginning(renderer: Renderer) -> None:
    short = draw(renderer, Code(prose("x\n" * UNFOLDED)))
    long = draw(renderer, Code(prose("x\n" * (UNFOLDED + 1))))
    assert "<details" not in short
    shown, _, folded = long.partition('<details class="rest">')
    assert shown.count('class="l"') == HEAD
    assert folded.count('class="l"') == UNFOLDED + 1 - HEAD


def test_a_page_shows_only_so_much_code_and_says_what_is_left(renderer: Renderer) -> None:
    spot = Spot(SPOT.key, "ref", "s", anchors=Anchors(left=150))
    blocks = [Code(prose("x\n" * 90), path=name(f"{at}.txt")) for at in range(3)]
    html = [draw(renderer, block, spot.within(at)) for at, block in enumerate(blocks)]
    assert [text.count('class="l"') for text in html] == [90, 60, 0]
    assert "30 more lines are in the file." in html[1]
    assert "90 more lines are in the file." in html[2]


def test_code_of_a_file_has_ids_that_name_it_once(renderer: Renderer) -> None:
    spot = Spot(SPOT.key, "ref", "s", anchors=Anchors())
    block = Code(prose("x\n"), path=name("a b/c.py"))
    assert 'id="a_b/c.py-L1"' in draw(renderer, block, spot.within(1))
    assert 'id="s.2-L1"' in draw(renderer, block, spot.within(2))
    assert spot.anchors is not None
    assert spot.anchors.line("a b/c.py", 1) == "a_b/c.py-L1"
    assert spot.anchors.line("a b/c.py", 2) is None


def test_many_files_are_told_by_their_top(renderer: Renderer) -> None:
    entries = tuple(FileEntry(f"data/{n}.txt", 1) for n in range(200))
    html = draw(renderer, FilesBlock((*entries, FileEntry("readme", 1))))
    assert html.count("<li>") == 2
    assert "200 entries" in html


def test_the_same_code_twice_has_different_ids(renderer: Renderer) -> None:
    block = Code(prose("x = 1\n"))
    assert 'id="s-1.1-L1"' in draw(renderer, block, SPOT.within(1))
    assert 'id="s-1.2-L1"' in draw(renderer, block, SPOT.within(2))


def test_a_note_shows_its_evidence_inert(renderer: Renderer) -> None:
    html = draw(renderer, Note(name("It failed."), "bad", prose("line\u202e 3")))
    assert "note bad" in html
    assert "U+202E" in html


def test_a_task_card_is_json() -> None:
    card = cast(dict[str, object], to_json(TaskCard("r", name("T"), name("B"), {"level": (name("easy"),)})))
    assert card["facets"] == {"level": ["easy"]}
