"""The inbox, runs, agents, and what else a run is stored in, in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

from pydantic import JsonValue

from core.changes.gate.receipts import receipt_of
from core.domain import tracing
from core.domain.errors import InvalidInput, LeaseLost, NotFound
from core.domain.hashing import candidate_prefix, matching_prefix, reply_event
from core.domain.input_formats.feedback import feedback_digest
from core.domain.models import (
    NO_USAGE,
    Agent,
    AgentFeedback,
    Candidate,
    ChangeStatus,
    Feedback,
    FeedbackStatus,
    Fence,
    MaskedFeedback,
    NewFeedback,
    Outcome,
    Outline,
    Receipt,
    RunEvent,
    Usage,
    Verdict,
)
from core.domain.models.feedback import refuse_reserved
from core.domain.models.recorded_runs import Fork
from core.domain.observers import nobody
from core.domain.ports import NewId, Observer
from core.domain.text import has_lone_surrogate
from core.safety.masking import masked_feedback
from core.testing.changes import AgentKey, MemoryChangeLog
from core.testing.determinism import counting_ids, ticking_clock

_STATED = ("role", "goal", "persona")

SAID_AHEAD = timedelta(minutes=5)  # what is said later than its intake by more is said then


class MemoryAgents:
    """Agents by tenant and id.

    With a change log, their lists of skills are those set by its changes. With `sets_up_new`, new
    agents wait to be set up.
    """

    def __init__(
        self,
        agents: Iterable[Agent] = (),
        *,
        log: MemoryChangeLog | None = None,
        sets_up_new: bool = False,
    ) -> None:
        self._sets_up_new = sets_up_new
        self._waiting: set[AgentKey] = set()
        self._agents: dict[AgentKey, Agent] = {}
        self._own_skills: dict[AgentKey, set[str]] = {}
        self._log = log
        for agent in agents:
            self._save(agent)

    async def get(self, tenant_id: str, agent_id: str) -> Agent:
        refuse_reserved(agent_id)
        key = (tenant_id, agent_id)
        if key not in self._agents:
            raise NotFound(f"tenant {tenant_id!r} has no agent {agent_id!r}")
        skills = self._skills().get(key, set())
        return self._agents[key].model_copy(update={"skills": tuple(sorted(skills))})

    async def of_id(self, agent_id: str) -> Sequence[Agent]:
        refuse_reserved(agent_id)
        return [agent for agent in await self.list() if agent.id == agent_id]

    async def having(self, tenant_id: str, skill: str) -> Sequence[Agent]:
        return [agent for agent in await self.list(tenant_id) if skill in agent.skills]

    async def list(self, tenant_id: str | None = None) -> Sequence[Agent]:
        agents = [await self.get(*key) for key in sorted(self._agents, key=_by_id)]
        return [agent for agent in agents if tenant_id in {None, agent.tenant_id}]

    async def save(self, agent: Agent) -> bool:
        refuse_reserved(agent.id)
        return self._save(agent)

    async def awaiting_setup(self, limit: int) -> Sequence[Agent]:
        waiting = [self._agents[key] for key in sorted(self._waiting, key=_by_id)]
        return [a.model_copy(update={"skills": ()}) for a in waiting if a.goal.strip()][:limit]

    async def setup_begun(self, tenant_id: str, agent_id: str) -> None:
        self._waiting.discard((tenant_id, agent_id))

    def claim_setup(self, agent: Agent) -> bool:
        """Clear the wait of an agent, if it waits and is unchanged since."""
        key = _key(agent)
        known = self._agents.get(key)
        if known is None or key not in self._waiting:
            return False
        if any(getattr(known, name) != getattr(agent, name) for name in _STATED):
            return False
        self._waiting.discard(key)
        return True

    def _save(self, agent: Agent) -> bool:
        key = _key(agent)
        known = self._agents.get(key)
        if known is None:
            self._skills()[key] = set(agent.skills)
        self._agents[key] = agent
        had_goal = known is not None and known.goal.strip()
        if self._sets_up_new and agent.goal.strip() and not had_goal:
            self._waiting.add(key)
        return known is None

    def _skills(self) -> dict[AgentKey, set[str]]:
        # The log replaces its dict on every rollback, so it must not be cached.
        return self._own_skills if self._log is None else self._log.agent_skills


def _key(agent: Agent) -> AgentKey:
    return agent.tenant_id, agent.id


def _by_id(key: AgentKey) -> AgentKey:
    tenant_id, agent_id = key
    return agent_id, tenant_id


_MADE = {ChangeStatus.APPLIED, ChangeStatus.HELD}


class MemoryRuns:
    """Candidates by id. With a change log, raising an epoch also fences its changes."""

    def __init__(self, *, log: MemoryChangeLog | None = None, new_id: NewId | None = None) -> None:
        self.stored: dict[str, Candidate] = {}
        self.forks: dict[str, Fork] = {}
        self._log = log
        self._new_id = new_id or counting_ids("candidate")

    async def candidates(self, feedback_id: str) -> Sequence[Candidate]:
        found = [c for c in self.stored.values() if c.feedback_id == feedback_id]
        return sorted(found, key=lambda candidate: candidate.position)

    async def save_candidates(
        self, feedback: Feedback, parts: Sequence[AgentFeedback]
    ) -> Sequence[Candidate]:
        if await self.candidates(feedback.id):
            return ()
        return [self._put(self._candidate(feedback, n, part)) for n, part in enumerate(parts)]

    async def start(self, candidate: Candidate, generation: int) -> Candidate:
        if candidate.id not in self.stored:
            raise NotFound(f"there is no candidate {candidate.id!r}")
        found = self.stored[candidate.id]
        change = {"epoch": found.epoch + 1, "generation": generation, "verdict": None}
        return self._put(found.model_copy(update=change))

    async def finish(self, candidate: Candidate, verdict: Verdict) -> None:
        await self.check(Fence(candidate_id=candidate.id, epoch=candidate.epoch))
        found = self.stored[candidate.id]
        self._put(found.model_copy(update={"verdict": verdict}))

    async def check(self, fence: Fence) -> None:
        found = self.stored.get(fence.candidate_id)
        if found is None or found.epoch != fence.epoch:
            raise LeaseLost(f"candidate {fence.candidate_id} was taken over")

    async def fork(self, thread: str) -> Fork | None:
        return self.forks.get(thread)

    async def receipts(self, candidate_id: str) -> Sequence[Receipt]:
        changes = self._log.changes.values() if self._log else ()
        made = [c for c in changes if c.candidate_id == candidate_id and c.status in _MADE]
        return [receipt_of(change) for change in made]

    def spend(self, candidate_id: str, usage: Usage) -> None:
        """Add to the usage of a candidate, if it is known."""
        found = self.stored.get(candidate_id)
        if found is not None:
            self._put(found.model_copy(update={"usage": found.usage + usage}))

    def reset_verdicts(self, feedback_id: str) -> None:
        """Clear the verdicts, as a retry by a person does."""
        for candidate in list(self.stored.values()):
            if candidate.feedback_id == feedback_id:
                self._put(candidate.model_copy(update={"verdict": None}))

    def fence(self, feedback_id: str) -> None:
        """Raise the epochs of a piece's candidates, which fences off their runs."""
        for candidate in list(self.stored.values()):
            if candidate.feedback_id == feedback_id:
                self._put(candidate.model_copy(update={"epoch": candidate.epoch + 1}))

    def _put(self, candidate: Candidate) -> Candidate:
        self.stored[candidate.id] = candidate
        if self._log is not None:
            self._log.epochs[candidate.id] = candidate.epoch
        return candidate

    def _candidate(self, feedback: Feedback, position: int, part: AgentFeedback) -> Candidate:
        return Candidate(
            id=self._new_id(),
            feedback_id=feedback.id,
            agent_id=part.agent_id,
            agent_name=part.agent_name,
            position=position,
            content=part.learning_candidate.content,
            intent_hint=part.learning_candidate.intent_hint,
            generation=feedback.generation,
            epoch=int(position == 0),
        )


class MemoryJournal:
    """Events in a list; with a change log they join that log's events, in one order.

    With runs, the usage of an event is added to its candidate.
    """

    def __init__(
        self,
        *,
        log: MemoryChangeLog | None = None,
        runs: MemoryRuns | None = None,
        observe: Observer = nobody,
    ) -> None:
        self._own: list[RunEvent] = []
        self._log = log
        self._runs = runs
        self._observe = observe

    @property
    def events(self) -> list[RunEvent]:
        """All events, oldest first."""
        return self._own if self._log is None else self._log.events

    async def emit(
        self,
        event: RunEvent,
        spent: Usage = NO_USAGE,
        *,
        waits: bool = False,  # noqa: ARG002
    ) -> None:
        self.events.append(event)
        if self._runs is not None and event.candidate_id is not None:
            self._runs.spend(event.candidate_id, spent)
        self._observe(event, spent)


class MemoryReplies:
    """Replies by (key, ordinal)."""

    def __init__(self, observe: Observer = nobody) -> None:
        self._observe = observe
        self.stored: dict[tuple[str, int], tuple[JsonValue, Usage]] = {}

    async def get(self, key: str, ordinal: int) -> tuple[JsonValue, Usage] | None:
        return self.stored.get((key, ordinal))

    async def put(
        self, key: str, ordinal: int, reply: JsonValue, usage: Usage, *, tenant_id: str
    ) -> None:
        del tenant_id
        self.stored.setdefault((key, ordinal), (reply, usage))
        self._observe(reply_event(key, ordinal, usage), usage)

    async def usage(self, key_prefix: str) -> Usage:
        found = [
            spent for (key, _), (_, spent) in self.stored.items() if key.startswith(key_prefix)
        ]
        return sum(found, Usage())


class MemoryInbox:
    """Feedback by id; `jobs` has (feedback id, delay in seconds) as deferred.

    If agents are set up, `agents` knows which of them wait for it.
    """

    def __init__(
        self,
        *,
        agents: MemoryAgents | None = None,
        runs: MemoryRuns | None = None,
        replies: MemoryReplies | None = None,
        new_id: NewId | None = None,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        self.feedback: dict[str, Feedback] = {}
        self.jobs: list[tuple[str, float]] = []
        self._digests: dict[str, str] = {}
        self._waiting: dict[str, list[str]] = {}
        self._agents = agents or MemoryAgents()
        self._runs = runs or MemoryRuns()
        self._replies = replies or MemoryReplies()
        self._new_id = new_id or counting_ids("feedback")
        self._clock = clock or ticking_clock()

    async def masked(self, piece: NewFeedback) -> MaskedFeedback:
        return masked_feedback(piece)

    async def add(self, source: str, pieces: Sequence[NewFeedback]) -> Sequence[tuple[str, bool]]:
        saved = dict(self.feedback), dict(self._digests), list(self.jobs)
        try:
            return [self._add(source, masked_feedback(piece)) for piece in pieces]
        except InvalidInput:
            self.feedback, self._digests, self.jobs = saved
            raise

    async def add_first(self, source: str, piece: NewFeedback, agent: Agent) -> bool:
        masked = masked_feedback(piece)
        return self._agents.claim_setup(agent) and self._add(source, masked)[1]

    async def get(self, feedback_id: str) -> Feedback:
        if feedback_id not in self.feedback:
            raise NotFound(f"there is no feedback {feedback_id!r}")
        return self.feedback[feedback_id]

    async def claim(self, feedback_id: str) -> Feedback | None:
        found = self.feedback.get(feedback_id)
        if found is None or found.status.is_end:
            return None
        claimed = self._set(
            found,
            status=FeedbackStatus.PROCESSING,
            attempts=found.attempts + 1,
            epoch=found.epoch + 1,
            retry_at=None,
        )
        return claimed.model_copy(update={"claimed_at": self._clock()})

    async def give_back(
        self, claimed: Feedback, error: str, delay: float, *, counts: bool = True
    ) -> None:
        found = self._claimed(claimed)
        if found.status is not FeedbackStatus.PROCESSING:
            raise _lease_lost(claimed)
        self._set(
            found,
            status=FeedbackStatus.QUEUED,
            error=error,
            attempts=found.attempts - (not counts),
            retry_at=self._clock() + timedelta(seconds=delay) if delay > 0 else None,
        )
        self.jobs.append((claimed.id, delay))
        if delay > 0:
            self._release(claimed.id)

    async def earlier(self, claimed: Feedback, limit: int) -> Sequence[Outline]:
        before = [
            found
            for found in self.feedback.values()
            if _is_ahead(found)
            and found.tenant_id == claimed.tenant_id
            and {*found.agent_ids} & {*claimed.agent_ids}
            and _said_order(found) < _said_order(claimed)
        ]
        latest = sorted(before, key=_said_order, reverse=True)[:limit]
        return [Outline(**found.model_dump(include={*Outline.model_fields})) for found in latest]

    async def passed_over(self, claimed: Feedback, limit: int) -> Sequence[Outline]:
        after = [
            found
            for found in self.feedback.values()
            if found.status is FeedbackStatus.NO_ACTION
            and found.tenant_id == claimed.tenant_id
            and {*found.agent_ids} & {*claimed.agent_ids}
            and _said_order(found) > _said_order(claimed)
            and (_answers(found, claimed) or await self._depends_on_what_is_known(found))
        ]
        first = sorted(after, key=lambda one: (not _answers(one, claimed), _said_order(one)))
        chosen = first[:limit]
        return [Outline(**found.model_dump(include={*Outline.model_fields})) for found in chosen]

    async def _depends_on_what_is_known(self, found: Feedback) -> bool:
        verdicts = [c.verdict for c in await self._runs.candidates(found.id)]
        receipts = [receipt for verdict in verdicts if verdict for receipt in verdict.receipts]
        return any(receipt.category in {"duplicate", "unclear"} for receipt in receipts)

    async def wait_for(self, claimed: Feedback, earlier_id: str) -> bool:
        if not _is_ahead(self.feedback[earlier_id]):
            return False
        found = self._claimed(claimed)
        self._set(found, status=FeedbackStatus.QUEUED, attempts=found.attempts - 1)
        self._waiting.setdefault(earlier_id, []).append(claimed.id)
        return True

    async def finish(self, claimed: Feedback, outcome: Outcome) -> None:
        found = self._claimed(claimed)
        spent = await self._replies.usage(matching_prefix(claimed.id))
        for candidate in await self._runs.candidates(claimed.id):
            spent += candidate.usage + await self._replies.usage(candidate_prefix(candidate.id))
        self._set(
            found,
            status=outcome.status,
            error=outcome.error,
            finished_at=self._clock(),
            retry_at=None,
            usage=spent,
        )
        self._release(claimed.id)

    def _release(self, feedback_id: str) -> None:
        self.jobs += [(waiting, 0.0) for waiting in self._waiting.pop(feedback_id, ())]

    def queue_again(self, ended: Feedback) -> Feedback:
        """Requeue an ended piece under its next generation, with a job and without verdicts."""
        self._runs.reset_verdicts(ended.id)
        self.jobs.append((ended.id, 0.0))
        return self._set(
            ended,
            status=FeedbackStatus.QUEUED,
            generation=ended.generation + 1,
            attempts=0,
            epoch=ended.epoch + 1,
            error=None,
            finished_at=None,
            retry_at=None,
        )

    def take_off(self, found: Feedback) -> Feedback:
        """Fence off the worker of a piece, and drop its waiting job."""
        self._runs.fence(found.id)
        self.jobs = [job for job in self.jobs if job[0] != found.id]
        return self._set(found, epoch=found.epoch + 1)

    def _add(self, source: str, piece: MaskedFeedback) -> tuple[str, bool]:
        _refuse_unstorable(piece)
        digest = feedback_digest(piece)
        for known in self.feedback.values():
            if _is_by(source, known, piece):
                if self._digests[known.id] != digest:
                    raise InvalidInput(f"feedback {piece.id!r} is known with other content")
                return known.id, False
        feedback_id = self._new_id()
        self._digests[feedback_id] = digest
        now = self._clock()
        is_late = piece.said_at is not None and piece.said_at > now + SAID_AHEAD
        self.feedback[feedback_id] = Feedback(
            **piece.model_dump(exclude={"id", "said_at"}),
            id=feedback_id,
            source=source,
            source_id=piece.id or feedback_id,
            said_at=now if piece.said_at is None or is_late else piece.said_at,
            claimed_said_at=piece.said_at if is_late else None,
            created_at=now,
            trace=tracing.current(),
        )
        self.jobs.append((feedback_id, 0.0))
        return feedback_id, True

    def _claimed(self, claimed: Feedback) -> Feedback:
        """Return the current piece. Raises LeaseLost if it is no longer the claimer's."""
        found = self.feedback[claimed.id]
        if found.status.is_end or found.epoch != claimed.epoch:
            raise _lease_lost(claimed)
        return found

    def _set(self, found: Feedback, **values: object) -> Feedback:
        self.feedback[found.id] = found.model_copy(update=values)
        return self.feedback[found.id]


def _is_ahead(found: Feedback) -> bool:
    is_due = found.status is FeedbackStatus.QUEUED and found.retry_at is None
    return is_due or found.status is FeedbackStatus.PROCESSING


def _is_by(source: str, known: Feedback, piece: MaskedFeedback) -> bool:
    """Whether a piece came by a source before, or by the one that all tenants had in common."""
    is_common = f"{known.source}/{known.tenant_id}" == source
    is_by = known.source == source or (is_common and known.tenant_id == piece.tenant_id)
    return is_by and known.source_id == piece.id


def _answers(found: Feedback, earlier: Feedback) -> bool:
    return found.in_reply_to in {earlier.id, earlier.source_id}


def _said_order(found: Feedback) -> tuple[datetime, datetime, str]:
    assert found.said_at is not None
    assert found.created_at is not None
    return found.said_at, found.created_at, found.id


def _lease_lost(claimed: Feedback) -> LeaseLost:
    return LeaseLost(f"feedback {claimed.id} has ended or was taken up by another worker")


def _refuse_unstorable(piece: NewFeedback) -> None:
    text = piece.content + piece.task + (piece.author or "") + (piece.id or "")
    if "\0" in text or has_lone_surrogate(text):
        raise InvalidInput("the text holds what PostgreSQL cannot store")
