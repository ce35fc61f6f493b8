"""matches, replace and split: Python's patterns, in bounded time."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.decision_table.feel import Scope, evaluate, parse_expression, to_text
from core.decision_table.feel.pattern import pattern
from core.decision_table.feel.values import NoValue

VALUES = [
    ('matches("환불 요청 12", "환불.*[0-9]+")', "true"),
    ('matches("환불", "^[가-힣]+$")', "true"),
    ('matches("abc", "^b")', "false"),
    ('matches("ABC", "b", "i")', "true"),
    ('matches("é1_", "^\\\\p{L}\\\\d\\\\W$")', "true"),
    ('matches("a\\nb", "a.b")', "false"),
    ('matches("a\\nb", "a.b", "s")', "true"),
    ('matches("010-1234-5678", "^\\\\d{3}-\\\\d{3,4}-\\\\d{4}$")', "true"),
    ('matches("a.b", "a\\\\.b")', "true"),
    ('replace("1,000,000", ",", "")', '"1000000"'),
    ('replace("aaa", "a+?", "b")', '"bbb"'),
    ('replace("aXbx", "x", "-", "i")', '"a-b-"'),
    ('split("가; 나;다", ";\\\\s*")', '["가", "나", "다"]'),
    ('split("가", ",")', '["가"]'),
]
REASONS = [
    ('matches("a", "(")', "a bracket is not closed"),
    ('matches("a", ")")', "a bracket that was not opened"),
    ('matches("a", "*")', "'*' repeats nothing"),
    ('matches("a", "[a")', "ends too early"),
    ('matches("a", "[z-a]")', "has no order"),
    ('matches("a", "a{3,2}")', "repeats at most less often"),
    ('matches("a", "(?=a)")', "'(?' is not supported"),
    ('matches("a", "(a)\\\\1")', "'\\1' is not supported"),
    ('matches("a", "[a-[b]]")', "is not supported"),
    ('matches("a", "a", "q")', "the flags 'q' are not supported"),
    ('matches("a", "((a{99}){99}){99}")', "the pattern is too large"),
    ('replace("a", "(a)", "$1")', "groups ('$1') in the replacement"),
    ('split("ab", "x*")', "matches where there is nothing"),
]
pieces = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", "(a|ab)", "(?:b|)", "^", "$", "c", "(a*)"])
times = st.sampled_from(["", "", "*", "+", "?", "*?", "+?", "{2}", "{1,}", "{0,2}", "{1,2}?"])
regexes = st.lists(st.tuples(pieces, times), min_size=1, max_size=4).map(
    lambda parts: "".join(piece + (count if piece not in "^$" else "") for piece, count in parts)
)


@pytest.mark.parametrize(("text", "wanted"), VALUES)
def test_a_function_with_a_pattern_has_its_value(text: str, wanted: str) -> None:
    scope = Scope()
    assert to_text(evaluate(parse_expression(text), scope)) == wanted, scope.notes


@pytest.mark.parametrize(("text", "reason"), REASONS)
def test_a_pattern_that_is_not_taken_is_null_with_its_reason(text: str, reason: str) -> None:
    scope = Scope()
    assert evaluate(parse_expression(text), scope) is None
    assert reason in " ".join(scope.notes)


@given(regexes, st.text("abc", max_size=8))
def test_a_match_begins_and_exists_where_python_finds_one(regex: str, text: str) -> None:
    found, wanted = pattern(regex).search(text), re.search(regex.replace("$", r"\Z"), text)
    assert (found is None) is (wanted is None)
    assert found is None or (wanted and found[0] == wanted.start())


@pytest.mark.parametrize("regex", ["(a+)+b", "(a|a)*b", "(a*)*b", ".*.*.*.*.*b", "(a?){30}a{30}b"])
def test_no_pattern_runs_away(regex: str) -> None:
    assert pattern(regex).search("a" * 400) is None
    with pytest.raises(NoValue, match="more than 300000 steps on this text"):
        pattern(regex).search("a" * 200_000)
