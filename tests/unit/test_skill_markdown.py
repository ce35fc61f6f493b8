"""The Markdown block reader: what it skips does not change its result."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from core.domain.errors import BundleInvalid
from core.domain.models import SkillEdit
from core.skills.document.edits import edit_text
from core.skills.document.markdown import Block, blocks, headings

_IN_ANY = ("fence", "code_block", "html_block", "heading_open", "blockquote_open")
_LEADS = ("", "- ", "  - ", "    - ", "1. ", "   2) ", "> ", "> > ", "    ", "\t", "- > ")
_TEXTS = ("a", "", "# b *c*", "```", "---", "===", "<!-- d", "-->", "<p>", "[e]: /f", "g\r", "\0")


def as_parsed(text: str) -> tuple[Block, ...]:
    """Return what the parser reports for the blocks that a Block covers."""
    tokens = MarkdownIt("commonmark").parse(text)
    return tuple(
        Block(
            token.type,
            token.level,
            token.tag,
            *token.map,
            tokens[place + 1].content if token.type == "heading_open" else token.content,
        )
        for place, token in enumerate(tokens)
        if token.map and token.type != "inline" and token.nesting >= 0
        if token.level == 0
        or token.type in _IN_ANY
        or (token.level == 1 and token.type == "list_item_open")
    )


@given(st.lists(st.tuples(st.sampled_from(_LEADS), st.sampled_from(_TEXTS)), max_size=14))
def test_blocks_are_those_of_the_parser(lines: list[tuple[str, str]]) -> None:
    text = "\n".join(lead + said for lead, said in lines)
    assert blocks(text) == as_parsed(text)


@pytest.mark.parametrize("lead", ["- ", "> ", "1. "])
def test_what_follows_blocks_in_dozens_of_others_is_read(lead: str) -> None:
    deep = "".join(f"{' ' * len(lead) * depth}{lead}item\n" for depth in range(40))
    deep += f"\n{lead * 40}item\n"
    assert [heading.text for heading in headings(f"# A\n\n{deep}\n# B\n\n- c\n")] == ["A", "B"]


def test_an_item_is_added_to_a_list_that_is_deeper_than_the_parser_goes() -> None:
    deep = "# A\n\n" + "".join(f"{'  ' * depth}- item {depth}\n" for depth in range(30))
    edited = edit_text(deep, SkillEdit(op="append_item", heading="A", text="last"))
    assert edited == f"{deep}- last\n"


def test_a_heading_of_much_markup_is_named_as_it_is_written() -> None:
    (heading,) = headings("# " + "*a* " * 40)
    assert heading.text == " ".join(["*a*"] * 40)


def test_of_many_lists_below_a_section_the_first_few_are_named() -> None:
    below = "".join(f"## B{number}\n\n- c\n\n" for number in range(30))
    with pytest.raises(BundleInvalid, match=r"'A > B0', .*'A > B7' and 22 more\)"):
        edit_text(f"# A\n\n{below}", SkillEdit(op="append_item", heading="A", text="d"))
