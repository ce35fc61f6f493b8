"""For any values FEEL agrees with Python's arithmetic, ordering and calendar."""

from __future__ import annotations

import unicodedata
from datetime import date, timedelta
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from core.decision_table.feel import (
    Scope,
    Value,
    evaluate,
    holds,
    parse_expression,
    parse_tests,
    to_text,
)
from core.domain.errors import RuleInvalid

numbers = st.decimals(-(10**9), 10**9, places=3)
days = st.dates(date(1900, 1, 1), date(2200, 12, 31))
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
scalars: st.SearchStrategy[Value] = st.one_of(
    st.none(), st.booleans(), numbers, days, st.timedeltas(), st.times(), st.datetimes()
)
ALL = (
    '1 0.5 "가" 금액 ? - + * / ** ( ) [ ] .. , < >= = not( and or in between if then else null '
    'true date("2024-02-29") @"P1D" sum( contains( .year'
)
pieces = st.lists(st.sampled_from(sorted(set(ALL.split()))), max_size=12).map(" ".join)


def has(text: str, subject: Value) -> bool | None:
    return holds(parse_tests(text), Scope(subject=subject))


@given(numbers, numbers, numbers)
def test_ranges_hold_what_lies_between_their_ends(low: Decimal, high: Decimal, x: Decimal) -> None:
    assert has(f"[{low:f}..{high:f}]", x) is (low <= x <= high)
    assert has(f"({low:f}..{high:f})", x) is (low < x < high)
    assert has(f"< {low:f}, > {high:f}", x) is (x < low or x > high)
    assert has(f"not([{low:f}..{high:f}])", x) is not (low <= x <= high)


@given(numbers, numbers)
def test_sums_are_exact(left: Decimal, right: Decimal) -> None:
    assert evaluate(parse_expression(f"{left:f} + ({right:f})"), Scope()) == left + right


@given(days, st.integers(-20_000, 20_000))
def test_days_pass_as_in_the_calendar(start: date, count: int) -> None:
    length = to_text(timedelta(days=count))
    scope = Scope({"d": start})
    assert evaluate(parse_expression(f'd + @"{length}" - d', ["d"]), scope) == timedelta(days=count)
    assert has(f'> @"{start}"', start + timedelta(days=1)) is True


@given(st.one_of(texts, numbers, st.booleans(), st.none(), st.lists(texts, max_size=3).map(tuple)))
def test_what_is_written_reads_back(value: Value) -> None:
    written = unicodedata.normalize("NFC", to_text(value))
    assert to_text(evaluate(parse_expression(written), Scope())) == written


@given(st.one_of(days, st.timedeltas(), st.times(), st.datetimes()))
def test_moments_and_durations_read_back(value: Value) -> None:
    assert evaluate(parse_expression(f'@"{to_text(value)}"'), Scope()) == value


@given(pieces, scalars, scalars)
def test_any_text_is_refused_as_ours_or_comes_to_a_verdict(
    text: str, subject: Value, other: Value
) -> None:
    try:
        tests = parse_tests(text, ("금액",))
    except RuleInvalid as error:
        assert "at character" in str(error)  # noqa: PT017
        return
    assert holds(tests, Scope({"금액": other}, subject)) in (True, False, None)
