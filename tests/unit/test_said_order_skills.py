"""Of a skill and of lists, what was said later stands; what is said beside it is learnt."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from core.domain.models import (
    SKILL_MD,
    MergeMode,
    Operation,
    Receipt,
    ReceiptStatus,
    SkillEdit,
    SkillEdits,
    SkillFile,
    SkillRequest,
)
from core.learning_committers.agent_skills_committer import attach_skills_to_agent
from core.learning_committers.base import CommitDeps
from core.learning_committers.skill_committer import commit_to_skill
from tests.support.skills import World

NINE = datetime(2026, 1, 5, 9, tzinfo=UTC)
BODY = """---
name: refund
description: How to refund. Use it for refunds.
---
# Refund

## Steps

1. Check the amount.

## Limits

At most 100 euros.
"""
FEES = "# Fees\n\nCards cost 3 %.\n"
LATER = "# Fees\n\nTransfers cost 2 %.\n"
OWN = "# Holidays\n\nOn holidays a lead decides.\n"


class Told(World):
    """A world whose pieces are said at an hour, and come in one after another."""

    def at(self, hour: int) -> CommitDeps:
        deps: CommitDeps = self.deps(f"k{hour}")
        said = {
            "feedback_id": f"f{hour}",
            "said_at": NINE + timedelta(hours=hour),
            "heard_at": NINE + timedelta(days=1, minutes=len(self.log.changes)),
        }
        return CommitDeps(gate=deps.gate, context=deps.context.model_copy(update=said))

    async def begin(self) -> None:
        folder = {
            SKILL_MD: SkillFile(data=BODY.encode()),
            "references/fees.md": SkillFile(data=FEES.encode()),
        }
        request = SkillRequest(operation=Operation.CREATE, target_id="refund", folder=folder)
        deps = self.at(0)
        receipt = await deps.gate.submit(request, deps.context)
        assert receipt.status is ReceiptStatus.APPLIED, receipt.message

    async def edit(self, hour: int, *edits: SkillEdit, mode: MergeMode | None = None) -> Receipt:
        self.author.answers = [SkillEdits(edits=edits)]
        return await commit_to_skill(
            "a",
            operation=Operation.UPDATE,
            skill_id="refund",
            merge_mode=mode,
            deps=self.at(hour),
        )

    async def delete(self, hour: int) -> Receipt:
        return await commit_to_skill(
            "a", operation=Operation.DELETE, skill_id="refund", deps=self.at(hour)
        )

    def text(self, path: str = SKILL_MD) -> str:
        return self.store.skills["t", "refund"].files[path].data.decode()


def section(heading: str, text: str) -> SkillEdit:
    return SkillEdit(op="replace_section", heading=heading, text=text)


async def told() -> Told:
    world = Told()
    await world.begin()
    return world


async def test_a_section_set_later_stands_and_another_is_learnt() -> None:
    world = await told()
    await world.edit(9, section("Limits", "At most 900 euros."))
    late = await world.edit(
        5,
        section("Limits", "At most 500 euros."),
        SkillEdit(op="append_item", heading="Steps", text="Ask a lead."),
    )
    assert late.status is ReceiptStatus.APPLIED
    assert "At most 900 euros." in world.text()
    assert "At most 500 euros." not in world.text()
    assert "Ask a lead." in world.text()
    (warning,) = [said for said in late.warnings if "f9" in said]
    assert "SKILL.md > Refund > Limits" in warning
    assert "2026-01-05 18:00" in warning


async def test_where_all_was_set_later_nothing_changes_and_that_is_said() -> None:
    world = await told()
    await world.edit(9, section("Limits", "At most 900 euros."))
    before = world.store.skills["t", "refund"].files
    late = await world.edit(5, section("Limits", "At most 500 euros."))
    assert late.status is ReceiptStatus.OVERTAKEN
    assert late.status.is_outcome
    assert "f9" in late.message
    assert world.store.skills["t", "refund"].files == before


async def test_what_is_added_to_a_section_edited_later_is_learnt() -> None:
    world = await told()
    await world.edit(9, SkillEdit(op="append_item", heading="Steps", text="Tell the customer."))
    late = await world.edit(5, SkillEdit(op="append_item", heading="Steps", text="Ask a lead."))
    assert late.status is ReceiptStatus.APPLIED
    assert world.text().index("Ask a lead.") < world.text().index("Tell the customer.")


async def test_a_file_put_later_stands() -> None:
    world = await told()
    await world.edit(9, SkillEdit(op="put_file", path="references/new.md", text=LATER))
    late = await world.edit(
        5,
        SkillEdit(op="put_file", path="references/new.md", text="# Fees\n\nTransfers cost 1 %.\n"),
        SkillEdit(op="put_file", path="references/own.md", text=OWN),
        mode=MergeMode.REPLACE,
    )
    assert late.status is ReceiptStatus.APPLIED, late.message
    assert world.text("references/new.md") == LATER
    assert world.text("references/own.md") == OWN
    assert any("references/new.md" in said for said in late.warnings)


async def test_a_long_file_of_equal_lines_does_not_hold_up_a_late_edit() -> None:
    world = await told()
    rows = "x,1\n" * 9_000
    for hour, text in ((8, rows), (9, rows + "y,2\n"), (10, "z\n" * 20_000)):
        edit = SkillEdit(op="put_file", path=f"assets/{hour // 10}.csv", text=text)
        put = await world.edit(hour, edit, mode=MergeMode.REFINE)
        assert put.status is ReceiptStatus.APPLIED, put.message
    late = await world.edit(5, section("Limits", "At most 500 euros."))
    assert late.status is ReceiptStatus.APPLIED, late.message
    assert "At most 500 euros." in world.text()
    assert world.text("assets/0.csv").endswith("y,2\n")


async def test_a_skill_edited_later_is_not_deleted() -> None:
    world = await told()
    await world.edit(9, section("Limits", "At most 900 euros."))
    assert (await world.delete(5)).status is ReceiptStatus.OVERTAKEN
    assert "At most 900 euros." in world.text()


async def test_a_skill_deleted_later_does_not_come_back() -> None:
    world = await told()
    assert (await world.delete(9)).status is ReceiptStatus.APPLIED
    request = SkillRequest(
        operation=Operation.CREATE,
        target_id="refund",
        folder={SKILL_MD: SkillFile(data=BODY.encode())},
    )
    deps = world.at(5)
    late = await deps.gate.submit(request, deps.context)
    assert late.status is ReceiptStatus.OVERTAKEN
    assert ("t", "refund") not in world.store.skills
    again = world.at(10)
    assert (await again.gate.submit(request, again.context)).status is ReceiptStatus.APPLIED


async def test_what_the_same_piece_said_does_not_overtake_itself() -> None:
    world = await told()
    await world.edit(5, section("Limits", "At most 500 euros."))
    deps = world.at(5)
    self_again = CommitDeps(
        gate=deps.gate,
        context=deps.context.model_copy(update={"key": "k5b", "heard_at": NINE}),
    )
    world.author.answers = [SkillEdits(edits=(section("Limits", "At most 550 euros."),))]
    receipt = await commit_to_skill(
        "a", operation=Operation.UPDATE, skill_id="refund", deps=self_again
    )
    assert receipt.status is ReceiptStatus.APPLIED
    assert "At most 550 euros." in world.text()


async def test_what_a_person_reverts_is_said_when_it_is_reverted() -> None:
    world = await told()
    set_at_nine = await world.edit(9, section("Limits", "At most 900 euros."))
    await world.gate.revert(set_at_nine.change_id or "", "wrong")
    late = await world.edit(5, section("Limits", "At most 500 euros."))
    assert late.status is ReceiptStatus.OVERTAKEN
    assert "At most 100 euros." in world.text()


async def test_a_list_keeps_the_names_set_later() -> None:
    world = await told()
    folder = {SKILL_MD: SkillFile(data=BODY.replace("refund", "returns").encode())}
    request = SkillRequest(
        operation=Operation.CREATE, target_id="returns", folder=folder, is_import=True
    )
    deps = world.at(1)
    await deps.gate.submit(request, deps.context.model_copy(update={"agent_id": "b"}))
    receipt = await attach_skills_to_agent("a", "returns", "told", deps=world.at(7))
    assert receipt.status is ReceiptStatus.ATTACHED
    assert (await world.agents.get("t", "a")).skills == ("refund", "returns")
