"""List functions come to what the DMN TCK publishes. Each case cites its test.

Clauses of DMN 1.3: 10.3.4.4 (list functions), 10.3.2.9.4 (a single value and a list of one).
"""

from __future__ import annotations

import pytest

from tests.support.feel import comes_to, reason

VALUES = [
    ("0009", "append([1, 2], 3, 4)", "[1, 2, 3, 4]"),
    ("0009", "flatten([1, [[2]], [3, [4]]])", "[1, 2, 3, 4]"),
    ("0010", 'concatenate(["a"], ["b", "c"], [])', '["a", "b", "c"]'),
    ("0011", "insert before([1, 3], 2, 2)", "[1, 2, 3]"),
    ("0011", "insert before([1, 3], -1, 2)", "[1, 2, 3]"),
    ("0011", "remove([1, 2, 3], 2)", "[1, 3]"),
    ("0011", "remove(list: [1, 2], position: -2)", "[2]"),
    ("0012", "list contains([1, null], null)", "true"),
    ("0012", 'list contains([1, "a"], "b")', "false"),
    ("0012", "count([1, 2, 2])", "3"), ("0012", "count(list: [])", "0"),
    ("0012", "min([3, 1, 2])", "1"),
    ("0012", 'max("가", "나")', '"나"'), ("0012", "mean(1, 2, 6)", "3"),
    ("0012", 'sublist(["a", "b", "c"], 1, 2)', '["a", "b"]'),
    ("0012", "sublist([1, 2, 3], -1, 1)", "[3]"),
    ("0012", "sublist([1, 2, 3], 2)", "[2, 3]"), ("0012", "reverse([1, 2, 3])", "[3, 2, 1]"),
    ("0012", "index of([1, 2, 3, 2], 2)", "[2, 4]"), ("0012", "index of([1, null], null)", "[2]"),
    ("0012", "union([1, 2], [2, 3], [1.0])", "[1, 2, 3]"),
    ("0012", "distinct values([1, null, 1, null])", "[1, null]"),
    ("0015", "all([true, false])", "false"), ("0015", "any([true, false])", "true"),
    ("0059", "all([])", "true"), ("0059", "all([true, null])", "null"),
    ("0059", "all([false, null])", "false"),
    ("0060", "any([])", "false"), ("0060", "any([false, null])", "null"),
    ("0060", "any([true, null])", "true"),
    ("0061", "median(8, 2, 5, 3, 4)", "4"), ("0061", "median([6, 1, 2, 3])", "2.5"),
    ("0061", "median(list: [4])", "4"),
    ("0062", "mode([6, 3, 9, 6, 6])", "[6]"), ("0062", "mode([3, 6, 1, 9, 6, 1, 3])", "[1, 3, 6]"),
    ("0062", "mode([])", "[]"), ("0062", "mode(6)", "[6]"), ("0062", "mode(2.5, 1, 2.50)", "[2.5]"),
    ("0063", "decimal(stddev([2, 4, 7, 5]), 10)", "2.0816659995"),
    ("0094", "product([6, 3, 9, 6, 6])", "5832"), ("0094", "product(2, 3, 4)", "24"),
    ("0021", "abs([-5])", "5"), ("0021", 'contains(["foobar"], "oba")', "true"),
    ("0021", "count(5)", "1"),
    ("0021", "append(1, 2)", "[1, 2]"), ("0103", 'is(@"2012-12-25", @"23:00:50")', "false"),
    ("0103", 'is(@"23:00:50Z", @"23:00:50+00:00")', "true"),
    ("0103", 'is(value1: @"23:00:50Z", value2: @"23:00:50")', "false"),
]  # fmt: skip
NULLS = [
    ("0011", "remove([1, 2], 0)"), ("0011", "remove([1, 2], 3)"),
    ("0011", "insert before(null, 1, 2)"),
    ("0012", "sum([])"), ("0012", "min([])"), ("0012", 'max([1, "a"])'), ("0012", "count(null)"),
    ("0012", "sublist([1, 2], 3)"), ("0012", "sublist([1, 2], 1, 3)"),
    ("0012", "list contains(null, 1)"),
    ("0061", "median([])"), ("0061", 'median([1, 2, "foo"])'), ("0061", "median(null)"),
    ("0062", 'mode([1, "foo"])'), ("0062", "mode(list: null)"), ("0063", "stddev([])"),
    ("0063", "stddev(47)"),
    ("0063", 'stddev([1, "foo"])'), ("0094", "product(null)"),
    ("0094", 'product([1, 2, "foo", 4])'),
]  # fmt: skip


@pytest.mark.parametrize(("case", "text", "wanted"), VALUES)
def test_a_list_is_as_published(case: str, text: str, wanted: str) -> None:
    assert comes_to(text) == wanted, case


@pytest.mark.parametrize(("case", "text"), NULLS)
def test_what_has_no_value_is_null_as_published(case: str, text: str) -> None:
    assert reason(text), case
