"""New skills beside known ones: the same folder, a name or a trigger that collides."""

from __future__ import annotations

import pytest

from core.domain.models import (
    SKILL_MD,
    Bundle,
    Operation,
    Receipt,
    ReceiptStatus,
    SkillArtifact,
    SkillFile,
    SkillRequest,
    SubmitContext,
)
from core.knowledge.duplicates.skills import (
    compare_described,
    compare_skills,
    same_name,
    trigger_similarity,
)
from tests.support.skills import World

DESCRIPTION = "Reconcile a partial refund with the ledger. Use when only some items come back."
BODY = "# Steps\n\n1. Compare the refund with the order.\n2. Book the difference in the ledger.\n"


def skill(name: str, description: str = DESCRIPTION, body: str = BODY) -> SkillArtifact:
    return SkillArtifact(name=name, description=description, body_markdown=body)


def stored(artifact: SkillArtifact) -> Bundle:
    text = f"---\nname: {artifact.name}\ndescription: {artifact.description}\n---\n\n"
    return Bundle(
        name=artifact.name,
        files={SKILL_MD: SkillFile(data=f"{text}{artifact.body_markdown}".encode())},
    )


async def created(world: World, artifact: SkillArtifact, key: str, **given: str) -> Receipt:
    request = SkillRequest.model_validate(
        {"operation": Operation.CREATE, "artifact": artifact, "reason": "new", **given}
    )
    context = SubmitContext(key=key, tenant_id="t", agent_id="a")
    return await world.gate.submit(request, context)


@pytest.fixture
async def world() -> World:
    world = World()
    assert (await created(world, skill("partial-refund"), "1")).status is ReceiptStatus.APPLIED
    return world


async def test_the_same_folder_under_another_name_is_known_and_may_be_attached(
    world: World,
) -> None:
    receipt = await created(world, skill("refund-in-part"), "2")
    assert (receipt.status, receipt.target_id) == (ReceiptStatus.KNOWN, "partial-refund")
    assert "attach_skills_to_agent" in receipt.message
    assert receipt.hits[0].id == "partial-refund"
    assert await world.store.read("refund-in-part", "t") is None
    given = {"relationship": "UNRELATED", "reason": "brought from elsewhere"}
    brought = await created(world, skill("refund-in-part"), "3", **given)
    assert (brought.status, len(brought.warnings)) == (ReceiptStatus.APPLIED, 1)


@pytest.mark.parametrize(
    ("artifact", "why"),
    [
        (
            skill(
                "ledger-reconciliation",
                "Reconciles partial refunds with the ledger, when only some items of an order "
                "come back.",
                "# Principles\n\nNumbers first.\n",
            ),
            "both would be read for the same request",
        ),
        (
            skill("refunds_partial".replace("_", "-"), "Explain to a customer why money is late.",
                  "# Tone\n\nBe kind.\n"),
            "the same name but for its form",
        ),
        (skill("settle-refunds", DESCRIPTION, BODY + "3. Tell the customer.\n"), "similarity"),
    ],
)  # fmt: skip
async def test_a_neighbour_is_told_and_only_a_reason_lets_the_new_one_pass(
    world: World, artifact: SkillArtifact, why: str
) -> None:
    refused = await created(world, artifact, "2")
    assert (refused.status, refused.target_id) == (ReceiptStatus.REFUSED, "partial-refund")
    assert why in refused.hits[0].why
    assert "UPDATE and skill_id partial-refund" in refused.message
    given = {"relationship": "UNRELATED", "reason": "for the other ledger"}
    passed = await created(world, artifact, "3", **given)
    assert passed.status is ReceiptStatus.APPLIED
    assert any("for the other ledger" in warning for warning in passed.warnings)


async def test_a_skill_for_something_else_is_created(world: World) -> None:
    other = skill(
        "month-end-closing",
        "Close the books at the end of a month. Use when accounts are reconciled.",
        "# Steps\n\n1. Freeze postings.\n2. Compare balances.\n",
    )
    assert (await created(world, other, "2")).status is ReceiptStatus.APPLIED


def test_names_are_compared_without_separators_plurals_and_order() -> None:
    assert same_name("partial-refund", "Refunds_partial")
    assert same_name("주문-취소", "취소 주문")
    assert not same_name("partial-refund", "full-refund")
    assert not same_name("", "---")


def test_what_nearly_every_description_says_is_no_trigger() -> None:
    common = "Use this skill when performing the procedure or reviewing its result: "
    assert trigger_similarity(common + "monthly closing", common + "customer greeting") < 0.2
    assert trigger_similarity("월말 결산을 대사한다. 월말 결산에 사용합니다.",
                              "월말에 결산 대사를 할 때 사용한다.") >= 0.5  # fmt: skip


def test_a_few_sentences_are_compared_with_what_a_skill_is_for() -> None:
    refund = stored(skill("partial-refund"))
    greeting = stored(skill("greeting", "Greet a customer by name.", "# Tone\n\nBe kind.\n"))
    told = "Partial refunds are reconciled with the ledger when some items come back"
    first, second = compare_described(told, [greeting, refund])
    assert (first.known.id, first.trigger_collision) == ("partial-refund", True)
    assert not second.is_neighbour


ENGLISH_FORM = """---
name: {name}
description: {description} Use when customers ask for it.
allowed-tools: Read, Bash
metadata:
  owner: VIP team
---

# {name}

## Overview

See SKILL.md.

## When to use

{description}

## Steps

1. {first}
2. {second}
"""
KOREAN_FORM = """---
name: {name}
description: {description}
metadata:
  owner: 고객지원팀
---

# {name}

## 개요

{description}

## 사용 시점

## 절차

1. {first}
2. {second}

## 참고 자료
"""
ENGLISH = (
    ("partial-refund", "Reconcile a partial refund.", "Compare with the order", "Book the rest"),
    ("vip-greeting", "Greet VIP customers by name.", "Read the name", "Say hello"),
    ("month-close", "Close the books of a month.", "Freeze postings", "Compare balances"),
    ("parcel-label", "Print labels for parcels.", "Weigh the parcel", "Use A6 paper"),
    ("password-reset", "Reset a lost password.", "Check the identity", "Send a link"),
)
KOREAN = (
    ("refund", "부분 환불을 정산한다.", "주문과 비교한다", "차액을 장부에 적는다"),
    ("greeting", "단골 손님에게 인사한다.", "이름을 확인한다", "웃으며 인사를 건넨다"),
    ("label", "택배 송장을 출력한다.", "무게를 잰다", "상자에 붙인다"),
)


@pytest.mark.parametrize(("form", "given"), [(ENGLISH_FORM, ENGLISH), (KOREAN_FORM, KOREAN)])
def test_the_form_that_skills_have_in_common_makes_no_neighbours(
    form: str, given: tuple[tuple[str, str, str, str], ...]
) -> None:
    keys = ("name", "description", "first", "second")
    skills = [
        Bundle(
            name=one[0],
            files={
                SKILL_MD: SkillFile(data=form.format(**dict(zip(keys, one, strict=True))).encode())
            },
        )
        for one in given
    ]
    for skill in skills:
        for found in compare_skills(skill, [other for other in skills if other is not skill]):
            assert not found.is_neighbour, found.why
            assert not {"name", "description", "metadata", "owner"} & set(found.shared)
            assert "SKILL" not in found.why


def test_a_skill_with_another_frontmatter_is_near_and_not_the_same() -> None:
    one = stored(skill("partial-refund"))
    text = one.document.replace("partial-refund", "refund-in-part").replace(
        "\n---\n\n", "\nallowed-tools: Read\n---\n\n", 1
    )
    other = Bundle(name="refund-in-part", files={SKILL_MD: SkillFile(data=text.encode())})
    (found,) = compare_skills(other, [one])
    assert (found.is_exact, found.is_near) == (False, True)
    assert found.known.text == one.document


SCAFFOLDING = (
    "\n## 사용 시점\n\n이 작업을 수행하거나 결과를 검토할 때 사용합니다.\n\n## 절차\n\n{steps}\n"
    "확인: 이 단계의 결과를 기록하고, 기준에 맞지 않으면 멈추고 담당자에게 묻습니다.\n\n"
    "## 참고 자료\n\n마치기 전에 `references/checklist.md`의 점검표를 확인합니다.\n"
)


def by_one_author(name: str, *steps: str) -> Bundle:
    """Return a skill of which only the steps are its own."""
    told = " / ".join(steps)
    description = f"{told}. 이 작업을 수행하거나 결과를 검토할 때 사용합니다."
    return stored(skill(name, description, SCAFFOLDING.format(steps="\n\n".join(steps))))


@pytest.mark.parametrize(
    ("steps", "is_neighbour"),
    [
        (("해외 주문은 먼저 통관 번호를 확인하고", "관세를 계산하고", "출고를 지시합니다"), False),
        (("부분 환불은 먼저 영수증을 받고", "카드사에 전문을 보내고", "문자를 보냅니다"), True),
        (("부분 환불은 먼저 주문 번호를 확인하고", "취소할 금액을 계산합니다"), True),
    ],
)
def test_what_every_skill_of_an_author_says_makes_none_a_neighbour(
    steps: tuple[str, ...], is_neighbour: bool
) -> None:
    refund = by_one_author(
        "refund",
        "부분 환불은 먼저 주문 번호를 확인하고",
        "취소 금액을 계산하고",
        "승인을 요청합니다",
    )
    (found,) = compare_skills(by_one_author("other", *steps), [refund])
    assert found.is_neighbour is is_neighbour
