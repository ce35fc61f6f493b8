"""Contract of every inbox; a test class supplies each port, and `jobs`: those that wait."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest

from core.domain import tracing
from core.domain.errors import InvalidInput, LeaseLost, NotFound
from core.domain.hashing import matching_prefix
from core.domain.messages import Message
from core.domain.models import (
    AgentFeedback,
    Candidate,
    Feedback,
    FeedbackStatus,
    LearningCandidate,
    NewFeedback,
    Outcome,
    RunEvent,
    TraceContext,
    Usage,
    Verdict,
    VerdictStatus,
)
from core.domain.ports import Inbox, Intake, Journal, Replies, Runs

WaitingJobs = Callable[[], Awaitable[Sequence[str]]]
FAILED = Outcome(status=FeedbackStatus.FAILED, error="it broke")
SAID_AT = datetime(2025, 5, 1, 9, tzinfo=timezone(timedelta(hours=9)))
_BUSY = Message.of("test.busy", "{kind} is busy", {"kind": "model"})
DONE = Outcome(status=FeedbackStatus.COMPLETED)
NOTHING = Outcome(status=FeedbackStatus.NO_ACTION)


def piece(source_id: str | None = "s-1", content: str = "금액은 원화로 👩‍💻 𠀀") -> NewFeedback:
    """Return a piece of feedback with every field set."""
    return NewFeedback(
        id=source_id,
        tenant_id="tenant",
        agent_ids=("agent-1", "agent-2"),
        task="견적서",
        content=content,
        author="김",
        events=({"tool": "send", "ok": True}, "text", None),
        said_at=SAID_AT,
        in_reply_to="s-0",
        thread="견적 7",
        output={"글": ["USD 3.5", None, True]},
    )


async def added(inbox: Inbox, new: NewFeedback | None = None) -> str:
    """Add one piece and return its id."""
    ((feedback_id, _),) = await inbox.add("cli", [new or piece()])
    return feedback_id


async def claimed(inbox: Inbox, feedback_id: str) -> Feedback:
    """Claim an unfinished piece."""
    found = await inbox.claim(feedback_id)
    assert found is not None
    return found


class InboxContract:
    """Tests for any inbox."""

    async def test_what_is_added_is_given_as_it_came(self, inbox: Inbox) -> None:
        found = await inbox.get(await added(inbox))
        assert found.model_dump(include=set(NewFeedback.model_fields) - {"id"}) == (
            piece().model_dump(exclude={"id"})
        )
        assert (found.source, found.source_id) == ("cli", "s-1")
        assert (found.status, found.attempts, found.generation) == (FeedbackStatus.QUEUED, 0, 1)
        assert found.created_at is not None
        assert found.created_at.utcoffset() is not None

    async def test_the_trace_of_the_call_that_brings_it_stays_with_it(self, inbox: Inbox) -> None:
        context = TraceContext(traceparent=f"00-{'a' * 32}-{'b' * 16}-01", tracestate="them=1")
        with tracing.under(context):
            traced = await added(inbox)
        untraced = await added(inbox, piece("s-2"))
        assert (await inbox.get(traced)).trace == context
        assert (await claimed(inbox, traced)).trace == context
        assert (await claimed(inbox, untraced)).trace is None
        assert "trace" not in (await inbox.get(traced)).model_dump()

    async def test_what_has_no_time_was_said_when_it_came_in(self, inbox: Inbox) -> None:
        new = [piece(f"s-{n}").model_copy(update={"said_at": None}) for n in range(2)]
        stored = [await inbox.get(key) for key, _ in await inbox.add("cli", new)]
        assert [found.said_at for found in stored] == [found.created_at for found in stored]
        assert [found.claimed_said_at for found in stored] == [None, None]

    async def test_what_is_said_to_come_was_said_when_it_came_in(self, inbox: Inbox) -> None:
        first = await inbox.get(await added(inbox))
        assert first.created_at is not None
        nearly = first.created_at + timedelta(minutes=4)
        ahead = first.created_at + timedelta(minutes=60)
        new = [
            piece(f"s-{n}").model_copy(update={"said_at": at})
            for n, at in ((2, nearly), (3, ahead))
        ]
        taken, not_taken = [await inbox.get(key) for key, _ in await inbox.add("cli", new)]
        assert (taken.said_at, taken.claimed_said_at) == (nearly, None)
        assert (not_taken.said_at, not_taken.claimed_said_at) == (not_taken.created_at, ahead)

    async def test_the_same_words_with_another_time_are_the_same_piece(self, inbox: Inbox) -> None:
        first = await added(inbox)
        again = piece().model_copy(update={"said_at": None, "output": "x", "thread": None})
        assert await inbox.add("cli", [again]) == [(first, False)]

    async def test_what_was_said_before_to_an_agent_of_it_is_ahead(self, inbox: Inbox) -> None:
        said = {"late": 9, "first": 1, "second": 2, "elsewhere": 3, "mine": 5}
        new = [
            piece(key).model_copy(update={"said_at": SAID_AT + timedelta(minutes=minute)})
            for key, minute in said.items()
        ]
        new[3] = new[3].model_copy(update={"agent_ids": ("agent-3",)})
        ids = {
            key: found for key, (found, _) in zip(said, await inbox.add("cli", new), strict=True)
        }
        mine = await claimed(inbox, ids["mine"])
        found = await inbox.earlier(mine, 10)
        assert [earlier.source_id for earlier in found] == ["second", "first"]
        assert found[0].content == piece().content
        assert (found[0].thread, found[0].in_reply_to) == (piece().thread, piece().in_reply_to)
        assert len(await inbox.earlier(mine, 1)) == 1
        await inbox.finish(await claimed(inbox, ids["second"]), DONE)
        first = await claimed(inbox, ids["first"])
        assert [earlier.source_id for earlier in await inbox.earlier(mine, 10)] == ["first"]
        await inbox.give_back(first, "busy", 60)
        assert list(await inbox.earlier(mine, 10)) == []

    async def test_of_two_said_at_once_the_first_to_come_in_is_ahead(self, inbox: Inbox) -> None:
        (first, _), (second, _) = await inbox.add("cli", [piece("s-1"), piece("s-2")])
        assert list(await inbox.earlier(await claimed(inbox, first), 10)) == []
        found = await inbox.earlier(await claimed(inbox, second), 10)
        assert [earlier.id for earlier in found] == [first]

    @pytest.mark.parametrize("end", ["finish", "give_back"])
    async def test_what_waits_has_no_job_until_the_earlier_piece_lets_it_pass(
        self, inbox: Inbox, jobs: WaitingJobs, end: str
    ) -> None:
        (first, _), (second, _) = await inbox.add("cli", [piece("s-1"), piece("s-2")])
        ahead, behind = await claimed(inbox, first), await claimed(inbox, second)
        before = len(await jobs())
        assert await inbox.wait_for(behind, first)
        waiting = await inbox.get(second)
        assert (waiting.status, waiting.attempts) == (FeedbackStatus.QUEUED, 0)
        assert len(await jobs()) == before
        if end == "finish":
            await inbox.finish(ahead, DONE)
        else:
            await inbox.give_back(ahead, "busy", 60)
        assert list(await jobs()).count(second) == 2  # with that of its intake
        assert not await inbox.wait_for(await claimed(inbox, second), first)

    async def test_only_its_claimer_lets_it_wait(self, inbox: Inbox) -> None:
        (first, _), (second, _) = await inbox.add("cli", [piece("s-1"), piece("s-2")])
        old = await claimed(inbox, second)
        await claimed(inbox, second)
        with pytest.raises(LeaseLost):
            await inbox.wait_for(old, first)
        assert (await inbox.get(second)).status is FeedbackStatus.PROCESSING

    async def test_each_new_piece_has_one_job_in_order(
        self, inbox: Inbox, jobs: WaitingJobs
    ) -> None:
        stored = await inbox.add("cli", [piece(f"s-{n}") for n in (3, 1, 2)])
        assert [is_new for _, is_new in stored] == [True, True, True]
        assert list(await jobs()) == [feedback_id for feedback_id, _ in stored]

    async def test_the_same_again_is_known_and_gets_no_second_job(
        self, inbox: Inbox, jobs: WaitingJobs
    ) -> None:
        first = await added(inbox)
        again = await inbox.add("cli", [piece(), piece("s-2"), piece("s-2")])
        assert again[0] == (first, False)
        assert [is_new for _, is_new in again] == [False, True, False]
        assert again[1][0] == again[2][0]
        assert len(await jobs()) == 2

    async def test_ids_are_those_of_one_source(self, inbox: Inbox) -> None:
        await inbox.add("cli", [piece()])
        ((_, is_new),) = await inbox.add("api", [piece()])
        assert is_new

    async def test_a_source_per_tenant_knows_what_its_tenant_gave_before(
        self, inbox: Inbox
    ) -> None:
        theirs = piece().model_copy(update={"tenant_id": "other"})
        ((before, _),) = await inbox.add("cli", [piece()])
        assert list(await inbox.add("cli/tenant", [piece()])) == [(before, False)]
        with pytest.raises(InvalidInput, match="s-1"):
            await inbox.add("cli/tenant", [piece("s-1", "something else")])
        ((new, is_new),) = await inbox.add("cli/other", [theirs])
        assert is_new
        assert list(await inbox.add("cli/other", [theirs])) == [(new, False)]

    async def test_what_answers_a_piece_has_missed_it_for_whatever_reason(
        self, inbox: Inbox
    ) -> None:
        late = piece("late").model_copy(update={"said_at": SAID_AT - timedelta(hours=1)})
        answers = piece("answers").model_copy(update={"in_reply_to": "late"})
        for one in (piece("other"), answers):
            await inbox.finish(await claimed(inbox, await added(inbox, one)), NOTHING)
        found = await inbox.passed_over(await claimed(inbox, await added(inbox, late)), 10)
        assert [one.source_id for one in found] == ["answers"]

    async def test_without_an_id_each_is_new(self, inbox: Inbox) -> None:
        stored = await inbox.add("cli", [piece(None), piece(None)])
        assert [is_new for _, is_new in stored] == [True, True]
        assert stored[0][0] != stored[1][0]

    async def test_a_known_id_with_other_content_stores_nothing(
        self, inbox: Inbox, jobs: WaitingJobs
    ) -> None:
        await inbox.add("cli", [piece("s-known")])
        with pytest.raises(InvalidInput, match="s-known"):
            await inbox.add("cli", [piece("s-new"), piece("s-known", "something else")])
        assert len(await jobs()) == 1

    async def test_nothing_to_add_is_fine(self, inbox: Inbox) -> None:
        assert list(await inbox.add("cli", [])) == []

    @pytest.mark.parametrize("content", ["a\0b", "half \ud800 a pair"])
    async def test_text_that_cannot_be_stored_is_invalid(
        self, inbox: Inbox, jobs: WaitingJobs, content: str
    ) -> None:
        with pytest.raises(InvalidInput):
            await inbox.add("cli", [piece("good"), piece("bad", content)])
        assert list(await jobs()) == []

    async def test_an_unknown_piece_is_not_found(self, inbox: Inbox) -> None:
        with pytest.raises(NotFound):
            await inbox.get("nothing")
        assert await inbox.claim("nothing") is None

    async def test_each_claim_is_an_attempt(self, inbox: Inbox) -> None:
        feedback_id = await added(inbox)
        first, second = await claimed(inbox, feedback_id), await claimed(inbox, feedback_id)
        assert (first.status, first.attempts, first.epoch) == (FeedbackStatus.PROCESSING, 1, 1)
        assert (second.attempts, second.epoch) == (2, 2)

    async def test_what_is_given_back_waits_with_its_reason_and_a_new_job(
        self, inbox: Inbox, jobs: WaitingJobs
    ) -> None:
        feedback_id = await added(inbox)
        await inbox.give_back(await claimed(inbox, feedback_id), "model: it was busy", 3600)
        found = await inbox.get(feedback_id)
        assert (found.status, found.error) == (FeedbackStatus.QUEUED, "model: it was busy")
        assert found.retry_at is not None
        assert list(await jobs()) == [feedback_id, feedback_id]
        again = await claimed(inbox, feedback_id)
        assert (again.attempts, again.retry_at, again.error) == (2, None, "model: it was busy")

    async def test_why_it_waits_or_ended_is_known_with_its_parameters(self, inbox: Inbox) -> None:
        feedback_id = await added(inbox)
        for error in (_BUSY, Message.of("test.ended", "it ended: {why}", {"why": _BUSY})):
            claim = await claimed(inbox, feedback_id)
            if error is _BUSY:
                await inbox.give_back(claim, error, 0)
            else:
                await inbox.finish(claim, Outcome(status=FeedbackStatus.FAILED, error=error))
            found = (await inbox.get(feedback_id)).error
            assert isinstance(found, Message)
            assert found.to_json() == error.to_json()

    async def test_an_attempt_that_does_not_count_is_taken_back(self, inbox: Inbox) -> None:
        feedback_id = await added(inbox)
        await inbox.give_back(await claimed(inbox, feedback_id), "stopped", 0, counts=False)
        assert (await inbox.get(feedback_id)).attempts == 0
        again = await claimed(inbox, feedback_id)
        assert (again.attempts, again.epoch) == (1, 2)

    async def test_what_is_given_back_at_once_is_due_at_once(self, inbox: Inbox) -> None:
        feedback_id = await added(inbox)
        await inbox.give_back(await claimed(inbox, feedback_id), "stopped", 0)
        assert (await inbox.get(feedback_id)).retry_at is None

    async def test_an_ended_piece_is_neither_claimed_nor_given_back_nor_ended_again(
        self, inbox: Inbox, jobs: WaitingJobs
    ) -> None:
        feedback_id = await added(inbox)
        claim = await claimed(inbox, feedback_id)
        await inbox.finish(claim, FAILED)
        assert await inbox.claim(feedback_id) is None
        with pytest.raises(LeaseLost):
            await inbox.give_back(claim, "late", 0)
        with pytest.raises(LeaseLost):
            await inbox.finish(claim, DONE)
        found = await inbox.get(feedback_id)
        assert (found.status, found.error) == (FeedbackStatus.FAILED, "it broke")
        assert found.finished_at is not None
        assert len(await jobs()) == 1

    async def test_who_was_overtaken_neither_ends_nor_gives_back_what_another_has(
        self, inbox: Inbox, jobs: WaitingJobs
    ) -> None:
        feedback_id = await added(inbox)
        paused, successor = await claimed(inbox, feedback_id), await claimed(inbox, feedback_id)
        await refused(inbox, paused)
        await inbox.give_back(successor, "stopped", 0, counts=False)
        third = await claimed(inbox, feedback_id)
        await refused(inbox, paused)
        await refused(inbox, successor)
        await inbox.finish(third, FAILED)
        assert len(await jobs()) == 2

    async def test_the_end_sums_what_was_spent_over_all_generations(
        self, inbox: Inbox, intake: Intake, runs: Runs, replies: Replies, journal: Journal
    ) -> None:
        feedback_id = await added(inbox)
        one = Usage(model_calls=1, input_tokens=100, output_tokens=7, cost=Decimal("0.1"))
        key = f"{matching_prefix(feedback_id)}1"
        await replies.put(key, 1, {}, Usage(model_calls=1, input_tokens=10), tenant_id="t")
        await replies.put(
            f"{matching_prefix('other')}1", 1, {}, Usage(model_calls=50), tenant_id="t"
        )
        first, second = await matched(inbox, runs, feedback_id)
        for generation in (1, 2):
            claim = await claimed(inbox, feedback_id)
            started = await runs.start(first, generation)
            await journal.emit(RunEvent(name="model.called", candidate_id=first.id), one)
            await journal.emit(RunEvent(name="tool.called", candidate_id=first.id))
            await replies.put(f"{started.thread}:1:0:author:x", 0, {}, one, tenant_id="t")
            await runs.finish(started, verdict_of(one))
            await inbox.finish(claim, FAILED)
            told = await inbox.get(feedback_id)
            assert told.usage == Usage(
                model_calls=1 + 2 * generation,
                input_tokens=10 + 200 * generation,
                output_tokens=14 * generation,
                cost=Decimal("0.2") * generation,
            )
            await intake.revive(feedback_id)
        kept = await runs.candidates(feedback_id)
        assert [candidate.usage for candidate in kept] == [one + one, Usage()]
        assert kept[1] == second


async def refused(inbox: Inbox, overtaken: Feedback) -> None:
    """Assert that a piece is no longer its claimer's."""
    with pytest.raises(LeaseLost):
        await inbox.give_back(overtaken, "late", 0)
    with pytest.raises(LeaseLost):
        await inbox.finish(overtaken, DONE)


async def matched(inbox: Inbox, runs: Runs, feedback_id: str) -> Sequence[Candidate]:
    """Store a candidate for each agent of a piece."""
    feedback = await inbox.get(feedback_id)
    return await runs.save_candidates(feedback, parts_of(feedback))


def parts_of(feedback: Feedback) -> list[AgentFeedback]:
    """Return a matcher's answer: a part for each agent of the feedback."""
    return [
        AgentFeedback(
            agent_id=agent_id,
            agent_name="이름",
            learning_candidate=LearningCandidate(content=f"{agent_id}: 원화", intent_hint="통화"),
        )
        for agent_id in feedback.agent_ids
    ]


def verdict_of(usage: Usage) -> Verdict:
    """Return a verdict that something was learnt."""
    return Verdict(status=VerdictStatus.COMPLETED, reason="learnt", usage=usage)
