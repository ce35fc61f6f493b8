"""Managed blocks: put in, found, replaced and taken out, and all else of a file stays."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.delivery.files.blocks import (
    by_hand,
    chunks,
    drop_block,
    find_block,
    head_of,
    mark_of,
    plain,
    put_block,
)
from core.domain.errors import Refused

MARK = mark_of("claude", "t", "a")
texts = st.text("ab #-<>!\n\r가", max_size=40).filter(lambda text: text.strip() != "")
bodies = st.text("ab #-\n가", max_size=40).map(lambda text: f"x{text}".rstrip("\n"))


@given(texts, bodies, bodies)
def test_a_block_is_replaced_and_what_people_wrote_stays(text: str, body: str, other: str) -> None:
    assume("skill-worker" not in text)
    assume("\r" not in text.replace("\r\n", ""))
    once = put_block("f", text, MARK, body, "")
    assert once.startswith(text)
    assert put_block("f", once, MARK, body, "") == once
    twice = put_block("f", once, MARK, other, "")
    found = find_block("f", twice, MARK)
    assert found
    assert found.body == f"{other}\n"
    assert (drop_block("f", twice, MARK) or "").rstrip() == text.rstrip()
    assert by_hand("f", twice, [MARK]) == by_hand("f", text, [MARK])


def test_text_behind_a_block_stays_behind_it() -> None:
    text = put_block("f", "# Mine\n", MARK, "one", "") + "\nAfterwards.\n"
    assert put_block("f", text, MARK, "two", "") == text.replace("one", "two")
    assert drop_block("f", text, MARK) == "# Mine\n\nAfterwards.\n"


def test_windows_line_breaks_stay_and_are_no_edit() -> None:
    text = put_block("f", "# Mine\r\n", MARK, "one\ntwo", "")
    assert "\n" not in text.replace("\r\n", "")
    found = find_block("f", text, MARK)
    assert found
    assert found.body == "one\ntwo\n"


def test_a_file_of_ours_alone_goes_with_its_block_and_head() -> None:
    text = put_block("f", None, MARK, "one", "---\npaths:\n  - a\n---\n")
    assert head_of(text) == "---\npaths:\n  - a\n---\n"
    assert drop_block("f", text, MARK) is None
    assert drop_block("f", f"{text}\nMine.\n", MARK) == "---\npaths:\n  - a\n---\n\nMine.\n"


BEGIN, END = (f"<!-- skill-worker:{word} {MARK} -->\n" for word in ("begin", "end"))
OTHER = f"<!-- skill-worker:begin {mark_of('claude', 't', 'b')} -->\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"a\n{BEGIN}b\n", 2),
        (f"a\n{END}", 2),
        (f"{BEGIN}b\n{BEGIN}{END}", 3),
        (f"{BEGIN}{END}{BEGIN}{END}", 3),
        (f"{BEGIN}{OTHER}{END}", 2),
    ],
)
def test_marks_that_are_no_pair_are_refused_with_their_line(text: str, line: int) -> None:
    with pytest.raises(Refused, match=f"line {line} of 'f'"):
        find_block("f", text, MARK)


def test_no_name_ends_the_comment_it_stands_in() -> None:
    mark = mark_of("claude", "t --> x", "주문/담당")
    assert mark == "claude t%20%2D%2D%3E%20x/주문%2F담당"


def test_entries_are_told_apart_by_their_ids() -> None:
    body = "## Head\n\n- [m1 v1] a\n  b\n- [m2 v3] c\n- mine\nalso mine\n"
    assert [(chunk.item_id, plain(chunk.text)) for chunk in chunks(body)] == [
        (None, "## Head"),
        ("m1", "a\nb"),
        ("m2", "c"),
        (None, "- mine"),
        (None, "also mine"),
    ]
