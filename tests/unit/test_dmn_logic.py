"""Comparison, logic and ranges come to what the DMN TCK publishes. Each case cites its test.

Clauses of DMN 1.3: 10.3.1.2 (grammar), 10.3.2 (semantics: equality, order, three-valued logic).
"""

from __future__ import annotations

import pytest

from core.decision_table.feel import Scope, evaluate, holds, parse_expression, parse_tests
from tests.support.feel import comes_to, reason

VALUES = [
    ("0020", 'if 10 > 5 then "a" else "b"', '"a"'), ("0032", "if null then 1 else 2", "2"),
    ("0032", 'if "true" then 1 else 2', "2"),
    ("0068", "null = null", "true"), ("0068", "null != null", "false"),
    ("0068", "100 = null", "false"),
    ("0068", "0 = 0.00", "true"), ("0068", "-0 = 0", "true"), ("0068", '"foo" = "Foo"', "false"),
    ("0068", '"foo" != "Foo"', "true"), ("0068", "[1, 2, 3] = [3, 2, 1]", "false"),
    ("0068", "[1, 1, 1] = [1, 1, 1, 1]", "false"), ("0068", "[] = []", "true"),
    ("0068", "[] = null", "false"),
    ("0068", "[1, 2, [3, 4]] = [1, 2, [3, 4]]", "true"), ("0068", '@"P1D" = @"PT24H"', "true"),
    ("0068", '@"P0D" = @"-P0D"', "true"), ("0068", '@"P1Y" = @"P12M"', "true"),
    ("0068", '@"10:30:00Z" = @"10:30:00+00:00"', "true"),
    ("0068", '@"10:30:00+02:00" = @"10:30:00+01:00"', "false"),
    ("0068", '@"10:30:00Z" = @"10:30:00"', "false"),
    ("0068", '@"10:30:00.0001" = @"10:30:00.0002"', "false"),
    ("0068", '@"2018-12-08T00:00:00" = @"2018-12-08T00:00:00@Asia/Dhaka"', "false"),
    ("0068", '@"2018-12-08T00:00:00+00:00" = @"2018-12-08T00:00:00@Etc/UTC"', "true"),
    ("0068", '@"2002-04-02T12:00:00@Asia/Seoul" = @"2002-04-02T12:00:00@Asia/Tokyo"', "true"),
    ("0068", '@"2002-04-02T12:00:00-01:00" = @"2002-04-02T17:00:00+04:00"', "true"),
    ("0068", 'date and time("2018-12-08") = @"2018-12-08T00:00:00"', "true"),
    ("0068", "[1..2] = [1..2]", "true"), ("0068", "[1..2] = [1..2)", "false"),
    ("0071", "1 between 1 and 2", "true"), ("0071", "3 between 1 and 2", "false"),
    ("0071", '"b" between "a" and "c"', "true"),
    ("0071", '@"P2D" between @"P1D" and @"P3D"', "true"),
    ("49.b", "null between 1 and 2", "null"), ("49.b", "5 between null and 2", "false"),
    ("0072", "1 in [2, 3, 1]", "true"), ("0072", "1 in [[2..4], [1..3]]", "true"),
    ("0072", "5 in [[2..4], [1..3]]", "false"),
    ("0072", "1 in <= 10", "true"), ("0072", "10 in < 10", "false"),
    ("0072", "11 in > 10", "true"), ("0072", "9 in >= 10", "false"),
    ("0072", "1 in 1", "true"), ("0072", "10 in (1, < 5, >=10)", "true"),
    ("0072", "10 in (1, 5, 9)", "false"),
    ("0072", "true in [false, 2, 3]", "false"), ("0072", "true in (false, true)", "true"),
    ("0072", '"b" in [["f".."h"], ["a".."c"]]', "true"),
    ("0072", '@"P5Y" in (@"P4Y", >=@"P6Y")', "false"),
    ("0072", '@"2018-12-11" in [[@"2018-12-05"..@"2018-12-07"], [@"2018-12-10"..@"2018-12-12"]]',
     "true"),
    ("0073", "1 /* one */ + // and\n 2", "3"),
]  # fmt: skip
NULLS = [
    ("0068", "false = 0"), ("0068", '100 = "100"'), ("0068", "[1] = 1"),
    ("0068", '@"P1Y" = @"P365D"'),
    ("0068", '@"2018-12-08" = "2018-12-08"'), ("0068", '@"10:30:00" = 100'),
    ("0071", '1 between "a" and "b"'),
    ("49.b", "1 between 0 and null"),
]  # fmt: skip
ENDS = {"(2..4)": "-_+_-", "(2..4]": "-_++-", "[2..4)": "-++_-", "[2..4]": "-+++-",
        "]2..4[": "-_+_-", "]2..4]": "-_++-", "[2..4[": "-++_-"}  # fmt: skip
MADE = ["{}", '"{}"', '@"2018-12-0{}"', '@"10:30:0{}"', '@"P{}Y"', '@"P{}D"']
TABLE = {"true": True, "false": False, "null": None, '"foo"': None}


@pytest.mark.parametrize(("case", "text", "wanted"), VALUES)
def test_a_comparison_is_as_published(case: str, text: str, wanted: str) -> None:
    assert comes_to(text) == wanted, case


@pytest.mark.parametrize(("case", "text"), NULLS)
def test_what_does_not_compare_is_null_as_published(case: str, text: str) -> None:
    assert reason(text), case


@pytest.mark.parametrize("span", ENDS)
@pytest.mark.parametrize("made", MADE)
def test_ends_of_ranges_belong_to_them_as_published_in_0072(span: str, made: str) -> None:
    typed = f"{span[0]}{made.format(2)}..{made.format(4)}{span[-1]}"
    for number, sign in enumerate(ENDS[span], 1):
        value = made.format(number)
        assert comes_to(f"{value} in {typed}") == ("true" if sign == "+" else "false"), (
            value,
            typed,
        )


@pytest.mark.parametrize("left", TABLE)
@pytest.mark.parametrize("right", TABLE)
def test_and_or_and_not_have_three_values_as_published_in_0064_to_0066(
    left: str, right: str
) -> None:
    values = {TABLE[left], TABLE[right]}
    both = False if False in values else None if None in values else True
    one = True if True in values else None if None in values else False
    written = {True: "true", False: "false", None: "null"}
    assert comes_to(f"{left} and {right}") == written[both]
    assert comes_to(f"{left} or {right}") == written[one]
    assert comes_to(f"not({left})") == {True: "false", False: "true", None: "null"}[TABLE[left]]


UNARY: list[tuple[str, str, str, bool]] = [
    ("1157-001", "123, 456", "123", True), ("1157-002", "[1..1000]", "123", True),
    ("1157-003", "-", "123", True),
    ("1157-004", "not(456, 789)", "123", True), ("1157-005", "not(123)", "123", False),
    ("1157-006", '"bar", string length(?) = 3', '"foo"', True),
    ("1157-006_a", '"bar", string length("?") = 1', '"foo"', False),
    ("1157-006_b", "?", '"foo"', True), ("1157-006_c", "?", "true", True),
    ("1157-008", '"123", true', "false", False),
    ("1157-008_a", "false", "false", True), ("1157-008_b", "1 = 1", "false", False),
    ("1131", "!= 5", "6", True), ("1131", "= 5", "6", False), ("1131", ">= 5", "5", True),
    ("1131", "<= 5", "5.1", False),
    ("1131", "< 5", "4", True), ("1131", "> 5", "5", False),
    ("0039", '["fever", "cough"]', '"cough"', True),
    ("0039", '["fever", "cough"]', '"bleeding"', False),
]  # fmt: skip


@pytest.mark.parametrize(("case", "test", "subject", "wanted"), UNARY)
def test_a_unary_test_is_passed_as_published(
    case: str, test: str, subject: str, wanted: bool
) -> None:
    value = evaluate(parse_expression(subject), Scope())
    assert bool(holds(parse_tests(test), Scope(subject=value))) is wanted, case


def test_a_time_without_a_zone_takes_that_of_the_other_when_put_in_order() -> None:
    assert comes_to('@"10:00:00" < @"10:00:01+09:00"') == "true"
    assert comes_to('@"2024-01-01T10:00:00@Asia/Seoul" < @"2024-01-01T09:00:00"') == "false"
