"""Carry feedback from source to outcome: fetch, match, run, acknowledge."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import structlog

from core.agent.loop.deps import ReactDeps
from core.changes.said_order.pieces import MOST_BESIDE, Awaiting, look_behind, waits_its_turn
from core.domain import tracing
from core.domain.errors import (
    BudgetUsedUp,
    ConfigurationError,
    DependencyDown,
    InvalidInput,
    LeaseLost,
    ScreenDown,
    SkillWorkerError,
)
from core.domain.messages import Message, without_content
from core.domain.models import (
    Agent,
    Candidate,
    Feedback,
    FeedbackStatus,
    NewFeedback,
    Outcome,
    RunEvent,
    Verdict,
    VerdictStatus,
    outcome_of,
)
from core.domain.models.feedback import refuse_unfit
from core.domain.ports import Agents, Deliveries, FeedbackSource, Inbox, Intake, Journal, Runs
from core.domain.retry_policy import RetryPolicy, is_attempt, may_pass
from core.domain.tasks import in_name_of
from core.feedback_matcher import MatchDeps, match_feedback_to_agents
from core.react_agent import process_feedback_with_react

log = structlog.get_logger(__name__)


class SourceDeps(Protocol):
    """Dependencies of the source tasks. `sources` are all but the inbox, by name."""

    @property
    def inbox(self) -> Inbox:
        """The store of feedback."""

    @property
    def agents(self) -> Agents:
        """The registry of agents."""

    @property
    def deliveries(self) -> Deliveries:
        """The outcomes that sources have yet to be told."""

    @property
    def sources(self) -> Mapping[str, FeedbackSource]:
        """The sources."""


async def fetch_feedback_task(source: FeedbackSource, *, limit: int, deps: SourceDeps) -> int:
    """Move a source's feedback into the inbox, each new piece with its job; return how many.

    The source is told only after they are stored, so a worker that dies before loses nothing.
    """
    fetched = await source.fetch(limit)
    for agent in fetched.agents:
        await _save(agent, deps)
    new, stored = await _store(source, fetched.pieces, deps)
    if stored:
        await source.accept(stored)
    return new


async def acknowledge_task(
    source: FeedbackSource, *, limit: int, deps: SourceDeps, put_off: set[str] | None = None
) -> int:
    """Acknowledge outcomes that a source has not accepted yet; return how many.

    `put_off` are the pieces that could not be told before, which come last, so that none holds the
    others; it is kept up to date. Raises ConfigurationError, DependencyDown if the source is
    unavailable.
    """
    told = 0
    last = put_off if put_off is not None else set()
    waiting = await deps.deliveries.unacknowledged(source.name, limit)
    last.intersection_update([ended.id for ended in waiting])
    for ended in sorted(waiting, key=lambda ended: ended.id in last):
        try:
            await _acknowledge(source, ended, deps)
        except (ConfigurationError, DependencyDown):
            last.add(ended.id)
            raise
        except SkillWorkerError as error:
            _note_untold(ended, error)
        else:
            last.discard(ended.id)
            told += 1
    return told


async def acknowledge_end(feedback: Feedback, outcome: Outcome, deps: SourceDeps) -> None:
    """Acknowledge the outcome of a piece to its source, if it has one.

    Never fails: `acknowledge_task` repeats what the source does not accept now.
    """
    source = deps.sources.get(feedback.source)
    if source is None:
        return
    ended = feedback.model_copy(update={"status": outcome.status, "error": outcome.error})
    try:
        await _acknowledge(source, ended, deps)
    except SkillWorkerError as error:
        _note_untold(ended, error)
    except Exception:  # a bug in a source must not fail the job of finished feedback
        log.exception("source.broke", source=source.name)


class SourcePoller:
    """Fetch from all sources and acknowledge outcomes to them, round by round.

    A failing source does not stop the others; one that sent `Retry-After` is skipped until then.
    `failures` has the error of each source's last fetching round.
    """

    def __init__(self, deps: SourceDeps, clock: Callable[[], float] = time.monotonic) -> None:
        self._deps = deps
        self._clock = clock
        self._resume_at: dict[str, float] = {}
        self._put_off: dict[str, set[str]] = {}
        self.failures: dict[str, SkillWorkerError] = {}

    async def poll(self, limit: int) -> int:
        """Fetch about `limit` records per source, acknowledge outcomes; return the new pieces."""
        return sum([await self._round(s, limit, fetch=True) for s in self._deps.sources.values()])

    async def acknowledge(self, limit: int) -> None:
        """Acknowledge at most `limit` outcomes to each source."""
        for source in self._deps.sources.values():
            await self._round(source, limit, fetch=False)

    async def _round(self, source: FeedbackSource, limit: int, *, fetch: bool) -> int:
        if self._clock() < self._resume_at.get(source.name, 0.0):
            return 0
        put_off = self._put_off.setdefault(source.name, set())
        telling = acknowledge_task(source, limit=limit, deps=self._deps, put_off=put_off)
        told = await self._try(source, telling)
        if not fetch or self._clock() < self._resume_at.get(source.name, 0.0):
            return 0
        new = await self._try(source, fetch_feedback_task(source, limit=limit, deps=self._deps))
        if told is not None and new is not None:
            self.failures.pop(source.name, None)
        return new or 0

    async def _try(self, source: FeedbackSource, task: Awaitable[int]) -> int | None:
        """Return the number of a task, None if it failed: what fails does not stop the rest."""
        try:
            return await task
        except SkillWorkerError as error:
            self._note_failure(source, error)
        except Exception:  # a bug in one source must not stop the others
            log.exception("source.broke", source=source.name)
        return None

    def _note_failure(self, source: FeedbackSource, error: SkillWorkerError) -> None:
        log.warning(
            "source.failed",
            source=source.name,
            kind=error.kind,
            error=error.message,
            hint=error.hint,
        )
        self.failures[source.name] = error
        if isinstance(error, DependencyDown) and error.retry_after:
            self._resume_at[source.name] = self._clock() + error.retry_after


async def _save(agent: Agent, deps: SourceDeps) -> None:
    """Save an agent as its source knows it; one that cannot be stored is left out."""
    try:
        await deps.agents.save(agent)
    except InvalidInput as error:
        log.warning(
            "agent.refused", agent_id=agent.id, tenant_id=agent.tenant_id, error=error.message
        )


async def _store(
    source: FeedbackSource, pieces: Sequence[NewFeedback], deps: SourceDeps
) -> tuple[int, Sequence[NewFeedback]]:
    """Store pieces; return how many are new, and those now in the inbox."""
    if not pieces:
        return 0, ()
    try:
        stored = await deps.inbox.add(source.name, pieces)
    except (InvalidInput, ScreenDown):  # one piece must not keep the others out
        results = [(piece, await _store_one(source, piece, deps)) for piece in pieces]
        return sum(new or 0 for _, new in results), [p for p, new in results if new is not None]
    return sum(new for _, new in stored), pieces


async def _store_one(source: FeedbackSource, piece: NewFeedback, deps: SourceDeps) -> bool | None:
    """Store a piece; return whether it is new, or None if it is refused."""
    try:
        ((_, new),) = await deps.inbox.add(source.name, [piece])
    except (InvalidInput, ScreenDown) as error:
        if piece.id and await _is_known(source, piece.id, deps):
            return False  # another worker fetched it in an earlier state and has stored it
        await _refuse(source, piece, error)
        return None
    return new


async def _is_known(source: FeedbackSource, source_id: str, deps: SourceDeps) -> bool:
    try:
        return bool(await deps.deliveries.known(source.name, [source_id]))
    except InvalidInput:  # the id itself cannot be stored
        return False


async def _refuse(source: FeedbackSource, piece: NewFeedback, why: SkillWorkerError) -> None:
    """Log a piece that is not stored, and report it as failed unless it may be stored later."""
    log.warning("feedback.refused", source=source.name, source_id=piece.id, error=why.message)
    if piece.id is not None and not why.retryable:
        await source.acknowledge(piece.id, Outcome(status=FeedbackStatus.FAILED, error=why.message))


async def _acknowledge(source: FeedbackSource, ended: Feedback, deps: SourceDeps) -> None:
    await source.acknowledge(ended.source_id, ended.outcome)
    await deps.deliveries.acknowledged(ended)


def _note_untold(ended: Feedback, error: SkillWorkerError) -> None:
    log.warning(
        "feedback.unacknowledged",
        feedback_id=ended.id,
        source=ended.source,
        source_id=ended.source_id,
        kind=error.kind,
        error=error.message,
    )


STOPPED = Message("worker.stopped")


@dataclass(frozen=True)
class PollingDeps:
    """Dependencies of polling. `sources` are all but the inbox, by name."""

    inbox: Inbox
    runs: Runs
    agents: Agents
    journal: Journal
    deliveries: Deliveries
    intake: Intake
    sources: Mapping[str, FeedbackSource]
    matching: MatchDeps
    react: ReactDeps
    retry: RetryPolicy
    max_chars: int


async def process_feedback(feedback_id: str, *, deps: PollingDeps) -> None:
    """Process one piece of feedback to its end, or requeue it; the body of its job."""
    feedback = await deps.inbox.claim(feedback_id)
    if feedback is None:
        log.info("feedback.skipped", feedback_id=feedback_id)
        return
    bound = structlog.contextvars.bound_contextvars(
        feedback_id=feedback.id, tenant_id=feedback.tenant_id, attempt=feedback.attempts
    )
    with bound:
        try:
            with in_name_of(feedback.tenant_id), tracing.attempt(feedback):
                answered = Awaiting(deps.inbox, deps.intake, deps.matching.conversations)
                awaits = await answered.is_missing(feedback)
                await _attempt(feedback, deps)
                if awaits:
                    await answered.look_again(feedback, deps.journal)
        except LeaseLost:
            log.warning("lease.lost")


async def _attempt(feedback: Feedback, deps: PollingDeps) -> None:
    """Process a claimed piece, or release it. Raises LeaseLost, DatabaseDown."""
    try:
        if await _is_over_budget(feedback, deps) or await _is_behind(feedback, deps):
            return
        await _tell(feedback, "feedback.claimed", deps, waits=True, attempt=feedback.attempts)
        if feedback.attempts > deps.retry.max_attempts:
            outcome = await _exhausted(feedback, deps)
        else:
            verdicts = await learn(feedback, deps=deps)
            await _look_behind(feedback, verdicts, deps)
            outcome = outcome_of(verdicts)
    except LeaseLost:
        raise
    except asyncio.CancelledError as error:
        if _is_cancelled():
            # Shielded: a second signal must not interrupt the release of the piece.
            await asyncio.shield(_stop(feedback, deps))
            raise
        # A library leaked its own cancellation: uncounted, it would be retried for ever.
        log.exception("feedback.broke")
        await _fail(feedback, _unexpected(error), deps)
    except SkillWorkerError as error:
        await _fail(feedback, error, deps)
    except Exception as error:
        log.exception("feedback.broke")
        await _fail(feedback, _unexpected(error), deps)
    else:
        await _end(feedback, outcome, deps)


async def _is_over_budget(feedback: Feedback, deps: PollingDeps) -> bool:
    """Release a piece whose tenant has used up its daily budget; the event is emitted once."""
    try:
        await deps.react.meter.budgets.require(feedback.tenant_id)
    except BudgetUsedUp as error:
        is_news = feedback.error != error.reason
        await _give_back(feedback, error, deps, counts=False, is_news=is_news)
        return True
    return False


async def _is_behind(feedback: Feedback, deps: PollingDeps) -> bool:
    """Whether a piece now waits for one that was said before it."""
    earlier = await deps.inbox.earlier(feedback, MOST_BESIDE)
    return bool(earlier) and await waits_its_turn(feedback, earlier, deps.inbox, deps.journal)


async def _look_behind(feedback: Feedback, verdicts: Sequence[Verdict], deps: PollingDeps) -> None:
    """Let pieces be decided again that were said after this one and missed it."""
    changed = any(receipt.change_id for verdict in verdicts for receipt in verdict.receipts)
    await look_behind(feedback, deps.inbox, deps.intake, deps.journal, has_changed=changed)


async def _exhausted(feedback: Feedback, deps: PollingDeps) -> Outcome:
    """Return the outcome of a piece whose attempts all died with their workers, without a run."""
    candidates = await deps.runs.candidates(feedback.id)
    verdicts = [c.verdict for c in candidates if c.verdict and _is_of(c, feedback)]
    if verdicts and len(verdicts) == len(candidates):
        return outcome_of(verdicts)
    return _dead(feedback.attempts - 1, feedback.error or Message("worker.none_ended"))


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _stop(feedback: Feedback, deps: PollingDeps) -> None:
    """Release a piece unchanged: a worker's shutdown does not count as an attempt."""
    try:
        await deps.inbox.give_back(feedback, feedback.error or STOPPED, 0, counts=False)
    except LeaseLost:
        log.warning("lease.lost")


async def decide(feedback: Feedback, *, deps: PollingDeps) -> tuple[Verdict, ...]:
    """Return the verdicts of a piece, or one failed verdict if it cannot be decided."""
    try:
        with in_name_of(feedback.tenant_id), tracing.attempt(feedback):
            return await learn(feedback, deps=deps)
    except SkillWorkerError as error:
        return (Verdict(status=VerdictStatus.FAILED, reason=error.reason),)


async def learn(feedback: Feedback, *, deps: PollingDeps) -> tuple[Verdict, ...]:
    """Match the feedback to its agents and run each candidate, one after another.

    Raises transient errors; a permanent error of one candidate becomes its verdict.
    """
    refuse_unfit(feedback, deps.max_chars)
    agents = {agent.id: agent for agent in await _agents(feedback, deps)}
    # At the first claim there are none.
    stored = await deps.runs.candidates(feedback.id) if feedback.epoch > 1 else ()
    begun = () if stored else await _matched(feedback, list(agents.values()), deps)
    verdicts = []
    # Nothing was begun if another worker was faster, or there is nothing to begin.
    for candidate in begun or stored or await deps.runs.candidates(feedback.id):
        is_begun = bool(begun) and candidate.position == 0
        agent = agents[candidate.agent_id]
        verdicts.append(await _run(feedback, candidate, agent, deps, is_begun=is_begun))
    return tuple(verdicts)


async def _matched(
    feedback: Feedback, agents: list[Agent], deps: PollingDeps
) -> Sequence[Candidate]:
    """Store the matcher's answer and return its candidates, the first as started."""
    matched = await match_feedback_to_agents(
        feedback, agents, feedback.task, feedback.events, deps=deps.matching
    )
    parts = matched.agent_feedbacks
    agent_ids = ", ".join(part.agent_id for part in parts)
    await _tell(feedback, "feedback.matched", deps, waits=True, agents=agent_ids)
    return await deps.runs.save_candidates(feedback, parts)


async def _run(
    feedback: Feedback, candidate: Candidate, agent: Agent, deps: PollingDeps, *, is_begun: bool
) -> Verdict:
    if candidate.verdict is not None and _is_of(candidate, feedback):
        return candidate.verdict
    started = candidate if is_begun else await deps.runs.start(candidate, feedback.generation)
    with structlog.contextvars.bound_contextvars(candidate_id=started.id, agent_id=agent.id):
        try:
            verdict = await process_feedback_with_react(
                agent.id,
                feedback.content,
                candidate=started,
                feedback=feedback,
                agent=agent,
                deps=deps.react,
            )
        except SkillWorkerError as error:
            if may_pass(error) or isinstance(error, LeaseLost):
                raise
            verdict = Verdict(status=VerdictStatus.FAILED, reason=error.reason)
        await deps.runs.finish(started, verdict)
    return verdict


async def _agents(feedback: Feedback, deps: PollingDeps) -> list[Agent]:
    """Return the agents of the feedback. Raises NotFound."""
    return [await deps.agents.get(feedback.tenant_id, name) for name in feedback.agent_ids]


def _is_of(candidate: Candidate, feedback: Feedback) -> bool:
    return candidate.generation == feedback.generation


async def _fail(feedback: Feedback, error: SkillWorkerError, deps: PollingDeps) -> None:
    tracing.fail(error.kind)
    counts = is_attempt(error, feedback)
    if not may_pass(error):
        await _end(feedback, Outcome(status=FeedbackStatus.FAILED, error=error.reason), deps)
    elif counts and feedback.attempts >= deps.retry.max_attempts:
        await _end(feedback, _dead(feedback.attempts, error.reason), deps)
    else:
        await _give_back(feedback, error, deps, counts=counts)


async def _give_back(
    feedback: Feedback,
    error: SkillWorkerError,
    deps: PollingDeps,
    *,
    counts: bool,
    is_news: bool = True,
) -> None:
    # A start that does not count leaves `attempts` as it is: the epoch makes its delay grow.
    delay = deps.retry.delay(feedback.attempts if counts else feedback.epoch, error)
    await deps.inbox.give_back(feedback, error.reason, delay, counts=counts)
    if is_news:
        name = "feedback.held_back" if isinstance(error, BudgetUsedUp) else "feedback.retried"
        why = without_content(error.message)
        await _tell(feedback, name, deps, error=why, delay=round(delay, 1))


def _dead(attempts: int, error: str) -> Outcome:
    reason = Message("feedback.gave_up", n=attempts, why=error)
    return Outcome(status=FeedbackStatus.DEAD, error=reason)


async def _end(feedback: Feedback, outcome: Outcome, deps: PollingDeps) -> None:
    tracing.note({"skill_worker.feedback.status": outcome.status})
    await deps.inbox.finish(feedback, outcome)
    error = without_content(outcome.error or "") or None
    await _tell(feedback, "feedback.finished", deps, status=outcome.status, error=error)
    await acknowledge_end(feedback, outcome, deps)


async def _tell(
    feedback: Feedback,
    name: str,
    deps: PollingDeps,
    *,
    waits: bool = False,
    **data: str | int | float | None,
) -> None:
    event = RunEvent(
        name=name, tenant_id=feedback.tenant_id, feedback_id=feedback.id, data=dict(data)
    )
    await deps.journal.emit(event, waits=waits)


def _unexpected(error: BaseException) -> DependencyDown:
    """Return a bug as a transient error, since it may not recur; the log has its trace."""
    return DependencyDown(Message("error.unexpected", type=type(error).__name__, why=error))
