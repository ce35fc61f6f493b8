"""A drafted rule becomes a table with its rows, or is refused with all reasons."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count

import pytest

from core.decision_table import draft_to_table, parse_xml, to_xml
from core.domain.errors import RuleInvalid
from core.domain.models import (
    DecisionTable,
    HitPolicy,
    InputColumn,
    OutputColumn,
    RowEdit,
    RuleDraft,
)


def made(draft: RuleDraft, ids: Iterator[int] | None = None) -> DecisionTable:
    numbers = ids or count(1)
    return draft_to_table(draft, new_row_id=lambda: f"{next(numbers)}")


def rule(name: str = "승인", *, inputs: dict[str, str], outputs: dict[str, str]) -> RuleDraft:
    return RuleDraft(name=name, rows=(RowEdit(inputs=inputs, outputs=outputs),))


def test_several_rows_stay_several_rows_with_the_columns_they_name() -> None:
    draft = RuleDraft(
        name=" 환불   승인 ",
        rows=(
            RowEdit(
                inputs={"금액": " > 1000000 "}, outputs={"승인자": '"팀장"'}, annotation=" 큰\n돈 "
            ),
            RowEdit(inputs={"등급": '"VIP"'}, outputs={"승인자": '"없음"', "기한": "3"}),
        ),
    )
    with pytest.raises(RuleInvalid, match="row 1 gives no value for '기한'"):
        made(draft)
    rows = (draft.rows[0].model_copy(update={"outputs": {"승인자": '"팀장"', "기한": "1"}}),)
    table = made(draft.model_copy(update={"rows": rows + draft.rows[1:]}))
    assert (table.name, table.hit_policy) == ("환불 승인", HitPolicy.UNIQUE)
    assert table.inputs == (
        InputColumn(name="금액", type="number"),
        InputColumn(name="등급", type="string"),
    )
    assert [column.name for column in table.outputs] == ["승인자", "기한"]
    assert [(row.id, row.inputs) for row in table.rows] == [
        ("_1", ("> 1000000", "-")),
        ("_2", ("-", '"VIP"')),
    ]
    assert table.rows[0].annotation == "큰 돈"
    assert parse_xml(to_xml(table, decision_id="d")) == table


def test_columns_stand_in_their_order_and_rows_may_leave_conditions_out() -> None:
    draft = RuleDraft(
        name="n",
        hit_policy=HitPolicy.COLLECT,
        inputs=(InputColumn(name="b", type="integer"), InputColumn(name="a")),
        outputs=(OutputColumn(name="o", type="text"),),
        rows=(RowEdit(inputs={"a": "true", "b": ""}, outputs={"o": '"x"'}),),
    )
    table = made(draft)
    assert [(column.name, column.type) for column in table.inputs] == [
        ("b", "number"),
        ("a", "boolean"),
    ]
    assert table.outputs[0].type == "string"
    assert table.rows[0].inputs == ("-", "true")
    assert table.hit_policy is HitPolicy.COLLECT


def test_decomposed_hangul_names_the_same_column() -> None:
    draft = RuleDraft.model_validate(
        json.loads(
            '{"name": "n", "inputs": [{"name": "금액"}], "rows": [{"inputs": '
            '{"\u1100\u1173\u11b7\u110b\u1162\u11a8": "1"}, "outputs": {"o": "1"}}]}'
        )
    )
    assert made(draft).rows[0].inputs == ("1",)


def test_ids_that_come_twice_are_told_apart() -> None:
    rows = (RowEdit(inputs={"a": "1"}, outputs={"o": "1"}),) * 2
    table = draft_to_table(RuleDraft(name="n", rows=rows), new_row_id=lambda: "7 a")
    assert [row.id for row in table.rows] == ["_7_a", "_7_a_2"]


@pytest.mark.parametrize(
    ("draft", "said"),
    [
        (RuleDraft(), "blank name; the table has no row; .*no input column.*no output column"),
        (RuleDraft(name="조심하세요"), "the table has no row"),
        (rule(inputs={}, outputs={}), "no input column.*no output column"),
        (rule(inputs={"a": "1"}, outputs={}), "no output column"),
        (rule(inputs={"a": "1"}, outputs={"o": " "}), "row 1 gives no value for 'o'"),
        (rule(" ", inputs={"a": "1"}, outputs={"o": "1"}), "blank name"),
        (rule("x" * 201, inputs={"a": "1"}, outputs={"o": "1"}), "more than 200 characters"),
        (rule("a\0b", inputs={"a": "1"}, outputs={"o": "1"}), r"U\+0000"),
        (rule(inputs={" ": "1"}, outputs={"o": "1"}), "a column has a blank name"),
        (rule(inputs={"a": "1"}, outputs={"o": "\ud800"}), r"U\+D800"),
        (
            RuleDraft(
                name="n",
                inputs=(InputColumn(name="a"), InputColumn(name=" a")),
                rows=(RowEdit(inputs={"b": "1"}, outputs={"o": "1"}),),
            ),
            "two columns are named 'a'; row 1 names the unknown input column 'b'",
        ),
        (
            rule(inputs={"a": "1"}, outputs={"o": "1"}).model_copy(update={"remove_rows": ("r",)}),
            "no rows to remove",
        ),
    ],
)
def test_a_rule_about_nothing_is_refused_with_all_that_is_wrong(
    draft: RuleDraft, said: str
) -> None:
    with pytest.raises(RuleInvalid, match=said):
        made(draft)


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ('"open', "quotation mark that is not closed"),
        ("(1..5", "brackets that do not match"),
        ("not([1..5)", "brackets that do not match"),
        ("a\nb", "line break"),
        ("“VIP”", "typographic"),
        ("'VIP'", "single quotation marks"),
        ("> 1,000,000", "thousands separators"),
        (">= 12,345", "thousands separators"),
        ("[1..10,000]", "thousands separators"),
        ("1" * 2001, "longer than 2000"),
    ],
)
def test_cells_that_cannot_be_meant_are_refused(cell: str, said: str) -> None:
    with pytest.raises(RuleInvalid, match=f"the cell 'a' of row 1 .*{said}"):
        made(rule(inputs={"a": cell}, outputs={"o": "1"}))


@pytest.mark.parametrize(
    ("cell", "kind"),
    [
        ("> 1000000", "number"),
        ("(1..5]", "number"),
        ("]1..5[", "number"),
        ("not(]1..5[, 7)", "number"),
        ("200, 301,404", "number"),
        ('"a, (b", "c\\"["', "string"),
        ("not(true)", "boolean"),
        ('>= date("2026-01-01")', "date"),
        ('[date and time("2026-01-01T00:00")..date and time("2026-02-01T00:00")]', "date and time"),
        ('< time("10:00")', "time"),
        ("count(items) > 3", "Any"),
        ("팀장", "Any"),
    ],
)
def test_cells_of_feel_pass_and_tell_their_type(cell: str, kind: str) -> None:
    table = made(rule(inputs={"a": cell}, outputs={"o": "1"}))
    assert (table.rows[0].inputs, table.inputs[0].type) == ((cell,), kind)
