"""References that a change breaks, and skills that depend on another."""

from __future__ import annotations

import pytest

from core.domain.models import (
    SKILL_MD,
    Bundle,
    Operation,
    Receipt,
    ReceiptStatus,
    SkillEdit,
    SkillEdits,
    SkillFile,
)
from core.learning_committers.skill_committer import commit_to_skill
from core.learning_committers.skill_folders import SkillLimits
from tests.support.skills import REFUND, World


def other(name: str, text: str) -> Bundle:
    document = f"---\nname: {name}\ndescription: 다른 스킬\n---\n\n# {name}\n\n{text}\n"
    return Bundle(name=name, files={SKILL_MD: SkillFile(data=document.encode())})


def edits(*made: SkillEdit) -> SkillEdits:
    return SkillEdits(edits=made)


async def world_of(*answers: SkillEdits, others: tuple[Bundle, ...] = ()) -> World:
    world = World(answers, limits=SkillLimits(shrink_percent=80))
    await world.create()
    world.store.skills.update({("t", skill.name): skill for skill in others})
    return world


async def updated(world: World) -> Receipt:
    given = {"operation": Operation.UPDATE, "skill_id": "partial-refund"}
    return await commit_to_skill("a", **given, deps=world.deps("u"))  # type: ignore[arg-type]


async def deleted(world: World, key: str = "d", *, knowing: str = "") -> Receipt:
    return await commit_to_skill(
        "a",
        operation=Operation.DELETE,
        skill_id="partial-refund",
        related_skill_ids=knowing,
        deps=world.deps(key),
    )


GONE = SkillEdit(op="delete_file", path="references/fees.md")
CUT = edits(SkillEdit(op="insert_section", heading="절차", text="references/gone.md를 본다"))
FINE = edits(SkillEdit(op="insert_section", heading="절차", text="references/fees.md를 본다"))


async def test_a_reference_that_leads_nowhere_goes_back_to_the_author() -> None:
    world = await world_of(CUT, FINE)
    receipt = await updated(world)
    assert receipt.status is ReceiptStatus.APPLIED
    (problem,) = world.author.told[1]
    assert problem.startswith("SKILL.md:12 refers to 'references/gone.md', which is no file")
    assert receipt.warnings == ()


async def test_a_file_that_the_skill_points_to_is_not_deleted_alone() -> None:
    tidy = edits(
        SkillEdit(op="replace_section", heading="참고", text="없음"),
        GONE,
        SkillEdit(op="put_file", path="references/other.md", text="# 수수료\n\n카드 3 %\n"),
    )
    world = await world_of(edits(GONE), tidy)
    assert (await updated(world)).status is ReceiptStatus.APPLIED
    told = "; ".join(world.author.told[1])
    assert "'references/fees.md', which would be deleted" in told
    assert "references/fees.md" not in world.files()


async def test_what_led_nowhere_before_is_a_warning() -> None:
    world = await world_of(FINE)
    bundle = world.store.skills["t", "partial-refund"]
    document = bundle.document.replace("1. 금액", "1. scripts/없음.py로 금액")
    files = {**bundle.files, SKILL_MD: SkillFile(data=document.encode())}
    world.store.skills["t", "partial-refund"] = bundle.model_copy(update={"files": files})
    receipt = await updated(world)
    assert receipt.status is ReceiptStatus.APPLIED
    assert receipt.warnings == ("SKILL.md:10 refers to 'scripts/없음.py', which does not exist",)


async def test_a_reference_to_another_skill_resolves_or_is_a_warning() -> None:
    cross = edits(SkillEdit(op="insert_section", text="tax/SKILL.md, tax/references/no.md"))
    world = await world_of(cross, others=(other("tax", "세율"),))
    receipt = await updated(world)
    assert receipt.status is ReceiptStatus.APPLIED
    assert [said.split(", ")[0] for said in receipt.warnings] == [
        "SKILL.md:16 refers to 'tax/references/no.md'"
    ]


async def test_whom_a_deleted_file_cuts_off_is_told() -> None:
    script = edits(SkillEdit(op="delete_file", path="scripts/split.py"))
    dependant = other("exchange", "partial-refund/scripts/split.py를 쓴다")
    world = await world_of(script, others=(dependant,))
    receipt = await updated(world)
    assert receipt.status is ReceiptStatus.APPLIED
    assert any("skill 'exchange' refers to it in SKILL.md:8" in said for said in receipt.warnings)


async def test_a_deletion_names_its_dependants_first() -> None:
    dependants = (
        other("exchange", "partial-refund/references/fees.md"),
        other("returns", "[환불](../partial-refund/SKILL.md)"),
        other("tax", "세율"),
    )
    world = await world_of(others=dependants)
    for key, knowing in (("1", ""), ("2", "exchange"), ("3", "exchange, tax")):
        refused = await deleted(world, key, knowing=knowing)
        assert refused.status is ReceiptStatus.REFUSED
        assert "'exchange' refers to it in SKILL.md:8 (references/fees.md)" in refused.message
        assert "related_skill_ids exchange,returns" in refused.message
    receipt = await deleted(world, "4", knowing="returns, exchange")
    assert receipt.status is ReceiptStatus.APPLIED
    assert len(receipt.warnings) == 2
    assert ("t", "partial-refund") not in world.store.skills


async def test_two_skills_that_refer_to_each_other_can_be_deleted() -> None:
    world = await world_of(
        edits(SkillEdit(op="insert_section", text="exchange/SKILL.md를 참고한다")),
        others=(other("exchange", "partial-refund/SKILL.md"),),
    )
    await updated(world)
    assert (await deleted(world, "1")).status is ReceiptStatus.REFUSED
    assert (await deleted(world, "2", knowing="exchange")).status is ReceiptStatus.APPLIED
    last = await commit_to_skill(
        "a", operation=Operation.DELETE, skill_id="exchange", deps=world.deps("3")
    )
    assert last.status is ReceiptStatus.APPLIED
    assert not world.store.skills


async def test_a_skill_that_refers_to_itself_by_name_keeps_nobody() -> None:
    world = World()
    own = f"{REFUND.body_markdown}\npartial-refund/references/fees.md\n"
    artifact = REFUND.model_copy(update={"body_markdown": own})
    await commit_to_skill("a", artifact, deps=world.deps("c"))
    assert (await deleted(world)).status is ReceiptStatus.APPLIED


async def test_a_creation_others_rely_on_is_taken_back_and_says_whom_it_cuts_off() -> None:
    world = await world_of(others=(other("exchange", "partial-refund/references/fees.md"),))
    created = world.log.history[-1].change_id
    receipt = await world.gate.revert(created, "잘못 배웠다")
    assert receipt.status is ReceiptStatus.APPLIED
    assert ("t", "partial-refund") not in world.store.skills
    (said,) = receipt.warnings
    assert said.startswith("skill 'exchange' refers to it in SKILL.md:8 (references/fees.md)")


async def test_a_revert_that_takes_a_file_from_others_says_so() -> None:
    added = edits(
        SkillEdit(op="put_file", path="references/new.md", text="# 새 글\n\n글\n"),
        SkillEdit(op="insert_section", text="references/new.md를 본다"),
    )
    world = await world_of(added, others=(other("exchange", "partial-refund/references/new.md"),))
    receipt = await updated(world)
    assert receipt.change_id is not None
    taken_back = await world.gate.revert(receipt.change_id, "되돌린다")
    assert taken_back.status is ReceiptStatus.APPLIED
    assert "(references/new.md), which this deletes" in taken_back.warnings[0]
    assert (await world.gate.revert(taken_back.change_id or "", "다시")).warnings == ()


@pytest.mark.parametrize(("count", "more"), [(10, ""), (11, "and 1 more")])
async def test_ten_skills_that_refer_to_it_are_named_and_the_rest_counted(
    count: int, more: str
) -> None:
    others = tuple(other(f"s-{n}", "partial-refund/scripts/split.py를 쓴다") for n in range(count))
    script = edits(SkillEdit(op="delete_file", path="scripts/split.py"))
    world = await world_of(script, others=others)
    said = [*(await updated(world)).warnings]
    assert len([each for each in said if "refers to it" in each]) == 10
    assert [str(each) for each in said if "more" in each] == ([more] if more else [])
