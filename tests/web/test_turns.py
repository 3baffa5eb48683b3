"""Conversations on pages: who speaks, calls with their outputs, what is long folded, what is withheld told."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from rlx.answers import MARK
from rlx.formats.conversation import tools, turns
from rlx.ids import EnvKey
from rlx.model import Messages, Tools, Transcript
from rlx.web.assets import assets
from rlx.web.blocks_html import Spot
from rlx.web.links import Links as SiteLinks
from rlx.web.render import Renderer
from rlx.web.turns_html import CHARACTERS, LINES, said_parts

SPOT = Spot(EnvKey("dataset", "o", "n"), "train/0", "s-1")


@pytest.fixture(scope="module")
def renderer() -> Renderer:
    return Renderer(SiteLinks(assets().build))


def drawn(renderer: Renderer, value: object, spot: Spot = SPOT) -> str:
    return str(renderer.block(Transcript(turns(value)), spot, "en"))


def test_a_call_and_its_output_fold_together_and_a_failure_is_said(renderer: Renderer) -> None:
    html = drawn(
        renderer,
        [
            {
                "role": "assistant",
                "tool_calls": [{"id": "a", "function": {"name": "ls", "arguments": '{"path": "<b>"}'}}],
            },
            {"role": "tool", "tool_call_id": "a", "content": "no such file", "is_error": True},
        ],
    )
    (figure,) = re.findall(r"<details class=\"tool\" open>.*?</details>", html, re.DOTALL)
    assert "<b>ls</b>" in figure
    assert "&lt;b&gt;" in figure
    assert "no such file" in figure
    assert "failed" in figure
    assert html.count("<li") == 1


def test_the_middle_of_a_long_conversation_is_folded_and_counted(renderer: Renderer) -> None:
    html = drawn(renderer, [{"role": "user", "content": f"said {at}."} for at in range(30)])
    before, _, rest = html.partition("<details")
    middle, _, after = rest.partition("</details>")
    assert "20 turns in between" in middle
    assert "said 5." in before
    assert "said 6." in middle
    assert "said 25." in middle
    assert "said 26." in after


def test_reasoning_is_folded_and_says_how_it_begins(renderer: Renderer) -> None:
    html = drawn(renderer, [{"role": "assistant", "reasoning_content": "First this.\nThen that.", "content": "Done."}])
    assert re.search(r"<details[^>]*think.*First this\. Then that\..*</summary>", html, re.DOTALL)


def test_what_is_withheld_is_told_in_words_and_a_role_of_the_repositorys_own_is_escaped(renderer: Renderer) -> None:
    html = drawn(renderer, [{"role": "<i>judge</i>", "content": f"It is {MARK}."}])
    assert MARK not in html
    assert "withheld</span>." in html
    assert "<i>judge" not in html


def test_pictures_sounds_and_films_are_played_from_the_rows_own_files(renderer: Renderer) -> None:
    kinds = {
        "image/png": "png",
        "audio/wav": "wav",
        "video/mp4": "mp4",
        "image/svg+xml": "svg",
        "application/pdf": "pdf",
    }
    parts = [{"type": "x", "url": f"‹{kind}, 10 bytes: media/0.{end}›"} for kind, end in kinds.items()]
    html = drawn(renderer, [{"role": "user", "content": parts}])
    assert re.findall(r'<(\w+)[^>]* src="([^"]+)"', html.replace("%2F", "/")) == [
        ("img", "/raw/t/o/n/train/0?path=media/0.png"),
        ("audio", "/raw/t/o/n/train/0?path=media/0.wav"),
        ("video", "/raw/t/o/n/train/0?path=media/0.mp4"),
    ]
    assert 'loading="lazy"' in html
    assert html.replace("%2F", "/").count('class="tiny" href="/t/o/n/train/0?path=media/') == len(kinds)
    assert "src=" not in drawn(renderer, [{"role": "user", "content": parts}], Spot(SPOT.key, None, "s"))


def test_tools_are_signatures(renderer: Renderer) -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "b": {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
            "c": {"enum": ["x", "y"]},
        },
        "required": ["a"],
    }
    html = str(renderer.block(Tools(tools([{"name": "f", "description": "Does.", "parameters": schema}])), SPOT, "en"))
    assert "f(a: string, b?: (integer | null)[], c?: &#34;x&#34; | &#34;y&#34;)" in html
    assert "Does." in html.partition("<details")[0]


def test_turns_have_anchors_of_their_own(renderer: Renderer) -> None:
    block = Messages(turns([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]))
    ids = re.findall(
        r' id="([^"]+)"', str(renderer.block(block, SPOT, "en") + renderer.block(block, SPOT.within(2), "en"))
    )
    assert len(ids) == len(set(ids)) == 4


@given(st.text(alphabet="ab\n‹", max_size=400).map(lambda text: text * 40))
def test_a_folded_text_is_all_there(text: str) -> None:
    head, rest, more = said_parts(text, Markup("-"))
    whole = text.replace("\r\n", "\n").rstrip("\n")
    assert whole in {f"{head}{rest}", f"{head}\n{rest}"}
    assert bool(more) == bool(rest)
    assert head.count("\n") <= LINES
    assert len(head) <= CHARACTERS
