"""Markdown of a repository is rendered and can do nothing."""

import re
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

from rlx.ids import EnvKey
from rlx.web.links import Links
from rlx.web.markdown import Base, render_markdown

KEY = EnvKey("dataset", "org", "repo")
LINKS = Links("build", "https://hub.example")

UNSAFE_TAGS = re.compile(r"script|style|svg|math|img|iframe|object|embed|form|input|button|link|meta|base|template")
SHOWN = r"/raw/d/org/repo/files/|/-/image\?u="
PIECES = [
    *(
        "<script>",
        "</script>",
        "<img src=x ",
        "onerror=alert(1)",
        ">",
        "<a href=",
        "javascript:",
        "'",
        '"',
        "`",
        "```\n",
    ),
    *(
        "[x](",
        ")",
        "![",
        "](",
        "data:text/html,",
        "<svg>",
        "<style>",
        "</style>",
        "<!--",
        "-->",
        "\n\n",
        "&#x6a;",
        "# ",
    ),
]


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def html(text: str, ref: str | None = None, folder: str = "") -> str:
    return str(render_markdown(text, Base(KEY, ref, folder), LINKS, "en"))


def assert_inert(text: str) -> None:
    for tag, attributes in Tags(html(text)).tags:
        assert not UNSAFE_TAGS.fullmatch(tag)
        assert not [
            name for name in attributes if name.startswith("on") or name in {"style", "src", "srcset", "action"}
        ]
        href = attributes.get("href")
        shown = attributes.get("class") == "shot"
        assert href is None or re.match(SHOWN if shown else r"https?://|mailto:|/d/org/repo/|#md-", href)


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<svg onload=alert(1)><a xlink:href='javascript:alert(1)'>x</a></svg>",
        "<img src=x onerror=alert(1)>",
        '<a href="javascript:alert(1)">x</a>',
        '<a href="java\tscript:alert(1)">x</a>',
        '<a href=" &#106;avascript:alert(1)">x</a>',
        "[x](javascript:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "![x](data:image/svg+xml;base64,PHN2Zz4=)",
        "![x](javascript:alert(1))",
        '<a href="//evil.example/x">x</a>',
        '<div style="position:fixed">x</div>',
        "<style>body{display:none}</style>",
        "<iframe src=https://evil.example></iframe>",
        "<form action=https://evil.example><input name=q></form>",
        "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
        '<base href="https://evil.example/">',
        '<meta http-equiv="refresh" content="0;url=https://evil.example">',
        "<object data=x></object><embed src=x>",
        '<span class="btn btn-main" id="main">x</span>',
        "<details open ontoggle=alert(1)>x</details>",
        "```html\n</code></pre><script>alert(1)</script>\n```",
    ],
)
def test_what_could_act_is_gone(text: str) -> None:
    assert_inert(text)
    assert "<script" not in html(text)


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join) | st.text(max_size=200))
def test_no_text_becomes_anything_that_acts(text: str) -> None:
    assert_inert(text)


def test_ordinary_markdown_reads_as_it_should() -> None:
    found = html("# Title\n\n- a\n- b\n\n| x |\n|---|\n| 1 |\n\n~~no~~ **yes** https://example.com\n")
    assert '<h3 id="md-title">Title</h3>' in found
    assert "<li>a</li>" in found
    assert "<td>1</td>" in found
    assert "<s>no</s> <strong>yes</strong>" in found
    assert 'href="https://example.com"' in found
    assert 'rel="nofollow noopener ugc"' in found


def test_headings_leave_room_for_the_pages_own() -> None:
    assert "<h3" in html("<h2 align='center'>Raw</h2>")
    assert re.findall(r"<(h\d)", html("## a\n\n#### b\n\n###### c\n")) == ["h3", "h4", "h5"]
    card = render_markdown("# a\n\n## b\n", Base(KEY, top=2), LINKS, "en")
    assert re.findall(r"<(h\d)", card) == ["h2", "h3"]


def test_what_may_scroll_can_be_reached_by_keyboard() -> None:
    assert '<pre tabindex="0">' in html("```\nx\n```\n")
    assert '<table tabindex="0">' in html("| x |\n|---|\n| 1 |\n")


@pytest.mark.parametrize(
    ("url", "ref", "folder", "target"),
    [
        ("docs/x.md", None, "", "/d/org/repo/files/docs/x.md"),
        ("../x.md", None, "docs", "/d/org/repo/files/x.md"),
        ("./x.md#part", None, "docs", "/d/org/repo/files/docs/x.md"),
        ("a%20b.md", None, "", "/d/org/repo/files/a%20b.md"),
        ("tests/test.sh", "task 1", "", "/t/org/repo/task%201?path=tests%2Ftest.sh"),
        ("/datasets/other/one", None, "", "https://hub.example/datasets/other/one"),
        ("#Some-Part", None, "", "#md-some-part"),
        ("https://example.com/a", None, "", "https://example.com/a"),
    ],
)
def test_links_lead_where_the_text_stands(url: str, ref: str | None, folder: str, target: str) -> None:
    assert Tags(html(f"[x]({url})", ref, folder)).tags[1][1]["href"] == target
    assert Tags(html(f'<p><a href="{url}">x</a></p>', ref, folder)).tags[1][1]["href"] == target


def test_a_link_out_of_the_repository_leads_nowhere() -> None:
    assert "href" not in html("[x](../../etc/passwd)")


def links(text: str, ref: str | None = None, folder: str = "") -> dict[str, tuple[str | None, str | None]]:
    """Class and target of each link, by its text."""
    found = re.findall(r"<a([^>]*)>([^<]*)</a>", html(text, ref, folder))
    return {
        words: (dict(Tags(f"<a{told}>").tags[0][1]).get("class"), dict(Tags(f"<a{told}>").tags[0][1]).get("href"))
        for told, words in found
    }


def test_images_are_links_that_show_them_and_none_is_loaded() -> None:
    text = "![A *chart*](img/chart%201.png)\n\n<img alt='Logo' src='https://cdn.example/logo.png?a=1&b=2' width=1>"
    assert "<img" not in html(text)
    found = links(text)
    assert found["Show image: A chart"] == ("shot", "/raw/d/org/repo/files/img/chart%201.png")
    kind, url = found["Show image: Logo"]
    assert kind == "shot"
    assert url is not None
    asked = dict(parse_qsl(urlsplit(url).query))
    assert asked["u"] == "https://cdn.example/logo.png?a=1&b=2"
    assert LINKS.is_image(asked["u"], asked["s"])


def test_an_image_beside_a_tasks_text_is_the_tasks_file() -> None:
    assert links("![x](../a.png)", "t/1", "docs")["Show image: x"] == ("shot", "/raw/t/org/repo/t/1?path=a.png")


@pytest.mark.parametrize(
    "source", ["http://plain.example/a.png", "data:image/png;base64,AA", "https://a:b@c.example/x.png", "//x.example/a"]
)
def test_an_image_that_is_not_fetched_is_an_ordinary_link_or_none(source: str) -> None:
    found = links(f"![x]({source})\n\n<img src='{source}' alt=y>")
    assert all(kind is None for kind, _ in found.values())


def test_an_image_in_a_link_is_the_name_of_the_link() -> None:
    for text in (
        "[![build](b.svg)](https://ci.example/)",
        "<a href='https://ci.example/'><img src=b.svg alt=build></a>",
    ):
        assert links(text) == {"image: build": (None, "https://ci.example/")}


def test_a_text_cannot_make_a_link_that_shows_what_nobody_signed() -> None:
    forged = '<a class="shot" href="/-/image?u=https://evil.example/x&s=00">x</a>'
    assert links(forged)["x"][1] != "/-/image?u=https://evil.example/x&s=00"
    assert links('<a class="btn shot" href="https://x.example">x</a>')["x"] == (None, "https://x.example")


def test_code_is_highlighted_and_text_that_reorders_is_spelled_out() -> None:
    found = html("```python\nimport os\n```\n\nuser\u202eadmin\n")
    assert '<span class="k">import</span>' in found
    assert "U+202E" in found
    assert "\u202e" not in found


@pytest.mark.parametrize("piece", ["![", "[", "[a](", "*a **b ", "_a", "a@", "`` ` ", "http://a.b ", "~~a", "&"])
def test_a_paragraph_too_long_to_be_parsed_is_shown_as_written(piece: str) -> None:
    text = (piece * 20_000).strip()[:100_000]
    tags = Tags(html(text)).tags
    assert [tag for tag, _ in tags] == ["p", "code"]
    assert ("".join(re.split(r"<[^>]*>", html(text))).strip()) == escape(text)


@pytest.mark.parametrize("tag", ["div", "b", "ul", "table", "details", "DIV "])
def test_html_that_is_too_deep_is_shown_as_written(tag: str) -> None:
    assert [name for name, _ in Tags(html(f"<{tag}>" * 30_000)).tags] == ["p", "code"]
    assert "li" in [name for name, _ in Tags(html(f"<{tag.strip()}>\n\n- a\n\n</{tag.strip()}>\n\n" * 300)).tags]


def test_a_text_of_very_many_lines_is_rendered_up_to_a_limit() -> None:
    found = html("- a\n" * 90_000)
    assert len(Tags(found).tags) <= 10_002
    assert "80,000 more lines are not rendered here" in found
    assert "not rendered" not in html("- a\n" * 10_000)
