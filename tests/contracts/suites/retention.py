"""Contract of retention; a test class supplies it and the stores it prunes."""

from __future__ import annotations

from decimal import Decimal

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint

from core.domain.hashing import author_prefix, matching_prefix
from core.domain.models import (
    AgentFeedback,
    Candidate,
    Feedback,
    FeedbackStatus,
    LearningCandidate,
    Outcome,
    RunEvent,
    Usage,
)
from core.domain.ports import Inbox, Intake, Journal, Reader, Replies, Retention, Runs
from tests.contracts.suites.inbox import added, claimed, piece

ONE = Usage(model_calls=1, input_tokens=100, output_tokens=7, cost=Decimal("0.0125"))
HOUR = 3600.0
Saver = BaseCheckpointSaver[str]


class RetentionContract:
    """Tests for any retention."""

    @pytest.fixture(autouse=True)
    def _stores(
        self, inbox: Inbox, runs: Runs, replies: Replies, journal: Journal, saver: Saver
    ) -> None:
        self.inbox, self.runs, self.replies = inbox, runs, replies
        self.journal, self.saver = journal, saver

    async def test_what_ended_long_ago_is_forgotten_once(
        self, retention: Retention, reader: Reader
    ) -> None:
        feedback_id = await added(self.inbox)
        candidate = await self._run(feedback_id)
        assert await retention.prune(0) == 1
        assert await self._kept(candidate, reader) == (False, False, False)
        assert await retention.prune(0) == 0
        assert (await self.inbox.get(feedback_id)).usage == ONE + ONE + ONE
        assert await self.runs.candidates(feedback_id)

    async def test_what_ended_lately_stays(self, retention: Retention, reader: Reader) -> None:
        candidate = await self._run(await added(self.inbox))
        assert await retention.prune(HOUR) == 0
        assert await self._kept(candidate, reader) == (True, True, True)

    @pytest.mark.parametrize("end", [None, FeedbackStatus.HELD])
    async def test_what_has_not_ended_stays(
        self, retention: Retention, reader: Reader, end: FeedbackStatus | None
    ) -> None:
        candidate = await self._run(await added(self.inbox), end)
        assert await retention.prune(0) == 0
        assert await self._kept(candidate, reader) == (True, True, True)

    async def test_what_others_keep_stays(self, retention: Retention, reader: Reader) -> None:
        await self._run(await added(self.inbox))
        other = await self._run(await added(self.inbox, piece("s-2")), None)
        assert await retention.prune(0) == 1
        assert await self._kept(other, reader) == (True, True, True)

    async def test_the_bill_is_whole_when_it_is_revived_after_that(
        self, retention: Retention, intake: Intake, reader: Reader
    ) -> None:
        feedback_id = await added(self.inbox)
        for generation in (1, 2, 3):
            candidate = await self._run(feedback_id)
            assert await retention.prune(0) == 1
            assert await self._kept(candidate, reader) == (False, False, False)
            told = await self.inbox.get(feedback_id)
            assert told.usage == sum([ONE] * 3 * generation, Usage())
            await intake.revive(feedback_id)

    async def test_what_the_author_of_each_change_cost_is_still_known(
        self, retention: Retention
    ) -> None:
        candidate = await self._run(await added(self.inbox))
        author = f"{author_prefix(f'{candidate.thread}:1:0')}:y"
        await self.replies.put(author, 1, {}, ONE, tenant_id="t")
        await retention.prune(0)
        kept = await self.replies.usage(author_prefix(f"{candidate.thread}:1:0"))
        assert kept == ONE + ONE

    async def _run(
        self, feedback_id: str, end: FeedbackStatus | None = FeedbackStatus.FAILED
    ) -> Candidate:
        """Run one generation: the matcher, the agent and the author each ask the model once."""
        claim = await claimed(self.inbox, feedback_id)
        await self.replies.put(
            f"{matching_prefix(feedback_id)}{claim.generation}", 0, {}, ONE, tenant_id="t"
        )
        candidate = await self._candidate(claim)
        await self._checkpoint(candidate.thread)
        event = RunEvent(name="model.called", feedback_id=feedback_id, candidate_id=candidate.id)
        await self.journal.emit(event, ONE)
        await self.replies.put(f"{candidate.thread}:1:0:author:x", 0, {}, ONE, tenant_id="t")
        if end is not None:
            await self.inbox.finish(claim, Outcome(status=end))
        return candidate

    async def _candidate(self, claim: Feedback) -> Candidate:
        content = LearningCandidate(content="금액은 원화로")
        part = AgentFeedback(agent_id="agent-1", agent_name="A", learning_candidate=content)
        (candidate,) = await self.runs.save_candidates(claim, [part]) or await self.runs.candidates(
            claim.id
        )
        return await self.runs.start(candidate, claim.generation)

    async def _checkpoint(self, thread: str) -> None:
        at = await self.saver.aput(_thread(thread), empty_checkpoint(), {}, {})
        await self.saver.aput_writes(at, [("messages", "원화로")], "task")

    async def _kept(self, candidate: Candidate, reader: Reader) -> tuple[bool, bool, bool]:
        """Return whether its thread, with what was written to it, replies and events are there."""
        thread = await self.saver.aget_tuple(_thread(candidate.thread))
        reply = await self.replies.get(f"{candidate.thread}:1:0:author:x", 0)
        events = await reader.events(candidate.feedback_id)
        has_writes = thread is not None and bool(thread.pending_writes)
        return has_writes, reply is not None, bool(events)


def _thread(thread: str) -> RunnableConfig:
    return RunnableConfig(configurable={"thread_id": thread, "checkpoint_ns": ""})
