"""What a change came to, as its receipt says: to a model as to a person."""

from __future__ import annotations

import pytest

from core.changes.gate.receipts import (
    denied_receipt,
    exists_receipt,
    failed_receipt,
    joined_receipt,
    known_receipt,
    overtaken_receipt,
    receipt_of,
)
from core.domain.errors import AlreadyExists, InvalidInput
from core.domain.models import (
    DENIED,
    Change,
    ChangeStatus,
    Kind,
    LaterWord,
    Lister,
    MergeMode,
    Operation,
    ReceiptStatus,
    Relationship,
    SkillListRequest,
    Snapshot,
)
from tests.support.react import item_change
from tests.support.seeding import AT

CREATE, UPDATE, DELETE = Operation.CREATE, Operation.UPDATE, Operation.DELETE
APPLIED, HELD, REJECTED = ChangeStatus.APPLIED, ChangeStatus.HELD, ChangeStatus.REJECTED
FAILED, REVERTED, PREPARED = ChangeStatus.FAILED, ChangeStatus.REVERTED, ChangeStatus.PREPARED


def change(kind: Kind = Kind.MEMORY, **given: object) -> Change:
    made = item_change(kind, "m", "the name", "the text")
    return made.model_copy(update={"warnings": ("careful",), "said_at": AT, **given})


HAD_BY_ZED = SkillListRequest(skill_ids=("pay",), listed_by=(Lister(id="zed", name="Z"),))


def state(content: str, version: int | None = None) -> Snapshot:
    return Snapshot(content=content, name="n", version=version)


@pytest.mark.parametrize(
    ("given", "status", "said"),
    [
        ({}, "applied", "MEMORY 'the name' created"),
        ({"operation": UPDATE}, "applied", "MEMORY 'the name' updated"),
        ({"operation": DELETE}, "applied", "MEMORY 'the name' deleted"),
        (
            {"status": HELD},
            "held",
            "MEMORY 'the name' will be created once a person approves it",
        ),
        ({"status": ChangeStatus.STALE, "held": ("new",)}, "held", "new"),
        ({"status": PREPARED}, "prepared", "would be created"),
        ({"status": PREPARED, "held": ("why", "and")}, "prepared", "why; and"),
        ({"status": REVERTED}, "applied", "reverted since"),
        ({"status": FAILED}, "failed", "could not be created"),
        ({"status": FAILED, "operation": DELETE}, "failed", "could not be deleted"),
        ({"status": FAILED, "error": "the disk is full"}, "failed", "the disk is full"),
        ({"status": REJECTED}, "refused", "rejected"),
        ({"status": REJECTED, "decided_by": "kim", "decision": "not true"}, "refused", "kim"),
        ({"status": REJECTED, "decision": "not true"}, "refused", ": not true"),
    ],
)
def test_a_receipt_says_what_became_of_a_change(
    given: dict[str, object], status: str, said: str
) -> None:
    receipt = receipt_of(change(**given))
    assert receipt.status == status
    assert said in receipt.message
    assert (receipt.kind, receipt.target_id, receipt.target_name) == (Kind.MEMORY, "m", "the name")
    assert (receipt.operation, receipt.warnings) == (given.get("operation", CREATE), ("careful",))
    assert receipt.said_at == AT
    assert receipt.change_id == (None if given.get("status") is PREPARED else "made-m")


@pytest.mark.parametrize(
    ("given", "over"),
    [
        ({}, ""),
        ({"merge_mode": MergeMode.EXTEND}, ""),
        ({"merge_mode": MergeMode.REFINE, "relationship": Relationship.SUPERSEDES}, ""),
        ({"merge_mode": MergeMode.REPLACE}, "version 3"),
        ({"relationship": Relationship.SUPERSEDES}, "version 3"),
        ({"relationship": Relationship.REFINES}, ""),
        ({"merge_mode": MergeMode.REPLACE, "operation": DELETE}, ""),
        ({"merge_mode": MergeMode.REPLACE, "reverts": "c"}, ""),
        ({"merge_mode": MergeMode.REPLACE, "before": state("old")}, "replac"),
        ({"merge_mode": MergeMode.REPLACE, "before": None}, "replac"),
    ],
)
def test_an_update_says_what_it_put_itself_in_the_place_of(
    given: dict[str, object], over: str
) -> None:
    given = {"operation": UPDATE, "before": state("old", 3), **given}
    said = receipt_of(change(**given)).message
    plain = {"merge_mode": None, "relationship": None}
    whole = receipt_of(change(**{**given, **plain})).message
    assert (said == whole) is (over == "")
    assert over in said


@pytest.mark.parametrize(
    ("before", "after", "status", "said"),
    [
        ("pay\nship", "pay", "applied", "ship"),
        ("pay\nship", "pay\nload", "attached", "load, pay"),
        ("pay", "pay\nship", "attached", "pay, ship"),
        ("pay", "", "applied", "pay"),
        (None, "ship\npay", "attached", "pay, ship"),
    ],
)
def test_a_list_of_skills_says_what_is_on_it_or_came_off(
    before: str | None, after: str, status: str, said: str
) -> None:
    given = {"before": state(before) if before is not None else None, "after": state(after)}
    edited = change(Kind.AGENT_SKILLS, operation=UPDATE, **given)
    receipt = receipt_of(edited)
    assert (receipt.status, said in receipt.message) == (status, True)
    others = receipt_of(edited.model_copy(update={"request": HAD_BY_ZED}))
    assert others.message.startswith(receipt.message)
    assert "zed" in others.message
    waits = receipt_of(edited.model_copy(update={"request": HAD_BY_ZED, "status": FAILED}))
    assert "zed" not in waits.message


def test_only_lists_say_who_else_has_a_skill() -> None:
    assert "zed" not in receipt_of(change(Kind.SKILL, request=HAD_BY_ZED)).message


def test_what_is_known_already_is_cited_and_stores_nothing() -> None:
    receipt = known_receipt(change())
    assert (receipt.status, receipt.change_id) == (ReceiptStatus.KNOWN, None)
    assert receipt.message.code == "receipt.known"  # type: ignore[attr-defined]
    (hit,) = receipt.hits
    assert (hit.id, hit.kind, hit.name, hit.excerpt) == ("m", Kind.MEMORY, "the name", "the text")
    assert hit.score == 1.0
    long = known_receipt(change(after=state("x" * 400)))
    assert len(long.hits[0].excerpt) == 300
    assert known_receipt(change(after=None)).hits == ()
    skill = known_receipt(change(Kind.SKILL))
    assert skill.message.code == "receipt.known_skill"  # type: ignore[attr-defined]
    listed = known_receipt(change(Kind.AGENT_SKILLS, after=state("ship\npay")))
    assert listed.message.code == "receipt.attached"  # type: ignore[attr-defined]
    assert "pay, ship" in listed.message
    assert listed.hits == ()
    none = known_receipt(change(Kind.AGENT_SKILLS, after=state("")))
    assert "pay" not in none.message


def test_a_change_that_waits_already_is_cited() -> None:
    waiting = change(status=HELD)
    receipt = joined_receipt(waiting)
    assert (receipt.status, receipt.change_id) == (ReceiptStatus.HELD, "made-m")
    assert receipt_of(waiting).message in receipt.message
    assert receipt.message != receipt_of(waiting).message


def test_a_failure_says_why_and_what_to_do() -> None:
    bare = failed_receipt(change(), InvalidInput("no room"))
    assert (bare.status, bare.message, bare.change_id) == ("failed", "no room", "made-m")
    told = failed_receipt(change(), InvalidInput("no room", hint="make some"))
    assert told.message == "no room. make some"


def test_a_denial_is_told_apart_from_other_refusals() -> None:
    receipt = denied_receipt(change(), "not on Fridays")
    assert (receipt.status, receipt.message, receipt.category) == (
        "refused",
        "not on Fridays",
        DENIED,
    )
    assert receipt.change_id is None


def test_what_was_said_later_is_named_by_its_piece() -> None:
    word = LaterWord(change_id="c9", feedback_id="f9", target_id="m", said_at=AT, heard_at=AT)
    receipt = overtaken_receipt(change(), word)
    assert receipt.status is ReceiptStatus.OVERTAKEN
    assert "f9" in receipt.message
    assert "2026-01-05 09:00" in receipt.message
    by_hand = word.model_copy(update={"feedback_id": None})
    assert "c9" in overtaken_receipt(change(), by_hand).message


def test_what_exists_already_is_told_with_all_that_is_near() -> None:
    near = AlreadyExists(
        "there is one", hint="", item_id="n2", name="N2", content="y", score=0.5, why="near"
    )
    error = AlreadyExists(
        "there is one", hint="update it", item_id="n1", name="N1", content="x" * 400, score=0.9,
        why="the same", others=(near,),
    )  # fmt: skip
    receipt = exists_receipt(Kind.DMN_RULE, CREATE, error)
    assert (receipt.status, receipt.message) == ("refused", "there is one. update it")
    assert (receipt.kind, receipt.operation) == (Kind.DMN_RULE, CREATE)
    assert (receipt.target_id, receipt.target_name) == ("n1", "N1")
    assert [(hit.id, hit.name, len(hit.excerpt), hit.score, hit.why) for hit in receipt.hits] == [
        ("n1", "N1", 300, 0.9, "the same"), ("n2", "N2", 1, 0.5, "near"),
    ]  # fmt: skip
    assert {hit.kind for hit in receipt.hits} == {Kind.DMN_RULE}
