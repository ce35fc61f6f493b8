"""Diffs of texts as a reviewer sees them: whole where small, bounded where large."""

from __future__ import annotations

import json
from itertools import pairwise
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.entrypoints.service.review_view.alignment import Block, Effort, align
from core.entrypoints.service.review_view.shown import Line, LineRow, RowKind, TextDiff
from core.entrypoints.service.review_view.texts import LINE_CHARS, Room, text_diff

UNITS = st.lists(st.sampled_from("abcde"), max_size=30)


def rows_of(before: str | None, after: str | None) -> tuple[LineRow, ...]:
    return text_diff(before, after, Room()).rows


def marked(line: Line | None) -> list[str]:
    assert line is not None
    return [line.text[span.start : span.end] for span in line.spans]


@given(UNITS, UNITS, st.integers(0, 40))
def test_blocks_cover_both_sides_in_order_and_the_same_is_the_same(
    old: list[str], new: list[str], pairs: int
) -> None:
    blocks = align(old, new, Effort(pairs))
    ends = [(0, 0), *((block.end, block.to_end) for block in blocks)]
    starts = [*((block.start, block.to_start) for block in blocks), (len(old), len(new))]
    assert ends == starts
    assert all(one.same != other.same for one, other in pairwise(blocks))
    for block in blocks:
        alike = old[block.start : block.end] == new[block.to_start : block.to_end]
        assert alike or not block.same


def test_long_texts_are_aligned_by_the_lines_that_occur_once() -> None:
    old = [f"line {n}" for n in range(300)]
    new = [line for n, line in enumerate(old) if n % 50]
    kept = [block for block in align(old, new, Effort()) if block.same]
    assert sum(block.end - block.start for block in kept) == len(new)
    assert all(block.end - block.start == block.to_end - block.to_start for block in kept)


def test_lines_stand_side_by_side_with_their_numbers() -> None:
    kinds = [(r.kind.value, r.left and r.left.number, r.right and r.right.number)
             for r in rows_of("a\nb\nc\n", "a\nc\nd\n")]  # fmt: skip
    assert kinds == [
        ("same", 1, 1),
        ("removed", 2, None),
        ("same", 3, 2),
        ("added", None, 3),
    ]


def test_a_line_that_changed_has_its_number_on_each_side() -> None:
    *_, row = rows_of("a\nb\nc\n금액은 원화로 적는다\n", "a\nc\n금액은 달러로 적는다\n")
    assert row.kind is RowKind.CHANGED
    assert [line.number for line in (row.left, row.right) if line] == [4, 3]


def test_korean_is_marked_by_syllables_and_its_particles_stay() -> None:
    (row,) = rows_of("금액은 원화로 적는다", "금액은 달러로 적는다")
    assert row.kind is RowKind.CHANGED
    assert (marked(row.left), marked(row.right)) == (["원화"], ["달러"])


def test_jamo_are_marked_with_their_syllable() -> None:
    before, after = (normalize("NFD", text) for text in ("값은 한 번 적는다", "값은 할 번 적는다"))
    (row,) = rows_of(before, after)
    assert (marked(row.left), marked(row.right)) == (
        [normalize("NFD", "한")],
        [normalize("NFD", "할")],
    )


def test_what_is_only_added_is_marked_on_its_side_alone() -> None:
    (row,) = rows_of("금액은 적는다", "금액은 원화로 적는다")
    assert marked(row.left) == []
    assert "".join(marked(row.right)).strip() == "원화로"


def test_words_and_numbers_are_marked_whole() -> None:
    (row,) = rows_of("orders over 1000 need approval", "orders over 2000 need an approval")
    assert marked(row.left)[0] == "1000"
    assert marked(row.right)[0] == "2000"


@pytest.mark.parametrize(
    ("before", "after", "left", "right"),
    [
        ("the whole total is a-b now", "the whole total is c-d now", ["a-b"], ["c-d"]),
        ("a-b is the whole total now", "c-d is the whole total now", ["a-b"], ["c-d"]),
        ("now the whole total is a-b", "now the whole total is c-d", ["a-b"], ["c-d"]),
        ("the total is a or b by now", "the total is c or d by now", ["a", "b"], ["c", "d"]),
        ("(one is the whole total)", "(two is the whole total)", ["one"], ["two"]),
        ("(the whole total is one)", "(the whole total is two)", ["one"], ["two"]),
    ],
)
def test_a_lone_character_between_two_changes_is_marked_with_them(
    before: str, after: str, left: list[str], right: list[str]
) -> None:
    (row,) = rows_of(before, after)
    assert (marked(row.left), marked(row.right)) == (left, right)


def test_pairs_that_were_compared_closely_are_compared_no_more() -> None:
    old, new, effort = ["x", "a", "y"], ["z", "a", "w"], Effort(pairs=1)
    assert [block.same for block in align(old, new, effort)] == [False, True, False]
    assert align(old, new, effort) == [Block(False, 0, 3, 0, 3)]


def test_a_line_that_comes_often_is_aligned_like_any_other() -> None:
    old, new = ([f"{side}{n}" if n % 40 else "same" for n in range(1, 201)] for side in "ab")
    same = [block.start + 1 for block in align([*old[:-1], "a"], [*new[:-1], "b"], Effort())
            if block.same]  # fmt: skip
    assert same == [40, 80, 120, 160]


def test_lines_with_little_in_common_are_marked_as_a_whole() -> None:
    (row,) = rows_of("alpha beta gamma", "하나 둘 셋 넷 다섯")
    assert row.kind is RowKind.CHANGED
    assert marked(row.left) == marked(row.right) == []


def test_what_stays_is_folded_but_for_three_lines_around_a_change() -> None:
    lines = [f"line {n}" for n in range(30)]
    after = [*lines]
    after[15] = "another"
    rows = rows_of("\n".join(lines), "\n".join(after))
    assert [row.kind.value for row in rows] == [
        "folded", "same", "same", "same", "changed", "same", "same", "same", "folded"
    ]  # fmt: skip
    assert [row.hidden for row in rows if row.hidden] == [12, 11]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\n", "a"),
        ("a", "a\n"),
        ("a\r\nb", "a\nb"),
        ("\uac12", "\u1100\u1161\u11b9"),
        ("a b", "a\u00a0b"),
    ],
)
def test_no_difference_of_bytes_is_without_a_row(before: str, after: str) -> None:
    assert any(row.kind is not RowKind.SAME for row in rows_of(before, after))


def test_a_text_that_comes_or_goes_is_all_added_or_removed() -> None:
    assert [row.kind.value for row in rows_of(None, "a\nb\n")] == ["added", "added"]
    assert [row.kind.value for row in rows_of("a\nb\n", None)] == ["removed", "removed"]


def _size(diff: TextDiff) -> int:
    return len(json.dumps(diff.model_dump(mode="json")))


LARGE = {
    "many changes": (
        "\n".join(f"line {n} {'x' * 40}" for n in range(40_000)),
        "\n".join(f"line {n if n % 50 else -n} {'x' * 40}" for n in range(40_000)),
    ),
    "nothing alike": (
        "\n".join(f"{n}a" for n in range(200_000)),
        "\n".join(f"{n}b" for n in range(200_000)),
    ),
    "turned around": (
        "\n".join(f"{n}" for n in range(200_000)),
        "\n".join(f"{n}" for n in reversed(range(200_000))),
    ),
    "few different lines": ("a\nb\n" * 500_000, "b\na\na\n" * 300_000),
}


@pytest.mark.parametrize("name", LARGE)
def test_two_megabytes_come_back_bounded_and_say_what_is_left_out(name: str) -> None:
    before, after = LARGE[name]
    diff = text_diff(before, after, Room())
    assert len(diff.rows) <= 1_000
    assert diff.more > 0
    assert _size(diff) < 1_000_000
    assert diff.added > 0
    assert diff.removed > 0


def test_a_line_of_a_megabyte_is_shown_around_its_first_change() -> None:
    (row,) = rows_of("가" * 500_000, "가" * 300_000 + "나" + "가" * 200_000)
    assert row.left is not None
    assert row.right is not None
    assert row.left.cut
    assert len(row.right.text) <= LINE_CHARS
    assert marked(row.right)[0].startswith("나")


def test_files_share_the_room_of_a_view() -> None:
    room = Room(rows=3)
    first, second = text_diff(None, "a\nb\n", room), text_diff(None, "c\nd\ne\n", room)
    assert [len(first.rows), len(second.rows), second.more] == [2, 1, 2]
