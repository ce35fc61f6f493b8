"""A case sets columns, or the names their expressions and cells use (DMN 1.3, 8.2.3)."""

from __future__ import annotations

import re
import unicodedata

import pytest
from pydantic import JsonValue

from core.decision_table import check_table, decide, parse_xml
from core.decision_table.evaluation.compiled import compile_table
from core.domain.errors import RuleInvalid
from core.domain.models import DecisionTable, HitPolicy, InputColumn, OutputColumn
from tests.support.feel import NOW, small_table

_XML = """<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="d" name="m"
    namespace="urn:x">
  <inputData id="i1" name="고객"><variable name="고객" typeRef="tCustomer"/></inputData>
  <inputData id="i2" name="주문 금액"><variable name="주문 금액" typeRef="number"/></inputData>
  <inputData id="i3" name="기한"><variable name="기한" typeRef="date"/></inputData>
  <inputData id="i4" name="쓰이지 않음"/>
  <decision id="other" name="한도"><variable name="한도" typeRef="number"/></decision>
  <decision id="own" name="할인"><variable name="할인"/><decisionTable id="t" hitPolicy="FIRST">
    <input><inputExpression typeRef="number"><text>고객.나이</text></inputExpression></input>
    <input><inputExpression typeRef="number"><text>주문 금액 * 2</text></inputExpression></input>
    <output name="o"/>
    <rule id="r1"><inputEntry><text>&gt;= 18</text></inputEntry>
      <inputEntry><text>&gt; 한도</text></inputEntry>
      <outputEntry><text>기한 + @"P1D"</text></outputEntry></rule>
  </decisionTable></decision>
</definitions>"""
_CASE: dict[str, JsonValue] = {
    "고객": {"나이": 20, "이름": "김"}, "주문 금액": 60, "기한": "2024-02-28", "한도": 100,
}  # fmt: skip


def discounts() -> DecisionTable:
    return parse_xml(_XML, decision="할인")


def one(name: str, kind: str, test: str) -> DecisionTable:
    columns = (InputColumn(name=name, type=kind),)
    outputs = (OutputColumn(name="o", type="boolean"),)
    return small_table(HitPolicy.FIRST, columns, outputs, ((test,), ("true",)))


def test_columns_are_computed_from_the_names_and_members_that_a_case_gives() -> None:
    decided = decide(discounts(), _CASE)
    assert decided.result == {"o": "2024-02-29"}
    assert [cell.value for cell in decided.rows[0].cells] == ["20", "120"]


def test_what_a_document_declares_is_known_to_its_cells() -> None:
    assert [column.name for column in discounts().declared] == [
        "고객", "주문 금액", "기한", "쓰이지 않음", "한도",
    ]  # fmt: skip
    assert compile_table(discounts()).used == {"기한", "한도"}


def test_a_column_may_be_given_as_it_is_called_and_a_member_by_its_path() -> None:
    case: dict[str, JsonValue] = {"고객.나이": 20, "주문 금액 * 2": 300, "기한": None, "한도": 1}
    decided = decide(discounts(), case)
    assert decided.fired == ("r1",)
    assert decided.result == {"o": None}


def test_names_come_decomposed_too() -> None:
    case = {unicodedata.normalize("NFD", name): value for name, value in _CASE.items()}
    members: dict[str, JsonValue] = {unicodedata.normalize("NFD", "나이"): 20}
    case[unicodedata.normalize("NFD", "고객")] = members
    assert decide(discounts(), case).result == {"o": "2024-02-29"}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"주문 금액": "x"}, "the input '주문 금액': 'x' is no number"),
        ({"기한": "2024-02-30"}, "the input '기한': '2024-02-30' is a day that no calendar has"),
        ({"고객": {}}, "the input '고객': objects (contexts) are not supported"),
        ({"고객": {"나이": "20살"}}, "the input '고객.나이': '20살' is no number"),
        ({"한더": 5}, "the input '한더' is not known (the table has: '고객.나이', "),
        ({"고객.나의": 5}, "the input '고객.나의' is not known"),
    ],
)
def test_what_does_not_fit_is_named(change: dict[str, JsonValue], problem: str) -> None:
    with pytest.raises(RuleInvalid, match=re.escape(problem)):
        decide(discounts(), _CASE | change)


def test_all_that_is_missing_is_named_once() -> None:
    with pytest.raises(RuleInvalid) as caught:
        decide(discounts(), {"고객.나이": 5})
    assert str(caught.value) == (
        "the input '주문 금액' (number) is missing; the input '기한' (date) is missing; "
        "the input '한도' (number) is missing"
    )
    assert "or the names that it is computed from" in caught.value.hint


def test_without_declarations_the_case_names_those_of_the_expression() -> None:
    table = one("amount * 2 + fee", "number", "11")
    assert decide(table, {"amount": 5, "fee": 1}).result == {"o": True}
    assert decide(table, {"amount * 2 + fee": 11}).result == {"o": True}
    with pytest.raises(RuleInvalid, match="the input 'amount' is not known"):
        decide(table, {"amount": 5})


def test_a_name_that_looks_like_an_expression_is_a_name_where_it_is_given() -> None:
    assert decide(one("상품-코드", "string", '"A1"'), {"상품-코드": "A1"}).result == {"o": True}


def test_a_column_of_another_type_is_refused_and_an_error_is_null() -> None:
    with pytest.raises(RuleInvalid, match="comes to string, and number is needed"):
        decide(one('a + "x"', "number", "-"), {"a": "y"})
    assert decide(one('a + "x"', "string", "null"), {"a": 5}).result == {"o": True}


def test_constants_and_the_present_are_expressions_too() -> None:
    assert decide(one("123", "number", "123"), {}).result == {"o": True}
    assert decide(one("today()", "date", '@"2026-11-20"'), {}, now=NOW).result == {"o": True}


@pytest.mark.parametrize(
    "cell",
    ['금액 = "x"', "1 > 0", 'not(contains("ab", "a"))', '"a", 2 in [2]', 'contains(금액, "a")'],
)
def test_a_test_that_never_looks_at_its_input_is_refused(cell: str) -> None:
    with pytest.raises(RuleInvalid, match="never looks at its input; write `> 5`, or `\\?`"):
        decide(one("금액", "string", cell), {"금액": "x"})
    (found,) = (d for d in check_table(one("금액", "string", cell)) if d.severity == "error")
    assert found.kind == "unreadable"
    assert "never looks at its input" in found.message


def test_under_a_boolean_column_a_condition_is_a_value_to_equal() -> None:
    assert decide(one("b", "boolean", "2 > 1"), {"b": True}).result == {"o": True}
    assert decide(one("b", "boolean", "2 > 1"), {"b": False}).result is None


def test_a_table_is_parsed_once() -> None:
    table = discounts()
    assert compile_table(table) is compile_table(table)
    assert compile_table(table) is not compile_table(discounts())
