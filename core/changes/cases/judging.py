"""Which cases a change breaks, which come with it, and which older ones give way to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pydantic import JsonValue

from core.changes.cases.behaviour import takes_model
from core.changes.cases.config import DEFAULT, HOLD, OFF, CaseRules
from core.changes.cases.proposed import (
    BRINGING,
    MOST_CHARS,
    asked_words,
    asks,
    can_prove,
    claimed,
    expects,
    own_cases,
    said_words,
    takes_over,
)
from core.changes.cases.running import says
from core.changes.cases.wording import MOST_TOLD, broken_words
from core.decision_table import parse_xml
from core.decision_table.evaluation.decide import decide
from core.decision_table.learning.learn import decide_case
from core.domain.errors import RuleInvalid
from core.domain.messages import Message
from core.domain.models import (
    Change,
    DecisionTable,
    Kind,
    MemoryRequest,
    MergeMode,
    Operation,
    Origin,
    RestoreRequest,
    RuleRequest,
)
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
from core.domain.text import normal_form
from core.knowledge.context.selection import is_named
from core.knowledge.search.tokens import term_counts

_TEXT = re.compile(r'"([^"]+)"')
Derive = Callable[[Change, Mapping[str, bytes]], Sequence[CaseBody]]
Outcome = tuple[bool | None, CaseResult]


class Corrections:
    """What a change corrects explicitly: by a case that says otherwise, by naming a row, by words.

    What code derives from a change corrects nothing: it follows from any change, also a wrong one.
    """

    def __init__(self, change: Change, own: Sequence[Case]) -> None:
        self._change = change
        stated = [case.body for case in own if case.origin is not CaseOrigin.DERIVED]
        self._decisions = [body for body in stated if body.check is Check.DECISION]
        self._withdrawn = [body for body in stated if body.check is Check.WITHDRAWN]
        self._unsaid = [body.text for body in stated if body.check is Check.UNSAID]
        self._stated = {asks(body): expects(body) for body in stated}

    def cover(self, older: Case) -> bool:
        """Whether an older case that fails now gives way."""
        change = self._change
        if (older.kind, older.item_id) != (change.kind, change.target_id):
            return False
        if isinstance(change.request, RestoreRequest):
            return True  # a person brings back a state with the cases that it had
        if _deletes(change):
            return True  # of one that comes late stays what was set later, with its cases
        said = self._stated.get(asks(older.body))
        if said is not None and said != expects(older.body):
            return self._is_meant(older)
        if self._withdraws(older) or self._moves_alike(older) or self._is_said_anew(older):
            return True
        # What a model or a person has stated gives way to a statement alone.
        is_derived = older.origin is CaseOrigin.DERIVED
        gives_way = self._ends(older) or self._says_again(older) or self._edits_row(older)
        return is_derived and gives_way

    def _ends(self, older: Case) -> bool:
        """Whether a memory is found no more since its end, which is set, is over."""
        asked = self._change.request
        is_end = isinstance(asked, MemoryRequest) and asked.valid_until is not None
        return is_end and older.body.check is Check.RECALL

    def _is_meant(self, older: Case) -> bool:
        """Whether the feedback may be about what an older decision is about.

        It is not where it names another value of the same column, and not this one.
        """
        said = _said(self._change)
        if older.body.check is not Check.DECISION or self._before is None or not said:
            return True
        for place, column in enumerate(self._before.inputs):
            value = older.body.inputs.get(column.name)
            if isinstance(value, str) and value and not _names(said, value):
                cells = (row.inputs[place] for row in self._before.rows)
                others = {text for cell in cells for text in _TEXT.findall(cell)} - {value}
                if any(_names(said, other) for other in others):
                    return False
        return True

    def _withdraws(self, older: Case) -> bool:
        """Whether a statement is withdrawn, or words in it."""
        if older.body.check is not Check.STANDS:
            return False
        return any(
            says(older.body.text, gone.text)
            and normal_form(gone.section) in {"", normal_form(older.body.section)}
            for gone in self._withdrawn
        )

    def _moves_alike(self, older: Case) -> bool:
        """Whether a limit is moved, and a stated case moves across it as an older one does.

        From one row to another, both of which answered so before and do now.
        """
        if older.body.check is not Check.DECISION or older.origin is CaseOrigin.PERSON:
            return False
        return (move := self._move(older.body.inputs)) is not None and move in self._moves

    @cached_property
    def _moves(self) -> Collection[object]:
        return [self._move(body.inputs) for body in self._decisions]

    def _move(self, inputs: Mapping[str, JsonValue]) -> object:
        if self._before is None or self._after is None or not self._decisions:
            return None
        was, now = decide_case(self._before, inputs), decide_case(self._after, inputs)
        rows = (*was.fired, *now.fired)
        is_limit = was.fired != now.fired and all(self._answers_alike(row) for row in rows)
        return (was.fired, now.fired) if is_limit and was.fired and now.fired else None

    def _answers_alike(self, row_id: str) -> bool:
        tables = (self._before, self._after)
        found = [row.outputs for table in tables if table for row in table.rows if row.id == row_id]
        return len(found) == len(tables) and found[0] == found[1]

    def _says_again(self, older: Case) -> bool:
        """Whether the words of a memory bring back what it was no longer to say.

        Not those of an addition: it would say both.
        """
        asked = self._change.request
        if older.body.check is not Check.UNSAID or not isinstance(asked, MemoryRequest):
            return False
        return asked.merge_mode is not MergeMode.EXTEND and says(asked.content, older.body.text)

    def _is_said_anew(self, older: Case) -> bool:
        """Whether what a memory was no longer to say is what the feedback itself says now.

        All words that the memory did not have stand in it, and a case states that what the memory
        said instead is to be said no more.
        """
        said = _said(self._change)
        before = self._change.before
        if before is None or not said or not self._says_again(older):
            return False
        had, now = term_counts(before.content), term_counts(said)
        new = [word for word in asked_words(older.body) if word not in had]
        is_taken_back = any(says(before.content, text) for text in self._unsaid)
        return bool(new) and is_taken_back and all(word in now for word in new)

    def _edits_row(self, older: Case) -> bool:
        """Whether all rows that decided a case are edited by their ids, or removed."""
        if older.body.check is not Check.DECISION or not self._rows or self._before is None:
            return False
        try:
            fired = decide(self._before, older.body.inputs).fired
        except RuleInvalid:
            return False
        return bool(fired) and self._rows.issuperset(fired)

    @cached_property
    def _rows(self) -> frozenset[str]:
        asked = self._change.request
        if not isinstance(asked, RuleRequest) or asked.document:
            return frozenset()
        if asked.merge_mode is MergeMode.REPLACE:
            return frozenset()
        named = (row.id for row in asked.rule.rows if row.id)
        return frozenset((*named, *asked.rule.remove_rows))

    @cached_property
    def _after(self) -> DecisionTable | None:
        state = self._change.after
        return parse_xml(state.content) if state is not None else None

    @cached_property
    def _before(self) -> DecisionTable | None:
        state = self._change.before
        return parse_xml(state.content) if state is not None else None


def _said(change: Change) -> str:
    """Return the words that a change comes from."""
    return change.candidate_content or change.feedback_content


def _deletes(change: Change) -> bool:
    """Whether a change deletes its item, or what later words leave of it."""
    return change.after is None or change.is_deletion


def _names(text: str, value: str) -> bool:
    """Whether a text names a value: of one syllable a word must begin with it (`일` in `평일`)."""
    if len(value) > 1 or value.isascii():
        return says(text, value)
    return re.search(rf"(?<!\w){re.escape(value)}", text) is not None


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
        said = _said(change)
        if not _deletes(change) or not said.strip():
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
    if ended is None:
        ended = None, CaseResult(case=case, passed=None, why=Message("case.needs_model"))
    before, result = ended
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
