"""Attempts: which starts count, what the last one ends, and what was spent by then."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from core.domain.errors import ConfigurationError, InvalidInput, ModelDown, TargetBusy
from core.domain.models import (
    Agent,
    ChangeRequest,
    Feedback,
    FeedbackStatus,
    NewFeedback,
    Outcome,
    Receipt,
    SubmitContext,
    Verdict,
    VerdictStatus,
)
from core.polling_manager import process_feedback
from core.testing.scripted_model import Turn, calls, says
from core.testing.stores import MemoryAgents
from tests.contracts.suites.inbox import parts_of
from tests.support.worker import CLERK, DESK, MemoryWorker

LOOK = calls(("search_similar_knowledge", {"content": "x"}))
LEARN = calls(("commit_to_memory", {"content": "원화로", "operation": "CREATE", "reason": "r"}))
NOTHING = calls(("no_action", {"reason": "thanks", "category": "noise"}))


async def queued(worker: MemoryWorker) -> str:
    """Add a piece without its job: the test starts it."""
    piece = NewFeedback(tenant_id="t", agent_ids=(CLERK.id,), content="원화로 적어 주세요")
    ((feedback_id, _),) = await worker.inbox.add("test", [piece])
    worker.inbox.jobs.clear()
    return feedback_id


async def lost(worker: MemoryWorker, feedback_id: str, times: int) -> Feedback:
    """Claim a piece repeatedly, as workers do that are then killed."""
    for _ in range(times):
        claimed = await worker.inbox.claim(feedback_id)
    assert claimed is not None
    return claimed


async def stopped_in_time(worker: MemoryWorker, feedback_id: str) -> None:
    """Start a piece with agents that never answer, and stop the worker."""
    started = asyncio.Event()

    class SlowAgents(MemoryAgents):
        async def get(self, tenant_id: str, agent_id: str) -> Agent:
            started.set()
            await asyncio.Event().wait()
            return CLERK

    deps = replace(worker.deps, agents=SlowAgents())
    task = asyncio.create_task(process_feedback(feedback_id, deps=deps))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_stopped_worker_gives_the_feedback_back_and_its_attempt() -> None:
    worker = MemoryWorker([NOTHING])
    feedback_id = await queued(worker)
    for _ in range(worker.max_attempts + 1):
        await stopped_in_time(worker, feedback_id)
        found = await worker.inbox.get(feedback_id)
        assert (found.status, found.attempts) == (FeedbackStatus.QUEUED, 0)
        assert worker.inbox.jobs.pop() == (feedback_id, 0)
    await process_feedback(feedback_id, deps=worker.deps)
    assert (await worker.inbox.get(feedback_id)).status is FeedbackStatus.NO_ACTION


async def test_a_cancellation_that_nobody_asked_for_is_an_attempt() -> None:
    class CutOffAgents(MemoryAgents):
        async def get(self, tenant_id: str, agent_id: str) -> Agent:
            raise asyncio.CancelledError(f"{agent_id}: a library ended a call of its own")

    worker = MemoryWorker([NOTHING])
    feedback_id = await queued(worker)
    for _ in range(worker.max_attempts):
        await process_feedback(feedback_id, deps=replace(worker.deps, agents=CutOffAgents()))
    found = await worker.inbox.get(feedback_id)
    assert (found.status, found.attempts) == (FeedbackStatus.DEAD, worker.max_attempts)
    assert "CancelledError" in str(found.error)


async def test_a_stop_leaves_why_the_last_attempt_failed() -> None:
    worker = MemoryWorker([ModelDown("overloaded")])
    feedback_id = await queued(worker)
    await process_feedback(feedback_id, deps=worker.deps)
    await stopped_in_time(worker, feedback_id)
    assert (await worker.inbox.get(feedback_id)).error == "model: overloaded"


async def test_feedback_that_kills_its_workers_is_dead_when_attempts_are_used() -> None:
    worker = MemoryWorker([ModelDown("overloaded")])
    feedback_id = await queued(worker)
    await process_feedback(feedback_id, deps=worker.deps)
    await lost(worker, feedback_id, worker.max_attempts - 1)
    await process_feedback(feedback_id, deps=worker.deps)
    found = await worker.inbox.get(feedback_id)
    assert found.status is FeedbackStatus.DEAD
    assert found.error == "gave up after 3 attempts: model: overloaded"
    assert len(worker.model.seen) == 1


async def test_feedback_that_no_worker_ever_brought_to_an_end_says_so() -> None:
    worker = MemoryWorker()
    feedback_id = await queued(worker)
    await lost(worker, feedback_id, worker.max_attempts)
    await process_feedback(feedback_id, deps=worker.deps)
    found = await worker.inbox.get(feedback_id)
    assert found.error == "gave up after 3 attempts: none of them came to an end"


async def test_feedback_keeps_the_verdict_it_had_when_its_last_worker_died() -> None:
    worker = MemoryWorker()
    feedback_id = await queued(worker)
    claimed = await lost(worker, feedback_id, worker.max_attempts)
    (candidate,) = await worker.runs.save_candidates(claimed, parts_of(claimed))
    started = await worker.runs.start(candidate, 1)
    await worker.runs.finish(started, Verdict(status=VerdictStatus.COMPLETED))
    await process_feedback(feedback_id, deps=worker.deps)
    assert (await worker.inbox.get(feedback_id)).status is FeedbackStatus.COMPLETED


async def revived_with_a_late_verdict(worker: MemoryWorker) -> str:
    """End a piece, revive it, and let an earlier worker record its verdict only then."""
    feedback_id = await queued(worker)
    claimed = await lost(worker, feedback_id, 1)
    (candidate,) = await worker.runs.save_candidates(claimed, parts_of(claimed))
    started = await worker.runs.start(candidate, 1)
    await worker.inbox.finish(claimed, Outcome(status=FeedbackStatus.FAILED))
    await worker.intake.revive(feedback_id)
    await worker.runs.finish(started, Verdict(status=VerdictStatus.COMPLETED))
    return feedback_id


async def test_a_revived_piece_is_decided_anew_and_takes_no_verdict_of_before() -> None:
    worker = MemoryWorker([NOTHING])
    feedback_id = await revived_with_a_late_verdict(worker)
    assert (await worker.work(feedback_id)).status is FeedbackStatus.NO_ACTION
    assert len(worker.model.seen) == 1


async def test_a_revived_piece_whose_workers_died_ends_without_the_old_verdict() -> None:
    worker = MemoryWorker()
    feedback_id = await revived_with_a_late_verdict(worker)
    await lost(worker, feedback_id, worker.max_attempts)
    assert (await worker.work(feedback_id)).status is FeedbackStatus.DEAD


async def test_a_busy_target_is_waited_for_ever_longer_and_counts_for_nothing() -> None:
    worker = MemoryWorker([LEARN], max_attempts=2)

    class BusyGate:
        async def submit(self, request: ChangeRequest, context: SubmitContext) -> Receipt:
            raise TargetBusy("held by another change")

    worker.deps = replace(worker.deps, react=replace(worker.deps.react, gate=BusyGate()))
    feedback_id = await queued(worker)
    delays = []
    for _ in range(5):
        await process_feedback(feedback_id, deps=worker.deps)
        delays.append(worker.inbox.jobs.pop()[1])
    found = await worker.inbox.get(feedback_id)
    assert (found.status, found.attempts, found.error) == (
        FeedbackStatus.QUEUED,
        0,
        "busy: held by another change",
    )
    assert delays == [1, 2, 4, 8, 15]
    worker.clock = lambda: datetime(2027, 1, 1, tzinfo=UTC)
    assert (await worker_until_end(worker, feedback_id)).status is FeedbackStatus.DEAD


async def worker_until_end(worker: MemoryWorker, feedback_id: str) -> Feedback:
    worker.inbox.jobs.append((feedback_id, 0))
    return await worker.work(feedback_id)


async def test_a_paused_worker_that_wakes_up_tells_nobody_of_an_end() -> None:
    def steal(_: list[BaseMessage]) -> AIMessage:
        (held,) = worker.inbox.feedback.values()
        worker.inbox.feedback[held.id] = held.model_copy(update={"epoch": held.epoch + 1})
        return NOTHING

    worker = MemoryWorker([steal])
    feedback = await worker.tell("고마워요")
    assert feedback.status is FeedbackStatus.PROCESSING
    assert "feedback.finished" not in worker.happened()


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ([LOOK, *[ModelDown("429")] * 3], FeedbackStatus.DEAD),
        ([LOOK, *[ConfigurationError("401")] * 3], FeedbackStatus.DEAD),
        ([LOOK, InvalidInput("the context is too long")], FeedbackStatus.FAILED),
    ],
)
async def test_what_was_paid_before_a_failure_is_on_the_bill(
    script: list[Turn], status: FeedbackStatus
) -> None:
    feedback = await MemoryWorker(script).tell("원화로")
    assert (feedback.status, feedback.usage.model_calls) == (status, 1)


async def test_the_bill_is_that_of_all_generations_and_of_matching() -> None:
    match = calls(("MatchAnswer", {"agents": [{"agent_id": CLERK.id, "content": "first"}]}))
    worker = MemoryWorker([match, LOOK, NOTHING, LEARN, says("done")])
    feedback = await worker.tell("둘 중 하나", CLERK.id, DESK.id)
    assert feedback.usage.model_calls == 3
    await worker.intake.revive(feedback.id)
    assert (await worker.work(feedback.id)).usage.model_calls == 5
    assert worker.happened().count("model.called") == 4
