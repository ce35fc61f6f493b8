"""Each piece of feedback reaches one definite outcome, with the reason."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from core.agent.budgets import Budgets, Meter
from core.domain.errors import BudgetUsedUp, ModelDown
from core.domain.models import FeedbackStatus, NewFeedback, VerdictStatus
from core.polling_manager import decide, fetch_feedback_task, process_feedback
from core.testing.scripted_model import calls, says
from tests.support.list_source import ListSource
from tests.support.worker import CLERK, DESK, MemoryWorker

LEARN = calls(("commit_to_memory", {"content": "원화로", "operation": "CREATE", "reason": "r"}))
NOTHING = calls(("no_action", {"reason": "thanks", "category": "noise"}))


async def test_a_lesson_completes_the_feedback() -> None:
    worker = MemoryWorker([LEARN, says("반영했습니다")])
    feedback = await worker.tell("원화로 적어 주세요")
    assert feedback.status is FeedbackStatus.COMPLETED
    assert feedback.usage.model_calls == 2
    assert [
        item.content
        for item in await worker.knowledge.list(tenant_id="t", agent_id=None, kind=None)
    ] == ["원화로"]
    assert worker.happened()[0] == "feedback.claimed"
    assert worker.happened()[-1] == "feedback.finished"
    (candidate,) = await worker.runs.candidates(feedback.id)
    assert (candidate.epoch, candidate.generation) == (1, 1)  # it was started once


async def test_nothing_to_learn_is_an_end_of_its_own() -> None:
    feedback = await MemoryWorker([NOTHING]).tell("고마워요")
    assert feedback.status is FeedbackStatus.NO_ACTION


async def test_a_passing_failure_is_tried_again_and_goes_on_where_it_stopped() -> None:
    worker = MemoryWorker([LEARN, ModelDown("overloaded"), says("done")])
    feedback = await worker.tell("원화로 적어 주세요")
    assert feedback.status is FeedbackStatus.COMPLETED
    assert feedback.attempts == 2
    assert len(worker.log.changes) == 1


async def test_a_failure_of_the_matcher_is_never_nothing_to_learn() -> None:
    worker = MemoryWorker([ModelDown("down")] * 3)
    feedback = await worker.tell("원화로", CLERK.id, DESK.id)
    assert feedback.status is FeedbackStatus.DEAD
    assert feedback.attempts == 3
    assert "gave up after 3 attempts" in (feedback.error or "")


async def test_feedback_that_is_dead_is_kept_whole_and_can_be_revived() -> None:
    worker = MemoryWorker([*[ModelDown("down")] * 3, LEARN, says("done")])
    feedback = await worker.tell("원화로 적어 주세요")
    assert feedback.content == "원화로 적어 주세요"
    await worker.intake.revive(feedback.id)
    again = await worker.work(feedback.id)
    assert (again.status, again.generation) == (FeedbackStatus.COMPLETED, 2)


async def test_a_model_that_never_acts_fails_with_the_reason() -> None:
    feedback = await MemoryWorker([says("I will do it")] * 4).tell("원화로")
    assert feedback.status is FeedbackStatus.FAILED
    assert "no_commit" in (feedback.error or "")
    assert feedback.usage.model_calls == 4


async def test_one_candidate_that_fails_does_not_stop_the_others() -> None:
    parts = {
        "agents": [
            {"agent_id": CLERK.id, "content": "first", "intent_hint": ""},
            {"agent_id": DESK.id, "content": "second", "intent_hint": ""},
        ],
    }
    script = [calls(("MatchAnswer", parts)), *[says("prose")] * 4, LEARN, says("done")]
    worker = MemoryWorker(script)
    feedback = await worker.tell("둘 다", CLERK.id, DESK.id)
    verdicts = [c.verdict.status for c in await worker.runs.candidates(feedback.id) if c.verdict]
    assert verdicts == [VerdictStatus.FAILED, VerdictStatus.COMPLETED]
    assert feedback.status is FeedbackStatus.FAILED


@pytest.mark.parametrize(
    ("content", "agent_id", "tenant_id", "said"),
    [
        ("원화로", "nobody", "t", "nobody"),
        ("원화로", CLERK.id, "other", "tenant"),
        ("   ", CLERK.id, "t", "blank"),
        ("x" * 1001, CLERK.id, "t", "1001 characters"),
    ],
)
async def test_what_cannot_be_worked_on_fails_at_once_and_says_why(
    content: str, agent_id: str, tenant_id: str, said: str
) -> None:
    worker = MemoryWorker()
    feedback = await worker.tell(content, agent_id, tenant_id=tenant_id)
    assert feedback.status is FeedbackStatus.FAILED
    assert said in (feedback.error or "")
    assert feedback.attempts == 1


async def test_a_defect_of_ours_is_tried_again_and_then_dead() -> None:
    worker = MemoryWorker([ZeroDivisionError("bug")] * 3)
    feedback = await worker.tell("원화로")
    assert feedback.status is FeedbackStatus.DEAD
    assert "ZeroDivisionError" in (feedback.error or "")


async def test_a_run_that_was_taken_over_leaves_the_feedback_alone() -> None:
    def steal(_: list[BaseMessage]) -> AIMessage:
        for candidate in list(worker.runs.stored.values()):
            worker.runs.stored[candidate.id] = candidate.model_copy(update={"epoch": 99})
            worker.log.epochs[candidate.id] = 99
        return LEARN

    worker = MemoryWorker([steal])
    feedback = await worker.tell("원화로")
    assert feedback.status is FeedbackStatus.PROCESSING
    assert not await worker.knowledge.list(tenant_id="t", agent_id=None, kind=None)


async def test_a_source_is_fetched_into_the_inbox_once_and_told_the_end() -> None:
    piece = NewFeedback(id="7", tenant_id="t", agent_ids=("clerk",), content="고마워요")
    source = ListSource(piece)
    worker = MemoryWorker([NOTHING], sources={"list": source})
    assert await fetch_feedback_task(source, limit=10, deps=worker.deps) == 1
    assert await fetch_feedback_task(source, limit=10, deps=worker.deps) == 0
    ((feedback_id, _),) = worker.inbox.jobs
    await worker.work(feedback_id)
    assert source.told == [("7", FeedbackStatus.NO_ACTION)]


async def test_a_job_whose_feedback_is_gone_ends_quietly(
    capsys: pytest.CaptureFixture[str],
) -> None:
    worker = MemoryWorker()
    await process_feedback("gone", deps=worker.deps)
    assert worker.happened() == []
    assert "feedback.skipped" in "".join(capsys.readouterr())


def told(worker: MemoryWorker, *names: str) -> list[dict[str, object]]:
    """Return the data of the events of these names."""
    assert {(e.tenant_id, e.feedback_id) for e in worker.journal.events} == {
        ("t", "feedback-000001")
    }  # fmt: skip
    return [event.data for event in worker.journal.events if event.name in names]


async def test_each_attempt_is_told_with_when_the_next_one_is() -> None:
    worker = MemoryWorker([ModelDown("overloaded"), LEARN, says("done")])
    await worker.tell("원화로 적어 주세요")
    assert told(worker, "feedback.claimed", "feedback.retried", "feedback.finished") == [
        {"attempt": 1},
        {"error": "…", "delay": 1.0},
        {"attempt": 2},
        {"status": "completed", "error": None},
    ]
    dead = MemoryWorker([ModelDown("down")] * 3)
    await dead.tell("원화로 적어 주세요")
    assert [one["delay"] for one in told(dead, "feedback.retried")] == [1.0, 2.0]
    (end,) = told(dead, "feedback.finished")
    assert (end["status"], "gave up after 3 attempts" in str(end["error"])) == ("dead", True)


async def test_whom_a_piece_was_matched_to_is_told() -> None:
    parts = [{"agent_id": one.id, "content": "x", "intent_hint": ""} for one in (CLERK, DESK)]
    match = calls(("MatchAnswer", {"agents": parts}))
    worker = MemoryWorker([match, NOTHING, NOTHING])
    await worker.tell("둘 다", CLERK.id, DESK.id)
    assert told(worker, "feedback.matched") == [{"agents": "clerk, desk"}]


class UsedUp:
    """Budgets that are used up."""

    async def require(self, tenant_id: str) -> None:
        assert tenant_id == "t"
        raise BudgetUsedUp("the budget of today is used up", retry_after=100.0)


async def test_a_tenant_without_budget_waits_and_is_told_once() -> None:
    worker = MemoryWorker([LEARN, says("done")])
    meter = Meter(budgets=cast("Budgets", UsedUp()))
    deps = replace(worker.deps, react=replace(worker.deps.react, meter=meter))
    piece = NewFeedback(tenant_id="t", agent_ids=(CLERK.id,), content="원화로")
    ((feedback_id, _),) = await worker.inbox.add("test", [piece])
    for _ in range(2):
        await process_feedback(feedback_id, deps=deps)
    assert worker.happened() == ["feedback.held_back"]
    ((held,)) = told(worker, "feedback.held_back")
    assert held["delay"] == 100.0
    waiting = await worker.inbox.get(feedback_id)
    assert (waiting.status, waiting.attempts) == (FeedbackStatus.QUEUED, 0)
    assert "used up" in (waiting.error or "")
    assert worker.model.seen == []
    assert (await worker.work(feedback_id)).status is FeedbackStatus.COMPLETED


async def test_a_piece_can_be_decided_without_being_taken_from_the_inbox() -> None:
    worker = MemoryWorker([LEARN, says("done")])
    piece = NewFeedback(tenant_id="t", agent_ids=(CLERK.id,), content="원화로")
    ((feedback_id, _),) = await worker.inbox.add("test", [piece])
    feedback = await worker.inbox.get(feedback_id)
    (verdict,) = await decide(feedback, deps=worker.deps)
    assert verdict.status is VerdictStatus.COMPLETED
    unknown = feedback.model_copy(update={"agent_ids": ("nobody",)})
    (failed,) = await decide(unknown, deps=worker.deps)
    assert (failed.status, "nobody" in failed.reason) == (VerdictStatus.FAILED, True)


async def test_a_piece_is_allowed_up_to_its_longest() -> None:
    feedback = await MemoryWorker([NOTHING]).tell("x" * 1000)
    assert feedback.status is FeedbackStatus.NO_ACTION
