"""Unary tests as in DMN 1.3: true, false, or null if undecidable."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime

import pytest

from core.decision_table.feel import Scope, Value, evaluate, holds, parse_expression, parse_tests

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def value(text: str) -> Value:
    scope = Scope(now=NOW)
    found = evaluate(parse_expression(text), scope)
    assert not scope.notes, scope.notes
    return found


def passes(test: str, subject: str, **others: str) -> bool | None:
    names = {name.replace("_", " "): value(text) for name, text in others.items()}
    tree = parse_tests(test, tuple(names))
    return holds(tree, Scope(names, value(subject), NOW))


SEOUL = '@"2024-03-01T09:00:00@Asia/Seoul"'
TRUE = [
    ("-", "null"), ("-", "5"), ("5", "5"), ("5.0", "5"), ("0.1 + 0.2", "0.3"), ("-5", "-5"),
    (".5", "0.50"), ("< 5", "4.99"), ("<= 5", "5"), ("> 1000000", "1000000.01"), (">= 5", "5"),
    ("= 5", "5"), ("!= 5", "6"), ("[1..5]", "1"), ("[1..5]", "5"), ("(1..5)", "1.1"),
    ("]1..5[", "4"), ("(1..5]", "5"), ("[1..5)", "1"), ("1,2,3", "2"), ("< 1, > 5", "6"),
    ("[1..2], [4..5]", "4.5"), ("not(5)", "6"), ("not(1, 2)", "3"), ("not([1..5])", "6"),
    ("not(< 5)", "5"), ("null", "null"), ("not(null)", "1"), ("true", "true"), ("false", "false"),
    ('"VIP"', '"VIP"'), ('"골드", "실버"', '"실버"'), ('not("골드")', '"실버"'),
    ('> "가"', '"나"'), ('["가".."나"]', '"각"'), ('"a\\"b"', '"a\\u0022b"'),
    ('"줄\\n"', '"줄\\n"'),
    ('contains(?, "환불")', '"부분 환불 요청"'), ('starts with(?, "환")', '"환불"'),
    ("? > 5 and ? < 9", "7"), ("? in [1..5]", "3"), ("? between 1 and 5", "5"),
    ("? in (1, > 5)", "9"), ("? in (< 3)", "2"), ("modulo(?, 2) = 0", "4"),
    ("string length(?) > 2", '"한국어"'), ("[1, 2, 3]", "2"), ("[[1..3], 9]", "2"),
    ("list contains(?, 2)", "[1, 2]"), ("[1, 2]", "[1, 2]"), ("not(? > 5)", "5"),
    ("if ? > 5 then true else false", "6"), ('date("2024-02-29")', '@"2024-02-29"'),
    ('> date("2024-02-28")', '@"2024-02-29"'), ('[@"2024-02-28"..@"2024-03-01"]', '@"2024-02-29"'),
    ('date("2024-02-29") + duration("P1Y")', '@"2025-02-28"'), ("? < today()", '@"2026-11-19"'),
    ("< now()", '@"2026-11-20T20:59:59+09:00"'), (SEOUL, '@"2024-03-01T00:00:00Z"'),
    ('>= @"2024-03-01T00:00:00Z"', SEOUL), ('@"09:00:00"', 'time("09:00:00")'),
    ('< @"09:00:00Z"', '@"17:59:59+09:00"'), ('duration("PT24H")', '@"P1D"'),
    ('> @"P1M"', '@"P1Y"'), ('[@"PT1H"..@"PT2H"]', '@"PT90M"'), ("?.year = 2024", '@"2024-02-29"'),
    ("? /* words */ > 5 // and more", "6"), ("3 = 3", "true"), ("?", "5"), ("?", "true"),
    ("? + 0", "5"), ('> @"2024-01-01T00:00:00Z"', '@"2024-01-01T00:00:01"'),
]  # fmt: skip
FALSE = [
    ("5", "6"), ("< 5", "5"), ("> 5", "5"), ("(1..5)", "1"), ("]1..5[", "5"), ("[1..5)", "5"),
    ("1,2", "3"), ("not(5)", "5"), ("not(1, 2)", "2"), ("null", "1"), ("1", "null"),
    ("true", "false"), ('"VIP"', '"vip"'), ('"골드"', '"실버"'),
    ("0.1 + 0.2", "0.30000000000000004"),
    ("? > 5 and ? < 9", "9"), ('[@"2024-02-28"..@"2024-03-01"]', '@"2024-03-02"'),
    (SEOUL, '@"2024-03-01T09:00:00Z"'), ("? between 1 and 5", "5.1"), ("1 > 2", "true"),
    ("[1, \"a\"]", "2"), ("? + 1", "5"), ('@"09:00:00Z"', '@"09:00:00"'),
]  # fmt: skip
NULL = [
    ("< 5", "null"), ("< 5", '"4"'), ("5", '"5"'), ("[1..5]", "true"), ("> true", "false"),
    ('> @"2024-01-01"', '@"2024-01-01T00:00:00"'), ("not(< 5)", "null"), ("3 = 3", '"x"'),
    ("3 > 2", "1"), ("[1, 2]", '"a"'), ("? / 0 > 1", "5"),
    ('< @"P1M"', '@"P1D"'), ('contains(?, "a")', "5"), ("? > 5 and null", "6"),
]  # fmt: skip


@pytest.mark.parametrize(("test", "subject"), TRUE)
def test_a_value_passes(test: str, subject: str) -> None:
    assert passes(test, subject) is True


@pytest.mark.parametrize(("test", "subject"), FALSE)
def test_a_value_fails(test: str, subject: str) -> None:
    assert passes(test, subject) is False


@pytest.mark.parametrize(("test", "subject"), NULL)
def test_a_value_that_does_not_fit_neither_passes_nor_fails(test: str, subject: str) -> None:
    assert passes(test, subject) is None


def test_other_inputs_are_known_by_their_names_with_blanks_and_in_korean() -> None:
    assert passes("> 한도 금액 * 2", "201", 한도_금액="100") is True
    assert passes("> 한도   금액 * 2", "200", 한도_금액="100") is False
    assert passes('등급 = "VIP" and ? > 5', "6", 등급='"VIP"') is True
    assert passes("결제 완료", "true", 결제_완료="true") is True
    assert passes("결제 완료", '"x"', 결제_완료="true") is None
    assert passes("[하한..상한]", "5", 하한="1", 상한="9") is True


def test_the_longest_name_wins_even_over_keywords_and_functions() -> None:
    assert passes("in stock", "3", in_stock="3") is True
    assert passes("date", "3", date="3") is True
    assert passes('date("2024-01-01")', '@"2024-01-01"', date="3") is True
    assert passes("a b", "2", a="1", a_b="2") is True


def test_decomposed_hangul_in_a_cell_is_the_same_string() -> None:
    assert passes(unicodedata.normalize("NFD", '"환불"'), '"환불"') is True


def test_one_item_that_does_not_compare_does_not_hide_one_that_fits() -> None:
    assert passes('"a", 5', "5") is True
    assert passes('["a", 5]', "5") is True
    assert passes('? > "a" or ? = 5', "5") is True


def test_why_a_test_came_to_null_is_kept() -> None:
    scope = Scope(subject="5")
    assert holds(parse_tests("> 3"), scope) is None
    assert scope.notes == ["string and number do not compare"]
