"""Expressions evaluate as in DMN 1.3; errors are null, with the reason."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from core.decision_table.feel import Scope, evaluate, parse_expression, to_json, to_text

VALUES = [
    ("0.1 + 0.2", "0.3"), ("1 / 3", "0." + "3" * 34), ("-5 ** 2", "25"), ("2 + 3 * 4", "14"),
    ("(2 + 3) * 4", "20"), ("10 - 2 - 3", "5"), ("0 * -1", "0"), ("1.10", "1.1"),
    ('"환" + "불"', '"환불"'), ('if 1 > 2 then "a" else "b"', '"b"'),
    ("if null then 1 else 2", "2"),
    ("true and null", "null"), ("false and null", "false"), ("true or null", "true"),
    ("false or null", "null"), ("not(null)", "null"), ("null = null", "true"),
    ("1 = null", "false"),
    ("1 != null", "true"), ("[1, [2]] = [1, [2]]", "true"), ("[1..2] = [1..2)", "false"),
    ("5 in (1, > 4)", "true"), ("5 between 5 and 6", "true"), ("[[]]", "[[]]"),
    ("[]", "[]"), ('"\\U01F600"', '"😀"'),
    ('date("2024-02-29") + duration("P1Y")', "2025-02-28"), ('date(2024, 2, 29)', "2024-02-29"),
    ('@"2024-01-31" + @"P1M"', "2024-02-29"), ('@"2024-03-31" - @"P1M"', "2024-02-29"),
    ('@"2024-03-01" - @"2024-02-28"', "P2D"),
    ('date("2024-01-01") + duration("PT36H")', "2024-01-02"),
    ('@"23:00:00" + @"PT2H"', "01:00:00"), ('time(9, 30, 0)', "09:30:00"),
    ('-@"P1DT2H"', "-P1DT2H"),
    ('time(9, 30, 0, @"PT9H")', "09:30:00+09:00"), ('@"P1Y6M" * 2', "P3Y"), ('@"P1D" / 2', "PT12H"),
    ('@"P1D" / @"PT6H"', "4"), ('@"P1Y" / @"P6M"', "2"), ('@"P1Y" - @"P18M"', "-P6M"),
    ('@"PT0.5S" + @"PT1S"', "PT1.5S"), ('@"10:00:00Z" - @"10:00:00+09:00"', "PT9H"),
    ('date and time("2024-02-29T10:00:00Z")', "2024-02-29T10:00:00Z"), ('@"P0D"', "PT0S"),
    ('date and time(@"2024-02-29", @"10:00:00")', "2024-02-29T10:00:00"), ('@"P0Y"', "P0M"),
    ('@"2026-03-28T12:00:00@Europe/Paris" + @"P1D"', "2026-03-29T13:00:00@Europe/Paris"),
    ('time(@"2024-02-29T10:00:00Z")', "10:00:00Z"), ('date(@"2024-02-29T10:00:00")', "2024-02-29"),
    ('@"2024-02-29".weekday', "4"), ('@"P1DT30H".hours', "6"), ('@"P18M".years', "1"),
    ("[1..5].end", "5"), ("today()", "2026-11-20"), ("now().hour", "12"),
    ('@"-PT90S".minutes', "-1"),
    ('contains("환불 요청", "환불")', "true"), ('starts with("ab", "b")', "false"),
    ('ends with("ab", "b")', "true"), ('substring("한국어", 2)', '"국어"'),
    ("count([1, null])", "2"),
    ('substring("한국어", -2, 1)', '"국"'), ('substring before("a-b", "-")', '"a"'),
    ('substring after("a-b", "-")', '"b"'), ('string length("😀")', "1"),
    ('upper case("aß")', '"ASS"'),
    ('lower case("AB")', '"ab"'), ('string(1.50)', '"1.5"'), ('string("a")', '"a"'),
    ('string(null)', "null"), ('string([1, "a"])', '"[1, \\"a\\"]"'),
    ('number("1,000.5", ",")', "1000.5"),
    ('number("1.000,5", ".", ",")', "1000.5"), ("floor(-1.5)", "-2"), ("ceiling(1.2)", "2"),
    ("floor(1.56, 1)", "1.5"), ("round half up(2.5)", "3"), ("round half up(-2.5)", "-3"),
    ("round half up(1.005, 2)", "1.01"), ("decimal(2.5, 0)", "2"), ("abs(-3)", "3"),
    ('abs(@"-P1D")', "P1D"), ("modulo(-12, 5)", "3"), ("modulo(12, -5)", "-3"),
    ("modulo(10, 5)", "0"),
    ("min(3, 1, 2)", "1"), ('max(["가", "나"])', '"나"'), ("sum([0.1, 0.2])", "0.3"),
    ("mean(1, 2)", "1.5"),
    ("all([])", "true"), ("any([])", "false"), ("all([true, null])", "null"),
    ("any(false, true)", "true"),
    ("list contains([1, null], null)", "true"), ("append([1], 2, 3)", "[1, 2, 3]"),
    ("concatenate([1], [2, 3])", "[1, 2, 3]"), ("list contains([], 1)", "false"),
]  # fmt: skip
REASONS = [
    ('1 + "1"', "number and string do not add up"), ("1 / 0", "division by zero"),
    ('1 = "1"', "number and string do not compare"), ("modulo(1, 0)", "division by zero"),
    ("sum([])", "the list is empty"), ("min([])", "the list is empty"), ("9 ** 99999", "too large"),
    ('sum(1, "a")', "holds string"), ('date("2023-02-29")', "a day that no calendar has"),
    ('time("25:00:00")', "a time that no clock has"), ('duration("P1Y1D")', "ISO 8601"),
    ('date("9999-12-31") + @"P1D"', "years 0001 to 9999"),
    ('date("0001-01-01") - @"P1M"', "years 0001"),
    ('date and time("2024-01-01T00:00:00@Mars/Base")', "not known"),
    ("date(2024, 1.5, 1)", "no part"),
    ('time("09:00:00@Asia/Seoul")', "not a named zone"), ('number("abc")', "is no number"),
    ('number("NaN")', "is no number"),
    ("contains(1, 2)", "'contains' takes string there, not number"),
    ('substring("a", 0)', "counts from 1"), ("[5..1].start < true", "number and boolean"),
    ('[1.."a"]', "number and string"), ('@"2024-01-01".hour', "has no part 'hour'"),
    ('not("a")', "'not' takes boolean"), ("max(true, false)", "have no order"),
    ('-"a"', "does not take"),
    ("floor(1, 6177)", "lies outside -6111 to 6176"),
    ('@"10:00:00Z" - @"10:00:00"', "cannot be taken"),
    ('@"P1Y" * 9 ** 99', "too long"), ('duration("P999999999D") * 9', "too large"),
    ('"a" * 2', "'*' does not take string and number"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), VALUES)
def test_an_expression_has_its_value(text: str, wanted: str) -> None:
    scope = Scope(now=datetime(2026, 11, 20, 12, tzinfo=UTC))
    assert to_text(evaluate(parse_expression(text), scope)) == wanted
    assert scope.notes == [] or wanted == "null"


@pytest.mark.parametrize(("text", "reason"), REASONS)
def test_an_error_is_null_and_the_reason_is_kept(text: str, reason: str) -> None:
    scope = Scope()
    assert evaluate(parse_expression(text), scope) is None
    assert reason in " ".join(scope.notes)


def test_time_stands_still_where_no_moment_is_given() -> None:
    scope = Scope()
    assert evaluate(parse_expression("today()"), scope) is None
    assert scope.notes == ["the present moment is not given"]


def test_a_string_cannot_be_made_to_grow_without_end() -> None:
    scope = Scope({"s": "x" * 100_000})
    assert evaluate(parse_expression("s + s", ["s"]), scope) is None
    assert evaluate(parse_expression("string([s])", ["s"]), scope) is None
    assert len(scope.notes) == 2


def test_numbers_become_json_numbers_where_no_digit_is_lost() -> None:
    texts = ["5.0", "0.1 + 0.2", "1 / 3", "2 ** 60", '[1, @"P1D"]', "[1..2]", "null", "true", '"a"']
    assert [to_json(evaluate(parse_expression(text), Scope())) for text in texts] == [
        5, 0.3, "0." + "3" * 34, "1152921504606846976", [1, "P1D"], "[1..2]", None, True, "a",
    ]  # fmt: skip
