"""Inputs of a case are JSON, typed by their columns; all mismatches are reported at once."""

from __future__ import annotations

import unicodedata

import pytest
from pydantic import JsonValue

from core.decision_table import decide
from core.domain.errors import RuleInvalid
from core.domain.models import DecisionRow, DecisionTable, InputColumn, OutputColumn


def table(kind: str, test: str, allowed: str = "") -> DecisionTable:
    return DecisionTable(
        name="t",
        inputs=(InputColumn(name="주문 값", type=kind, allowed=allowed),),
        outputs=(OutputColumn(name="o", type="boolean"),),
        rows=(DecisionRow(id="r", inputs=(test,), outputs=("true",)),),
    )


FITS: list[tuple[str, str, JsonValue]] = [
    ("number", "0.3", 0.3), ("number", "0.1 + 0.2", "0.3"), ("integer", "> 1", 2),
    ("number", "123456789012345678.9", "123456789012345678.9"), ("string", '"5"', "5"),
    ("boolean", "false", False), ("date", '@"2024-02-29"', "2024-02-29"), ("Any", "[1, 2]", 2),
    ("date and time", '@"2024-02-29T00:00:00Z"', "2024-02-29T09:00:00+09:00"), ("Any", "1", 1),
    ("dateTime", '@"2024-02-29T00:00:00"', "2024-02-29"), ("time", '< @"09:00:00"', "08:59:59"),
    ("days and time duration", '> @"P1D"', "PT25H"), ("yearMonthDuration", '@"P12M"', "P1Y"),
    ("feel:number", "5", 5), ("Any", "list contains(?, 2)", [1, 2]), ("string", "null", None),
    ("string", '"환불"', unicodedata.normalize("NFD", "환불")), ("number", "1000", 1e3),
]  # fmt: skip
MISFITS: list[tuple[str, JsonValue, str]] = [
    ("number", "x", "'x' is no number"), ("number", True, "boolean was given where number"),
    ("number", [1], "list was given"), ("number", float("nan"), "is no number"),
    ("string", 5, "number was given where string is needed"), ("boolean", "true", "string was"),
    ("date", "2023-02-29", "a day that no calendar has"), ("date", 20240229, "number was given"),
    ("time", "9:00", "is no time"), ("date and time", "soon", "is no date"),
    ("days and time duration", "P1Y", "years and months duration was given"),
    ("Any", {"a": 1}, "objects [(]contexts[)] are not supported"), ("tOrder", 1, "not supported"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "test", "value"), FITS)
def test_a_json_value_is_read_by_the_type_of_its_column(
    kind: str, test: str, value: JsonValue
) -> None:
    assert decide(table(kind, test), {"주문 값": value}).result == {"o": True}


@pytest.mark.parametrize(("kind", "value", "problem"), MISFITS)
def test_a_value_of_another_type_is_named(kind: str, value: JsonValue, problem: str) -> None:
    with pytest.raises(RuleInvalid, match=f"the input '주문 값': .*{problem}"):
        decide(table(kind, "-"), {"주문 값": value})


def test_missing_and_unknown_inputs_are_told_together() -> None:
    with pytest.raises(RuleInvalid) as caught:
        decide(table("number", "-"), {"amount": 5})
    assert "the input 'amount' is not known (the table has: '주문 값')" in str(caught.value)
    assert "the input '주문 값' (number) is missing" in str(caught.value)


def test_names_of_inputs_are_compared_in_one_form() -> None:
    name = unicodedata.normalize("NFD", " 주문   값 ")
    assert decide(table("number", "5"), {name: 5}).result == {"o": True}


def test_a_value_that_is_not_allowed_is_refused() -> None:
    grades = table("string", "-", allowed='"VIP", "일반"')
    assert decide(grades, {"주문 값": "일반"}).result == {"o": True}
    with pytest.raises(RuleInvalid, match='is "골드", which is none of its allowed'):
        decide(grades, {"주문 값": "골드"})


def test_all_cells_that_do_not_parse_are_told_at_once() -> None:
    rows = (
        DecisionRow(id="a", inputs=("> ",), outputs=("true",)),
        DecisionRow(id="b", inputs=("-",), outputs=("조심",)),
    )
    with pytest.raises(RuleInvalid) as caught:
        decide(table("number", "-").model_copy(update={"rows": rows}), {"주문 값": 5})
    assert "row 'a', input '주문 값': FEEL `> ` at character 3" in str(caught.value)
    assert "row 'b', output 'o': FEEL `조심` at character 1" in str(caught.value)


@pytest.mark.parametrize(
    ("test", "given", "why"),
    [
        ("date(?) = null", "10000-01-01", "years 0001 to 9999"),
        ("date(?) = null", "-2021-01-01", "years 0001 to 9999"),
        ("not(date(?) > null)", "999999999-12-31", "years 0001 to 9999"),
        ("date and time(?) = null", "99999-01-01T00:00:00", "years 0001 to 9999"),
        ('date(?) + @"P1Y" = null', "9999-06-01", "years 0001 to 9999"),
        ("time(?) = null", "10:00:00.1234567", "six decimal places"),
        ("time(?) = null", "10:00:00@Asia/Seoul", "zone"),
        ('replace(?, "(a)", "[$1]") = null', "a", "[$]"),
    ],
)
def test_what_a_value_beyond_those_kept_would_decide_is_refused(
    test: str, given: str, why: str
) -> None:
    with pytest.raises(RuleInvalid, match=f"row 'r', input '주문 값': .*{why}.*not decided"):
        decide(table("string", test), {"주문 값": given})


@pytest.mark.parametrize("given", ["2021-02-30", "soon", "2021-1-1", "20210-1-1", "00000-01-01"])
def test_what_is_no_date_at_all_is_null(given: str) -> None:
    assert decide(table("string", "date(?) = null"), {"주문 값": given}).result == {"o": True}


def test_times_with_and_without_a_zone_are_ordered_as_one() -> None:
    at = '@"2021-01-01T00:00:00Z"'
    for test in (f"<= {at}", f">= {at}", f"[{at}..{at}]"):
        given = {"주문 값": "2021-01-01T00:00:00"}
        assert decide(table("date and time", test), given).result == {"o": True}
