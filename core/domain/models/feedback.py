"""Feedback and what becomes of it: agents, candidates, verdicts, usage, pauses."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from pydantic import Field, JsonValue

from core.domain.errors import InvalidInput
from core.domain.messages import Message, joined
from core.domain.models.base import Model, Money, Text
from core.domain.models.changes import Receipt
from core.domain.models.findings import Finding, counted
from core.domain.models.moments import Moment
from core.domain.models.trace_context import TraceContext

SETUP = "setup"  # the source of feedback that asks for a new agent's first knowledge


class FeedbackStatus(StrEnum):
    """The state of feedback; the last six are final."""

    QUEUED = "queued"
    PROCESSING = "processing"
    COMPLETED = "completed"
    NO_ACTION = "no_action"
    HELD = "held"
    FAILED = "failed"
    DEAD = "dead"
    CANCELLED = "cancelled"

    @property
    def is_end(self) -> bool:
        """Whether no worker will touch it again unless asked to."""
        return self not in {FeedbackStatus.QUEUED, FeedbackStatus.PROCESSING}


class Agent(Model):
    """An agent that learns: `id` is unique within its tenant; `skills` are skill names."""

    id: str
    tenant_id: str
    name: str
    role: str = ""
    goal: str = ""
    persona: str = ""
    skills: tuple[str, ...] = ()


# The agent id under which the worker keeps its own lessons; nothing from outside may use it.
WORKER_AGENT = "skill-worker"


def is_reserved(agent_id: str) -> bool:
    """Whether an agent id is the worker's own, in whatever letters and forms."""
    return unicodedata.normalize("NFKC", agent_id).strip().casefold() == WORKER_AGENT


def refuse_reserved(agent_id: str) -> None:
    """Raise InvalidInput for the worker's own id, wherever an agent is named from outside."""
    if is_reserved(agent_id):
        raise InvalidInput(
            Message("agent.reserved", id=agent_id), hint=Message("agent.hint_reserved")
        )


class NewFeedback(Model):
    """Incoming feedback. `id` is the source's own; without one each call stores a new piece.

    `said_at` is the source's time, by default that of its intake. `in_reply_to` is the id of the
    piece it answers, the source's own or ours; pieces of one `thread` are a conversation. `output`
    is what the agent had produced, if the words are about that.
    """

    id: str | None = None
    tenant_id: str
    agent_ids: tuple[str, ...]
    task: str = ""
    content: str
    author: str | None = None
    events: tuple[JsonValue, ...] = ()
    said_at: Moment | None = None
    in_reply_to: str | None = None
    thread: str | None = None
    output: JsonValue = None


class MaskedFeedback(NewFeedback):
    """Incoming feedback without secrets and numbers of persons; `masked` is what was taken out.

    `roles` are those of the token it was given with.
    """

    masked: tuple[Finding, ...] = ()
    roles: tuple[str, ...] = ()


class Fetched(Model):
    """One batch from a source: agents as it knows them, and feedback, oldest first."""

    agents: tuple[Agent, ...] = ()
    pieces: tuple[NewFeedback, ...] = ()


class PauseKind(StrEnum):
    """Why work is paused: a person asked for it, or the model does not answer."""

    PAUSED = "paused"
    MODEL = "model"


class Pause(Model):
    """Why no worker starts new work. `fatal`: it lasts until a person fixes something."""

    kind: PauseKind
    reason: Text
    since: datetime
    fatal: bool = False


class Usage(Model):
    """Model calls, their tokens, and what they cost in the currency of the price table."""

    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Money = Decimal(0)

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            model_calls=self.model_calls + other.model_calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost=self.cost + other.cost,
        )


NO_USAGE = Usage()


class Feedback(Model):
    """One thing a user said, as stored in the inbox.

    `attempts` counts starts, `generation` the retries people asked for, `error` is why the last
    attempt failed, or what of it was refused, `retry_at` when the next is due. `epoch` is raised by
    each claim or revival: only the last claimer may give it back or end it. `claimed_at` is set for
    its claimer, by the clock that set `created_at`. `said_at` is when it was said: no later than
    five minutes after its intake; `claimed_said_at` is the later time that its source gave and that
    was not taken. `masked` is what was taken out of it before it was stored, `roles` are those of
    the token it was given with. `trace` is the trace context of the call that brought it in.
    """

    id: str
    source: str
    source_id: str
    tenant_id: str
    agent_ids: tuple[str, ...]
    task: str = ""
    content: str
    author: str | None = None
    events: tuple[JsonValue, ...] = ()
    said_at: datetime | None = None
    claimed_said_at: datetime | None = None
    in_reply_to: str | None = None
    thread: str | None = None
    output: JsonValue = None
    masked: tuple[Finding, ...] = ()
    roles: tuple[str, ...] = ()
    status: FeedbackStatus = FeedbackStatus.QUEUED
    generation: int = 1
    attempts: int = 0
    epoch: int = 0
    error: Text | None = None
    usage: Usage = Usage()
    created_at: datetime | None = None
    finished_at: datetime | None = None
    retry_at: datetime | None = None
    claimed_at: datetime | None = Field(default=None, exclude=True)
    trace: TraceContext | None = Field(default=None, exclude=True)

    @property
    def outcome(self) -> Outcome:
        """How it stands, as its source is told."""
        masked = counted(finding.code for finding in self.masked)
        return Outcome(status=self.status, error=self.error, masked=masked)


def refuse_unfit(feedback: Feedback, max_chars: int) -> None:
    """Raise InvalidInput for feedback that nothing can be learnt from as it is."""
    if not feedback.content.strip():
        raise InvalidInput(Message("feedback.blank"))
    if len(feedback.content) > max_chars:
        raise InvalidInput(
            Message("feedback.too_long", n=len(feedback.content), most=max_chars),
            hint=Message("feedback.raise_most"),
        )
    if not feedback.agent_ids:
        raise InvalidInput(Message("feedback.no_agent"))


class Outline(Model):
    """An outline of a piece: enough to see whether another one is about the same."""

    id: str
    source_id: str
    content: str
    in_reply_to: str | None = None
    thread: str | None = None


class LearningCandidate(Model):
    """What one agent could learn, in the words of the matcher."""

    content: str = Field(description="what this agent could learn, in the language of the feedback")
    intent_hint: str = Field(default="", description="one short phrase: what the user wants")


class AgentFeedback(Model):
    """One agent's part of a piece of feedback."""

    agent_id: str
    agent_name: str = ""
    learning_candidate: LearningCandidate


class MatchResult(Model):
    """The answer of `match_feedback_to_agents`; `reason` is why no agent can learn anything."""

    agent_feedbacks: tuple[AgentFeedback, ...]
    reason: str = ""


class VerdictStatus(StrEnum):
    """How one candidate ended."""

    COMPLETED = "completed"
    NO_ACTION = "no_action"
    HELD = "held"
    FAILED = "failed"


class Verdict(Model):
    """How one candidate ended, why, and with which receipts.

    `refused` are the parts of a run that has learnt something which came to nothing, and why; a
    part that was corrected later is none. `usage` is that of the run's thread; the total is on the
    candidate.
    """

    status: VerdictStatus
    reason: Text = ""
    receipts: tuple[Receipt, ...] = ()
    refused: tuple[Text, ...] = ()
    usage: Usage = Usage()

    def texts(self) -> Iterator[str]:
        """Yield what it says, which may be messages."""
        yield self.reason
        yield from self.refused
        for receipt in self.receipts:
            yield receipt.message
            yield from receipt.warnings
            yield from (hit.why for hit in receipt.hits)


class Candidate(Model):
    """What one agent could learn from one piece of feedback.

    `epoch` is raised by each start; `position` orders the candidates of one feedback. `usage` is
    the cost of its runs' model calls so far, over all generations, without the skill author's.
    """

    id: str
    feedback_id: str
    agent_id: str
    agent_name: str
    position: int
    content: str
    intent_hint: str = ""
    generation: int = 1
    epoch: int = 0
    verdict: Verdict | None = None
    usage: Usage = Usage()

    @property
    def thread(self) -> str:
        """The id of the ReAct run's thread, the same until a person asks for a retry."""
        return f"{self.id}:{self.generation}"


class Outcome(Model):
    """The end of a piece of feedback, as reported to its source.

    `error` is why its candidates failed and what of the others was refused. `masked` are
    the codes of what was masked in it before it was stored, each with how often: `secret.token×2`.
    """

    status: FeedbackStatus
    error: Text | None = None
    masked: tuple[str, ...] = ()


# The first of these that any candidate has decides the status of the feedback.
_PRECEDENCE = (
    (VerdictStatus.FAILED, FeedbackStatus.FAILED),
    (VerdictStatus.HELD, FeedbackStatus.HELD),
    (VerdictStatus.COMPLETED, FeedbackStatus.COMPLETED),
    (VerdictStatus.NO_ACTION, FeedbackStatus.NO_ACTION),
)


def outcome_of(verdicts: Sequence[Verdict]) -> Outcome:
    """Return the outcome of a piece of feedback from the verdicts on its candidates."""
    for verdict_status, status in _PRECEDENCE:
        found = [verdict for verdict in verdicts if verdict.status is verdict_status]
        if found:
            failed = found if verdict_status is VerdictStatus.FAILED else ()
            return Outcome(status=status, error=_error(failed, verdicts))
    return Outcome(status=FeedbackStatus.NO_ACTION)


def _error(failed: Sequence[Verdict], verdicts: Sequence[Verdict]) -> str | None:
    """Return why candidates failed, and what of the others was refused; None for nothing."""
    partly = _partly([verdict for verdict in verdicts if verdict not in failed])
    told = [*dict.fromkeys(verdict.reason for verdict in failed), *([partly] if partly else [])]
    return joined(told) if len(told) > 1 else next(iter(told), None)


def _partly(verdicts: Sequence[Verdict]) -> str | None:
    """Return what of a piece was refused although the rest was learnt; None for nothing."""
    refused = [part for verdict in verdicts for part in verdict.refused]
    return Message("feedback.partly", refused=joined(refused)) if refused else None


class Undecided(Model):
    """Changes that wait for a person: counts by status, and the age of the oldest.

    The age counts from when it was last prepared, edited or refreshed.
    """

    held: int = 0
    stale: int = 0
    oldest_seconds: float = 0.0


class Waiting(Model):
    """Unfinished feedback: counts by status, and how long the oldest has been queued."""

    queued: int = 0
    processing: int = 0
    oldest_seconds: float = 0.0
