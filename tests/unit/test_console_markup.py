"""Text becomes HTML in one way only: escaped."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from core.entrypoints.console.parts.lists import badge, empty, listed
from core.entrypoints.console.parts.markup import address, el, join, link

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{7*7}}"


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"])))
def test_text_comes_back_as_it_went_in(text: str) -> None:
    (cell,) = html.fragments_fromstring(str(el("td", text, title=text)))
    assert (cell.text or "") == text
    assert cell.get("title") == text
    assert len(cell) == 0


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
