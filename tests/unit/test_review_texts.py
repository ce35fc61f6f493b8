"""Diffs of texts as a reviewer sees them: whole where small, bounded where large."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain, combinations, pairwise, permutations
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.entrypoints.service.review_view.alignment import Block, Effort, align, rising
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


def test_the_longest_rising_run_of_any_order_is_found() -> None:
    for order in chain.from_iterable(permutations(range(n)) for n in range(6)):
        run = [order[index] for index in rising(order)]
        longest = max(n for n in range(len(order) + 1) for some in combinations(order, n)
                      if [*some] == sorted(some))  # fmt: skip
        assert (run, len(run)) == (sorted(run), longest)


def other(side: str, count: int) -> list[str]:
    """Return units that are on one side only."""
    return [f"{side}{n}" for n in range(count)]


def alike(old: Sequence[str], new: Sequence[str], effort: Effort | None = None) -> int:
    """Return how many units correspond, of two sequences that begin and end with others."""
    blocks = align(["a", *old, "b"], ["c", *new, "d"], effort or Effort())
    return sum(block.end - block.start for block in blocks if block.same)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        (["s", "s", *other("o", 196)], ["s", *other("n", 197)], 1),
        # Longer than this, only what occurs once on both sides is looked for.
        (["s", "s", *other("o", 197)], ["s"], 0),
        (["s"], ["s", "s", *other("n", 197)], 0),
        (["s", *other("o", 300)], [*other("n", 300), "s"], 1),
        # So many pairs of equal units are compared, and no more.
        (["s"] * 40, ["s"] * 100, 40),
        (["s"] * 40, ["s"] * 101, 0),
    ],
)
def test_what_is_large_is_aligned_by_what_occurs_once(
    old: list[str], new: list[str], found: int
) -> None:
    assert alike(old, new) == found


def test_what_lies_within_anchors_is_looked_at_to_a_depth() -> None:
    def nested(side: str, level: int) -> list[str]:
        """Return units with two anchors, which are none outside: one side has them twice."""
        if level == 10:
            return other(side, 300)
        around = [f"begin {level + 1}", f"end {level + 1}"] if side == "o" else []
        inner = [f"begin {level}", *nested(side, level + 1), f"end {level}"]
        return [f"{side}{level}", *inner, *around, f"{side}{level}"]

    assert alike(nested("o", 0), nested("n", 0)) == 2 * 8


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


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("abc,defghi", "abc;jklmno", [",defghi"]),  # three characters of ten stay
        ("ab,cdefghi", "ab;jklmnop", []),
        ("abc,defghi", "abc;jklmnop", []),  # of eleven
    ],
)
def test_a_line_is_marked_in_part_where_three_tenths_of_it_stay(
    before: str, after: str, changed: list[str]
) -> None:
    (row,) = rows_of(before, after)
    assert marked(row.left) == changed


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


@pytest.mark.parametrize("at", [0, 1, 99, 100, 101, 700, 1_250, 1_499])
def test_a_long_line_begins_a_hundred_characters_before_its_change(at: int) -> None:
    line = "가" * 1_500
    (row,) = rows_of(line, f"{line[:at]}나{line[at + 1 :]}")
    assert row.left is not None
    assert row.right is not None
    begins = max(0, at - 100)
    assert row.right.text.index("나") == at - begins
    assert [(span.start, span.end) for span in row.right.spans] == [(at - begins, at - begins + 1)]
    assert len(row.left.text) == min(LINE_CHARS, 1_500 - begins)
    assert row.left.cut


def test_a_long_line_that_is_cut_off_is_shown_around_its_end() -> None:
    for before, after in (("가" * 1_500, "가" * 1_200), ("가" * 1_200, "가" * 1_500)):
        (row,) = rows_of(before, after)
        sides = [line and len(line.text) for line in (row.left, row.right)]
        assert sides == [min(LINE_CHARS, len(text) - 1_100) for text in (before, after)]


def test_a_line_is_whole_up_to_a_thousand_characters() -> None:
    line = "가" * (LINE_CHARS - 1)
    (row,) = rows_of(f"{line}a", f"{line}b")
    assert row.left is not None
    assert (row.left.text, row.left.cut) == (f"{line}a", False)
    same, _ = rows_of(f"{line}a\nb", f"{line}a\nc")
    longer, _ = rows_of(f"{line}ab\nb", f"{line}ab\nc")
    for shown, is_cut in ((same, False), (longer, True)):
        assert shown.left is not None
        assert (shown.left.text, shown.left.cut) == (f"{line}a", is_cut)


def sketch(rows: Sequence[LineRow]) -> list[str]:
    """Return rows as `kind number|number`, a folded one with how many it stands for."""
    return [
        f"{row.kind.value} {row.left.number if row.left else '-'}"
        f"|{row.right.number if row.right else '-'}{f' {row.hidden}' if row.hidden else ''}"
        for row in rows
    ]


def lines(*parts: str | int) -> str:
    """Return a text of these lines, a number standing for so many that stay."""
    found: list[str] = []
    for part in parts:
        found += [part] if isinstance(part, str) else [f"of {part}: {n}" for n in range(part)]
    return "\n".join(found)


@pytest.mark.parametrize(
    ("count", "folded"), [(7, []), (8, ["folded -|- 2"]), (20, ["folded -|- 14"])]
)
def test_between_changes_more_than_one_line_is_folded(count: int, folded: list[str]) -> None:
    rows = sketch(rows_of(lines("a1", "b", count, "c1"), lines("a2", count, "c2")))
    assert [row for row in rows if "folded" in row] == folded
    assert rows[:4] == ["changed 1|1", "removed 2|-", "same 3|2", "same 4|3"]
    end = count + 2
    assert rows[-4:] == [
        *(f"same {n}|{n - 1}" for n in (end - 2, end - 1, end)), f"changed {end + 1}|{end}"
    ]  # fmt: skip
    assert len(rows) == 10


@pytest.mark.parametrize(("count", "folded"), [(4, []), (5, ["folded -|- 2"])])
def test_before_the_first_and_behind_the_last_change_three_lines_stay(
    count: int, folded: list[str]
) -> None:
    before, after = ("\n".join((lines(count), word, lines(count))) for word in ("a", "b"))
    rows = sketch(rows_of(before, after))
    assert [row for row in rows if "folded" in row] == folded * 2
    assert (rows[0] == "folded -|- 2", rows[-1] == "folded -|- 2") == (bool(folded),) * 2
    whole = sketch(rows_of(lines(count), lines(count)))
    assert whole == [f"folded -|- {count}"]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a\nb\nc", "x\ny", ["changed 1|1", "changed 2|2", "removed 3|-"]),
        ("a\nb", "x\ny\nz", ["changed 1|1", "changed 2|2", "added -|3"]),
        ("", "a\n", ["added -|1"]),
        (None, "a\n", ["added -|1"]),
        ("", "a\nb", ["added -|1", "added -|2"]),
        ("a\n", "a", ["same 1|1", "removed 2|-"]),
        ("", "", []),
    ],
)
def test_lines_that_have_no_counterpart_stand_alone(
    before: str | None, after: str | None, expected: list[str]
) -> None:
    assert sketch(rows_of(before, after)) == expected


@pytest.mark.parametrize(
    ("room", "shown", "more"),
    [
        (Room(rows=1), 1, 16),
        (Room(rows=2), 2, 15),
        (Room(rows=8), 8, 6),  # of ten that stay the four in between are folded
        (Room(rows=10), 10, 4),
        (Room(rows=13), 13, 1),
        (Room(rows=14), 14, 0),
        (Room(chars=3), 1, 16),
        (Room(chars=4), 1, 16),
        (Room(chars=5), 2, 15),
        (Room(rows=0), 0, 17),
    ],
)
def test_what_there_is_no_room_for_is_counted_line_by_line(
    room: Room, shown: int, more: int
) -> None:
    same = [f"s{n}" for n in range(10)]
    before = "\n".join(["a1", *same, "z1", "z2"])
    after = "\n".join(["a2", *same, "z3", "z4", "z5", "z6", "z7", "z8"])
    diff = text_diff(before, after, room)
    assert (len(diff.rows), diff.more) == (shown, more)
    assert (diff.added, diff.removed) == (7, 3)


def test_files_share_the_room_of_a_view() -> None:
    room = Room(rows=3)
    first, second = text_diff(None, "a\nb\n", room), text_diff(None, "c\nd\ne\n", room)
    assert [len(first.rows), len(second.rows), second.more] == [2, 1, 2]
