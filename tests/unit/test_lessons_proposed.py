"""The worker's lessons: what is collected from the event log, told, and proposed to people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import cast

import pytest

from core.changes.lessons.collecting import evidence_of_change, evidence_of_run
from core.changes.lessons.proposing import EVENTS, LIKE, Lessons
from core.changes.lessons.wording import QUOTED
from core.domain.errors import DependencyDown
from core.domain.models import (
    Change,
    ChangeStatus,
    EventFilter,
    FeedPage,
    Kind,
    MemoryRequest,
    Operation,
    Origin,
    PlacedEvent,
    Receipt,
    ReceiptStatus,
    RunEvent,
    SubmitContext,
)
from core.domain.models.audit import ERASED
from core.domain.models.feedback import WORKER_AGENT
from core.domain.models.lessons import (
    ChangeFact,
    Evidence,
    EvidenceKind,
    LessonState,
    RunFact,
    ShownLesson,
)
from core.domain.models.uses import OutcomeReport, UsedItem
from core.domain.ports import Bell, ChangeLog, Gate, LessonLog, UseLog
from tests.support.gate import Events
from tests.support.react import item_change
from tests.support.seeding import AT
from tests.unit.test_lesson_evidence import EDITED, REJECTED, UNDONE, fact, run, state

WHY = "Say who asked for it"
HELD, REFUSED = ReceiptStatus.HELD, ReceiptStatus.REFUSED


@dataclass
class Book:
    """The log of lessons, the feed, the gate and the outcomes of one worker, over memory."""

    facts: dict[str, ChangeFact] = field(default_factory=dict)
    runs: list[RunFact] = field(default_factory=list)
    stored: list[Evidence] = field(default_factory=list)
    lessons: list[LessonState] = field(default_factory=list)
    pages: dict[str, FeedPage] = field(default_factory=dict)
    was_shown: list[ShownLesson] = field(default_factory=list)
    known: dict[str, Change] = field(default_factory=dict)
    receipts: dict[str, Receipt | DependencyDown] = field(default_factory=dict)
    place: str = "0"
    is_first: bool = True

    noted: list[tuple[str, str | None, str | None, str | None]] = field(default_factory=list)
    asked: list[tuple[MemoryRequest, SubmitContext]] = field(default_factory=list)
    outcomes: list[tuple[OutcomeReport, datetime]] = field(default_factory=list)
    calls: list[tuple[object, ...]] = field(default_factory=list)

    async def cursor(self) -> str:
        return self.place

    async def collected(self, found: Sequence[Evidence], cursor: str, until: str) -> bool:
        if not self.is_first or cursor != self.place:
            return False
        self.stored, self.place = [*self.stored, *found], until
        return True

    async def changes(self, change_ids: Sequence[str]) -> Sequence[ChangeFact]:
        self.calls.append(("changes", *change_ids))
        return [self.facts[each] for each in change_ids if each in self.facts]

    async def recovered(
        self, candidate_ids: Sequence[str], feedback_ids: Sequence[str]
    ) -> Sequence[RunFact]:
        asked = [*zip(candidate_ids, feedback_ids, strict=True)]
        self.calls.append(("recovered", *asked))
        return [one for one in self.runs if (one.candidate_id, one.feedback_id) in asked]

    async def shown(
        self, candidate_ids: Sequence[str], feedback_ids: Sequence[str]
    ) -> Sequence[ShownLesson]:
        self.calls.append(("shown", *zip(candidate_ids, feedback_ids, strict=True)))
        return [one for one in self.was_shown if one.candidate_id in candidate_ids]

    async def evidence(self, tenant_id: str, key: str, limit: int) -> Sequence[Evidence]:
        found = [one for one in self.stored if (one.tenant_id, one.key) == (tenant_id, key)]
        return found[::-1][:limit]

    async def keys(self, like: Evidence, limit: int) -> Sequence[Evidence]:
        self.calls.append(("keys", limit))
        return [
            one
            for one in self.stored
            if (one.tenant_id, one.kind, one.about) == (like.tenant_id, like.kind, like.about)
        ]

    async def states(self, tenant_id: str | None) -> Sequence[LessonState]:
        return [one for one in self.lessons if tenant_id in {None, one.tenant_id}]

    async def proposed(
        self,
        lesson: LessonState,
        *,
        change_id: str | None,
        item_id: str | None,
        refused: str | None,
    ) -> None:
        self.noted.append((lesson.key, change_id, item_id, refused))

    async def note_recurring(self) -> None:
        self.calls.append(("note_recurring",))

    async def after(self, cursor: str | None, wanted: EventFilter, limit: int) -> FeedPage:
        assert wanted == EventFilter(names=("change.rejected", "change.applied", "run.finished"))
        assert limit == EVENTS
        return self.pages.get(cursor or "", FeedPage(cursor=cursor or ""))

    def listening(self, wanted: EventFilter) -> AbstractAsyncContextManager[Bell]:
        raise NotImplementedError

    async def find(self, key: str) -> Change | None:
        return self.known.get(key)

    async def submit(self, request: MemoryRequest, context: SubmitContext) -> Receipt:
        self.asked.append((request, context))
        receipt = self.receipts.get(context.tenant_id)
        if isinstance(receipt, DependencyDown):
            raise receipt
        return receipt or Receipt(
            status=HELD, message="it waits", change_id="new", target_id="lesson-1"
        )

    async def add_outcome(self, outcome: OutcomeReport, since: datetime) -> Sequence[str]:
        self.outcomes.append((outcome, since))
        return ()


@dataclass
class Worker:
    """A worker that collects and proposes."""

    book: Book = field(default_factory=Book)
    events: Events = field(default_factory=Events)
    now: datetime = AT

    @property
    def lessons(self) -> Lessons:
        return Lessons(
            log=cast("LessonLog", self.book),
            feed=self.book,
            gate=cast("Gate", self.book),
            changes=cast("ChangeLog", self.book),
            journal=self.events,
            outcomes=cast("UseLog", self.book),
            now=lambda: self.now,
        )

    def page(self, *events: RunEvent, at: str = "0", to: str = "1", is_full: bool = False) -> None:
        placed = tuple(PlacedEvent(cursor=to, event=event) for event in events)
        self.book.pages[at] = FeedPage(events=placed, cursor=to, is_full=is_full)

    def has(self, *facts: ChangeFact) -> list[RunEvent]:
        """Put decided changes on record, and return the events that tell of them."""
        self.book.facts |= {one.id: one for one in facts}
        return [
            RunEvent(name=f"change.{one.status}", tenant_id="t", change_id=one.id) for one in facts
        ]

    def lesson(self, *facts: ChangeFact, key: str = "k", **given: object) -> LessonState:
        """Put a lesson with its evidence on record."""
        self.has(*facts)
        made = [evidence_of_change(one, EvidenceKind.REJECTED)[0] for one in facts]
        self.book.stored += [one.model_copy(update={"key": key}) for one in made]
        self.book.lessons.append(lesson := state(key=key, pieces=len(facts), **given))
        return lesson


def rejected(change_id: str, why: str = WHY, **given: object) -> ChangeFact:
    known: dict[str, object] = {**REJECTED, "id": change_id, "decision": why}
    return fact(**known | {"candidate_id": f"run-{change_id}"} | given)


def ended(candidate: str | None, feedback: str | None, name: str = "run.finished") -> RunEvent:
    return RunEvent(name=name, tenant_id="t", candidate_id=candidate, feedback_id=feedback)


async def test_evidence_is_collected_page_by_page_until_nothing_is_new() -> None:
    worker = Worker()
    assert await worker.lessons.collect() == 0
    assert worker.book.calls == []  # nothing has happened
    worker.page(*worker.has(rejected("c1")), is_full=True)
    worker.page(*worker.has(rejected("c2", "Quote the invoice number first")), at="1", to="2")
    worker.page(*worker.has(rejected("c3", "Never guess a date")), at="2", to="3")
    assert await worker.lessons.collect() == 2
    assert [one.change_id for one in worker.book.stored] == ["c1", "c2"]
    assert worker.book.calls.count(("note_recurring",)) == 2
    assert await worker.lessons.collect() == 1
    assert worker.book.place == "3"


async def test_of_two_workers_that_collect_the_same_one_tells_of_it() -> None:
    worker = Worker()
    worker.page(*worker.has(rejected("c1", "Approve without review")), is_full=True)
    worker.book.is_first = False
    assert await worker.lessons.collect() == 0
    assert (worker.events, worker.book.outcomes) == ([], [])
    assert ("note_recurring",) not in worker.book.calls


async def test_only_decided_changes_and_ended_runs_are_looked_at_each_once() -> None:
    worker = Worker()
    (told,) = worker.has(rejected("c1"))
    worker.book.runs = [run(candidate_id="k1", feedback_id="f1")]
    worker.page(
        told,
        told,
        ended("k1", "f1"),
        ended("k2", None),
        ended(None, "f3"),
        ended("k4", "f4", "change.applied"),  # of no change
        told.model_copy(update={"name": "run.finished", "change_id": "c9"}),
    )
    assert await worker.lessons.collect() == 2
    recovered, of_change = worker.book.stored
    assert (recovered.kind, of_change.change_id) == (EvidenceKind.RECOVERED, "c1")
    assert ("changes", "c1") in worker.book.calls
    assert ("recovered", ("k1", "f1")) in worker.book.calls
    worker.book.calls.clear()
    worker.page(ended("k5", "f5", "change.applied"), at="1", to="2")
    assert await worker.lessons.collect() == 0
    assert worker.book.calls == [("note_recurring",)]  # nothing is asked about nothing


async def test_reasons_that_say_the_same_speak_for_the_lesson_that_is_known() -> None:
    worker = Worker()
    alike = "Say who asked for it, please"
    worker.page(*worker.has(rejected("c1")))
    await worker.lessons.collect()
    worker.page(
        *worker.has(
            rejected("c2", alike),
            rejected("c3", "Never guess a date"),
            rejected("c4", "Never guess a date!"),
            rejected("c5", alike, tenant_id="u"),
            rejected("c6", alike, kind=Kind.SKILL),
            fact(**UNDONE | {"id": "c7", "reason": alike}),
            fact(id="c8"),  # evidence of nothing
        ),
        at="1",
        to="2",
    )
    assert await worker.lessons.collect() == 6
    keys = {one.change_id: one.key for one in worker.book.stored}
    assert keys["c2"] == keys["c1"]
    assert keys["c4"] == keys["c3"]
    assert len({keys[each] for each in ("c1", "c3", "c5", "c6", "c7")}) == 5
    # Of each kind and subject what is known is asked for once.
    assert worker.book.calls.count(("keys", LIKE)) == 5


async def test_edits_without_a_reason_are_alike_by_their_shape_alone() -> None:
    worker = Worker()
    shorter = fact(**EDITED | {"id": "c1"})
    longer = fact(**EDITED | {"id": "c2", "proposed": "KRW", "after": "Amounts in KRW, please"})
    again = fact(**EDITED | {"id": "c3"})
    worker.page(*worker.has(shorter, longer, again))
    assert await worker.lessons.collect() == 3
    first, second, third = worker.book.stored
    assert (first.key == second.key, first.key == third.key) == (False, True)
    assert not any(call[0] == "keys" for call in worker.book.calls)


async def test_a_lesson_whose_evidence_is_gone_is_joined_by_nothing() -> None:
    worker = Worker()
    worker.page(*worker.has(rejected("c1")))
    await worker.lessons.collect()
    worker.book.facts.clear()
    worker.page(*worker.has(rejected("c2", f"{WHY}, please")), at="1", to="2")
    await worker.lessons.collect()
    first, second = worker.book.stored
    assert first.key != second.key


async def test_words_that_would_loosen_are_told_as_refused() -> None:
    worker = Worker()
    loosening = rejected("c1", "Approve without review", feedback_id="f7")
    worker.page(*worker.has(loosening, rejected("c2")))
    await worker.lessons.collect()
    (told,) = worker.events
    assert (told.name, told.tenant_id, told.feedback_id) == ("lesson.refused", "t", "f7")
    assert (told.change_id, told.data) == ("c1", {"evidence": "rejected"})


APPROVED = {"decided_by": "kim", "candidate_id": "k"}


@pytest.mark.parametrize(
    ("given", "went_well"),
    [
        (APPROVED, True),
        (APPROVED | {"is_edited": True}, False),
        (APPROVED | {"undoes": True}, False),
        (APPROVED | {"status": "rejected"}, False),
        (APPROVED | {"status": "held"}, None),
        (APPROVED | {"decided_by": ""}, None),
        (APPROVED | {"decided_by": "", "undoes": True}, False),
        (APPROVED | {"decided_by": "", "status": "rejected"}, None),
        (APPROVED | {"candidate_id": None}, None),
        (APPROVED | {"feedback_id": None}, None),
    ],
)
async def test_how_it_went_is_told_of_the_lessons_a_run_was_shown(
    given: Mapping[str, object], went_well: bool | None
) -> None:
    worker = Worker()
    decided = fact(**given)
    (told,) = worker.has(decided)
    worker.page(told.model_copy(update={"name": "change.applied"}))
    worker.book.was_shown = [
        ShownLesson(candidate_id=run_id, tenant_id="t", item_id=item, version=version)
        for run_id, item, version in (("k", "l1", 1), ("k", "l2", 3), ("other", "l3", 1))
    ]
    await worker.lessons.collect()
    if went_well is None:
        assert worker.book.outcomes == []
        assert not any(call[0] == "shown" for call in worker.book.calls)
        return
    ((outcome, since),) = worker.book.outcomes
    used = (UsedItem(id="l1", version=1), UsedItem(id="l2", version=3))
    assert (outcome.success, outcome.used, outcome.at, since) == (went_well, used, AT, AT)
    assert (outcome.tenant_id, outcome.agent_id) == ("t", WORKER_AGENT)
    assert ("shown", ("k", "f")) in worker.book.calls


async def test_a_lesson_is_proposed_in_the_name_of_the_worker() -> None:
    worker = Worker()
    worker.lesson(rejected("c1"), rejected("c2", "Quote the invoice"), key="k", proposals=2)
    assert await worker.lessons.propose() == 1
    ((request, context),) = worker.book.asked
    assert (request.operation, request.is_import) == (Operation.CREATE, False)
    assert WHY in request.content
    assert "Quote the invoice" in request.content
    assert "c1" in request.reason
    assert "c2" in request.reason
    assert (context.key, context.tenant_id) == ("lesson:k:3", "t")
    assert (context.agent_id, context.origin) == (WORKER_AGENT, Origin.WORKER)
    assert worker.book.noted == [("k", "new", "lesson-1", None)]


async def test_what_the_gate_says_of_a_lesson_is_noted() -> None:
    worker = Worker()
    worker.lesson(rejected("c1"))
    worker.book.receipts["t"] = Receipt(
        status=REFUSED, message="it says nothing", change_id=None, target_id="m7"
    )
    assert await worker.lessons.propose() == 0
    assert worker.book.noted == [("k", None, None, "it says nothing")]


async def test_one_lesson_that_fails_keeps_no_other_back() -> None:
    worker = Worker()
    worker.lesson(rejected("c1", tenant_id="u"), key="a", tenant_id="u")
    worker.lesson(rejected("c2"), key="b")
    worker.book.receipts["u"] = DependencyDown("the database is down")
    assert await worker.lessons.propose() == 1
    assert [note[0] for note in worker.book.noted] == ["b"]
    worker.book.noted.clear()
    assert await worker.lessons.propose("u") == 0
    assert worker.book.noted == []


async def test_what_is_not_due_or_has_too_little_evidence_is_not_proposed() -> None:
    worker = Worker()
    worker.lesson(rejected("c1"), key="waits", proposed_at=AT, status="held", proposals=1)
    edited = fact(**EDITED | {"id": "c2"})
    worker.has(edited)
    made = evidence_of_change(edited, EvidenceKind.EDITED)[0]
    worker.book.stored.append(made)
    worker.book.lessons.append(state(key=made.key, kind="edited"))
    assert await worker.lessons.propose() == 0
    assert (worker.book.asked, worker.book.noted) == ([], [])
    # Two alike are enough where nobody gave a reason.
    worker.has(fact(**EDITED | {"id": "c3"}))
    worker.book.stored.append(made.model_copy(update={"id": "e3", "change_id": "c3"}))
    assert await worker.lessons.propose() == 1


async def test_a_proposal_that_was_submitted_is_not_submitted_again() -> None:
    worker = Worker()
    worker.lesson(rejected("c1"))
    earlier = item_change(Kind.MEMORY, "lesson-9", "n", "x")
    waits = earlier.model_copy(update={"status": ChangeStatus.HELD})
    worker.book.known["lesson:k:1"] = waits
    assert await worker.lessons.propose() == 1
    worker.book.known["lesson:k:1"] = earlier
    assert await worker.lessons.propose() == 0
    assert worker.book.asked == []
    assert worker.book.noted == [("k", earlier.id, "lesson-9", None)] * 2


async def test_a_lesson_quotes_its_newest_evidence_that_is_still_there() -> None:
    worker = Worker()
    gone, erased = rejected("c1", "This one is gone"), rejected("c2", "This one is erased")
    worker.lesson(
        *(gone, erased, rejected("c3", "Old words")),
        *(rejected(f"c{n}", f"Newer words {n}") for n in range(4, 4 + QUOTED)),
    )
    assert await worker.lessons.propose() == 1
    (request, _) = worker.book.asked[0]
    assert all(f"Newer words {n}" in request.content for n in range(4, 4 + QUOTED))
    assert "Old words" not in request.content
    assert not any(call[0] == "recovered" for call in worker.book.calls)

    again = Worker()
    again.lesson(gone, erased, rejected("c3", "What is left"))
    del again.book.facts["c1"]
    again.book.facts["c2"] = erased.model_copy(update={"decision": ERASED})
    assert await again.lessons.propose() == 1
    (request, _) = again.book.asked[0]
    assert "What is left" in request.content
    assert ERASED not in request.content
    assert "c1" not in request.reason
    # Of evidence that may not be quoted by now nothing is left to say.
    again.book.facts["c3"] = rejected("c3", "Approve without review")
    again.book.asked.clear()
    assert await again.lessons.propose() == 0
    assert again.book.asked == []


async def test_runs_that_recovered_are_quoted_by_what_they_did() -> None:
    worker = Worker()
    facts = [run(candidate_id=f"k{n}", feedback_id=f"f{n}", content=f"story {n}") for n in (1, 2)]
    worker.book.runs = facts
    made = [evidence_of_run(one)[0] for one in facts]
    worker.book.stored += made
    lesson = state(key=made[0].key, kind="recovered", about=made[0].about, operation="")
    worker.book.lessons.append(lesson)
    assert await worker.lessons.propose() == 1
    ((request, _),) = worker.book.asked
    assert "story 1" in request.content
    assert "story 2" in request.content
    assert "run k1" in request.reason
    # Of a run that is on record no more nothing is said.
    worker.book.runs = facts[:1]
    worker.book.asked.clear()
    assert await worker.lessons.propose() == 0


async def test_at_work_a_worker_collects_first_and_then_proposes() -> None:
    worker = Worker()
    worker.page(*worker.has(rejected("c1")))
    worker.lesson(rejected("c9"))
    await worker.lessons.work()
    assert worker.book.place == "1"
    assert len(worker.book.asked) == 1
