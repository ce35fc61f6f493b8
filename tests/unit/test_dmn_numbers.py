"""Numbers come to what the DMN TCK publishes. Each case cites its test, and DMN 1.3's clause.

Clauses: 10.3.2.3.1 (numbers of 34 digits), 10.3.4.5 (numeric functions), 10.3.4.1 (conversion).
The four `round …` functions are of DMN 1.4.
"""

from __future__ import annotations

import pytest

from tests.support.feel import comes_to, reason

VALUES = [
    ("0008", "1 - 0.9", "0.1"),
    ("0050", "abs(n: -10)", "10"), ("0050", "abs(0)", "0"), ("0050", 'abs(@"-P5D")', "P5D"),
    ("0050", 'abs(@"-P2Y3M")', "P2Y3M"),
    ("0051", "sqrt(16)", "4"), ("0051", "sqrt(number: 0)", "0"),
    ("0051", "sqrt(2)", "1.414213562373095048801688724209698"),
    ("0052", "exp(0)", "1"), ("0052", "decimal(exp(number: 4), 4)", "54.5982"),
    ("0053", "log(1)", "0"), ("0053", "decimal(log(number: 4), 8)", "1.38629436"),
    ("0054", "even(4)", "true"), ("0054", "even(number: -3)", "false"), ("0054", "even(0)", "true"),
    ("0055", "odd(5)", "true"), ("0055", "odd(number: -2)", "false"), ("0055", "odd(-1)", "true"),
    ("0056", "modulo(12, 5)", "2"), ("0056", "modulo(-12, 5)", "3"),
    ("0056", "modulo(12, -5)", "-3"), ("0056", "modulo(-12, -5)", "-2"),
    ("0056", "modulo(10.1, 4.5)", "1.1"), ("0056", "modulo(-10.1, 4.5)", "3.4"),
    ("0056", "modulo(10.1, -4.5)", "-3.4"), ("0056", "modulo(-10.1, -4.5)", "-1.1"),
    ("0056", "modulo(divisor: 4, dividend: 10)", "2"),
    ("0058", 'number("1.000.000,01", ".", ",")', "1000000.01"),
    ("0058", 'number("1 000 000.01", " ", ".")', "1000000.01"),
    ("0058", 'number("1,000,000", ",", null)', "1000000"), ("0058", 'number("00123")', "123"),
    ("0058", 'number(from: "2.5", decimal separator: ".", grouping separator: null)', "2.5"),
    ("0058", "number(11.11)", "11.11"),
    ("0075", "3 ** 4 ** 5", "3486784401"), ("0075", "-3 ** 2", "9"),
    ("0075", "3.22 ** 2", "10.3684"),
    ("0075", "3 ** 2.00", "9"), ("0099", "-(1 + 2)", "-3"), ("0099", "--5", "5"),
    ("0100", "10 * -10", "-100"), ("0100", '1.5 * @"P4DT1H"', "P6DT1H30M"),
    ("0100", '-2.5 * @"P1Y11M"', "-P4Y9M"), ("0100", '@"P10Y11M" / 2.5', "P4Y4M"),
    ("0100", '@"P10Y11M" / -2.5', "-P4Y4M"), ("0100", '@"P10Y" / @"P5Y"', "2"),
    ("0100", '26 * @"PT1H"', "P1DT2H"), ("0100", '0 * @"P1M"', "P0M"),
    ("0101", ".872", "0.872"), ("0101", "-.872", "-0.872"),
    ("0101", "125.4321987654", "125.4321987654"),
    ("1100", "decimal(1/3, 2)", "0.33"), ("1100", "decimal(1/3, 2.5)", "0.33"),
    ("1100", "decimal(1.5, 0)", "2"), ("1100", "decimal(2.5, 0)", "2"),
    ("1100", "decimal(0.515, 2)", "0.52"), ("1100", "decimal(n: 15/78*2, scale: 3)", "0.385"),
    ("1101", "floor(1.5)", "1"), ("1101", "floor(-1.5)", "-2"), ("1101", "floor(-1.56, 1)", "-1.6"),
    ("1102", "ceiling(1.5)", "2"), ("1102", "ceiling(-1.5)", "-1"),
    ("1102", "ceiling(n: 1.51, scale: 1)", "1.6"),
    ("1141", "round up(5.5, 0)", "6"), ("1141", "round up(-5.5, 0)", "-6"),
    ("1141", "round up(1.121, 2)", "1.13"), ("1141", "round up(-1.126, 2)", "-1.13"),
    ("1142", "round down(5.5, 0)", "5"), ("1142", "round down(-5.5, 0)", "-5"),
    ("1142", "round down(-1.126, 2)", "-1.12"),
    ("1143", "round half up(5.5, 0)", "6"), ("1143", "round half up(-5.5, 0)", "-6"),
    ("1143", "round half up(1.126, 2)", "1.13"), ("1143", "round half up(n: 5.5, scale: 0)", "6"),
    ("1144", "round half down(5.5, 0)", "5"), ("1144", "round half down(-5.5, 0)", "-5"),
    ("1144", "round half down(1.126, 2)", "1.13"), ("1144", "round up(5.5, 6176)", "5.5"),
]  # fmt: skip
NULLS = [
    ("0050", "abs(null)"), ("0051", "sqrt(-1)"), ("0052", 'exp("4")'), ("0053", "log(0)"),
    ("0053", "log(-4)"), ("0054", 'even("4")'), ("0055", 'odd(@"P4D")'), ("0056", "modulo(10, 0)"),
    ("0056", "modulo(10, null)"), ("0058", 'number("1,000,000.01", ":", ".")'),
    ("0058", 'number("1,000,000.01", 123, ".")'), ("0058", 'number("1,000.00", ",", ",")'),
    ("0058", 'number("1.000.000,01", ".")'), ("0058", 'number("1 2 3")'), ("0058", "number(null)"),
    ("0075", '"foo" ** 4'), ("0075", 'date("2018-12-10") ** 4'), ("0075", "true ** 4"),
    ("0077", "0 / 0"), ("0078", "1 / 0"), ("0099", '-"a"'), ("0100", "100 / 0"),
    ("0100", '@"P10Y" / 0'), ("0100", '@"P10Y" / @"P0Y"'), ("0100", '10 / @"P1D"'),
    ("0105", "10 + null"), ("0105", "null * 2"), ("1100", "decimal(1/3, null)"),
    ("1101", "floor(null)"), ("1141", 'round up("123", 0)'), ("1141", "round up(5.5, -6112)"),
    ("1141", "round up(5.5, 6177)"), ("1144", "round half down(1.5, null)"),
]  # fmt: skip


@pytest.mark.parametrize(("case", "text", "wanted"), VALUES)
def test_a_number_is_as_published(case: str, text: str, wanted: str) -> None:
    assert comes_to(text) == wanted, case


@pytest.mark.parametrize(("case", "text"), NULLS)
def test_what_has_no_number_is_null_as_published(case: str, text: str) -> None:
    assert reason(text), case


def test_numbers_have_34_digits_and_keep_them() -> None:
    assert comes_to("1 / 3") == "0." + "3" * 34
    assert comes_to("0.1 + 0.2 = 0.3") == "true"
    assert (
        comes_to("1234567890123456789012345678901234 + 0") == "1234567890123456789012345678901234"
    )
