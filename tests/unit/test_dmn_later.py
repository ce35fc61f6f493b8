"""What the DMN TCK says of zones, null bounds, fractions of seconds and `number`, by its cases.

0058 (number), 0072 (in), 0100 (arithmetic), 0103 (is), 1116 (time). A time of day with a named
zone, and a second finer than a microsecond, are refused.
"""

from __future__ import annotations

import pytest

from core.decision_table.feel import Scope, holds, parse_expression, parse_tests
from core.domain.errors import RuleInvalid
from tests.support.feel import comes_to, reason

VALUES = [
    ("0058", "number(11.11)", "11.11"),
    ("0058", 'number("1,000,000.00", ",", null)', "1000000"),
    ("0072", "5 in ([1..3], null, 5)", "true"), ("0072", "null in [1, null]", "true"),
    ("0100", '@"2021-01-02T00:00:00Z" - @"2021-01-02"', "PT0S"),
    ("0100", '@"2021-01-02T10:10:10@Europe/Paris" - @"2021-01-01"', "P1DT9H10M10S"),
    ("0100", '@"2021-01-02T10:10:10+01:00" - @"2021-01-01"', "P1DT9H10M10S"),
    ("0100", '@"2021-01-02" - @"2021-01-01T10:10:10+11:00"', "P1DT49M50S"),
    ("0100", '@"2021-01-02T10:10:10@Europe/Paris" - @"2021-01-01T10:10:10@Asia/Dhaka"', "P1DT5H"),
    ("0100", 'string(@"2021-01-12T10:10:10@Australia/Melbourne" + @"P1DT1H")',
     '"2021-01-13T11:10:10@Australia/Melbourne"'),
    ("0103", 'is(@"2012-12-25", @"2012-12-25T00:00:00Z")', "false"),
    ("0103", 'is(@"23:00:50Z", @"23:00:50+00:00")', "true"),
    ("0103", 'is(@"23:00:50", @"23:00:50Z")', "false"),
    ("0103", 'is(@"20:00:50+00:00", @"21:00:50+01:00")', "false"),
    ("0103", 'is(@"2002-04-02T12:00:00-01:00", @"2002-04-02T17:00:00+04:00")', "false"),
    ("0103", 'is(@"2012-12-25T10:10:10@Australia/Melbourne", @"2012-12-25T10:10:10+11:00")',
     "true"),
    ("0103", 'is(@"2012-06-25T10:10:10@Australia/Melbourne", @"2012-06-25T10:10:10+11:00")',
     "false"),
    ("0103", 'is(@"P0D", @"P0Y")', "false"), ("0103", 'is(@"P1D", @"PT24H")', "true"),
    ("1116", 'time(12, 59, 1.3, @"-PT1H")', "12:59:01.3-01:00"),
    ("1116", 'string(@"10:20:30.120")', '"10:20:30.12"'),
    ("1116", '@"10:20:30.1234560" = @"10:20:30.123456"', "true"),
    ("1116", 'time(date("2017-08-10"))', "00:00:00Z"),
    ("1116", 'time(@"2017-08-10") = @"00:00:00Z"', "true"),
    ("1117", 'string(@"2020-01-01T10:00:00.050@Asia/Seoul")',
     '"2020-01-01T10:00:00.05@Asia/Seoul"'),
    ("1120", 'string(@"PT0.000001S")', '"PT0.000001S"'),
]  # fmt: skip
NULLS = [
    ("0058", 'number(123, ".", ",")'), ("0058", 'number("1,000,000.01", ",", ":")'),
    ("0072", "null in [1..10]"), ("0072", "1 in [null..10]"), ("0072", "1 in [1..null]"),
    ("0072", "1 in <= null"),
    ("0100", '@"2021-01-01T00:00:00" - @"2021-01-02"'),
    ("0100", '@"2021-01-02" - @"2021-01-01T10:10:10"'),
    ("0100", '@"2021-01-02T10:10:10+02:00" - @"2021-01-01T10:10:10"'),
]  # fmt: skip
REFUSED = [
    '@"10:00:00.1234567"', '@"PT0.0000001S"', '@"10:15:00@Australia/Melbourne"', "{a: 1}",
    "[1, 2][1]", "for x in [1] return x", "sort([2, 1], function(a, b) a < "
        "b)", "1 instance of number",
    "before(1, 2)", '@"-2017-01-01"', "1.5e2",
]  # fmt: skip


@pytest.mark.parametrize(("case", "text", "wanted"), VALUES)
def test_it_comes_to_what_the_kit_publishes(case: str, text: str, wanted: str) -> None:
    assert comes_to(text) == wanted, case


@pytest.mark.parametrize(("case", "text"), NULLS)
def test_it_is_null_where_the_kit_says_so(case: str, text: str) -> None:
    assert reason(text), case


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_not_supported_is_refused(text: str) -> None:
    with pytest.raises(RuleInvalid):
        parse_expression(text)


def test_a_second_too_fine_is_never_cut_off() -> None:
    assert "six decimal places" in reason('time("10:00:00.1234567")')


def test_a_cell_whose_range_has_no_end_holds_for_nothing() -> None:
    assert holds(parse_tests("[null..10]"), Scope(subject=None)) is None
    assert holds(parse_tests("not([null..10])"), Scope(subject=None)) is None
