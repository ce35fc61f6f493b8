"""The gate on PostgreSQL: concurrent changes of one target, and what a dead run left."""

from __future__ import annotations

import asyncio

import pytest

from core.adapters.postgres.agents import PostgresAgents
from core.adapters.postgres.change_log import PostgresChangeLog, PostgresSteps, PostgresTargetLocks
from core.adapters.postgres.duplicate_waiters import PostgresDuplicateWaiters
from core.adapters.postgres.inbox import PostgresInbox, PostgresIntake
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.knowledge import PostgresKnowledge
from core.adapters.postgres.queries import Pool
from core.adapters.postgres.reviews import PostgresReviews
from core.adapters.postgres.runs import PostgresJournal, PostgresRuns
from core.adapters.postgres.scoped_search import ScopedSearch
from core.adapters.postgres.search import PostgresSearch
from core.app.bootstrap.stores import new_id, utc_now
from core.changes.gate.change_gate import ChangeGate
from core.changes.gate.deps import GateDeps
from core.domain.errors import SkillApiDown, TargetBusy
from core.domain.models import (
    Agent,
    AgentFeedback,
    Candidate,
    ChangeStatus,
    Feedback,
    FeedbackStatus,
    Kind,
    LearningCandidate,
    MemoryRequest,
    MergeMode,
    NewFeedback,
    Operation,
    Outcome,
    Receipt,
    ReceiptStatus,
    SkillEdit,
    SkillEdits,
    SkillRequest,
    SubmitContext,
)
from core.domain.models.base import Fence
from core.learning_committers.base import Neighbours
from core.learning_committers.memory_committer import MemoryCommitter
from core.learning_committers.skill_committer import SkillCommitter
from core.learning_committers.skill_folders import SkillLimits
from tests.support.skills import REFUND, FlakyStore, ScriptedAuthor


class Stores:
    """A gate over PostgreSQL and a skill store in memory."""

    def __init__(self, pool: Pool) -> None:
        self.store = FlakyStore()
        self.author = ScriptedAuthor([])
        self.knowledge = PostgresKnowledge(pool, self.store)
        self.changes = PostgresChangeLog(pool)
        self.runs = PostgresRuns(pool, new_id)
        self.inbox = PostgresInbox(pool, Jobs(pool), new_id)
        self.intake = PostgresIntake(pool, Jobs(pool))
        self.agents = PostgresAgents(pool)
        neighbours = Neighbours(ScopedSearch(PostgresSearch(pool, None), utc_now), self.store)
        skills = SkillCommitter(
            self.store,
            self.author,
            self.changes,
            self.agents,
            check=self.runs.check,
            limits=SkillLimits(author_rounds=1),
            neighbours=neighbours,
        )
        self.gate = ChangeGate(
            GateDeps(
                committers={
                    Kind.MEMORY: MemoryCommitter(self.knowledge, neighbours),
                    Kind.SKILL: skills,
                },
                changes=self.changes,
                target_locks=PostgresTargetLocks(pool),
                reviews=PostgresReviews(pool),
                steps=PostgresSteps(pool),
                duplicate_waiters=PostgresDuplicateWaiters(pool),
                journal=PostgresJournal(pool),
                new_id=new_id,
                sleep=lambda seconds: asyncio.sleep(min(seconds, 0.01)),
            )
        )

    async def claimed(self) -> tuple[Feedback, Candidate]:
        """Return a piece in progress, and its candidate, started."""
        await self.agents.save(Agent(id="a", tenant_id="t", name="A"))
        piece = NewFeedback(tenant_id="t", agent_ids=("a",), content="c")
        ((feedback_id, _),) = await self.inbox.add("test", [piece])
        feedback = await self.inbox.claim(feedback_id)
        assert feedback is not None
        part = AgentFeedback(agent_id="a", learning_candidate=LearningCandidate(content="c"))
        (candidate,) = await self.runs.save_candidates(feedback, [part])
        return feedback, await self.runs.start(candidate, feedback.generation)


@pytest.fixture
def stores(pool: Pool) -> Stores:
    return Stores(pool)


def behalf(key: str, candidate: Candidate | None = None) -> SubmitContext:
    given = SubmitContext(key=key, tenant_id="t", agent_id="a")
    if candidate is None:
        return given
    fence = Fence(candidate_id=candidate.id, epoch=candidate.epoch)
    return given.model_copy(update={"fence": fence, "feedback_id": candidate.feedback_id})


def remember(content: str, **given: object) -> MemoryRequest:
    return MemoryRequest.model_validate({"operation": "CREATE", "content": content, **given})


CREATE = SkillRequest(operation=Operation.CREATE, artifact=REFUND, target_id=REFUND.name)


async def test_one_fact_taught_six_times_at_once_is_known_once(stores: Stores) -> None:
    receipts = await asyncio.gather(
        *(stores.gate.submit(remember("원화로 적는다"), behalf(f"k{n}")) for n in range(6))
    )
    assert sorted(receipt.status for receipt in receipts) == ["applied", *["known"] * 5]
    items = await stores.knowledge.list(tenant_id="t", agent_id="a", kind=Kind.MEMORY)
    assert len(items) == 1


async def test_many_additions_to_one_memory_all_arrive(stores: Stores) -> None:
    first = await stores.gate.submit(remember("one"), behalf("k"))
    given = {"operation": "UPDATE", "target_id": first.target_id, "merge_mode": MergeMode.EXTEND}
    receipts = await asyncio.gather(
        *(stores.gate.submit(remember(f"line {n}", **given), behalf(f"k{n}")) for n in range(8))
    )
    assert {receipt.status for receipt in receipts} == {ReceiptStatus.APPLIED}
    (item,) = await stores.knowledge.list(tenant_id="t", agent_id="a", kind=Kind.MEMORY)
    assert set(item.content.splitlines()) == {"one", *(f"line {n}" for n in range(8))}


async def test_many_edits_of_one_skill_ask_the_author_once_each(stores: Stores) -> None:
    await stores.gate.submit(CREATE, behalf("k"))
    edit = SkillEdit(op="insert_section", heading="절차", text="- 확인한다")
    stores.author.answers = [SkillEdits(edits=(edit,))] * 12
    update = SkillRequest(operation=Operation.UPDATE, target_id=REFUND.name)

    async def taught(key: str) -> Receipt:
        """Submit as a job does that retries while the target is busy."""
        while True:
            try:
                return await stores.gate.submit(update, behalf(key))
            except TargetBusy:
                continue

    receipts = await asyncio.gather(*(taught(f"k{n}") for n in range(12)))
    assert {receipt.status for receipt in receipts} == {ReceiptStatus.APPLIED}
    assert len(stores.author.asked) == 12
    bundle = await stores.store.read(REFUND.name, "t")
    assert bundle is not None
    assert bundle.document.count("- 확인한다") == 12


async def left_open(stores: Stores) -> tuple[Feedback, Candidate]:
    """Leave a dead piece whose edit of a skill could not be written."""
    await stores.gate.submit(CREATE, behalf("k"))
    feedback, candidate = await stores.claimed()
    edit = SkillEdit(op="insert_section", heading="절차", text="- 확인한다")
    stores.author.answers = [SkillEdits(edits=(edit,))]
    stores.store.fails_in = 0
    update = SkillRequest(operation=Operation.UPDATE, target_id=REFUND.name)
    with pytest.raises(SkillApiDown):
        await stores.gate.submit(update, behalf("run:1:0", candidate))
    await stores.inbox.finish(feedback, Outcome(status=FeedbackStatus.DEAD, error="gave up"))
    return feedback, candidate


async def is_written(stores: Stores) -> bool:
    bundle = await stores.store.read(REFUND.name, "t")
    found = await stores.changes.find("run:1:0")
    assert bundle is not None
    assert found is not None
    return "- 확인한다" in bundle.document and found.status is ChangeStatus.APPLIED


async def test_a_dead_piece_s_intent_is_swept_whatever_its_epoch(stores: Stores) -> None:
    _, candidate = await left_open(stores)
    await stores.runs.start(candidate, 1)
    assert await stores.gate.sweep(0) == 1
    assert await is_written(stores)


async def test_a_revived_piece_finishes_what_it_left_open(stores: Stores) -> None:
    feedback, candidate = await left_open(stores)
    revived = await stores.intake.revive(feedback.id)
    again = await stores.runs.start(candidate, revived.generation)
    assert await stores.gate.sweep(0) == 0
    assert await stores.gate.resume(Fence(candidate_id=again.id, epoch=again.epoch)) == 1
    assert await is_written(stores)


async def test_a_held_target_is_free_again_when_its_run_was_taken_over(stores: Stores) -> None:
    first = await stores.gate.submit(remember("one"), behalf("k"))
    feedback, candidate = await stores.claimed()
    change = await stores.changes.get(first.change_id or "")
    hold = {"id": "hold", "key": "run:1:0", "status": ChangeStatus.PREPARED}
    mine = {"candidate_id": candidate.id, "epoch": candidate.epoch, "feedback_id": feedback.id}
    targets = stores.gate._deps.target_locks
    await targets.acquire(change.model_copy(update={**hold, **mine}))
    other = change.model_copy(update={**hold, "id": "other", "key": "other:1:0"})
    with pytest.raises(TargetBusy):
        await targets.acquire(other)
    await stores.runs.start(candidate, feedback.generation)
    await targets.acquire(other)
