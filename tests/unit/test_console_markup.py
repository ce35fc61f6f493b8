"""Text becomes HTML in one way only: escaped."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from core.domain.text import printable, visible_parts
from core.entrypoints.console.parts.lists import badge, empty, listed
from core.entrypoints.console.parts.markup import address, el, join, link

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{7*7}}"


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"])))
def test_text_comes_back_as_it_went_in(text: str) -> None:
    (cell,) = html.fragments_fromstring(str(el("td", text, title=text)))
    parts = [f"[U+{ord(part):04X}]" if hid else part for part, hid in visible_parts(text)]
    assert cell.text_content() == "".join(parts)
    assert cell.get("title") == printable(text)
    assert {part.tag for part in cell} <= {"bdi", "span"}


@pytest.mark.parametrize(
    ("text", "shown", "title"),
    [
        ("계좌 110\u202e999-888", "계좌 110[U+202E]999-888", "RIGHT-TO-LEFT OVERRIDE"),
        ("승인\u200b 불필요", "승인[U+200B] 불필요", "ZERO WIDTH SPACE"),
        ("a\u3164b", "a[U+3164]b", "HANGUL FILLER"),
        ("x\U000e0041", "x[U+E0041]", "TAG LATIN CAPITAL LETTER A"),
        ("보\ufe01안", "보[U+FE01]안", "VARIATION SELECTOR-2"),
        ("ab\x1b[31m", "ab[U+001B][31m", "CONTROL CHARACTER"),
        ("a\u200db", "a[U+200D]b", "ZERO WIDTH JOINER"),
    ],
)
def test_what_would_not_be_seen_has_a_mark_with_its_name(text: str, shown: str, title: str) -> None:
    (cell,) = html.fragments_fromstring(str(el("td", text)))
    assert cell.text_content() == shown
    assert [mark.get("title") for mark in cell if mark.get("class") == "unseen"] == [title]


@pytest.mark.parametrize("text", ["👩\u200d💻", "❤\ufe0f", "1\ufe0f\u20e3", "क्\u200dष", "a\r\nb"])
def test_what_emoji_scripts_and_lines_need_has_no_mark(text: str) -> None:
    assert "unseen" not in str(el("td", text))


def test_letters_written_leftward_reorder_no_number() -> None:
    (cell,) = html.fragments_fromstring(str(el("td", "حساب 110-999-888777 now")))
    (outer,) = cell
    assert (outer.tag, cell.text_content()) == ("bdi", "حساب 110-999-888777 now")
    assert [(one.tag, one.get("dir"), one.text) for one in outer] == [
        ("bdi", "ltr", "110-999-888777")
    ]


def test_what_tries_to_run_is_shown() -> None:
    made = str(
        join(
            [
                el("p", EVIL),
                link(EVIL, "/console/review", id=EVIL),
                badge(EVIL, EVIL),
                listed([EVIL], [[EVIL]], label=EVIL),
                empty(EVIL, EVIL),
            ]
        )
    )
    tree = html.fragment_fromstring(made, create_parent="div")
    assert {found.tag for found in tree.iter()}.isdisjoint({"script", "img"})
    assert not [name for found in tree.iter() for name in found.attrib if name.startswith("on")]
    assert tree.text_content().count("<script>alert(1)</script>") == 7


def test_markup_inside_markup_is_not_escaped_twice() -> None:
    assert el("p", el("b", "a & b"), " < c") == "<p><b>a &amp; b</b> &lt; c</p>"


@pytest.mark.parametrize("name", ["onclick", "style", "src", "srcdoc", "formaction"])
def test_an_attribute_that_could_do_something_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="harmless"):
        el("a", "x", **{name: "x"})


@pytest.mark.parametrize(
    "path", ["javascript:alert(1)", "//evil.example", "https://evil.example", "/\\evil", ""]
)
def test_a_link_leads_nowhere_but_to_this_server(path: str) -> None:
    with pytest.raises(ValueError, match="no path of this server"):
        link("x", path)
    with pytest.raises(ValueError, match="no path of this server"):
        el("a", "x", href=path)


def test_a_query_is_quoted_and_what_is_empty_is_left_out() -> None:
    assert address("/console/feedback", id="a/b & 한글", status=None, cursor="") == (
        "/console/feedback?id=a%2Fb+%26+%ED%95%9C%EA%B8%80"
    )
