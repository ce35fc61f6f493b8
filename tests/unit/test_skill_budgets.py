"""Budgets: what the author sees of related skills, and what an agent reads at start."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from core.agent.skill_author import ALL_CHARS, FILE_CHARS, shown_files
from core.domain.models import (
    SKILL_MD,
    Bundle,
    Operation,
    ReceiptStatus,
    SkillEdit,
    SkillEdits,
    SkillFile,
)
from core.domain.text import fair_shares
from core.learning_committers.agent_skills_committer import attach_skills_to_agent
from core.learning_committers.skill_committer import commit_to_skill
from core.learning_committers.skill_folders import SkillLimits
from tests.support.skills import REFUND, World


def skill(name: str, body: str, description: str = "설명") -> Bundle:
    document = f"---\nname: {name}\ndescription: {description}\n---\n{body}"
    return Bundle(name=name, files={SKILL_MD: SkillFile(data=document.encode())})


def with_skills(*skills: Bundle, answers: tuple[object, ...] = (REFUND,), **limits: int) -> World:
    world = World(answers, limits=SkillLimits(**limits))  # type: ignore[arg-type]
    world.store.skills.update({("t", bundle.name): bundle for bundle in skills})
    return world


async def test_related_skills_share_the_room_and_say_what_was_cut() -> None:
    short, long = skill("short", "짧은 글\n"), skill("long", "긴 글의 한 줄\n" * 50)
    world = with_skills(short, long, related_chars=200)
    await commit_to_skill("a", related_skill_ids="long, short, 없음, no-such", deps=world.deps("k"))
    (asked,) = world.author.asked
    by_name = {item.name: item for item in asked.related}
    assert by_name["short"].head == "짧은 글"
    assert by_name["short"].cut == ""
    assert by_name["long"].description == "설명"
    assert "characters of the first lines" in by_name["long"].cut
    room = sum(len(item.name + item.description + item.head) for item in asked.related)
    assert 190 <= room <= 200
    assert asked.related_unknown == (
        "없음: there is no such skill",
        "no-such: there is no such skill",
    )


async def test_a_related_skill_without_readable_frontmatter_is_shown_too() -> None:
    broken = Bundle(name="broken", files={SKILL_MD: SkillFile(data=b"no head\n")})
    world = with_skills(broken)
    receipt = await commit_to_skill("a", related_skill_ids="broken", deps=world.deps("k"))
    assert receipt.status is ReceiptStatus.APPLIED
    assert world.author.asked[0].related[0].head == "no head"


@given(wanted=st.lists(st.integers(0, 1_000), max_size=8), room=st.integers(-5, 3_000))
def test_shares_are_fair(wanted: list[int], room: int) -> None:
    shares = fair_shares(wanted, room)
    assert sum(shares) <= max(room, 0)
    assert all(share <= want for share, want in zip(shares, wanted, strict=True))
    if sum(wanted) <= room:
        assert shares == wanted
    cut = [share for share, want in zip(shares, wanted, strict=True) if share < want]
    assert all(share <= min(cut) + 1 for share in shares if cut and share >= max(cut))


async def test_a_new_skill_over_the_budget_of_descriptions_carries_a_warning() -> None:
    world = with_skills(skill("old", "글\n", "가" * 80), descriptions_chars=100)
    await attach_skills_to_agent("a", "old", deps=world.deps("k1"))
    receipt = await commit_to_skill("a", REFUND, deps=world.deps("k2"))
    total = 80 + len(REFUND.description)
    assert receipt.status is ReceiptStatus.APPLIED
    assert receipt.warnings == (
        f"the descriptions of the 2 skills of agent a come to {total} characters,"
        f" {total - 100} over its budget of 100 (80 before); it reads them all at start",
    )


async def test_so_does_a_longer_description_and_a_skill_that_is_attached() -> None:
    longer = SkillEdit(op="set_description", text="부분 환불을 정산한다 " + "가" * 90)
    world = with_skills(answers=(SkillEdits(edits=(longer,)),), descriptions_chars=100)
    await world.create()
    update = await commit_to_skill(
        "a", operation=Operation.UPDATE, skill_id="partial-refund", deps=world.deps("u")
    )
    assert "over its budget of 100" in update.warnings[-1]
    attached = await attach_skills_to_agent("b", "partial-refund", deps=world.deps("k"))
    assert attached.status is ReceiptStatus.ATTACHED
    assert "skills of agent b come to" in attached.warnings[0]


async def test_a_change_within_the_budget_or_lowering_the_sum_has_no_warning() -> None:
    shorter = SkillEdit(op="set_description", text="부분 환불을 정산한다: 금액")
    world = with_skills(answers=(SkillEdits(edits=(shorter,)),), descriptions_chars=3)
    await world.create()
    update = await commit_to_skill(
        "a", operation=Operation.UPDATE, skill_id="partial-refund", deps=world.deps("u")
    )
    assert update.status is ReceiptStatus.APPLIED
    assert update.warnings == ()


def test_a_skill_of_any_size_is_shown_in_bounded_room() -> None:
    files = {f"references/{number}.md": SkillFile(data=b"x" * 80_000) for number in range(40)}
    files |= {SKILL_MD: SkillFile(data=("# 제목\n\n" + "가" * 2_000_000).encode())}
    shown = shown_files(Bundle(name="big", files={**files, "x.bin": SkillFile(data=b"\xff")}))
    assert len(json.dumps(shown, ensure_ascii=False)) < ALL_CHARS * 2
    document, reference = shown[SKILL_MD], shown["references/1.md"]
    assert isinstance(document, dict)
    assert document["headings"] == ["제목"]
    assert document["characters"] == 2_000_006
    assert isinstance(reference, dict)
    assert len(str(reference["begins"])) <= FILE_CHARS
    assert shown["x.bin"] == {"binary": True, "bytes": 1}
