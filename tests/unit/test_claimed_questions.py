"""A question that an item is to answer is not taken over by one that repeats its words."""

from __future__ import annotations

import pytest

from core.changes.cases.proposed import claimed, takes_over
from core.domain.models import Change, ChangeStatus, Kind, Operation, Snapshot
from core.domain.models.cases import Case, CaseBody, CaseOrigin, CaseResult, CaseRole, Check

ASKED = "얼굴에 트러블 났는데 쓰던 크림 환불돼요?"
ECHO = "얼굴에 트러블 났는데 쓰던 크림 환불돼요, 하면 사진을 보내 달라고 한다."
NEAR = "얼굴 크림은 환불할 때 쓰던 것도 받는다."


def of(after: str, before: str | None = None) -> Change:
    had, has = (text and Snapshot(content=text, name="x") for text in (before, after))
    return Change(
        id="c",
        key="k",
        digest="d",
        tenant_id="t",
        agent_id="a",
        kind=Kind.MEMORY,
        target_id="new",
        target_name="x",
        operation=Operation.UPDATE if before else Operation.CREATE,
        before=had or None,
        after=has or None,
        base_hash="",
        status=ChangeStatus.PREPARED,
    )


def ended(
    *found: str,
    role: CaseRole = CaseRole.PROOF,
    origin: CaseOrigin = CaseOrigin.MODEL,
    asked: str = ASKED,
    item_id: str = "known",
) -> CaseResult:
    case = Case(
        id="case",
        tenant_id="t",
        agent_id="a",
        kind=Kind.MEMORY,
        item_id=item_id,
        item_name=item_id,
        body=CaseBody(check=Check.RECALL, text=asked),
        role=role,
        origin=origin,
    )
    return CaseResult(case=case, passed=item_id in found, found=found)


def test_a_question_that_a_memory_repeats_and_leads_is_claimed() -> None:
    (one,) = claimed(of(ECHO), [ended("new", "known")])
    assert one.passed is False
    assert ASKED in one.why


@pytest.mark.parametrize(
    ("change", "result"),
    [
        (of(NEAR), ended("new", "known")),
        (of(ECHO), ended("known", "new")),
        (of(ECHO), ended("new", "known", role=CaseRole.REGRESSION)),
        (of(ECHO), ended("new", "known", origin=CaseOrigin.DERIVED)),
        (of(ECHO + " 빨리.", ECHO), ended("new", "known")),
        (of(ECHO), ended("new", item_id="new")),
        (
            of("환불 규정을 알려줘, 하면 메일로 답한다."),
            ended("new", "known", asked="환불 규정 알려줘"),
        ),
    ],
    ids=["near", "second", "no proof", "derived", "said before", "its own", "few words"],
)
def test_a_question_is_not_claimed_by_what_only_resembles_it(
    change: Change, result: CaseResult
) -> None:
    assert not claimed(change, [result])


def test_a_question_that_found_nothing_is_taken_over_by_its_words() -> None:
    assert takes_over(of(ECHO), ended("new"))
    assert not takes_over(of(NEAR), ended("new"))
    assert not takes_over(of(ECHO), ended("new", origin=CaseOrigin.DERIVED))
