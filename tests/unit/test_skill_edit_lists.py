"""Appending to lists, and duplicate headings: an author can address every position."""

from __future__ import annotations

import pytest

from core.domain.errors import BundleInvalid
from core.domain.models import SkillEdit
from core.skills.document.edits import edit_text


def appended(text: str, item: str, heading: str = "A") -> str:
    return edit_text(text, SkillEdit(op="append_item", heading=heading, text=item))


def replaced(text: str, heading: str) -> str:
    return edit_text(text, SkillEdit(op="replace_section", heading=heading, text="새 글"))


@pytest.mark.parametrize(
    ("before", "item", "after"),
    [
        ("- 가\n- 나\n", "다", "- 가\n- 나\n- 다\n"),
        ("* a\n* b\n\nend\n", "- c", "* a\n* b\n* c\n\nend\n"),
        ("1. a\n2. b\n", "3. c", "1. a\n2. b\n3. c\n"),
        ("1. a\n1. b\n", "c", "1. a\n1. b\n1. c\n"),
        ("7) a\n", "c", "7) a\n8) c\n"),
        ("8. a\n9. b\n", "c\n\nmore", "8. a\n9. b\n10. c\n\n    more\n"),
        ("01. a\n02. b\n", "c", "01. a\n02. b\n03. c\n"),
        ("- a\n\n- b\n", "c", "- a\n\n- b\n\n- c\n"),
        ("  -  a\n  -  b\n", "c\nd", "  -  a\n  -  b\n  -  c\n     d\n"),
        ("- [x] a\n", "c", "- [x] a\n- [ ] c\n"),
        ("- [x] a\n", "[x] c", "- [x] a\n- [x] c\n"),
        ("-\ta\n", "c\nd", "-\ta\n-\tc\n    d\n"),
        ("- a\n  - inner\n", "c", "- a\n  - inner\n- c\n"),
        ("- a\nlazy\n", "c", "- a\nlazy\n- c\n"),
        ("- a\n", "- b\n- c\n  - d", "- a\n- b\n- c\n  - d\n"),
        ("- a\n", "-    b\n     more", "- a\n- b\n  more\n"),
        ("- a\n", "-     b", "- a\n-     b\n"),
        ("- a\n", "1. b\n2. c", "- a\n- b\n- c\n"),
        ("- a\n", "\n1. b\n2. c", "- a\n- b\n- c\n"),
        ("- a\n- b", "c", "- a\n- b\n- c\n"),
        ("- a\r\n- b\r\n", "c", "- a\r\n- b\r\n- c\r\n"),
        ("- a\r- b\r", "c", "- a\r- b\r- c\r"),
        ("- a\n-\n", "c", "- a\n-\n- c\n"),
        ("- a\n-      code\n", "c", "- a\n-      code\n- c\n"),
        ("- a\n\n      code\n", "c", "- a\n\n      code\n- c\n"),
        ("1. first\n\ntext\n\n- a\n", "c", "1. first\n\ntext\n\n- a\n- c\n"),
        ("- a\n### B\n\n- of b\n", "c", "- a\n- c\n\n### B\n\n- of b\n"),
        ("- a\n", "2024. 5. 1.부터 적용", "- a\n- 2024. 5. 1.부터 적용\n"),
        ("- a\n", "1. b\n\nplain", "- a\n- 1. b\n\n  plain\n"),
        ("- a\n", "- b\n\n1. c", "- a\n- - b\n\n  1. c\n"),
        ("- a\n", "```sh\nrun\n```", "- a\n- ```sh\n  run\n  ```\n"),
        ("- a\n", "- b\n\n- c\n\n  more", "- a\n- b\n- c\n\n  more\n"),
        ("- a\n\n- b\n", "- c\n- d", "- a\n\n- b\n\n- c\n\n- d\n"),
        ("- a\n", "\n\nb\n\n", "- a\n- b\n"),
        ("- a\n", "- [X] b", "- a\n- [X] b\n"),
        ("- [ ] a\n", "- b\n- [X] c", "- [ ] a\n- [ ] b\n- [X] c\n"),
        ("999. a\n", "1. b\n2. c", "999. a\n1000. b\n1001. c\n"),
        ("-    a\n", "b\nc", "-    a\n-    b\n     c\n"),
        ("-     a\n", "b", "-     a\n- b\n"),
        ("- a\n- \n", "b", "- a\n- \n- b\n"),
        ("- a\n", "-\tb\n\tc", "- a\n- b\n  c\n"),
        ("- a\n", "- b\n      c", "- a\n- b\n      c\n"),
        ("- a\n", "- b\nlazy", "- a\n- b\n  lazy\n"),
        ("1. a\n", "1. b\n   - c\n   - d", "1. a\n2. b\n   - c\n   - d\n"),
    ],
)
def test_an_item_is_written_as_its_list_is(before: str, item: str, after: str) -> None:
    assert appended(f"## A\n\n{before}", item) == f"## A\n\n{after}"


def test_without_a_heading_the_last_list_of_the_text_is_meant() -> None:
    assert appended("- a\n\n# B\n\n- b\n\nend", "c", "") == "- a\n\n# B\n\n- b\n- c\n\nend"


@pytest.mark.parametrize(
    ("text", "heading", "said"),
    [
        ("# A\n\ntext\n", "A", "no list under 'A' to append to; use insert_section"),
        ("# A\n\n## B\n\n- b\n", "A", "(there is one under 'A > B')"),
        ("text\n", "", "the text has no list"),
        ("# A\n\n> - quoted\n", "A", "no list under 'A'"),
        ("# A\n\n999999999. x\n", "A", "no number is left"),
        ("# A\n\n- x\n", "B", "no heading 'B'"),
        ("no headings\n", "B", "the text has no headings"),
    ],
)
def test_where_there_is_no_list_it_is_said(text: str, heading: str, said: str) -> None:
    with pytest.raises(BundleInvalid) as caught:
        appended(text, "c", heading)
    assert said in caught.value.message


TWICE = "# 환불\n\n## 예외\n\n하나\n\n# 교환\n\n## 예외\n\n둘\n\n## 예외\n\n셋\n"


def test_a_heading_that_stands_twice_is_told_with_those_above_it() -> None:
    with pytest.raises(BundleInvalid) as caught:
        replaced(TWICE, "예외")
    assert caught.value.message == (
        "heading '예외' stands 3 times; say which: "
        "'환불 > 예외', '교환 > 예외 [1]', '교환 > 예외 [2]'"
    )


@pytest.mark.parametrize(
    ("path", "old"),
    [
        ("환불 > 예외", "하나"),
        ("# 환불 > ## 예외", "하나"),
        ("교환 > 예외 [1]", "둘"),
        ("교환 > 예외 [2]", "셋"),
        ("예외 [3]", "셋"),
    ],
)
def test_each_of_them_is_reached_by_the_address_that_was_told(path: str, old: str) -> None:
    assert replaced(TWICE, path) == TWICE.replace(old, "새 글")


def test_the_shorter_of_two_paths_that_end_alike_can_be_named_too() -> None:
    text = "# A\n\n## B\n\none\n\n# X\n\n## A\n\n### B\n\ntwo\n"
    assert replaced(text, "A > B") == text.replace("one", "새 글")
    assert replaced(text, "X > A > B") == text.replace("two", "새 글")


def test_a_heading_that_looks_like_an_address_is_found_by_its_text() -> None:
    text = "# A > B\n\none\n\n# B [2]\n\ntwo\n"
    assert replaced(text, "A > B") == text.replace("one", "새 글")
    assert replaced(text, "B [2]") == text.replace("two", "새 글")


def test_of_many_headings_the_nearest_are_told() -> None:
    text = "".join(f"## Chapter {number}\n\nx\n\n" for number in range(500))
    with pytest.raises(BundleInvalid) as caught:
        replaced(text, "Chapter 77x")
    assert "'Chapter 77'" in caught.value.message
    assert "of 500 headings" in caught.value.message
    assert len(caught.value.message) < 1_000


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (20, "the headings are: 'Chapter 1', 'Chapter 2', "),
        (21, "of 22 headings the nearest are: 'Chapter 17', "),
    ],
)
def test_of_more_than_twenty_headings_the_nearest_are_told_first(count: int, said: str) -> None:
    text = "# Chapter 1\n\nx\n\n" + "".join(f"# Chapter {n}\n\nx\n\n" for n in range(1, count + 1))
    with pytest.raises(BundleInvalid) as caught:
        replaced(text, "## Chap 17")
    told = caught.value.message
    assert told.startswith("there is no heading '## Chap 17'; did you mean 'Chapter 17' or ")
    assert told.split("? ")[0].count(" or ") == 2
    assert said in told
    assert told.split(" are: ")[1].count("Chapter") == 20


def test_where_no_heading_is_near_none_is_meant() -> None:
    with pytest.raises(BundleInvalid) as caught:
        replaced("# Refund\n", "끝")
    assert caught.value.message == "there is no heading '끝'; the headings are: 'Refund'"


def test_new_lines_end_as_those_beside_them() -> None:
    mixed = "# A\n\none\n\n# B\r\n\r\ntwo\r\n\r\n# C\rthree\r"
    insert = SkillEdit(op="insert_section", heading="B", text="x\ny")
    assert edit_text(mixed, insert) == mixed.replace("two\r\n", "two\r\n\r\nx\r\ny\r\n")
    insert = SkillEdit(op="insert_section", heading="C", text="x")
    assert edit_text(mixed, insert) == f"{mixed}\rx\r"


def test_a_byte_order_mark_hides_no_heading() -> None:
    assert replaced("\ufeff# A\n\nold\n", "A") == "\ufeff# A\n\n새 글\n"


def test_nothing_is_put_into_a_fence_that_was_left_open() -> None:
    insert = SkillEdit(op="insert_section", text="x")
    with pytest.raises(BundleInvalid, match="left open"):
        edit_text("# A\n\n```\ncode\n", insert)
    assert replaced("# A\n\n```\ncode\n", "A") == "# A\n\n새 글\n"


def test_a_comment_that_ends_later_may_not_swallow_what_is_between() -> None:
    section = SkillEdit(op="replace_section", heading="A", text="a\n\n<!-- open")
    with pytest.raises(BundleInvalid, match="swallow"):
        edit_text("# A\n\none\n\n# B\n\n<!-- x -->\n\ntwo\n", section)
