"""From a source to a definite end: fetch, match, run, acknowledge. Knows no kind of knowledge."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import structlog

from core.errors import BudgetUsedUp, DependencyDown, InvalidInput, LeaseLost, SkillWorkerError
from core.feedback_matcher import MatchDeps, match_feedback_to_agents
from core.models import (
    Agent,
    Candidate,
    Feedback,
    FeedbackStatus,
    Outcome,
    RunEvent,
    Verdict,
    VerdictStatus,
)
from core.ports import Agents, Deliveries, FeedbackSource, Inbox, Journal, Runs
from core.react.deps import ReactDeps
from core.react_agent import process_feedback_with_react
from core.retry_policy import RetryPolicy, is_attempt, may_pass
from core.source_tasks import acknowledge_end, fetch_feedback_task

__all__ = [
    "PollingDeps",
    "decide",
    "fetch_feedback_task",
    "learn",
    "outcome_of",
    "process_feedback",
]

log = structlog.get_logger(__name__)

STOPPED = "the worker was stopped"

# The first of these that one of the candidates came to is what the feedback came to.
_PRECEDENCE = (
    (VerdictStatus.FAILED, FeedbackStatus.FAILED),
    (VerdictStatus.HELD, FeedbackStatus.HELD),
    (VerdictStatus.COMPLETED, FeedbackStatus.COMPLETED),
    (VerdictStatus.NO_ACTION, FeedbackStatus.NO_ACTION),
)


@dataclass(frozen=True)
class PollingDeps:
    """What polling works with. `sources` are all but the inbox, by name."""

    inbox: Inbox
    runs: Runs
    agents: Agents
    journal: Journal
    deliveries: Deliveries
    sources: Mapping[str, FeedbackSource]
    matching: MatchDeps
    react: ReactDeps
    retry: RetryPolicy
    max_chars: int


async def process_feedback(feedback_id: str, *, deps: PollingDeps) -> None:
    """Bring one piece of feedback to its end, or queue it again; the body of its job."""
    feedback = await deps.inbox.claim(feedback_id)
    if feedback is None:
        log.info("feedback.skipped", feedback_id=feedback_id)
        return
    with structlog.contextvars.bound_contextvars(
        feedback_id=feedback.id, tenant_id=feedback.tenant_id, attempt=feedback.attempts
    ):
        try:
            await _attempt(feedback, deps)
        except LeaseLost:
            log.warning("lease.lost")


async def _attempt(feedback: Feedback, deps: PollingDeps) -> None:
    """Bring a claimed piece to its end, or give it back. Raises LeaseLost, DatabaseDown."""
    try:
        if await _is_held_back(feedback, deps):
            return
        await _tell(feedback, "feedback.claimed", deps, attempt=feedback.attempts)
        if feedback.attempts > deps.retry.max_attempts:
            outcome = await _exhausted(feedback, deps)
        else:
            outcome = outcome_of(await learn(feedback, deps=deps))
    except LeaseLost:
        raise
    except asyncio.CancelledError as error:
        if _is_told_to_stop():
            await asyncio.shield(_stop(feedback, deps))
            raise
        # A library lets one of its own out: for ever, if that were no attempt.
        log.exception("feedback.broke")
        await _fail(feedback, _unexpected(error), deps)
    except SkillWorkerError as error:
        await _fail(feedback, error, deps)
    except Exception as error:
        log.exception("feedback.broke")
        await _fail(feedback, _unexpected(error), deps)
    else:
        await _end(feedback, outcome, deps)


async def _is_held_back(feedback: Feedback, deps: PollingDeps) -> bool:
    """Give a piece back whose tenant may spend no more today; that is told once."""
    try:
        await deps.react.meter.budgets.require(feedback.tenant_id)
    except BudgetUsedUp as error:
        is_news = feedback.error != _reason(error)
        await _give_back(feedback, error, deps, counts=False, is_news=is_news)
        return True
    return False


async def _exhausted(feedback: Feedback, deps: PollingDeps) -> Outcome:
    """Give the end of a piece whose attempts ended with their workers: no run is begun again."""
    candidates = await deps.runs.candidates(feedback.id)
    verdicts = [c.verdict for c in candidates if c.verdict and _is_of(c, feedback)]
    if verdicts and len(verdicts) == len(candidates):
        return outcome_of(verdicts)
    return _dead(feedback.attempts - 1, feedback.error or "none of them came to an end")


def _is_told_to_stop() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _stop(feedback: Feedback, deps: PollingDeps) -> None:
    """Give a piece back as it was: that the worker was stopped is no attempt."""
    try:
        await deps.inbox.give_back(feedback, feedback.error or STOPPED, 0, counts=False)
    except LeaseLost:
        log.warning("lease.lost")


async def decide(feedback: Feedback, *, deps: PollingDeps) -> tuple[Verdict, ...]:
    """Say what a piece would come to, as one failed verdict where it cannot be decided."""
    try:
        return await learn(feedback, deps=deps)
    except SkillWorkerError as error:
        return (Verdict(status=VerdictStatus.FAILED, reason=_reason(error)),)


async def learn(feedback: Feedback, *, deps: PollingDeps) -> tuple[Verdict, ...]:
    """Match the feedback to its agents and run each candidate, one after another.

    Raises errors that may pass; what is wrong with one candidate for good becomes its verdict.
    """
    _check(feedback, deps.max_chars)
    agents = {agent.id: agent for agent in await _agents(feedback, deps)}
    candidates = await _candidates(feedback, list(agents.values()), deps)
    return tuple([await _run(feedback, c, agents[c.agent_id], deps) for c in candidates])


async def _candidates(
    feedback: Feedback, agents: list[Agent], deps: PollingDeps
) -> Sequence[Candidate]:
    """Give the candidates: those stored, or what the matcher answers now."""
    stored = await deps.runs.candidates(feedback.id)
    if stored:
        return stored
    matched = await match_feedback_to_agents(
        feedback, agents, feedback.task, feedback.events, deps=deps.matching
    )
    parts = matched.agent_feedbacks
    agent_ids = ", ".join(part.agent_id for part in parts)
    await _tell(feedback, "feedback.matched", deps, agents=agent_ids, reason=matched.reason)
    return await deps.runs.save_candidates(feedback, parts)


async def _run(
    feedback: Feedback, candidate: Candidate, agent: Agent, deps: PollingDeps
) -> Verdict:
    if candidate.verdict is not None and _is_of(candidate, feedback):
        return candidate.verdict
    started = await deps.runs.start(candidate, feedback.generation)
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
            verdict = Verdict(status=VerdictStatus.FAILED, reason=_reason(error))
        await deps.runs.finish(started, verdict)
    return verdict


def outcome_of(verdicts: Sequence[Verdict]) -> Outcome:
    """The end that a piece of feedback comes to by the verdicts on its candidates."""
    for verdict_status, status in _PRECEDENCE:
        found = [verdict for verdict in verdicts if verdict.status is verdict_status]
        if found:
            failed = verdict_status is VerdictStatus.FAILED
            return Outcome(status=status, error=found[0].reason if failed else None)
    return Outcome(status=FeedbackStatus.NO_ACTION)


def _check(feedback: Feedback, max_chars: int) -> None:
    if not feedback.content.strip():
        raise InvalidInput("the feedback is blank")
    if len(feedback.content) > max_chars:
        raise InvalidInput(
            f"the feedback has {len(feedback.content)} characters, {max_chars} are allowed",
            hint="raise FEEDBACK_MAX_CHARS, or split it",
        )
    if not feedback.agent_ids:
        raise InvalidInput("the feedback names no agent")


async def _agents(feedback: Feedback, deps: PollingDeps) -> list[Agent]:
    """Give the agents the feedback names. Raises NotFound, InvalidInput on another tenant's."""
    agents = [await deps.agents.get(agent_id) for agent_id in feedback.agent_ids]
    for agent in agents:
        if agent.tenant_id != feedback.tenant_id:
            raise InvalidInput(
                f"agent {agent.id} belongs to tenant {agent.tenant_id}, "
                f"the feedback to {feedback.tenant_id}"
            )
    return agents


def _is_of(candidate: Candidate, feedback: Feedback) -> bool:
    return candidate.generation == feedback.generation


async def _fail(feedback: Feedback, error: SkillWorkerError, deps: PollingDeps) -> None:
    counts = is_attempt(error, feedback)
    if not may_pass(error):
        await _end(feedback, Outcome(status=FeedbackStatus.FAILED, error=_reason(error)), deps)
    elif counts and feedback.attempts >= deps.retry.max_attempts:
        await _end(feedback, _dead(feedback.attempts, _reason(error)), deps)
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
    delay = deps.retry.delay(feedback.attempts if counts else feedback.epoch, error)
    await deps.inbox.give_back(feedback, _reason(error), delay, counts=counts)
    if isinstance(error, BudgetUsedUp) and is_news:
        await _tell(
            feedback, "feedback.held_back", deps, error=error.message, delay=round(delay, 1)
        )
    elif is_news:
        await _tell(feedback, "feedback.retried", deps, error=error.message, delay=round(delay, 1))


def _dead(attempts: int, error: str) -> Outcome:
    reason = f"gave up after {attempts} attempts: {error}"
    return Outcome(status=FeedbackStatus.DEAD, error=reason)


async def _end(feedback: Feedback, outcome: Outcome, deps: PollingDeps) -> None:
    await deps.inbox.finish(feedback, outcome)
    await _tell(feedback, "feedback.finished", deps, status=outcome.status, error=outcome.error)
    await acknowledge_end(feedback, outcome, deps)


async def _tell(
    feedback: Feedback, name: str, deps: PollingDeps, **data: str | int | float | None
) -> None:
    event = RunEvent(
        name=name, tenant_id=feedback.tenant_id, feedback_id=feedback.id, data=dict(data)
    )
    await deps.journal.emit(event)


def _reason(error: SkillWorkerError) -> str:
    return f"{error.kind}: {error.message}" + (f" ({error.hint})" if error.hint else "")


def _unexpected(error: BaseException) -> DependencyDown:
    """A defect of ours is tried again, in case it passes; the log has its trace."""
    return DependencyDown(f"unexpected {type(error).__name__}: {error}")
