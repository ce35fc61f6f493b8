"""A run of several parts: what was refused beside what was learnt is told with the outcome."""

from __future__ import annotations

import pytest

from core.domain.models import (
    FeedbackStatus,
    Hit,
    Kind,
    Operation,
    Receipt,
    ReceiptStatus,
    Verdict,
    VerdictStatus,
    outcome_of,
)
from core.testing.gate import FakeGate
from core.testing.scripted_model import calls, says
from tests.support.react import MEMORY, Bench

RULE = {"operation": "DELETE", "rule_id": "r1", "reason": "r"}
SKILL = {"operation": "CREATE", "reason": "r"}
COMMIT = ("commit_to_memory", MEMORY)
TABLE = ("commit_to_dmn_rule", RULE)
BUILD = ("commit_to_skill", SKILL)
DONE = says("원 단위를 기억했습니다.")
OFF = calls(("no_action", {"reason": "더는 없음", "category": "unclear"}))

APPLIED = Receipt(status=ReceiptStatus.APPLIED, message="MEMORY 'x' has been created")
HELD = Receipt(status=ReceiptStatus.HELD, message="waits")
REFUSED = Receipt(status=ReceiptStatus.REFUSED, message="the row overlaps", kind=Kind.DMN_RULE)
HIT = Hit(id="m9", kind=Kind.MEMORY, name="m9", excerpt="x", score=1)
NEAR = Receipt(
    status=ReceiptStatus.REFUSED, message="near", kind=Kind.MEMORY, target_id="m9", hits=(HIT,)
)
UNBUILT = Receipt(
    status=ReceiptStatus.FAILED,
    message="package_skill.py: no disk",
    kind=Kind.SKILL,
    operation=Operation.CREATE,
)


def bench(turns: list, *receipts: Receipt) -> Bench:
    return Bench(turns, gate=FakeGate([*receipts]))


@pytest.mark.parametrize("first", [APPLIED, HELD])
async def test_what_was_refused_beside_a_commit_is_told_with_it(first: Receipt) -> None:
    run = bench([calls(COMMIT, TABLE), DONE], first, REFUSED)
    verdict = await run.run()
    assert verdict.status in {VerdictStatus.COMPLETED, VerdictStatus.HELD}
    assert verdict.refused == ("commit_to_dmn_rule: the row overlaps",)
    assert verdict.reason == (
        "원 단위를 기억했습니다. (not learnt: commit_to_dmn_rule: the row overlaps)"
    )
    outcome = outcome_of([verdict])
    assert outcome.error == "part of it was not learnt: commit_to_dmn_rule: the row overlaps"
    assert outcome.status is FeedbackStatus(verdict.status)
    assert run.journal.events[-1].data["refused"] == ["commit_to_dmn_rule: …"]
    table = [e.data for e in run.journal.events if e.data.get("tool") == "commit_to_dmn_rule"]
    assert [(data["status"], data["error"]) for data in table] == [("error", "…")]


def test_of_several_candidates_each_failure_and_each_refused_part_is_told() -> None:
    failed, late = (
        Verdict(status=VerdictStatus.FAILED, reason=why) for why in ("no disk", "too late")
    )
    learnt = Verdict(status=VerdictStatus.COMPLETED, reason="done", refused=("the row overlaps",))
    outcome = outcome_of([learnt, failed, late, late])
    assert outcome.status is FeedbackStatus.FAILED
    assert outcome.error == ("no disk; too late; part of it was not learnt: the row overlaps")


async def test_no_action_beside_a_commit_is_not_its_reason() -> None:
    verdict = await bench([calls(COMMIT, TABLE), OFF], APPLIED, REFUSED).run()
    assert verdict.status is VerdictStatus.COMPLETED
    assert verdict.reason == (
        "MEMORY 'x' has been created (not learnt: commit_to_dmn_rule: the row overlaps)"
    )


async def test_a_wrong_call_that_was_given_up_is_a_part_not_learnt() -> None:
    wrong = ("commit_to_dmn_rule", {"operation": "PAINT", "reason": "r"})
    verdict = await bench([calls(COMMIT, wrong), DONE], APPLIED).run()
    assert verdict.refused == (
        "invalid call of commit_to_dmn_rule: operation: 'PAINT' is none of"
        " 'CREATE', 'UPDATE' or 'DELETE'",
    )


@pytest.mark.parametrize(
    ("turns", "receipts"),
    [
        ([calls(COMMIT, TABLE), calls(TABLE)], (APPLIED, REFUSED, APPLIED)),
        ([calls(TABLE), calls(TABLE), calls(TABLE)], (REFUSED, REFUSED, APPLIED)),
        ([calls(TABLE), calls(COMMIT)], (REFUSED, APPLIED)),
        ([calls(COMMIT), calls(COMMIT)], (NEAR, APPLIED.model_copy(update={"target_id": "m9"}))),
        (
            [
                calls(COMMIT, COMMIT),
                calls(("no_action", {"reason": "같다", "category": "duplicate"})),
            ],
            (APPLIED, NEAR),
        ),
    ],
    ids=["again", "thrice", "as another kind", "as an update", "known already"],
)
async def test_a_part_that_was_made_good_is_none(turns: list, receipts: tuple) -> None:
    verdict = await bench([*turns, DONE], *receipts).run()
    assert verdict.status is VerdictStatus.COMPLETED
    assert verdict.refused == ()
    assert outcome_of([verdict]).error is None


async def test_two_parts_refused_at_once_are_made_good_one_by_one() -> None:
    other = Receipt(status=ReceiptStatus.REFUSED, message="too long", kind=Kind.MEMORY)
    turns = [calls(COMMIT, COMMIT), calls(COMMIT), DONE]
    verdict = await bench(turns, REFUSED, other, APPLIED).run()
    assert verdict.refused == ("commit_to_memory: too long",)


@pytest.mark.parametrize(
    "receipt",
    [UNBUILT, UNBUILT.model_copy(update={"status": ReceiptStatus.REFUSED})],
    ids=["failed", "refused"],
)
async def test_a_skill_that_could_not_be_built_is_a_failure(receipt: Receipt) -> None:
    verdict = await bench([calls(BUILD), OFF], receipt).run()
    assert verdict.status is VerdictStatus.FAILED
    assert verdict.reason == "failed: package_skill.py: no disk"
    assert outcome_of([verdict]).error == verdict.reason


async def test_a_skill_known_under_its_name_may_be_called_off() -> None:
    known = NEAR.model_copy(update={"kind": Kind.SKILL, "operation": Operation.CREATE})
    verdict = await bench([calls(BUILD), OFF], known).run()
    assert (verdict.status, verdict.reason) == (VerdictStatus.NO_ACTION, "더는 없음")


async def test_a_run_that_learnt_and_then_said_nothing_tells_what_it_did() -> None:
    verdict = await bench([calls(COMMIT), says("")], APPLIED).run()
    assert verdict.reason == "MEMORY 'x' has been created"


async def test_what_was_refused_before_a_commit_of_the_same_answer_is_told() -> None:
    verdict = await bench([calls(TABLE, COMMIT), DONE], REFUSED, APPLIED).run()
    assert verdict.status is VerdictStatus.COMPLETED
    assert verdict.refused == ("commit_to_dmn_rule: the row overlaps",)


async def test_a_run_that_failed_tells_what_its_last_attempt_came_to() -> None:
    near = NEAR.model_copy(update={"message": "near m8"})
    turns = [calls(COMMIT), calls(TABLE), *[says("nothing more")] * 9]
    verdict = await bench(turns, near, REFUSED).run()
    assert verdict.status is VerdictStatus.FAILED
    assert "its last attempt: the row overlaps" in verdict.reason
