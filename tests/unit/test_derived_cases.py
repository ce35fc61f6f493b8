"""What code derives from a change, and when a text says something."""

from __future__ import annotations

import pytest

from core.changes.cases.proposed import derive, question_of
from core.changes.cases.running import says
from core.domain.models import Change, ChangeStatus, Kind, Operation, Snapshot
from core.domain.models.cases import Check
from tests.support.rules import edited, learnt, row

SKILL = """---
name: refund
description: How to reconcile a partial refund when the customer keeps part of the order.
---
# Refund

## Preconditions

- The order is **paid**.

## Steps

1. Look up the order in the ERP.
2. Compare `amount` with the invoice.
"""


def derived(
    after: str | None, before: str | None = None, kind: Kind = Kind.MEMORY
) -> list[tuple[str, str]]:
    def state(text: str | None) -> Snapshot | None:
        return None if text is None else Snapshot(content=text, name="x")

    change = Change(
        id="c",
        key="k",
        digest="d",
        tenant_id="t",
        agent_id="a",
        kind=kind,
        target_id="x",
        target_name="x",
        operation=Operation.UPDATE if before else Operation.CREATE,
        before=state(before),
        after=state(after),
        base_hash="",
        status=ChangeStatus.PREPARED,
    )
    return [(body.check, body.text) for body in derive(change)]


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("배송이 지연되면 고객에게 3일 안에 사과 메일을 보냅니다.", "배송 지연 고객"),
        ("Ms. Kim wants amounts in KRW without decimals", "amounts without decimals"),
        # A number tells less than a word of its length, and a long one more than a short word.
        ("Order 12 pens", "Order"),
        ("12 pens", "pens"),
        ("Room 12345678 opens", "12345678"),
        ("창고 12번 물건 배송", "창고 물건"),
        ("환불", ""),
        ("", ""),
        ("?!", ""),
    ],
)
def test_a_memory_is_asked_for_by_half_its_words(text: str, asked: str) -> None:
    assert question_of(text) == asked


def test_values_and_names_that_gave_way_must_not_be_said_again() -> None:
    unsaid = derived("환불은 5일 안에 박부장이 한다", "환불은 3일 안에 김부장이 한다")[1:]
    assert (Check.UNSAID, "3일") in unsaid
    assert not derived("Pay 1,000,000 KRW.", "Pay 1000000 KRW")[1:]


def test_a_skill_must_be_chosen_and_keep_its_steps_and_conditions() -> None:
    found = derived(SKILL, kind=Kind.SKILL)
    assert [check for check, _ in found] == ["chosen", *["stands"] * 3]
    assert (Check.STANDS, "The order is **paid**.") in found


def test_an_edit_derives_only_what_it_adds_and_drops() -> None:
    changed = SKILL.replace("Compare `amount` with the invoice.", "Ask finance to compare.")
    assert derived(changed, SKILL, Kind.SKILL) == [
        (Check.STANDS, "Ask finance to compare."),
        (Check.WITHDRAWN, "Compare `amount` with the invoice."),
    ]


def test_a_deletion_derives_nothing() -> None:
    assert derived(None, "Refunds take 3 days.") == []


def test_a_long_step_must_stand_as_far_as_its_first_whole_words() -> None:
    long = SKILL.replace("Look up the order in the ERP.", "carefully " * 30)
    stands = [text for check, text in derived(long, SKILL, Kind.SKILL) if check == "stands"]
    assert stands == [" ".join(["carefully"] * 19)]
    two = SKILL.replace("Look up the order in the ERP.", "Look it up. Then call Ms. Kim.")
    assert (Check.STANDS, "Look it up.") in derived(two, SKILL, Kind.SKILL)
    one = SKILL.replace("Look up the order in the ERP.", "가" * 300)
    assert (Check.STANDS, "가" * 200) in derived(one, SKILL, Kind.SKILL)


def test_rows_derive_the_cases_that_the_change_brings() -> None:
    before = learnt(row("> 100", "lead", example=150)).xml
    after = edited(before, row("<= 100", "clerk", example=50)).xml
    assert len(derived(after, kind=Kind.DMN_RULE)) == 2
    assert derived(after, before, Kind.DMN_RULE) == [(Check.DECISION, "")]
    assert derived(before, before, Kind.DMN_RULE) == []
    assert derived("<", before, Kind.DMN_RULE) == []


@pytest.mark.parametrize(
    ("text", "statement", "is_said"),
    [
        ("Refunds take 13 days.", "3 days", False),
        ("Refunds take 3  Days.", "3 days", True),
        ("환불 은 3 일 안에", "환불은 3일", True),
        ("환불은 13일 안에", "3일", False),
        ("Up to 1,000,000 KRW", "1000000 krw", True),
        ("Up to 1.5 kg", "5 kg", False),
        ("- Look up the **order**", "look up the order", True),
        ("able", "not able", False),
        ("anything", "", False),
    ],
)
def test_a_text_says_something_whatever_its_form(text: str, statement: str, is_said: bool) -> None:
    assert says(text, statement) is is_said
