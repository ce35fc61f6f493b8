"""What becomes of a change by how its cases end: broken, retired, excused, or drifted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import pytest

from core.changes.cases.config import BehaviourRules, CaseRules
from core.changes.cases.judging import CaseGate, Outcome, Tried, is_reason
from core.changes.cases.proposed import asks
from core.changes.cases.wording import all_broken
from core.domain.messages import Message
from core.domain.models import (
    Change,
    Kind,
    MemoryRequest,
    Operation,
    Origin,
    Snapshot,
)
from core.domain.models.cases import (
    MOST_IN_REACH,
    Case,
    CaseBody,
    CaseFilter,
    CaseOrigin,
    CaseResult,
    CaseRole,
    CasesInReach,
    CaseStatus,
    CasesTried,
    Check,
)
from core.domain.ports import Cases
from tests.support.react import item_change

CREATE, UPDATE, DELETE = Operation.CREATE, Operation.UPDATE, Operation.DELETE
MODEL, DERIVED, PERSON = CaseOrigin.MODEL, CaseOrigin.DERIVED, CaseOrigin.PERSON
GREEN, RED, UNPROVED = CaseStatus.GREEN, CaseStatus.RED, CaseStatus.UNPROVED
TEXT, SOON = "Invoices are due in 14 days", "Invoices are due soon"
Ends = tuple[bool | None, bool | None]


def body(check: str, text: str, **given: object) -> CaseBody:
    return CaseBody.model_validate({"check": check, "text": text, **given})


def old(case_id: str, check: str = "unsaid", text: str = "by card", **given: object) -> Case:
    known: dict[str, object] = {
        "id": case_id,
        "tenant_id": "t1",
        "agent_id": "a1",
        "kind": Kind.MEMORY,
        "item_id": "m",
        "body": body(check, text),
        "role": CaseRole.REGRESSION,
        "origin": MODEL,
        "status": GREEN,
        "change_id": "made-before",
    }
    return Case.model_validate(known | given)


@dataclass
class Judge:
    """A gate of cases; `ends` says how each ends, before and after, by its id or what it asks."""

    ends: Mapping[str, Ends] = field(default_factory=dict)
    reach_of: Sequence[Case] = ()
    found: Mapping[str, Sequence[str]] = field(default_factory=dict)
    known: Sequence[Case] = ()
    derived: Sequence[CaseBody] = ()
    rules: CaseRules = field(default_factory=CaseRules)
    sight: tuple[int, ...] = (7,)
    ran: list[list[str]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    @property
    def gate(self) -> CaseGate:
        return CaseGate(
            cast("Cases", self), self, self.rules, derive=lambda _change, _blobs: self.derived
        )

    async def reach(self, change: Change, limit: int) -> CasesInReach:
        assert limit == MOST_IN_REACH
        return CasesInReach(cases=tuple(self.reach_of), seen=self.sight)

    async def seen(self, change: Change) -> tuple[int, ...]:
        return self.sight

    async def page(
        self, wanted: CaseFilter, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[Case], str | None]:
        assert (limit, cursor) == (MOST_IN_REACH, None)
        assert wanted == CaseFilter(tenant_id="t1", kind=wanted.kind, item_id="m")
        return self.known, None

    async def now(self, cases: Sequence[Case]) -> Sequence[CaseResult]:
        self.asked += [case.body.text for case in cases]
        return [self._result(case, True) for case in cases]

    async def before_and_after(
        self, change: Change, blobs: Mapping[str, bytes], cases: Sequence[Case]
    ) -> Sequence[Outcome]:
        assert cases
        self.ran.append([case.body.text for case in cases])
        made = [(self._ends(case), case) for case in cases]
        return [(before, self._result(case, after)) for (before, after), case in made]

    def _ends(self, case: Case) -> Ends:
        return self.ends.get(case.id, self.ends.get(case.body.text, (None, True)))

    def _result(self, case: Case, passed: bool | None) -> CaseResult:
        why = "" if passed else "it is otherwise"
        found = self.found.get(case.id, self.found.get(case.body.text, ()))
        return CaseResult(case=case, passed=passed, why=why, found=tuple(found))

    async def of(self, change: Change, *, asks: bool = True) -> Tried:
        return await self.gate.judge(change, {}, asks=asks)


def change(
    *cases: CaseBody,
    text: str | None = TEXT,
    was: str | None = "Invoices are due soon",
    **given: object,
) -> Change:
    operation = CREATE if was is None else UPDATE
    request = MemoryRequest(operation=operation, target_id="m", content=text or "", cases=cases)
    made = item_change(Kind.MEMORY, "m", "m", text or "")
    update = {
        "operation": operation if text is not None else DELETE,
        "request": request,
        "feedback_id": "f",
        "before": Snapshot(content=was, name="m") if was is not None else None,
        "after": made.after if text is not None else None,
    }
    return made.model_copy(update=update | given)


def ids(results: Sequence[CaseResult]) -> list[str]:
    return [one.case.id for one in results]


async def test_a_case_that_failed_before_and_holds_after_proves_a_change() -> None:
    asked = body("recall", "when must customers pay")
    for ends, role, status, note, unrun in (
        ((False, True), CaseRole.PROOF, GREEN, "", ""),
        ((True, True), CaseRole.REGRESSION, GREEN, "", ""),
        ((None, True), CaseRole.REGRESSION, GREEN, "", ""),
        ((False, False), CaseRole.REGRESSION, RED, "it is otherwise", ""),
        ((False, None), CaseRole.REGRESSION, UNPROVED, "", "it is otherwise"),
    ):
        tried = await Judge({asked.text: ends}).of(change(asked))
        (own,) = tried.change.cases
        assert (own.role, own.status, own.note, own.unrun_why) == (role, status, note, unrun)
        # A question that finds nothing proves nothing, and tells against nothing.
        assert (tried.broken, tried.change.breaks) == ((), ())
        assert tried.change.tried is not None
        assert (own.id in tried.change.tried.excused) is (status is RED)
    # Nor does one in the words of what it is to find.
    words = body("recall", TEXT)
    tried = await Judge({words.text: (False, True)}).of(change(words))
    assert tried.change.cases[0].role is CaseRole.REGRESSION


async def test_its_own_case_that_fails_is_broken_and_named_by_what_it_asks() -> None:
    asked = body("unsaid", "14 days")
    tried = await Judge({asked.text: (True, False)}).of(change(asked))
    assert [one.case.body for one in tried.broken] == [asked]
    assert tried.tokens == (asks(asked),)
    assert tried.change.breaks == (tried.change.cases[0].id,)
    assert len(tried.reasons) == 1
    assert is_reason(tried.reasons[0])
    assert not is_reason("case.of words")
    assert not is_reason(Message("policy.lesson"))


async def test_what_code_derived_and_does_not_hold_is_left_out() -> None:
    guess, holds = body("unsaid", "30 days"), body("unsaid", "by card")
    judge = Judge({guess.text: (True, False), holds.text: (False, True)}, derived=(guess, holds))
    tried = await judge.of(change())
    assert [one.body for one in tried.change.cases] == [holds]
    assert (tried.broken, tried.change.cases[0].role) == ((), CaseRole.PROOF)
    assert tried.change.tried is not None
    assert len(tried.change.tried.excused) == 1


@pytest.mark.parametrize(
    ("case", "ends", "found", "came_to"),
    [
        # (before, after): what failed before is not its doing.
        (old("c"), (True, False), (), "broken"),
        (old("c"), (False, False), (), "excused"),
        (old("c"), (None, False), (), "excused"),
        (old("c"), (True, True), (), ""),
        (old("c"), (True, None), (), ""),
        # A question of another item breaks if this one comes up in its place.
        (old("c", "recall", "who pays", item_id="n"), (True, False), ("m",), "broken"),
        (old("c", "recall", "who pays", item_id="n"), (True, False), ("x",), "drifted"),
        (old("c", "recall", "who pays", item_id="n"), (False, False), ("m",), "excused"),
        # One that code derived does not tell the two apart, if this one has all its words.
        (old("c", "recall", "days", item_id="n", origin=DERIVED), (True, False), ("m",), "drifted"),
        (
            old("c", "recall", "days harbour", item_id="n", origin=DERIVED),
            (True, False),
            ("m",),
            "broken",
        ),
        # Its own derived question breaks if its words are taken from it.
        (old("c", "recall", "soon", origin=DERIVED), (True, False), (), "broken"),
        (old("c", "recall", "Invoices", origin=DERIVED), (True, False), (), "drifted"),
        (old("c", "recall", "soon"), (True, False), (), "broken"),
        # Another kind of item of that id is another item.
        (old("c", "recall", "soon", kind=Kind.DMN_RULE), (True, False), (), "drifted"),
        # What another memory was told not to say is not said here, unless it was said before.
        (old("c", "unsaid", "14 days", item_id="n"), (None, True), (), "broken"),
        (old("c", "unsaid", "14 days", item_id="n", origin=DERIVED), (None, True), (), ""),
        (old("c", "unsaid", "14 days"), (None, True), (), ""),
        (old("c", "unsaid", "Invoices", item_id="n"), (None, True), (), ""),
        (old("c", "unsaid", "by card", item_id="n"), (None, True), (), ""),
        (old("c", "stands", "14 days", item_id="n"), (None, True), (), ""),
    ],
)
async def test_an_older_case_is_broken_excused_or_drifts(
    case: Case, ends: Ends, found: tuple[str, ...], came_to: str
) -> None:
    judge = Judge({"c": ends}, (case,), {"c": found})
    tried = await judge.of(change())
    made = tried.change.tried
    assert made is not None
    assert (ids(tried.broken), tried.change.breaks, tried.tokens) == (
        (["c"], ("c",), ("c",)) if came_to == "broken" else ([], (), ())
    )
    assert all(one.passed is False and one.why for one in (*tried.broken, *made.drifted))
    assert made.excused == (frozenset("c") if came_to in {"excused", "drifted"} else frozenset())
    assert ids(made.drifted) == (["c"] if came_to == "drifted" else [])
    assert (made.seen, tried.change.retires, tried.is_unproved) == ((7,), (), False)


async def test_an_item_made_anew_takes_all_words_of_its_derived_questions() -> None:
    asked = old("c", "recall", "Invoices", origin=DERIVED)
    tried = await Judge({"c": (True, False)}, (asked,)).of(change(was=None))
    assert ids(tried.broken) == ["c"]


async def test_a_case_that_is_corrected_is_retired_and_not_broken() -> None:
    asked = body("recall", "by card")
    said = old("c", "silence", "by card")
    judge = Judge({"c": (True, False), asked.text: (False, True)}, (said, old("d")))
    judge.ends = {**judge.ends, "d": (True, False)}
    tried = await judge.of(change(asked))
    assert (tried.change.retires, ids(tried.broken)) == (("c",), ["d"])


async def test_a_late_deletion_takes_the_cases_of_what_it_deletes_along() -> None:
    asked = MemoryRequest(operation=DELETE, target_id="m")
    own, other = old("c", "recall", "soon"), old("d", item_id="n")
    judge = Judge({"c": (True, False), "d": (True, False)}, (own, other))
    tried = await judge.of(change(request=asked))
    assert (tried.change.retires, ids(tried.broken)) == (("c",), ["d"])


async def test_of_many_broken_cases_ten_are_told_and_how_many_more() -> None:
    cases = [old(f"c{n}") for n in range(12)]
    tried = await Judge({case.id: (True, False) for case in cases}, cases).of(change())
    assert len(tried.broken) == 12
    assert len(tried.reasons) == 11
    assert (tried.reasons[-1].code, dict(tried.reasons[-1].parameters)) == ("case.more", {"n": 2})
    assert str(Message("case.more", n=2)) in all_broken(tried.broken)
    ten = Judge({case.id: (True, False) for case in cases[:10]}, cases[:10])
    assert len((await ten.of(change())).reasons) == 10


UNPROVED_HELD = CaseRules(unproved="hold")


@pytest.mark.parametrize(
    ("rules", "ends", "given", "held"),
    [
        (UNPROVED_HELD, (True, True), {}, True),
        (UNPROVED_HELD, (False, True), {}, False),
        (UNPROVED_HELD, None, {}, True),
        (CaseRules(), (True, True), {}, False),
        (UNPROVED_HELD, None, {"text": None, "feedback_content": ""}, False),
    ],
)
async def test_a_change_that_no_case_proves_may_wait(
    rules: CaseRules, ends: Ends | None, given: Mapping[str, object], held: bool
) -> None:
    asked = [body("recall", "when must customers pay")] if ends else []
    judge = Judge({"when must customers pay": ends} if ends else {}, rules=rules)
    tried = await judge.of(change(*asked, **given))  # type: ignore[arg-type]
    assert tried.is_unproved is held
    assert [why.code for why in tried.reasons] == (["case.unproved_held"] if held else [])


async def test_where_there_is_no_case_nothing_is_run() -> None:
    judge = Judge()
    tried = await judge.of(change(cases=(old("x"),), breaks=("x",), retires=("x",)))
    assert judge.ran == []
    assert tried.change.tried == CasesTried(seen=(7,))
    assert (tried.change.cases, tried.change.breaks, tried.change.retires) == ((), (), ())


ASKED = body("unsaid", "14 days")


@pytest.mark.parametrize(
    ("given", "rules", "judges", "has_cases"),
    [
        ({}, CaseRules(), True, True),
        ({}, CaseRules(gate="off"), False, True),
        ({"kind": Kind.AGENT_SKILLS}, CaseRules(), False, False),
        ({"reverts": "c"}, CaseRules(), False, False),
        ({"retracts": ("c",)}, CaseRules(), False, False),
        ({"text": None}, CaseRules(), True, False),
        # Of a thousand memories that are brought in none is slowed.
        ({"origin": Origin.IMPORT, "was": None}, CaseRules(), False, True),
        ({"origin": Origin.IMPORT}, CaseRules(), True, True),
        ({"was": None}, CaseRules(), True, True),
    ],
)
async def test_not_every_change_is_judged_by_cases(
    given: Mapping[str, object], rules: CaseRules, judges: bool, has_cases: bool
) -> None:
    asked = change(ASKED, **given)  # type: ignore[arg-type]
    judge = Judge({ASKED.text: (True, False)}, rules=rules)
    assert judge.gate.judges(asked) is judges
    tried = await judge.of(asked)
    assert bool(tried.change.cases) is has_cases
    assert bool(tried.broken) is (judges and has_cases)
    assert (tried.change.tried is not None) is judges
    assert [*await judge.gate.broken_since(asked, {})] == ([*tried.broken] if judges else [])


async def test_what_is_brought_in_gets_no_derived_cases_at_once() -> None:
    judge = Judge(derived=(body("unsaid", "by card"),))
    assert len((await judge.of(change())).change.cases) == 1
    assert (await judge.of(change(origin=Origin.IMPORT))).change.cases == ()


BEHAVES = CaseBody(check=Check.BEHAVIOUR, text="a task", must=("/x/",))


async def test_a_model_is_asked_as_a_change_is_prepared_and_not_again() -> None:
    rules = CaseRules(behaviour=BehaviourRules(runs=1))
    judge = Judge({"a task": (True, False)}, rules=rules)
    tried = await judge.of(change(BEHAVES, ASKED))
    assert judge.ran == [["a task", "14 days"]]
    assert len(tried.broken) == 1
    judge.ran.clear()
    again = await judge.of(tried.change, asks=False)
    assert judge.ran == [["14 days"]]
    # What it was on record to break stays broken where it cannot be run.
    assert again.change.breaks == tried.change.breaks
    assert again.broken[0].why.code == "case.failed_before"  # type: ignore[attr-defined]
    # What holds by now is broken no more.
    judge.ends = {"a task": (True, True)}
    assert (await judge.of(tried.change)).broken == ()
    bare = await judge.of(change(BEHAVES), asks=False)
    assert bare.broken == ()
    assert bare.change.cases[0].unrun_why.code == "case.needs_model"  # type: ignore[attr-defined]


async def test_a_change_is_judged_once_more_if_anything_was_recorded_since() -> None:
    judge = Judge({"c": (True, False), "d": (True, False)}, (old("c"), old("d")))
    tried = await judge.of(change())
    judge.ran.clear()
    assert await judge.gate.broken_since(tried.change, {}) == ()
    assert judge.ran == []
    judge.sight = (8,)
    approved = tried.change.model_copy(update={"retires": ("d",)})
    assert ids(await judge.gate.broken_since(approved, {})) == ["c"]
    unjudged = tried.change.model_copy(update={"tried": None})
    judge.sight = (7,)
    assert ids(await judge.gate.broken_since(unjudged, {})) == ["c", "d"]


@pytest.mark.parametrize(
    ("said", "known", "found", "other"),
    [
        ("forget the harbour office", (old("c"),), ("n",), "n"),
        ("forget the harbour office", (old("c"),), ("m", "n"), ""),
        ("forget the harbour office", (old("c"),), (), ""),
        ("  ", (old("c"),), ("n",), ""),
        # Only what somebody has stated speaks for an item, as long as it is asked.
        ("forget it", (old("c", origin=DERIVED),), ("n",), ""),
        ("forget it", (old("c", status=CaseStatus.DISABLED),), ("n",), ""),
        ("forget it", (), ("n",), ""),
        ("forget it", (old("c", origin=DERIVED), old("d", origin=PERSON)), ("n",), "n"),
    ],
)
async def test_a_deletion_that_fits_another_item_better_is_told(
    said: str, known: Sequence[Case], found: Sequence[str], other: str
) -> None:
    judge = Judge(known=known, found={said: found})
    gone = change(text=None, feedback_content=said, candidate_content="")
    tried = await judge.of(gone)
    stated = [one.id for one in known if one.origin is not DERIVED]
    assert ids(tried.broken) == (stated if other else [])
    assert tried.change.breaks == tuple(ids(tried.broken))
    for one in tried.broken:
        assert (one.why.code, dict(one.why.parameters)) == ("case.other_meant", {"other": other})  # type: ignore[attr-defined]
    # So is one that comes late, of which later words leave a part.
    asked = MemoryRequest(operation=DELETE, target_id="m")
    late = change(feedback_content=said, candidate_content="", request=asked)
    assert ids((await judge.of(late)).broken) == ids(tried.broken)
    # What a candidate says counts before the whole of the feedback.
    narrowed = gone.model_copy(update={"candidate_content": "the words of it"})
    judge.asked.clear()
    await judge.of(narrowed)
    is_stated = any(one.origin is not DERIVED and one.is_on for one in known)
    assert judge.asked == (["the words of it"] if is_stated else [])
    assert (await judge.of(change(feedback_content=said))).broken == ()


@pytest.mark.parametrize(
    ("kind", "name", "said", "found", "is_told"),
    [
        (Kind.SKILL, "pay", "delete the skill pay", ("ship",), False),
        (Kind.SKILL, "pay", "delete how we bill", ("ship",), True),
        (Kind.SKILL, "pay", "delete how we bill", ("ship", "m"), False),
        (Kind.SKILL, "pay", "delete the skill ship", ("ship", "m"), True),
        (Kind.DMN_RULE, "approval", "delete the table approval", ("other",), False),
        (Kind.DMN_RULE, "approval", "delete those rows", ("other", "m"), True),
    ],
)
async def test_a_table_or_skill_that_is_named_is_meant(
    kind: Kind, name: str, said: str, found: Sequence[str], is_told: bool
) -> None:
    judge = Judge(known=(old("c", kind=kind),), found={said: found})
    gone = change(text=None, kind=kind, target_name=name, feedback_content=said, request=None)
    assert bool((await judge.of(gone)).broken) is is_told
