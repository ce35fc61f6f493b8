"""A table counts as known only if the known one gives the same results."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.decision_table.evaluation.decide import decide
from core.domain.errors import RuleInvalid
from core.domain.models import (
    Aggregation,
    DecisionRow,
    DecisionTable,
    HitPolicy,
    InputColumn,
    OutputColumn,
)
from core.knowledge.duplicates.rules import beside

ORDER = '"사장", "팀장", "부장"'
F, R, U, C = HitPolicy.FIRST, HitPolicy.RULE_ORDER, HitPolicy.UNIQUE, HitPolicy.COLLECT


def table(
    policy: HitPolicy,
    *rows: tuple[str, str],
    kind: str = "number",
    allowed: str = ORDER,
    default: str = "",
    aggregation: Aggregation | None = None,
) -> DecisionTable:
    output = OutputColumn(name="승인자", type="string", allowed=allowed, default=default)
    return DecisionTable(
        name="승인",
        hit_policy=policy,
        aggregation=aggregation,
        inputs=(InputColumn(name="금액", type=kind),),
        outputs=(output,),
        rows=tuple(
            DecisionRow(id=f"r{n}", inputs=(test,), outputs=(f'"{who}"',))
            for n, (test, who) in enumerate(rows)
        ),
    )


BIG, SOME = ("> 100", "사장"), ("> 50", "팀장")
KNOWN = table(F, BIG, SOME)


@pytest.mark.parametrize(
    ("new", "known", "exact"),
    [
        (table(F, BIG, SOME), KNOWN, True),
        (table(F, BIG), KNOWN, True),
        (table(F, ("(100..200]", "사장"), BIG), table(F, ("(100..200]", "사장"), BIG, SOME), True),
        (table(F, SOME), KNOWN, False),
        (table(F, SOME, BIG), KNOWN, False),
        (table(U, SOME), KNOWN, False),
        (table(C, BIG, SOME), KNOWN, False),
        (table(R, SOME, BIG), table(R, BIG, SOME), False),
        (table(R, BIG, SOME), table(R, BIG, SOME), True),
        (table(R, BIG), table(R, BIG, SOME), False),
        (table(C, SOME, BIG), table(C, BIG, SOME), True),
        (table(C, BIG, BIG), table(C, BIG, SOME), False),
        (table(U, BIG), table(U, BIG, ("<= 100", "팀장")), True),
        (
            table(U, BIG, default='"팀장"'),
            table(U, BIG, ("[1..9]", "사장"), default='"팀장"'),
            False,
        ),
        (table(U, BIG, default='"팀장"'), table(U, BIG), False),
        (table(U, BIG, allowed=""), table(U, BIG), False),
        (table(U, ("-", "사장"), kind="Any"), table(U, ("-", "사장")), False),
        (
            table(C, BIG, aggregation=Aggregation.COUNT),
            table(C, BIG, ("< 0", "팀장"), aggregation=Aggregation.COUNT),
            False,
        ),
        (table(C, BIG, aggregation=Aggregation.COUNT), table(C, BIG), False),
    ],
)
def test_exact_means_that_the_known_table_decides_it_so(
    new: DecisionTable, known: DecisionTable, *, exact: bool
) -> None:
    found = beside(new, known)
    assert found is not None
    assert found.exact is exact


CELLS = st.sampled_from(["-", "> 1", "> 2", "<= 1", "[1..3]", "2", "< 0"])
ROWS = st.lists(st.tuples(CELLS, st.sampled_from(["사장", "팀장", "부장"])), min_size=1, max_size=4)
POLICIES = st.sampled_from(list(HitPolicy))


@given(POLICIES, ROWS, st.data())
def test_a_table_that_is_stated_is_decided_alike(
    policy: HitPolicy, rows: list[tuple[str, str]], data: st.DataObject
) -> None:
    known = table(policy, *rows)
    new = table(policy, *data.draw(st.permutations(rows))[: data.draw(st.integers(1, 4))])
    found = beside(new, known)
    assert found is not None
    assume(found.exact)
    for amount in (-1, 0, 1, 2, 3, 4):
        given_case = {"금액": amount}
        said = _decided(new, given_case)
        if said:
            assert _decided(known, given_case) == said


def _decided(of: DecisionTable, case: dict[str, int]) -> object:
    """Return the result, as a multiset where order is irrelevant; or that it is undecided."""
    try:
        result = decide(of, case).result
    except RuleInvalid:
        return "refused"
    if of.hit_policy is C and isinstance(result, list):
        return sorted(map(str, result))
    return result
