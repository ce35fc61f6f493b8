"""Retracting skills and their list entries, which skill changes alter as well."""

from __future__ import annotations

import pytest

from core.changes.retraction.retract import Retraction, Retractor
from core.domain.models import (
    Bundle,
    Feedback,
    FeedbackStatus,
    MergeMode,
    Operation,
    Receipt,
    ReceiptStatus,
    Relationship,
    SkillFile,
    SkillRequest,
)
from core.learning_committers.agent_skills_committer import (
    attach_skills_to_agent,
    detach_skills_from_agent,
)
from core.learning_committers.base import CommitDeps
from core.skills.bundle import file_refs
from core.testing.duplicate_waiters import MemoryDuplicateWaiters
from core.testing.steps import MemorySteps
from tests.support.skills import World

HEAD = "---\nname: {0}\ndescription: How to do {0}. Use it for {0}.\n---\n# {0}\n"


class Told(World):
    """A world of skills taught by pieces of feedback."""

    async def make(self, feedback_id: str, name: str) -> Receipt:
        document = SkillFile(data=HEAD.format(name).encode())
        request = SkillRequest(
            operation=Operation.CREATE,
            target_id=name,
            folder={"SKILL.md": document},
            relationship=Relationship.UNRELATED,
            is_import=True,
        )
        context = self._deps(feedback_id, name).context
        receipt = await self.gate.submit(request, context)
        assert receipt.status is ReceiptStatus.APPLIED, receipt
        return receipt

    async def rewrite(self, feedback_id: str, name: str, **files: str) -> None:
        folder = {
            f"references/{key}.md": SkillFile(data=text.encode()) for key, text in files.items()
        }
        folder["SKILL.md"] = SkillFile(data=HEAD.format(name).encode(), executable=True)
        request = SkillRequest(
            operation=Operation.UPDATE,
            target_id=name,
            folder=folder,
            merge_mode=MergeMode.REPLACE,
            is_import=True,
        )
        receipt = await self.gate.submit(request, self._deps(feedback_id, name).context)
        assert receipt.status is ReceiptStatus.APPLIED, receipt

    async def attach(self, feedback_id: str, name: str, agent_id: str = "a") -> None:
        receipt = await attach_skills_to_agent(
            agent_id, name, deps=self._deps(feedback_id, f"on {agent_id} {name}")
        )
        assert receipt.status is ReceiptStatus.ATTACHED, receipt

    async def detach(self, feedback_id: str, name: str, agent_id: str = "a") -> None:
        receipt = await detach_skills_from_agent(
            agent_id, name, deps=self._deps(feedback_id, f"off {agent_id} {name}")
        )
        assert receipt.status is ReceiptStatus.APPLIED, receipt

    async def delete(self, feedback_id: str, name: str) -> None:
        request = SkillRequest(operation=Operation.DELETE, target_id=name)
        receipt = await self.gate.submit(request, self._deps(feedback_id, f"no {name}").context)
        assert receipt.status is ReceiptStatus.APPLIED, receipt

    async def retract(self, feedback_id: str) -> Retraction:
        retractor = Retractor(
            gate=self.gate,
            changes=self.log,
            steps=MemorySteps(self.log),
            duplicate_waiters=MemoryDuplicateWaiters(),
        )
        feedback = Feedback(
            id=feedback_id,
            source="inbox",
            source_id=feedback_id,
            tenant_id="t",
            agent_ids=("a",),
            content="…",
            status=FeedbackStatus.COMPLETED,
        )
        return await retractor.retract(feedback, by="kim")

    async def listed(self, agent_id: str = "a") -> list[str]:
        return [*(await self.agents.get("t", agent_id)).skills]

    def _deps(self, feedback_id: str, key: str) -> CommitDeps:
        deps = self.deps(f"{feedback_id} {key}")
        context = deps.context.model_copy(update={"feedback_id": feedback_id})
        return CommitDeps(deps.gate, context)


@pytest.fixture
def told() -> Told:
    return Told()


async def test_an_attached_skill_is_taken_back_where_others_came_to_the_list(told: Told) -> None:
    for name in ("refund", "delivery"):
        await told.make("f0", name)
    await told.attach("f1", "refund", agent_id="b")
    await told.make("f2", "invoice")
    await told.attach("f2", "delivery", agent_id="b")
    told.log.agent_skills["t", "b"] = {"refund", "delivery", "invoice"}
    done = await told.retract("f1")
    assert done.is_done
    assert await told.listed("b") == ["delivery", "invoice"]


async def test_an_attached_skill_that_was_deleted_since_does_not_come_back(told: Told) -> None:
    await told.make("f0", "refund")
    await told.make("f0", "delivery")
    await told.attach("f1", "refund", agent_id="b")
    await told.attach("f2", "delivery", agent_id="b")
    told.log.agent_skills["t", "b"] = {"delivery"}
    assert (await told.retract("f2")).is_done
    assert await told.listed("b") == []


@pytest.mark.parametrize("attached_first", [True, False])
async def test_a_skill_and_the_list_it_stands_on_go_together(
    told: Told, attached_first: bool
) -> None:
    await told.make("f0", "delivery")
    told.log.agent_skills["t", "a"] = set()
    if attached_first:
        await told.attach("f1", "delivery")
        await told.make("f1", "refund")
    else:
        await told.make("f1", "refund")
        await told.attach("f1", "delivery")
    done = await told.retract("f1")
    assert done.is_done, done
    assert await told.listed() == []
    assert [name for _, name in told.store.skills] == ["delivery"]


async def test_a_skill_comes_back_with_all_its_files_and_that_is_on_record(told: Told) -> None:
    await told.make("f1", "refund")
    await told.rewrite("f2", "refund", guide="one", table="two")
    before = told.store.skills["t", "refund"]
    await told.rewrite("f3", "refund", guide="other")
    done = await told.retract("f3")
    assert done.is_done, done
    assert told.store.skills["t", "refund"] == before
    *_, last = told.log.changes.values()
    assert last.after is not None
    assert last.after.files == file_refs(before)
    assert await told.log.blobs([*file_refs(before).values()])


async def test_where_one_skill_was_changed_past_the_worker_nothing_is_done(told: Told) -> None:
    await told.make("f1", "refund")
    await told.make("f1", "delivery")
    bundle = told.store.skills["t", "refund"]
    document = SkillFile(data=bundle.files["SKILL.md"].data + b"more\n")
    told.store.skills["t", "refund"] = Bundle(name="refund", files={"SKILL.md": document})
    done = await told.retract("f1")
    (stands,) = done.in_the_way
    assert (stands.change_id, stands.target_id) == (None, "refund")
    assert "past the worker" in stands.why
    assert (stands.change_id, stands.feedback_id) == (None, None)
    assert done.effects == ()
    assert {name for _, name in told.store.skills} == {"refund", "delivery"}
