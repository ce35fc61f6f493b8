"""A table decides a case by its hit policy, and tells which rows fired and why others did not."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from pydantic import JsonValue

from core.decision_table import Decided, decide
from core.domain.errors import RuleInvalid
from core.domain.models import (
    Aggregation,
    DecisionRow,
    DecisionTable,
    HitPolicy,
    InputColumn,
    OutputColumn,
)

APPROVAL = DecisionTable(
    name="주문 승인",
    inputs=(InputColumn(name="주문 금액", type="number"), InputColumn(name="등급")),
    outputs=(OutputColumn(name="승인자"), OutputColumn(name="기한", type="number")),
    rows=(
        DecisionRow(id="r1", inputs=("> 1000000", "-"), outputs=('"팀장"', "2")),
        DecisionRow(id="r2", inputs=("<= 1000000", 'not("VIP")'), outputs=('"담당"', "1")),
        DecisionRow(id="r3", inputs=("<= 1000000", '"VIP"'), outputs=('"없음"', "주문 금액 / 4")),
    ),
)


def fees(
    policy: HitPolicy,
    *outputs: str,
    aggregation: Aggregation | None = None,
    allowed: str = "",
    default: str = "",
    kind: str = "number",
) -> DecisionTable:
    """A table whose row number n fires from n on."""
    return DecisionTable(
        name="fees",
        hit_policy=policy,
        aggregation=aggregation,
        inputs=(InputColumn(name="n", type="number"),),
        outputs=(OutputColumn(name="fee", type=kind, allowed=allowed, default=default),),
        rows=tuple(
            DecisionRow(id=f"r{number}", inputs=(f">= {number}",), outputs=(output,))
            for number, output in enumerate(outputs, 1)
        ),
    )


def given(table: DecisionTable, n: float) -> tuple[JsonValue, tuple[str, ...]]:
    decided = decide(table, {"n": n})
    return decided.result, decided.fired


def test_the_row_that_matches_gives_the_outputs_and_every_cell_says_why() -> None:
    decided = decide(APPROVAL, {"주문 금액": 1_000_000, "등급": "VIP"})
    assert decided.result == {"승인자": "없음", "기한": 250_000}
    assert decided.fired == ("r3",)
    cells = {row.id: [(cell.test, cell.value, cell.holds) for cell in row.cells]
             for row in decided.rows}  # fmt: skip
    assert cells == {
        "r1": [("> 1000000", "1000000", False), ("-", '"VIP"', True)],
        "r2": [("<= 1000000", "1000000", True), ('not("VIP")', '"VIP"', False)],
        "r3": [("<= 1000000", "1000000", True), ('"VIP"', '"VIP"', True)],
    }
    assert [row.matches for row in decided.rows] == [False, False, True]


def test_a_cell_that_cannot_be_told_says_what_kept_it() -> None:
    decided = decide(APPROVAL, {"주문 금액": None, "등급": "VIP"})
    assert decided.result is None
    assert decided.fired == ()
    cell = decided.rows[0].cells[0]
    assert (cell.holds, cell.value, cell.why) == (None, "null", "null and number do not compare")


def test_unique_names_the_rows_that_both_match() -> None:
    table = fees(HitPolicy.UNIQUE, "1", "1")
    assert given(table, 1) == ({"fee": 1}, ("r1",))
    with pytest.raises(RuleInvalid, match="rows 'r1', 'r2' all match, and UNIQUE allows one"):
        decide(table, {"n": 2})


def test_any_takes_equal_outputs_and_names_rows_that_differ() -> None:
    table = fees(HitPolicy.ANY, "1", "1.0", "2")
    assert given(table, 2) == ({"fee": 1}, ("r1", "r2"))
    with pytest.raises(RuleInvalid, match=r"rows 'r1' and 'r3' both match.*'fee' is 1 and 2"):
        decide(table, {"n": 3})


def test_first_takes_the_first_row_and_rule_order_all() -> None:
    assert given(fees(HitPolicy.FIRST, "3", "1", "2"), 3) == ({"fee": 3}, ("r1",))
    assert given(fees(HitPolicy.RULE_ORDER, "3", "1", "2"), 2) == (
        [{"fee": 3}, {"fee": 1}],
        ("r1", "r2"),
    )
    assert given(fees(HitPolicy.COLLECT, "3", "1", "2"), 2)[0] == [{"fee": 3}, {"fee": 1}]


def test_priority_and_output_order_follow_the_output_values() -> None:
    outputs, allowed = ('"낮음"', '"높음"', '"보통"'), '"높음", "보통", "낮음"'
    table = fees(HitPolicy.PRIORITY, *outputs, allowed=allowed, kind="string")
    assert given(table, 3) == ({"fee": "높음"}, ("r2",))
    table = fees(HitPolicy.OUTPUT_ORDER, *outputs, allowed=allowed, kind="string")
    assert given(table, 3) == (
        [{"fee": "높음"}, {"fee": "보통"}, {"fee": "낮음"}],
        ("r2", "r3", "r1"),
    )
    with pytest.raises(RuleInvalid, match="PRIORITY orders by the allowed values"):
        decide(fees(HitPolicy.PRIORITY, "1", "2"), {"n": 2})


@pytest.mark.parametrize(
    ("aggregation", "some", "none"),
    [
        (Aggregation.SUM, {"fee": 0.3}, None),
        (Aggregation.COUNT, {"fee": 2}, {"fee": 0}),
        (Aggregation.MIN, {"fee": 0.1}, None),
        (Aggregation.MAX, {"fee": 0.2}, None),
    ],
)
def test_collect_aggregates(aggregation: Aggregation, some: JsonValue, none: JsonValue) -> None:
    table = fees(HitPolicy.COLLECT, "0.1", "0.2", aggregation=aggregation)
    assert given(table, 2) == (some, ("r1", "r2"))
    assert given(table, 0) == (none, ())


def test_what_does_not_aggregate_is_named() -> None:
    table = fees(HitPolicy.COLLECT, '"a"', '"b"', aggregation=Aggregation.SUM, kind="string")
    with pytest.raises(RuleInvalid, match=r"SUM of 'fee' over rows 'r1', 'r2': .* holds string"):
        decide(table, {"n": 2})
    twice = (*table.outputs, OutputColumn(name="other"))
    rows = (DecisionRow(id="r", inputs=("-",), outputs=("1", "1")),)
    several = table.model_copy(update={"outputs": twice, "rows": rows})
    with pytest.raises(RuleInvalid, match="aggregates one output; there are several"):
        decide(several.model_copy(update={"outputs": tuple(
            column.model_copy(update={"type": "Any"}) for column in twice)}), {"n": 2})  # fmt: skip


def test_defaults_stand_in_where_no_row_fires() -> None:
    table = fees(HitPolicy.COLLECT, "1", default="9")
    assert given(table, 1) == ([{"fee": 1}], ("r1",))
    decided = decide(table, {"n": 0})
    assert (decided.result, decided.fired, decided.defaulted) == ({"fee": 9}, (), True)
    assert decide(fees(HitPolicy.COLLECT, "1"), {"n": 0}).result == []


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        (fees(HitPolicy.FIRST, '"x"'), "row 'r1' gives 'fee' \"x\": string stands where number"),
        (fees(HitPolicy.FIRST, "5", allowed="1, 2"), "row 'r1' gives 'fee' 5, which is none of"),
        (fees(HitPolicy.FIRST, "5", kind="tFee"), "the type 'tFee' is not supported"),
        (fees(HitPolicy.FIRST, "n >"), "row 'r1', output 'fee': FEEL `n >` at character 4"),
        (fees(HitPolicy.FIRST, "1", allowed="<"), "the allowed values of 'fee': FEEL `<`"),
        (fees(HitPolicy.FIRST, "1", default="m"), "the default value of 'fee': FEEL `m`"),
    ],
)
def test_outputs_that_do_not_fit_are_refused(table: DecisionTable, problem: str) -> None:
    with pytest.raises(RuleInvalid, match=problem):
        decide(table, {"n": 1})


def test_a_default_that_does_not_fit_is_refused() -> None:
    with pytest.raises(RuleInvalid, match="the default gives 'fee' 9, which is none of"):
        decide(fees(HitPolicy.FIRST, "1", allowed="1", default="9"), {"n": 0})


def test_an_output_without_value_is_null_with_its_reason() -> None:
    decided: Decided = decide(fees(HitPolicy.FIRST, "1 / 0"), {"n": 1})
    assert decided.outputs == ({"fee": None},)
    assert decided.notes == ("row 'r1', output 'fee': division by zero",)
    assert decide(fees(HitPolicy.FIRST, ""), {"n": 1}).notes == ()


def test_the_moment_is_passed_in() -> None:
    table = fees(HitPolicy.FIRST, "today().year")
    decided = decide(table, {"n": 1}, now=datetime(2026, 1, 1, tzinfo=UTC))
    assert decided.outputs == ({"fee": Decimal(2026)},)
