"""The gate and cases: what breaks one is told, then held; what corrects one retires it."""

from __future__ import annotations

import pytest

from core.changes.cases.config import CaseRules
from core.changes.cases.proposed import asks, expects
from core.domain.errors import Refused, Stale, TargetBusy
from core.domain.models import (
    Change,
    ChangeStatus,
    Kind,
    MemoryRequest,
    MergeMode,
    Operation,
    Receipt,
    ReceiptStatus,
    Relationship,
    SubmitContext,
)
from core.domain.models.cases import CaseBody, CaseOrigin, CaseResult, CaseRole, CaseStatus, Check
from tests.support.gate import World, ask, on_behalf

REPORT = "The weekly report goes to Ms. Kim on Friday afternoon"
DELAY = "Deliveries that are late are told to the customer at once"
RECALL = CaseBody(check=Check.RECALL, text="Who gets the weekly report?")
OTHER = "He gets a report about lunch weekly"  # more of the question: it is found first


@pytest.fixture
def world() -> World:
    return World(cases=CaseRules())


def run(key: str, *told: str) -> SubmitContext:
    return on_behalf(key).model_copy(update={"told": frozenset(told)})


async def taught(world: World, content: str, *cases: CaseBody, key: str = "k1") -> Change:
    receipt = await world.gate.submit(ask(content, cases=cases), run(key))
    assert receipt.status is ReceiptStatus.APPLIED, receipt.message
    assert receipt.change_id is not None
    return await world.log.get(receipt.change_id)


async def held(world: World, key: str = "k9") -> Change:
    told = await world.gate.submit(hides(), run(key))
    assert told.status is ReceiptStatus.REFUSED
    again = await world.gate.submit(hides(), run(f"{key}:1", *told.broken))
    assert again.status is ReceiptStatus.HELD
    assert again.change_id is not None
    return await world.log.get(again.change_id)


def hides() -> MemoryRequest:
    """Return the request for a memory that is found in the place of another."""
    return ask(OTHER, relationship=Relationship.UNRELATED, reason="about lunch")


async def contents(world: World) -> list[str]:
    items = await world.knowledge.list(tenant_id="t", agent_id="a", kind=Kind.MEMORY)
    return sorted(item.content for item in items)


async def test_a_case_that_failed_before_and_holds_after_is_a_proof(world: World) -> None:
    question = CaseBody(check=Check.RECALL, text="Which day does Ms. Lim see the weekly figures?")
    silent = CaseBody(check=Check.SILENCE, text="Where is lunch?")
    change = await taught(world, REPORT, question, silent)
    proof, regression = world.book.live()
    assert (proof.role, proof.status) == (CaseRole.PROOF, CaseStatus.GREEN)
    assert (regression.role, regression.status) == (CaseRole.REGRESSION, CaseStatus.GREEN)
    assert (proof.change_id, proof.feedback_id, proof.origin) == (change.id, "f", CaseOrigin.MODEL)
    assert proof.item_id == change.target_id


async def test_a_question_in_the_memorys_own_words_proves_nothing(world: World) -> None:
    await taught(world, REPORT, CaseBody(check=Check.RECALL, text=REPORT))
    (case,) = world.book.live()
    assert (case.role, case.status) == (CaseRole.REGRESSION, CaseStatus.GREEN)


async def test_what_breaks_a_case_is_told_and_changes_nothing(world: World) -> None:
    await taught(world, REPORT, RECALL)
    (case,) = world.book.live()
    receipt = await world.gate.submit(hides(), run("k2"))
    assert receipt.status is ReceiptStatus.REFUSED
    assert receipt.broken == (case.id,)
    assert case.id in receipt.message
    assert "Who gets the weekly report?" in receipt.message
    assert "feedback 'f'" in receipt.message
    assert await contents(world) == [REPORT]
    assert [event.name for event in world.events] == ["case.broken"]
    assert world.events[0].data["came_to"] == "refused"
    assert await world.log.find("k2") is None


async def test_what_is_insisted_on_waits_with_the_cases_beside_it(world: World) -> None:
    await taught(world, REPORT, RECALL)
    (case,) = world.book.live()
    change = await held(world)
    assert change.breaks == (case.id,)
    assert "Who gets the weekly report?" in "; ".join(change.held)
    assert await contents(world) == [REPORT]
    assert [event.data["came_to"] for event in world.events] == ["refused", "held"]


async def test_a_change_that_breaks_others_than_told_is_told_again(world: World) -> None:
    await taught(world, REPORT, RECALL)
    receipt = await world.gate.submit(hides(), run("k2", "case-of-something-else"))
    assert receipt.status is ReceiptStatus.REFUSED


async def test_what_nobody_can_mend_waits_at_once(world: World) -> None:
    await taught(world, REPORT, RECALL)
    receipt = await world.gate.submit(hides(), on_behalf("k2"))
    assert receipt.status is ReceiptStatus.HELD


async def test_a_held_change_is_approved_only_if_its_cases_are_given_up(world: World) -> None:
    await taught(world, REPORT, RECALL)
    (case,) = world.book.live()
    change = await held(world)
    decisions = world.gate.decisions
    with pytest.raises(Refused, match="weekly report"):
        await decisions.approve(change.id, by="kim", seen=change.content_hash)
    assert await contents(world) == [REPORT]
    receipt = await decisions.approve(
        change.id, by="kim", seen=change.content_hash, retire="the short one is meant"
    )
    assert receipt.status is ReceiptStatus.APPLIED
    assert world.book.live() == []
    now = await world.log.get(change.id)
    assert (now.decision, now.retires) == ("the short one is meant", (case.id,))
    retired = [event for event in world.log.events if event.name == "case.retired"]
    assert [event.data["cases"] for event in retired] == [[case.id]]


async def test_cases_that_nobody_has_seen_broken_are_not_given_up(world: World) -> None:
    first = await taught(world, REPORT, RECALL)
    change = await held(world)
    unseen = world.book.live()[0].model_copy(
        update={"id": "case-new", "body": CaseBody(check=Check.RECALL, text="weekly report")}
    )
    world.book.added["case-new"] = unseen
    with pytest.raises(Stale):
        await world.gate.decisions.approve(
            change.id, by="kim", seen=change.content_hash, retire="yes"
        )
    again = await world.log.get(change.id)
    assert "case-new" in again.breaks
    assert first.id != again.id
    assert await contents(world) == [REPORT]


async def test_an_old_value_that_comes_back_is_told(world: World) -> None:
    change = await taught(world, "Invoices are due in 30 days")
    no_longer = CaseBody(check=Check.UNSAID, text="30 days")
    now = update(change, "Invoices are due in 14 days", cases=[no_longer])
    assert (await world.gate.submit(now, run("k2"))).status is ReceiptStatus.APPLIED
    (case,) = world.book.live()
    assert case.role is CaseRole.PROOF
    added = update(change, "Since May", merge_mode=MergeMode.EXTEND)
    assert (await world.gate.submit(added, run("k3"))).status is ReceiptStatus.APPLIED
    beside = update(change, "Of Ms. Lim: 30 days", merge_mode=MergeMode.EXTEND)
    assert (await world.gate.submit(beside, run("k5"))).status is ReceiptStatus.REFUSED
    back = update(change, "Invoices are due in 30 days again")
    assert (await world.gate.submit(back, run("k4"))).status is ReceiptStatus.REFUSED
    # What code derived gives way to words that say it in its place.
    world.log.kept[case.id] = case.model_copy(update={"origin": CaseOrigin.DERIVED})
    assert (await world.gate.submit(back, run("k6"))).status is ReceiptStatus.APPLIED
    assert world.book.live() == []


def update(change: Change, content: str, **given: object) -> MemoryRequest:
    return ask(content, operation=Operation.UPDATE, target_id=change.target_id, **given)


async def test_a_case_that_asks_the_same_and_expects_otherwise_takes_its_place(
    world: World,
) -> None:
    await taught(world, DELAY, key="k0")
    change = await taught(world, REPORT, RECALL)
    (older,) = world.book.live()
    nowhere = CaseBody(check=Check.SILENCE, text="who gets the WEEKLY  report?")
    now = update(change, "Ms. Kim likes tea", cases=[nowhere])
    receipt = await world.gate.submit(now, run("k2"))
    assert receipt.status is ReceiptStatus.APPLIED, receipt.message
    (newer,) = world.book.live()
    assert newer.body.check is Check.SILENCE
    assert newer.id != older.id


async def test_a_persons_case_gives_way_to_a_case_but_not_to_words(world: World) -> None:
    change = await taught(world, "Invoices are due in 14 days")
    await taught(world, DELAY, CaseBody(check=Check.RECALL, text="late deliveries"), key="k0")
    (known,) = world.book.live()
    body = CaseBody(check=Check.UNSAID, text="30 days")
    persons = {"id": "case-p", "item_id": change.target_id, "body": body, "change_id": None}
    persons |= {"origin": CaseOrigin.PERSON, "feedback_id": None, "by": "lee"}
    world.book.added["case-p"] = known.model_copy(update=persons)
    back = update(change, "Invoices are due in 30 days again")
    receipt = await world.gate.submit(back, run("k4"))
    assert receipt.status is ReceiptStatus.REFUSED
    assert "added by 'lee'" in receipt.message


async def test_cases_go_with_a_change_that_is_reverted_and_come_back(world: World) -> None:
    change = await taught(world, REPORT, RECALL)
    undone = await world.gate.revert(change.id, "wrong")
    assert undone.change_id is not None
    assert world.book.live() == []
    await world.gate.revert(undone.change_id, "right after all")
    assert len(world.book.live()) == 1


async def test_a_deletion_is_not_stopped_by_the_cases_of_what_it_deletes(world: World) -> None:
    change = await taught(world, REPORT, RECALL)
    gone = ask("", operation=Operation.DELETE, target_id=change.target_id)
    receipt = await world.gate.submit(gone, run("k2"))
    assert receipt.status is ReceiptStatus.APPLIED


async def test_its_own_case_that_does_not_hold_is_told(world: World) -> None:
    wrong = CaseBody(check=Check.UNSAID, text="Friday")
    receipt = await world.gate.submit(ask(REPORT, cases=[wrong]), run("k1"))
    assert receipt.status is ReceiptStatus.REFUSED
    assert "its own case does not hold" in receipt.message
    insisted = await world.gate.submit(ask(REPORT, cases=[wrong]), run("k2", *receipt.broken))
    assert insisted.status is ReceiptStatus.HELD


@pytest.mark.parametrize(
    ("case", "why"),
    [
        (CaseBody(check=Check.RECALL, text="  "), "needs `text`"),
        (CaseBody(check=Check.STANDS, text="Step 1"), "not for MEMORY"),
        (CaseBody(check=Check.RECALL, text="x" * 2001), "2001 characters"),
        (CaseBody(check=Check.BEHAVIOUR, text="do it"), "neither"),
        (CaseBody(check=Check.BEHAVIOUR, text="do it", must=(" ",)), "neither"),
        (CaseBody(check=Check.BEHAVIOUR, text="do it", must=("x", "/[/")), "`[` cannot be read"),
        (CaseBody(check=Check.BEHAVIOUR, text="do it", must_not=("x" * 2001,)), "2001 characters"),
    ],
)
async def test_a_case_that_cannot_be_run_is_refused(world: World, case: CaseBody, why: str) -> None:
    receipt = await world.gate.submit(ask(REPORT, cases=[case]), run("k1"))
    assert receipt.status is ReceiptStatus.REFUSED
    assert "case 1 cannot be run" in receipt.message
    assert why in receipt.message
    assert await contents(world) == []


async def test_eleven_cases_are_too_many(world: World) -> None:
    receipt: Receipt = await world.gate.submit(ask(REPORT, cases=[RECALL] * 11), run("k1"))
    assert "11 cases" in receipt.message


async def test_what_breaks_by_the_time_it_is_recorded_is_prepared_again(world: World) -> None:
    await taught(world, REPORT, RECALL)
    (case,) = world.book.live()
    unsaid = case.model_copy(update={"body": CaseBody(check=Check.UNSAID, text="Friday")})
    world.log.breaking = [CaseResult(case=unsaid, passed=False, why="it still says so")]

    with pytest.raises(TargetBusy):
        await world.gate.submit(ask(DELAY), run("k2"))
    stale = [change for change in world.log.changes.values() if change.key == "k2"]
    assert {change.status for change in stale} == {ChangeStatus.STALE}
    assert "meanwhile" in (stale[0].error or "")
    world.log.breaking = []
    receipt = await world.gate.submit(ask(DELAY), run("k2"))
    assert receipt.status is ReceiptStatus.APPLIED


async def test_with_the_gate_off_cases_are_kept_and_stop_nothing() -> None:
    world = World(cases=CaseRules(gate="off"))
    await taught(world, REPORT, RECALL)
    assert (await world.gate.submit(hides(), run("k2"))).status is ReceiptStatus.APPLIED
    (case,) = world.book.live()
    assert case.status is CaseStatus.UNPROVED


async def test_a_policy_can_hold_what_no_case_proves() -> None:
    world = World(cases=CaseRules(unproved="hold"))
    receipt = await world.gate.submit(ask(DELAY), run("k1"))
    assert receipt.status is ReceiptStatus.HELD
    assert "no case proves it" in receipt.message
    proof = CaseBody(check=Check.RECALL, text="Which day does Ms. Lim see the weekly figures?")
    await taught(world, REPORT, proof, key="k2")


async def test_what_is_found_no_more_without_the_change_is_not_its_doing(world: World) -> None:
    await taught(world, REPORT, RECALL)
    (case,) = world.book.live()
    drifted = CaseResult(case=case, passed=False, why="nothing is found")
    world.log.breaking = [drifted]
    receipt = await world.gate.submit(ask(DELAY), run("k2"))
    assert receipt.status is ReceiptStatus.APPLIED


async def test_a_derived_question_that_fits_both_does_not_tell_them_apart(world: World) -> None:
    await taught(world, REPORT, RECALL)
    (case,) = world.book.live()
    derived = CaseBody(check=Check.RECALL, text="report weekly")
    world.log.kept[case.id] = case.model_copy(
        update={"body": derived, "origin": CaseOrigin.DERIVED}
    )
    receipt = await world.gate.submit(hides(), run("k2"))
    assert receipt.status is ReceiptStatus.APPLIED


@pytest.mark.parametrize(
    ("says", "ends"),
    [
        (f"{REPORT}, and to Mr. Lee", ReceiptStatus.APPLIED),
        ("The minutes go to Ms. Kim on Friday afternoon", ReceiptStatus.REFUSED),
    ],
)
async def test_an_items_own_derived_question_breaks_if_its_words_are_taken(
    world: World, says: str, ends: ReceiptStatus
) -> None:
    made = await taught(world, REPORT, RECALL)
    (case,) = world.book.live()
    derived = case.model_copy(
        update={"origin": CaseOrigin.DERIVED, "body": CaseBody(check=Check.RECALL, text="report")}
    )
    world.log.kept[case.id] = derived
    world.log.breaking = [CaseResult(case=derived, passed=False, why="another comes first")]
    change = ask(says, operation=Operation.UPDATE, target_id=made.target_id)
    assert (await world.gate.submit(change, run("k2"))).status is ends


async def test_a_value_withdrawn_from_one_memory_is_not_said_in_another(world: World) -> None:
    await taught(world, REPORT, CaseBody(check=Check.UNSAID, text="11 a.m."))
    elsewhere = ask("Late guests are told that rooms are theirs until 11 a.m.")
    receipt = await world.gate.submit(elsewhere, run("k2"))
    assert receipt.status is ReceiptStatus.REFUSED
    assert "in another memory" in receipt.message


async def test_a_deletion_that_the_feedback_does_not_mean_is_told(world: World) -> None:
    kept = await taught(world, REPORT, RECALL)
    meant = await taught(world, DELAY, CaseBody(check=Check.RECALL, text="late"), key="k0")
    said = {"feedback_content": "Customers are not told of late deliveries any more"}
    behalf = run("k2").model_copy(update=said)
    wrong = ask("", operation=Operation.DELETE, target_id=kept.target_id)
    receipt = await world.gate.submit(wrong, behalf)
    assert receipt.status is ReceiptStatus.REFUSED
    assert meant.target_id in receipt.message
    right = ask("", operation=Operation.DELETE, target_id=meant.target_id)
    done = await world.gate.submit(right, behalf.model_copy(update={"key": "k3"}))
    assert done.status is ReceiptStatus.APPLIED


async def test_a_question_of_its_own_that_finds_nothing_proves_nothing(world: World) -> None:
    await taught(world, REPORT, CaseBody(check=Check.RECALL, text="Where is the lift?"))
    (case,) = world.book.live()
    assert (case.role, case.status) == (CaseRole.REGRESSION, CaseStatus.RED)


def test_the_order_of_columns_is_no_part_of_what_a_case_asks() -> None:
    one = CaseBody(check=Check.DECISION, inputs={"a": 1, "b": 2}, outputs={"c": 3, "d": 4})
    other = CaseBody(check=Check.DECISION, inputs={"b": 2, "a": 1}, outputs={"d": 4, "c": 3})
    assert (asks(one), expects(one)) == (asks(other), expects(other))
