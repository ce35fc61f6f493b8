"""FEEL that does not parse is refused with the position and what was expected there."""

from __future__ import annotations

import re

import pytest

from core.decision_table.feel import evaluate, parse_expression, parse_tests
from core.decision_table.feel.evaluate import Scope
from core.decision_table.feel.parse import MAX_DEPTH, MAX_LENGTH
from core.domain.errors import RuleInvalid

TESTS = [
    ("", "at character 1: found the end, expected a value"),
    ("> ", "at character 3: found the end, expected a value"),
    ("(1", "at character 3: found the end, expected ')' or '..'"),
    ("[1..", "at character 5: found the end, expected a value"),
    ("[1, 2", "found the end, expected ')' or ',' or ']'"),
    ("1..2", "at character 2: found '..', expected"),
    ('"abc', "at character 1: the string is not closed"),
    ('"\\uD800"', "is no character"),
    ("be careful", "found 'careful'"),
    ("조심", "the name '조심' is not known (known: '금액', '주문 등급')"),
    ("주문 금액 > 5", "at character 4: found '금액'"),
    ("sort([1])", "at character 1: the function 'sort' is not supported"),
    ("금액 + 없음(1)", "at character 6: the function '없음' is not known"),
    ("for x in [1] return x", "a loop ('for … in … return …') is not supported"),
    ("some x in [1] satisfies x > 0", "a quantifier ('some … satisfies …') is not supported"),
    ("every x in [1] satisfies x > 0", "a quantifier ('every … satisfies …') is not supported"),
    ("function(x) x", "a function definition ('function(…)') is not supported"),
    ("? instance of number", "'instance of' is not supported"),
    ("{a: 1}", "at character 1: a context ('{…}') is not supported"),
    ("[1, 2][1]", "at character 7: a filter ('list[…]') is not supported"),
    ('금액["a"]', "at character 3: a filter ('list[…]') is not supported"),
    ("get value(금액, 1)", "the function 'get value' is not supported"),
    ("overlaps before([1..2], [3..4])", "the function 'overlaps before' is not supported"),
    ("modulo(dividend: 10, foo: 4)", "called with other names (its own: 'dividend', 'divisor')"),
    ("modulo(dividend: 10, dividend: 4)", "called with other names"),
    ("modulo(10, divisor: 4)", "found 'divisor'"),
    ("modulo(dividend: 10)", "'modulo' takes 2 arguments, not 1"),
    ("‘a’", "has no meaning here"),
    ("1e5", "at character 2: found 'e5', expected an operator or "),
    ("contains(?)", "'contains' takes 2 arguments, not 1"),
    ("substring(?)", "'substring' takes 2 to 3 arguments, not 1"),
    ("sum()", "'sum' takes 1 or more arguments, not 0"),
    ('@"soon"', "'soon' is no date, time or duration"),
    ('@"2023-02-29"', "at character 1: '2023-02-29' is a day that no calendar has"),
    ("1, not(2)", "'not' takes one expression, or stands alone around tests"),
    ("not(1, 2) and true", "stands alone around tests"),
    ("not(> 5) or true", "stands alone around tests"),
    ("- , 5", "found ','"),
    ("1 < 2 < 3", "at character 7: found '<'"),
    ("[[1]", "expected"),
    ("9" * 401, "the number has more than 400 digits"),
]


@pytest.mark.parametrize(("text", "problem"), TESTS)
def test_a_test_that_does_not_parse_is_refused_with_its_place(text: str, problem: str) -> None:
    with pytest.raises(RuleInvalid, match=re.escape(problem)):
        parse_tests(text, ("금액", "주문 등급"))


@pytest.mark.parametrize("text", ["-", "? > 5", "> 5", "1, 2", "[1..2"])
def test_what_only_a_test_may_say_is_no_expression(text: str) -> None:
    with pytest.raises(RuleInvalid, match="at character"):
        parse_expression(text)


@pytest.mark.parametrize(
    "text", ["(" * 9_000 + "1" + ")" * 9_000, "-" * 9_000 + "1", "[" * 500 + "]" * 500]
)
def test_deep_nesting_ends_in_a_value_or_a_refusal(text: str) -> None:
    try:
        evaluate(parse_expression(text), Scope())
    except RuleInvalid as error:
        assert f"nested more than {MAX_DEPTH} levels" in str(error)  # noqa: PT017


def test_depth_and_length_have_limits() -> None:
    with pytest.raises(RuleInvalid, match=f"more than {MAX_DEPTH} levels deep"):
        parse_expression("+".join(["1"] * 100))
    with pytest.raises(RuleInvalid, match=f"at most {MAX_LENGTH} are read"):
        parse_expression('"' + "x" * MAX_LENGTH + '"')


def test_a_long_list_of_values_is_fine() -> None:
    text = ", ".join(f'"{number}"' for number in range(1_500))
    assert len(parse_tests(text).parts) == 1_500
