"""Which cases a change breaks, which come with it, and which older ones give way to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from core.changes.cases.behaviour import takes_model
from core.changes.cases.claiming import BRINGING, claimed, takes_over
from core.changes.cases.config import DEFAULT, HOLD, OFF, CaseRules
from core.changes.cases.proposed import MOST_CHARS, asks, can_prove, own_cases
from core.changes.cases.retiring import Corrections
from core.changes.cases.running import says
from core.changes.cases.wording import MOST_TOLD, broken_words
from core.changes.cases.words import asked_words, said_words
from core.domain.messages import Message
from core.domain.models import Change, Kind, Operation, Origin
from core.domain.models.cases import (
    MOST_IN_REACH,
    Case,
    CaseBody,
    CaseFilter,
    CaseOrigin,
    CaseResult,
    CaseRole,
    CasesTried,
    Check,
)
from core.domain.ports import CaseRunner, Cases
from core.knowledge.context.selection import is_named
from core.knowledge.search.tokens import term_counts

Derive = Callable[[Change, Mapping[str, bytes]], Sequence[CaseBody]]
Outcome = tuple[bool | None, CaseResult]


def derive_nothing(_change: Change, _blobs: Mapping[str, bytes]) -> Sequence[CaseBody]:
    """Derive no case."""
    return ()


@dataclass(frozen=True)
class Tried:
    """A change with its cases; `broken` are those that would fail by it, its own among them."""

    change: Change
    broken: tuple[CaseResult, ...] = ()
    is_unproved: bool = False

    @property
    def tokens(self) -> tuple[str, ...]:
        """What names the broken cases: their ids, of those that come with it what they ask."""
        own = {case.id for case in self.change.cases}
        cases = [result.case for result in self.broken]
        return tuple(asks(case.body) if case.id in own else case.id for case in cases)

    @property
    def reasons(self) -> tuple[Message, ...]:
        """Why it waits for a person because of its cases."""
        told = [broken_words(result) for result in self.broken[:MOST_TOLD]]
        if len(self.broken) > MOST_TOLD:
            told.append(Message("case.more", n=len(self.broken) - MOST_TOLD))
        return (*told, Message("case.unproved_held")) if self.is_unproved else tuple(told)


def is_reason(text: str) -> bool:
    """Whether a change waits for this reason because of its cases."""
    return isinstance(text, Message) and text.code.startswith("case.")


@dataclass(frozen=True)
class CaseGate:
    """Runs the cases of a change, and the older ones in its reach, on the state that would be."""

    cases: Cases
    runner: CaseRunner
    rules: CaseRules = DEFAULT
    derive: Derive = derive_nothing

    async def judge(
        self, change: Change, blobs: Mapping[str, bytes], *, asks: bool = True
    ) -> Tried:
        """Return a change with its cases, and what it breaks. Writes nothing.

        Those that take a model are run where it `asks` one, as it is prepared. What the change is
        on record to break stays broken where it cannot be run.
        """
        bare = change.model_copy(update={"cases": (), "retires": (), "breaks": (), "tried": None})
        own = self._own(change, blobs)
        if not self.judges(change):
            return Tried(bare.model_copy(update={"cases": own}))
        found = await self.cases.reach(change, MOST_IN_REACH)
        if ended := await self._ended_by_mistake(change):
            made = {"breaks": tuple(one.case.id for one in ended)}
            return Tried(bare.model_copy(update=made), tuple(ended))
        if not own and not found.cases:
            return self._untried(bare, found.seen)
        wanted = [*own, *found.cases]
        outcomes = await self._outcomes(change, blobs, wanted, asks=asks)
        return self._judged(bare, outcomes[: len(own)], outcomes[len(own) :], found.seen)

    def judges(self, change: Change) -> bool:
        """Whether cases decide about a change; what is taken back is taken back."""
        is_asked = self.rules.gate != OFF and change.kind is not Kind.AGENT_SKILLS
        return is_asked and not change.undoes and not _adds_line(change)

    async def broken_since(
        self, change: Change, blobs: Mapping[str, bytes]
    ) -> Sequence[CaseResult]:
        """Return what a change breaks by what was recorded since it was judged."""
        if not self.judges(change):
            return ()
        if change.tried is not None and await self.cases.seen(change) == change.tried.seen:
            return ()
        tried = await self.judge(change, blobs, asks=False)
        return [one for one in tried.broken if one.case.id not in change.retires]

    async def _outcomes(
        self, change: Change, blobs: Mapping[str, bytes], cases: Sequence[Case], *, asks: bool
    ) -> Sequence[Outcome]:
        run = [case for case in cases if asks or not takes_model(case)]
        found = await self.runner.before_and_after(change, blobs, run) if run else ()
        ended = {one.case.id: (before, one) for before, one in found}
        return [_or_on_record(change, case, ended.get(case.id)) for case in cases]

    def _own(self, change: Change, blobs: Mapping[str, bytes]) -> tuple[Case, ...]:
        if change.after is None or change.undoes or change.kind is Kind.AGENT_SKILLS:
            return ()
        # Cases of what is brought in are made later, by a job.
        derived = () if change.origin is Origin.IMPORT else self.derive(change, blobs)
        return own_cases(change, derived)

    async def _ended_by_mistake(self, change: Change) -> Sequence[CaseResult]:
        """Return the stated cases of an item to be deleted where the feedback fits another one.

        All that the search brings up first tells what is meant; where it brings nothing up, the
        feedback names nothing.
        """
        said = change.candidate_content or change.feedback_content
        if change.after is not None or not said.strip():
            return ()
        wanted = CaseFilter(tenant_id=change.tenant_id, kind=change.kind, item_id=change.target_id)
        known, _ = await self.cases.page(wanted, limit=MOST_IN_REACH, cursor=None)
        stated = [one for one in known if one.origin is not CaseOrigin.DERIVED and one.is_on]
        if not stated:
            return ()
        body = CaseBody(check=Check.RECALL, text=said[:MOST_CHARS])
        asked = stated[0].model_copy(update={"agent_id": change.agent_id, "body": body})
        (now,) = await self.runner.now([asked])
        if not now.found or now.found[0] == change.target_id or _may_be_meant(change, now, said):
            return ()
        why = Message("case.other_meant", other=now.found[0])
        return [CaseResult(case=one, passed=False, why=why) for one in stated]

    def _untried(self, change: Change, seen: tuple[int, ...]) -> Tried:
        return Tried(
            change.model_copy(update={"tried": CasesTried(seen=seen)}),
            is_unproved=self._holds_unproved(change, ()),
        )

    def _judged(
        self,
        change: Change,
        own: Sequence[Outcome],
        older: Sequence[Outcome],
        seen: tuple[int, ...],
    ) -> Tried:
        cases = [_after(change, *one) for one in own if not _is_wrong_guess(one[1])]
        broken = [one for _, one in own if one.passed is False and not _is_only_unproved(one)]
        failing = [(before, one) for before, one in older if one.passed is False]
        passing = [one for _, one in older]
        failing += [(True, one) for one in _said_elsewhere(change, passing)]
        failing += [(True, one) for one in claimed(change, passing)]
        new = [one for was, one in failing if was or takes_over(change, one)]
        caused = {one.case.id for one in caused_by(change, new)}
        corrections = Corrections(change, [one.case for _, one in own])
        retired = [one.case.id for _, one in failing if corrections.cover(one.case)]
        spared = [
            *(one for _, one in own if one.passed is False and _is_only_unproved(one)),
            *(one for _, one in failing if one.case.id not in caused),
        ]
        excused = frozenset(one.case.id for one in spared)
        broken += [one for _, one in failing if one.case.id not in {*retired, *excused}]
        drifted = tuple(one for was, one in failing if was and one.case.id in excused)
        made = change.model_copy(
            update={
                "cases": tuple(cases),
                "retires": tuple(retired),
                "breaks": tuple(one.case.id for one in broken),
                "tried": CasesTried(seen=seen, excused=excused, drifted=drifted),
            }
        )
        return Tried(made, tuple(broken), self._holds_unproved(change, cases))

    def _holds_unproved(self, change: Change, cases: Sequence[Case]) -> bool:
        if self.rules.unproved != HOLD or change.after is None:
            return False
        return not any(case.role is CaseRole.PROOF for case in cases)


def caused_by(change: Change, failing: Sequence[CaseResult]) -> Sequence[CaseResult]:
    """Return which of the failing cases a change has broken.

    Each new item shifts what all words weigh, by which an item that a question just reached may be
    found no more; that stops nothing, and is told as the change is applied. A change breaks a
    question if its own item comes up. One that code derived is none if that item has all of its
    words: it does not tell the two apart; nor of its own item, if that keeps its words.
    """
    return [one for one in failing if _is_caused(change, one)]


def _is_caused(change: Change, result: CaseResult) -> bool:
    case = result.case
    if case.body.check not in BRINGING:
        return True
    if (case.kind, case.item_id) == (change.kind, change.target_id):
        return case.origin is not CaseOrigin.DERIVED or _takes_words(change, case)
    if change.after is None or change.target_id not in result.found:
        return False
    if case.origin is not CaseOrigin.DERIVED:
        return True
    said = term_counts(f"{change.after.name}\n{change.after.content}")
    return not all(word in said for word in asked_words(case.body))


def _takes_words(change: Change, case: Case) -> bool:
    """Whether a change takes words of a question from its item: more of other words does not."""
    if change.before is None or change.after is None:
        return True
    had, has = (said_words(change.kind, state) for state in (change.before, change.after))
    return any(word in had and word not in has for word in asked_words(case.body))


def _or_on_record(change: Change, case: Case, ended: Outcome | None) -> Outcome:
    """Return how a case ended; where it could not be run, what it came to as it was prepared."""
    unasked = CaseResult(case=case, passed=None, why=Message("case.needs_model"))
    before, result = ended or (None, unasked)
    if result.passed is None and case.id in change.breaks:
        return True, result.model_copy(
            update={"passed": False, "why": Message("case.failed_before", why=result.why)}
        )
    return before, result


def _may_be_meant(change: Change, result: CaseResult, said: str) -> bool:
    """Whether a table or skill that is not found first is named, or found where no skill is."""
    if is_named(said, change.kind, change.target_name):
        return True
    is_found = change.kind is Kind.SKILL and change.target_id in result.found
    return is_found and not is_named(said, change.kind, result.found[0])


def _adds_line(change: Change) -> bool:
    """Whether a memory is brought in: of a thousand none is slowed, and the night tells."""
    is_new = change.kind is Kind.MEMORY and change.operation is Operation.CREATE
    return change.origin is Origin.IMPORT and is_new


def _is_wrong_guess(result: CaseResult) -> bool:
    """Whether a derived case does not hold: it proves nothing."""
    return result.case.origin is CaseOrigin.DERIVED and result.passed is False


def _is_only_unproved(result: CaseResult) -> bool:
    """Whether a case of a change fails without telling against it: a question that finds nothing.

    It stays, red, for people to see.
    """
    return _is_wrong_guess(result) or result.case.body.check in BRINGING


def _said_elsewhere(change: Change, older: Sequence[CaseResult]) -> Sequence[CaseResult]:
    """Return what a memory says that another one was told not to say any more.

    What code derives is a value alone, which another memory may well have.
    """
    if change.kind is not Kind.MEMORY or change.after is None:
        return ()
    had, has = change.before.content if change.before else "", change.after.content
    return [
        one.model_copy(update={"passed": False, "why": Message("case.said_elsewhere")})
        for one in older
        if one.case.body.check is Check.UNSAID
        and one.case.item_id != change.target_id
        and one.case.origin is not CaseOrigin.DERIVED
        and says(has, one.case.body.text)
        and not says(had, one.case.body.text)
    ]


def _after(change: Change, before: bool | None, result: CaseResult) -> Case:
    """Return a case of a change as it stands after it was run."""
    proves = before is False and result.passed is True and can_prove(result.case, change)
    return result.case.model_copy(
        update={
            "role": CaseRole.PROOF if proves else CaseRole.REGRESSION,
            "status": result.status,
            "note": result.why if result.passed is False else "",
            "unrun_why": result.why if result.passed is None else "",
        }
    )
