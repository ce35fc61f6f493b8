"""Collect evidence, propose the lessons that are due, and tell which ones helped."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from core.changes.lessons.collecting import (
    evidence_of_change,
    evidence_of_run,
    is_explicit,
    kind_of,
    needed,
)
from core.changes.lessons.wording import QUOTED, Words, text_of
from core.domain.errors import SkillWorkerError
from core.domain.messages import Message
from core.domain.models import (
    Change,
    ChangeStatus,
    EventFilter,
    MemoryRequest,
    Operation,
    Origin,
    PlacedEvent,
    ReceiptStatus,
    RunEvent,
    SubmitContext,
)
from core.domain.models.audit import ERASED
from core.domain.models.feedback import WORKER_AGENT
from core.domain.models.lessons import ChangeFact, Evidence, EvidenceKind, LessonState, RunFact
from core.domain.models.uses import OutcomeReport, UsedItem
from core.domain.ports import ChangeLog, Feed, Gate, Journal, LessonLog, UseLog
from core.domain.tasks import in_name_of
from core.knowledge.duplicates import is_repeated

log = structlog.get_logger(__name__)

EVENTS = 500  # a round
LIKE = 200  # lessons of one kind that a new piece of evidence is compared with
# A lesson that was rejected once is proposed once more: after so long, or with new evidence.
AGAIN = timedelta(days=7)
_CHANGES = ("change.rejected", "change.applied")
_RUNS = "run.finished"
_OPEN = {
    ChangeStatus.PREPARED,
    ChangeStatus.HELD,
    ChangeStatus.STALE,
    ChangeStatus.APPLYING,
    ChangeStatus.APPLIED,
}
_MOST_SETBACKS = 1


@dataclass(frozen=True, kw_only=True)
class Lessons:
    """The worker's lessons. It runs beside the work, and may run in several workers.

    Two that collect the same store it once; two that propose the same submit it under one key.
    """

    log: LessonLog
    feed: Feed
    gate: Gate
    changes: ChangeLog
    journal: Journal
    outcomes: UseLog
    now: Callable[[], datetime]

    async def work(self) -> None:
        """Collect what has happened since, and propose what is due."""
        await self.collect()
        await self.propose()

    async def collect(self) -> int:
        """Store the evidence in all events since the last time; return how many pieces."""
        total = 0
        while True:
            cursor = await self.log.cursor()
            page = await self.feed.after(cursor, EventFilter(names=(*_CHANGES, _RUNS)), EVENTS)
            if page.cursor == cursor:
                return total
            facts = await self._facts(page.events)
            found = await self._evidence(facts)
            if not await self.log.collected(found, cursor, page.cursor):
                return total  # another worker is at it
            await self._tell_refused(found)
            await self._tell_outcomes(facts.changes)
            await self.log.note_recurring()
            total += len(found)
            if not page.is_full:
                return total

    async def propose(self, tenant_id: str | None = None) -> int:
        """Propose the lessons that are due, of one tenant or of all; return how many wait now."""
        held = 0
        for lesson in await self.log.states(tenant_id):
            if not is_due(lesson, self.now()):
                continue
            try:
                with in_name_of(lesson.tenant_id):
                    held += await self._propose(lesson)
            except SkillWorkerError as error:  # one failure must not keep the others back
                log.warning("lesson.left_behind", error=error.message, kind=error.kind)
        return held

    async def _propose(self, lesson: LessonState) -> bool:
        pieces = await self._quoted(lesson)
        if len(pieces) < needed(lesson.kind, [words for _, words in pieces]):
            return False
        key = f"lesson:{lesson.key}:{lesson.proposals + 1}"
        known = await self.changes.find(key)  # of a worker that died before it could note this
        if known is not None:
            await self._note(lesson, known)
            return known.status is ChangeStatus.HELD
        request = MemoryRequest(
            operation=Operation.CREATE, content=text_of(pieces), reason=_because(lesson, pieces)
        )
        context = SubmitContext(
            key=key,
            tenant_id=lesson.tenant_id,
            agent_id=WORKER_AGENT,
            origin=Origin.WORKER,
        )
        receipt = await self.gate.submit(request, context)
        is_held = receipt.status is ReceiptStatus.HELD
        await self.log.proposed(
            lesson,
            change_id=receipt.change_id,
            item_id=receipt.target_id if is_held else None,
            refused=None if is_held else receipt.message,
        )
        return is_held

    async def _note(self, lesson: LessonState, change: Change) -> None:
        await self.log.proposed(lesson, change_id=change.id, item_id=change.target_id, refused=None)

    async def _quoted(self, lesson: LessonState) -> Sequence[tuple[Evidence, Words]]:
        """Return the newest evidence with its words, without what was erased since."""
        stored = await self.log.evidence(lesson.tenant_id, lesson.key, QUOTED)
        changes = await self.log.changes([one.change_id for one in stored if one.change_id])
        runs = await self._recovered([one for one in stored if one.change_id is None])
        said = {fact.id: fact for fact in changes}
        found = list[tuple[Evidence, Words]]()
        for one in stored:
            words = self._words(one, said, runs)
            if words is not None and ERASED not in words:
                found.append((one, words))
        return found

    def _words(
        self, one: Evidence, changes: Mapping[str, ChangeFact], runs: Mapping[str, RunFact]
    ) -> Words | None:
        run = runs.get(one.candidate_id or "") if one.change_id is None else None
        if run is not None:
            made, words = evidence_of_run(run)
        elif one.change_id is not None and one.change_id in changes:
            made, words = evidence_of_change(changes[one.change_id], one.kind)
        else:
            return None
        return None if made.refused else words

    async def _recovered(self, pieces: Sequence[Evidence]) -> Mapping[str, RunFact]:
        if not pieces:
            return {}
        found = await self.log.recovered(
            [one.candidate_id or "" for one in pieces], [one.feedback_id or "" for one in pieces]
        )
        return {fact.candidate_id: fact for fact in found}

    async def _facts(self, events: Sequence[PlacedEvent]) -> _Facts:
        seen = [placed.event for placed in events]
        ids = list(dict.fromkeys(e.change_id for e in seen if e.name in _CHANGES and e.change_id))
        ended = [one for one in seen if one.name == _RUNS and one.candidate_id and one.feedback_id]
        changes = await self.log.changes(ids) if ids else ()
        runs: Sequence[RunFact] = ()
        if ended:
            runs = await self.log.recovered(
                [one.candidate_id or "" for one in ended],
                [one.feedback_id or "" for one in ended],
            )
        return _Facts(changes, runs)

    async def _evidence(self, facts: _Facts) -> Sequence[Evidence]:
        """Return the evidence; what says nearly what other evidence says speaks for its lesson."""
        found = [evidence_of_run(fact)[0] for fact in facts.runs]
        said: dict[tuple[str, EvidenceKind, str], list[tuple[str, str]]] = defaultdict(list)
        for fact in facts.changes:
            kind = kind_of(fact)
            if kind is None:
                continue
            made, words = evidence_of_change(fact, kind)
            if made.refused is None and is_explicit(kind, words):
                group = (made.tenant_id, kind, made.about)
                if group not in said:
                    said[group] += await self._known(made)
                made = _joined(made, words, said[group])
                said[group].append((made.key, words.why))
            found.append(made)
        return found

    async def _known(self, like: Evidence) -> list[tuple[str, str]]:
        """Return the keys of lessons that may say the same, each with a reason given for it."""
        first = await self.log.keys(like, LIKE)
        facts = {f.id: f for f in await self.log.changes([e.change_id or "" for e in first])}
        known = list[tuple[str, str]]()
        for one in first:
            fact = facts.get(one.change_id or "")
            if fact is not None:
                known.append((one.key, evidence_of_change(fact, one.kind)[1].why))
        return known

    async def _tell_refused(self, found: Sequence[Evidence]) -> None:
        for one in found:
            if one.refused is not None:
                event = RunEvent(
                    name="lesson.refused",
                    tenant_id=one.tenant_id,
                    feedback_id=one.feedback_id,
                    change_id=one.change_id,
                    data={"evidence": one.kind.value},
                )
                await self.journal.emit(event)

    async def _tell_outcomes(self, facts: Sequence[ChangeFact]) -> None:
        """Put on record how it went for lessons that the runs behind decisions were shown."""
        judged = {f.candidate_id: f for f in facts if f.candidate_id and f.feedback_id}
        ended = {name: went for name, f in judged.items() if (went := _went_well(f)) is not None}
        if not ended:
            return
        feedback = [judged[name].feedback_id or "" for name in ended]
        by_run: dict[str, list[UsedItem]] = defaultdict(list)
        for one in await self.log.shown([*ended], feedback):
            by_run[one.candidate_id].append(UsedItem(id=one.item_id, version=one.version))
        for name, used in by_run.items():
            outcome = OutcomeReport(
                at=judged[name].at,
                tenant_id=judged[name].tenant_id,
                agent_id=WORKER_AGENT,
                used=tuple(used),
                success=ended[name],
            )
            await self.outcomes.add_outcome(outcome, judged[name].at)


@dataclass(frozen=True)
class _Facts:
    changes: Sequence[ChangeFact]
    runs: Sequence[RunFact]


def is_due(lesson: LessonState, now: datetime) -> bool:
    """Whether a lesson is to be proposed now.

    Not while it waits or stands. Once rejected it is proposed again later, or with new evidence;
    rejected twice, or refused by the gate, with new evidence only.
    """
    if lesson.proposed_at is None:
        return True
    if lesson.status in _OPEN:
        return False
    since = lesson.ended_at or lesson.proposed_at
    if lesson.latest > since:
        return True
    return lesson.refused is None and lesson.setbacks <= _MOST_SETBACKS and now - since >= AGAIN


def _joined(made: Evidence, words: Words, known: Sequence[tuple[str, str]]) -> Evidence:
    """Return evidence under the key of the lesson whose reason says the same, or nearly so."""
    for key, why in known:
        if key == made.key or is_repeated(words.why, why):
            return made.model_copy(update={"key": key})
    return made


def _went_well(fact: ChangeFact) -> bool | None:
    """Return how a decided change speaks of its run; None where no person has said anything."""
    if fact.undoes or fact.status is ChangeStatus.REJECTED:
        return None if fact.status is ChangeStatus.REJECTED and not fact.decided_by else False
    if fact.status is not ChangeStatus.APPLIED or not fact.decided_by:
        return None
    return not fact.is_edited


def _because(lesson: LessonState, pieces: Sequence[tuple[Evidence, Words]]) -> Message:
    ids = ", ".join(one.change_id or f"run {one.candidate_id}" for one, _ in pieces)
    return Message("lesson.because", n=lesson.pieces, ids=ids)
