"""How one piece of feedback led to its outcome, step by step, as far as records are retained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from pydantic import JsonValue

from core.domain.errors import RunFailed
from core.domain.models import Candidate, ChangeFilter, Feedback, RunEvent
from core.domain.models.access import Role
from core.domain.models.base import Model, Text
from core.domain.models.views import Said, Speaker
from core.entrypoints.service.review_view.heads import ChangeHead, head_of
from core.entrypoints.service.session import Session

MAX_STEPS = 2_000
MAX_CHANGES = 200
GENERATIONS = 10  # threads read of a piece that was retried more often: the last ones


class RunStep(Model):
    """An event with its messages: a turn of the model, or the answer of a tool.

    `after_seconds` is the time since the previous step. `at` is None if a thread has messages
    without an event.
    """

    name: str
    at: datetime | None = None
    after_seconds: float | None = None
    candidate_id: str | None = None
    change_id: str | None = None
    data: Mapping[str, JsonValue] = {}
    said: tuple[Said, ...] = ()


class RunCandidate(Model):
    """What the matcher assigned to one agent, and how that ended.

    `pruned`: its thread is no longer stored, so that only its events are left; `problem` says why a
    stored one cannot be read.
    """

    candidate: Candidate
    pruned: bool = False
    problem: Text = ""


class RunLine(Model):
    """The timeline of one piece of feedback; `feedback` is without the events it came with.

    `pruned`: its events are no longer stored. `more` counts the omitted steps, the first ones.
    """

    feedback: Feedback
    candidates: tuple[RunCandidate, ...]
    changes: tuple[ChangeHead, ...]
    steps: tuple[RunStep, ...]
    more: int = 0
    pruned: bool = False


@dataclass(frozen=True)
class RunService:
    """Raises Forbidden without the role to read; another tenant's piece is NotFound."""

    session: Session

    async def timeline(self, feedback_id: str) -> RunLine:
        """Return the timeline of one piece of feedback. Raises NotFound."""
        self.session.require(Role.READ)
        app = self.session.app
        piece = await self.session.own(app.stores.inbox.get(feedback_id), "feedback", feedback_id)
        events = await app.stores.reader.events(feedback_id)
        read = [await self._read(known) for known in await app.stores.runs.candidates(feedback_id)]
        changes, _ = await app.stores.reader.changes(
            ChangeFilter(feedback_id=feedback_id), limit=MAX_CHANGES, cursor=None
        )
        steps = [*_timed(_steps(events, _Threads.of(read)))]
        return RunLine(
            feedback=piece.model_copy(update={"events": ()}),
            candidates=tuple(known.shown for known in read),
            changes=tuple(map(head_of, reversed(changes))),
            steps=tuple(steps[-MAX_STEPS:]),
            more=len(steps[:-MAX_STEPS]),
            pruned=piece.status.is_end and not events,
        )

    async def _read(self, candidate: Candidate) -> _Read:
        threads: dict[int, Sequence[Said]] = {}
        problem = ""
        oldest = max(1, candidate.generation - GENERATIONS + 1)
        for generation in range(oldest, candidate.generation + 1):
            name = candidate.model_copy(update={"generation": generation}).thread
            try:
                said = await self.session.stores.threads.read(name)
            except RunFailed as error:
                problem = error.message
                continue
            if said is not None:
                threads[generation] = said
        is_gone = candidate.epoch > 0 and candidate.generation not in threads and not problem
        shown = RunCandidate(candidate=candidate, pruned=is_gone, problem=problem)
        return _Read(shown, threads)


@dataclass(frozen=True)
class _Read:
    """A candidate and its threads, by generation."""

    shown: RunCandidate
    threads: Mapping[int, Sequence[Said]]


@dataclass
class _Threads:
    """Messages not yet assigned to a step, by their position in the run, as events name it."""

    left: dict[str, list[Said]] = field(default_factory=dict)

    @classmethod
    def of(cls, read: Sequence[_Read]) -> _Threads:
        """Sort by position: one for the start, each turn and each tool call."""
        made = cls()
        for known in read:
            for generation, messages in known.threads.items():
                thread = f"{known.shown.candidate.id}:{generation}"
                for said in messages:
                    made.left.setdefault(_position_of(thread, said), []).append(said)
        return made

    def take(self, position: str) -> tuple[Said, ...]:
        """Return the messages at a position, once."""
        return tuple(self.left.pop(position, ()))


def _position_of(thread: str, said: Said) -> str:
    """Return the position of a message; a nudge, or an answer to no real call, is its turn's."""
    return said.key or f"{thread}:{said.ordinal}"


def _position(event: RunEvent) -> str:
    """Return the position in a run that an event is about, "" if it is about none."""
    generation = event.data.get("generation")
    if event.name == "tool.called":
        return str(event.data.get("key", ""))
    if event.name == "model.called" and generation is not None:
        return f"{event.candidate_id}:{generation}:{event.data.get('ordinal')}"
    if event.name == "run.started" and not event.data.get("resumed"):
        return f"{event.candidate_id}:{generation}:0"
    return ""


def _steps(events: Sequence[RunEvent], threads: _Threads) -> Iterator[RunStep]:
    """Yield each event with its messages; of a repeated turn the last one has them."""
    last = {_position(event): number for number, event in enumerate(events)}
    for number, event in enumerate(events):
        position = _position(event)
        yield RunStep(
            name=event.name,
            at=event.at,
            candidate_id=event.candidate_id,
            change_id=event.change_id,
            data=event.data,
            said=threads.take(position) if position and last[position] == number else (),
        )
    for position, unassigned in threads.left.items():
        name = _NAMES[unassigned[0].speaker]
        yield RunStep(name=name, candidate_id=position.split(":")[0], said=tuple(unassigned))


_NAMES = {
    Speaker.START: "run.started",
    Speaker.MODEL: "model.called",
    Speaker.NUDGE: "model.called",
    Speaker.TOOL: "tool.called",
}


def _timed(steps: Iterator[RunStep]) -> Iterator[RunStep]:
    before: datetime | None = None
    for step in steps:
        passed = (step.at - before).total_seconds() if step.at and before else None
        before = step.at or before
        yield step.model_copy(update={"after_seconds": passed})
