"""What is done with sources beside the work: fetch what is new, and tell them what it came to."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import structlog

from core.errors import ConfigurationError, DependencyDown, InvalidInput, SkillWorkerError
from core.models import Agent, Feedback, FeedbackStatus, NewFeedback, Outcome
from core.ports import Agents, Deliveries, FeedbackSource, Inbox

log = structlog.get_logger(__name__)


class SourceDeps(Protocol):
    """What these tasks work with. `sources` are all but the inbox, by name."""

    @property
    def inbox(self) -> Inbox:
        """Where pieces are stored."""

    @property
    def agents(self) -> Agents:
        """Where agents are kept."""

    @property
    def deliveries(self) -> Deliveries:
        """What sources gave, and have yet to be told."""

    @property
    def sources(self) -> Mapping[str, FeedbackSource]:
        """The sources."""


async def fetch_feedback_task(source: FeedbackSource, *, limit: int, deps: SourceDeps) -> int:
    """Move what a source has into the inbox, each new piece with its job; gives their number.

    The source is told once they are stored, so that a worker that dies before loses nothing.
    """
    fetched = await source.fetch(limit)
    for agent in fetched.agents:
        await _save(agent, deps)
    new, stored = await _store(source, fetched.pieces, deps)
    if stored:
        await source.accept(stored)
    return new


async def acknowledge_task(source: FeedbackSource, *, limit: int, deps: SourceDeps) -> int:
    """Tell a source of ends that it could not be told when they came; gives their number.

    Raises ConfigurationError, DependencyDown where the source cannot be told anything now.
    """
    told = 0
    for ended in await deps.deliveries.unacknowledged(source.name, limit):
        try:
            await _tell(source, ended, deps)
        except (ConfigurationError, DependencyDown):
            raise
        except SkillWorkerError as error:
            _note_untold(ended, error)
        else:
            told += 1
    return told


async def acknowledge_end(feedback: Feedback, outcome: Outcome, deps: SourceDeps) -> None:
    """Tell the source of a piece its end, where there is one to tell.

    Never fails: what a source does not take now is repeated by `acknowledge_task`.
    """
    source = deps.sources.get(feedback.source)
    if source is None:
        return
    ended = feedback.model_copy(update={"status": outcome.status, "error": outcome.error})
    try:
        await _tell(source, ended, deps)
    except SkillWorkerError as error:
        _note_untold(ended, error)
    except Exception:  # a defect of a source must not break the job of a piece that has ended
        log.exception("source.broke", source=source.name)


class SourcePoller:
    """Fetches from all sources and tells them of ends, round by round.

    One that fails stops no other. One that asked for a pause is left alone until it is over.
    `failures` holds why the last round of each failed; telling it of ends alone is no round.
    """

    def __init__(self, deps: SourceDeps, clock: Callable[[], float] = time.monotonic) -> None:
        self._deps = deps
        self._clock = clock
        self._rests: dict[str, float] = {}
        self.failures: dict[str, SkillWorkerError] = {}

    async def poll(self, limit: int) -> int:
        """Fetch about `limit` records of each source, tell it of ends; gives the new pieces."""
        return sum([await self._turn(s, limit, fetch=True) for s in self._deps.sources.values()])

    async def acknowledge(self, limit: int) -> None:
        """Tell each source of at most `limit` ends."""
        for source in self._deps.sources.values():
            await self._turn(source, limit, fetch=False)

    async def _turn(self, source: FeedbackSource, limit: int, *, fetch: bool) -> int:
        if self._clock() < self._rests.get(source.name, 0.0):
            return 0
        try:
            await acknowledge_task(source, limit=limit, deps=self._deps)
            new = await fetch_feedback_task(source, limit=limit, deps=self._deps) if fetch else 0
        except SkillWorkerError as error:
            self._note_failure(source, error)
        except Exception:  # a defect of one source must not stop the others
            log.exception("source.broke", source=source.name)
        else:
            if fetch:
                self.failures.pop(source.name, None)
            return new
        return 0

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
            self._rests[source.name] = self._clock() + error.retry_after


async def _save(agent: Agent, deps: SourceDeps) -> None:
    """Save an agent as its source knows it; pieces for one of another tenant fail by that."""
    try:
        await deps.agents.save(agent)
    except InvalidInput as error:
        log.warning(
            "agent.refused", agent_id=agent.id, tenant_id=agent.tenant_id, error=error.message
        )


async def _store(
    source: FeedbackSource, pieces: Sequence[NewFeedback], deps: SourceDeps
) -> tuple[int, Sequence[NewFeedback]]:
    """Store pieces; gives how many are new, and those that are in the inbox now."""
    if not pieces:
        return 0, ()
    try:
        stored = await deps.inbox.add(source.name, pieces)
    except InvalidInput:
        # One piece that cannot be stored must not keep the others out.
        kept = [(piece, await _store_one(source, piece, deps)) for piece in pieces]
        return sum(new or 0 for _, new in kept), [p for p, new in kept if new is not None]
    return sum(new for _, new in stored), pieces


async def _store_one(source: FeedbackSource, piece: NewFeedback, deps: SourceDeps) -> bool | None:
    """Store a piece and tell whether it is new; None where it is refused."""
    try:
        ((_, new),) = await deps.inbox.add(source.name, [piece])
    except InvalidInput as error:
        if piece.id and await _is_known(source, piece.id, deps):
            return False  # another worker fetched it too, and more had happened by then
        await _refuse(source, piece, error.message)
        return None
    return new


async def _is_known(source: FeedbackSource, source_id: str, deps: SourceDeps) -> bool:
    try:
        return bool(await deps.deliveries.known(source.name, [source_id]))
    except InvalidInput:  # the id itself cannot be stored
        return False


async def _refuse(source: FeedbackSource, piece: NewFeedback, reason: str) -> None:
    """Note a piece that cannot be stored, and let its source see it as failed."""
    log.warning("feedback.refused", source=source.name, source_id=piece.id, error=reason)
    if piece.id is not None:
        await source.acknowledge(piece.id, Outcome(status=FeedbackStatus.FAILED, error=reason))


async def _tell(source: FeedbackSource, ended: Feedback, deps: SourceDeps) -> None:
    await source.acknowledge(ended.source_id, Outcome(status=ended.status, error=ended.error))
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
