"""Existing problems of a table block no edit, least of all one that fixes them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.decision_table import to_xml
from core.decision_table.learning.learn import learn_document
from core.domain.errors import RuleInvalid
from core.domain.models import (
    DecisionRow,
    DecisionTable,
    HitPolicy,
    InputColumn,
    OutputColumn,
    RowEdit,
)
from tests.support.rules import AMOUNT, APPROVER, edited, row

UNIQUE, ANY, FIRST = HitPolicy.UNIQUE, HitPolicy.ANY, HitPolicy.FIRST
MANY = [(f"> {number}", str(number)) for number in range(40)]
DEAD_LAST = [("> 5", "a"), ("> 4", "b"), ("> 6", "c")]


def table(rows: Sequence[tuple[str, str]], policy: HitPolicy) -> str:
    """Return a table that may have problems; its rows are r0, r1, …"""
    made = DecisionTable(
        name="승인",
        hit_policy=policy,
        inputs=(InputColumn(name=AMOUNT, type="number"),),
        outputs=(OutputColumn(name=APPROVER, type="string"),),
        rows=tuple(
            DecisionRow(id=f"r{number}", inputs=(test,), outputs=(f'"{outcome}"',))
            for number, (test, outcome) in enumerate(rows)
        ),
    )
    return to_xml(made, decision_id="t")


@pytest.mark.parametrize("policy", [UNIQUE, ANY])
@pytest.mark.parametrize(
    ("rows", "removed"),
    [
        ((), ["r0"]),
        ((row("< -5", "0", "r3"),), []),
        ((row("> 50", "0", "r0"),), []),
        ((row("", "다른 이", "r0"),), []),
    ],
)
def test_rows_that_clash_by_hundreds_are_mended_one_by_one(
    policy: HitPolicy, rows: tuple[RowEdit, ...], removed: list[str]
) -> None:
    assert edited(table(MANY, policy), *rows, remove_rows=removed)


@pytest.mark.parametrize(
    ("rows", "removed"),
    [((), ["r0"]), ((row("> 10", "a", "r0"),), []), ((row("> 3", "b", "r1"),), ["r0"])],
)
def test_a_row_that_never_counted_does_not_stop_those_before_it(
    rows: tuple[RowEdit, ...], removed: list[str]
) -> None:
    assert edited(table(DEAD_LAST, FIRST), *rows, remove_rows=removed)


def test_what_an_edit_brings_in_is_refused_all_the_same() -> None:
    many = table(MANY, UNIQUE)
    with pytest.raises(RuleInvalid, match="n1"):
        edited(many, row("> 60", "새"))
    with pytest.raises(RuleInvalid, match="r1"):
        edited(table([("> 5", "a"), ("< 5", "b")], UNIQUE), row("< 9", "b", "r1"))
    with pytest.raises(RuleInvalid, match="r1"):
        edited(table([("> 5", "a"), ("> 7", "a")], ANY), row("", "b", "r1"))
    with pytest.raises(RuleInvalid, match="UNIQUE"):
        edited(table(MANY, HitPolicy.COLLECT), hit_policy="UNIQUE")
    with pytest.raises(RuleInvalid, match="'r2' never counts"):
        edited(table([("> 9", "a"), ("> 4", "b"), ("< 4", "c")], FIRST), row("> 5", "c", "r2"))


def test_the_same_rows_in_an_order_that_kills_one_are_refused() -> None:
    apart = table([("> 9", "a"), ("> 4", "b")], FIRST)
    first, rest = apart.split('<rule id="r0">', 1)
    one, other = rest.split('<rule id="r1">', 1)
    other, end = other.rsplit("</rule>", 1)
    turned = f'{first}<rule id="r1">{other}</rule><rule id="r0">{one}{end}'
    with pytest.raises(RuleInvalid, match="'r0' never counts"):
        learn_document(turned, apart)
