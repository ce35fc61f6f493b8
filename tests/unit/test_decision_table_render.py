"""Tables are rendered in aligned columns, Korean too, and as sentences for the search."""

from __future__ import annotations

import unicodedata

from core.decision_table import display_width, render_table, render_text, search_text
from tests.unit.test_decision_table_xml import APPROVAL


def test_the_grid_has_the_hit_policy_the_columns_and_the_rows() -> None:
    head, *rows = render_table(APPROVAL)
    assert head == [
        "F",
        "주문 금액 (number)",
        "grade (string)",
        "→ approver (string)",
        "→ days (number)",
        "annotation",
    ]
    assert rows[0] == ["r1", "> 1000000", "-", '"팀장"', "2", "100만원을 넘으면 팀장 승인"]


def test_columns_line_up_where_wide_characters_are_counted_as_two() -> None:
    title, head, rule, *rows = render_text(APPROVAL).splitlines()
    assert title == "주문 승인 (FIRST)"

    def bars(line: str) -> list[int]:
        return [display_width(line[:at]) for at, char in enumerate(line) if char in "│┼"]

    assert bars(head) == bars(rule) == bars(rows[0]) == bars(rows[1]) != []
    assert head.endswith("│ annotation")


def test_of_a_long_table_the_first_rows_are_shown_and_the_rest_is_counted() -> None:
    rows = tuple(APPROVAL.rows[0].model_copy(update={"id": f"r{n}"}) for n in range(1_500))
    text = render_text(APPROVAL.model_copy(update={"rows": rows}), most=3).splitlines()
    assert [line.split()[0] for line in text[3:-1]] == ["r0", "r1", "r2"]
    assert text[-1] == "… 1,497 more rows"


def test_width_does_not_depend_on_how_hangul_is_composed() -> None:
    assert display_width("승인ok") == display_width(unicodedata.normalize("NFD", "승인ok")) == 6
    assert display_width("e\u0301\u200b") == 1


def test_the_search_text_says_each_row_in_a_line() -> None:
    assert search_text(APPROVAL).splitlines() == [
        "주문 승인",
        '100만원을 넘으면 팀장 승인: 주문 금액 > 1000000 → approver "팀장", days 2',
        'grade "A & B < C" → approver "none", days 0',
    ]
