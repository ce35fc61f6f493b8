"""An unavailable model costs feedback no more than the attempt that discovered it."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from core.agent.skill_author import SkillAuthorModel
from core.domain.errors import CircuitOpen, ConfigurationError, LeaseLost, ModelDown
from core.domain.models import (
    AuthorRequest,
    Feedback,
    FeedbackStatus,
    Fence,
    NewFeedback,
    Operation,
    SkillArtifact,
    Usage,
)
from core.polling_manager import process_feedback
from core.testing.scripted_model import ScriptedChatModel, calls
from core.testing.stores import MemoryReplies, MemoryRuns
from tests.support.breaker import SimpleBreaker
from tests.support.react import CANDIDATE, MEMORY, Bench
from tests.support.worker import CLERK, DESK, MemoryWorker

NOTHING = calls(("no_action", {"reason": "thanks", "category": "noise"}))
WRONG_KEY = ConfigurationError("the model answered 401", hint="check the key")
DOWN = ModelDown("the model answered 500")


async def open_circuit() -> SimpleBreaker:
    breaker = SimpleBreaker()
    with pytest.raises(ConfigurationError):
        async with breaker.call():
            raise WRONG_KEY
    assert await breaker.current_pause() is not None
    return breaker


async def answers() -> None:
    return None


async def start(worker: MemoryWorker, *agent_ids: str) -> str:
    piece = NewFeedback(tenant_id="t", agent_ids=agent_ids or (CLERK.id,), content="원화로")
    ((feedback_id, _),) = await worker.inbox.add("test", [piece])
    return feedback_id


async def attempt(worker: MemoryWorker, times: int = 1) -> Feedback:
    """Perform the next job a number of times; return its feedback."""
    for _ in range(times):
        feedback_id, _ = worker.inbox.jobs.pop(0)
        await process_feedback(feedback_id, deps=worker.deps)
    return await worker.inbox.get(feedback_id)


async def test_a_wrong_key_costs_the_feedback_that_met_it_one_attempt() -> None:
    worker = MemoryWorker([WRONG_KEY, NOTHING])
    await start(worker)
    met = await attempt(worker)
    assert (met.status, met.attempts) == (FeedbackStatus.QUEUED, 1)
    waited = await attempt(worker, times=20)
    assert (waited.status, waited.attempts) == (FeedbackStatus.QUEUED, 1)
    assert "held back: the model answered 401 (check the key)" in (waited.error or "")
    await worker.breaker.probe(answers)
    assert (await attempt(worker)).status is FeedbackStatus.NO_ACTION


async def test_feedback_that_others_do_not_share_the_failure_of_ends_as_dead() -> None:
    worker = MemoryWorker([DOWN] * 3)
    await start(worker)
    feedback = await attempt(worker, times=3)
    assert (feedback.status, feedback.attempts) == (FeedbackStatus.DEAD, 3)


async def test_a_run_cut_off_by_a_hold_goes_on_where_it_stopped() -> None:
    run = Bench([calls(("commit_to_memory", MEMORY)), DOWN, NOTHING])
    with pytest.raises(ModelDown):
        await run.run()
    open_breaker, run.breaker = run.breaker, await open_circuit()
    with pytest.raises(CircuitOpen):
        await run.run()
    run.breaker = open_breaker
    await run.run()
    assert len(run.gate.submitted) == 1


async def test_who_lost_the_lease_does_not_stand_in_line() -> None:
    run = Bench([NOTHING])
    run.runs.stored["c1"] = run.candidate.model_copy(update={"epoch": 9})
    run.breaker = await open_circuit()
    with pytest.raises(LeaseLost):
        await run.run()


async def test_the_matcher_asks_no_model_that_is_held_back() -> None:
    worker = MemoryWorker([NOTHING])
    worker.breaker = await open_circuit()
    worker.deps = worker._deps()
    await start(worker, CLERK.id, DESK.id)
    feedback = await attempt(worker)
    assert (feedback.status, feedback.attempts) == (FeedbackStatus.QUEUED, 0)
    assert "held back" in (feedback.error or "")


async def test_the_author_answers_from_what_is_stored_while_it_is_held_back() -> None:
    request = AuthorRequest(
        tenant_id="t",
        operation=Operation.CREATE,
        skill_name=None,
        feedback_content="영수증 먼저",
        fence=Fence(candidate_id="c1", epoch=CANDIDATE.epoch),
    )
    replies, runs = MemoryReplies(), MemoryRuns()
    runs.stored["c1"] = CANDIDATE
    author = SkillAuthorModel(ScriptedChatModel([]), await open_circuit(), replies, runs)
    with pytest.raises(CircuitOpen):
        await author.write(request, key="k", ordinal=0, problems=[])
    runs.stored["c1"] = CANDIDATE.model_copy(update={"epoch": CANDIDATE.epoch + 1})
    with pytest.raises(LeaseLost):
        await author.write(request, key="k", ordinal=0, problems=[])
    artifact: JsonValue = {"name": "refund", "description": "환불"}
    await replies.put(
        "k", 0, {"calls": [{"name": "SkillArtifact", "args": artifact}]}, Usage(), tenant_id="t"
    )
    written = await author.write(request, key="k", ordinal=0, problems=[])
    assert written == SkillArtifact(name="refund", description="환불")
