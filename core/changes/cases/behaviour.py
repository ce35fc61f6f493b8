"""Cases of behaviour: what an agent's answer to a task must do with what it would know."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.changes.cases.proposed import JUDGED, pattern_in
from core.changes.cases.running import says
from core.decision_table import read_xml, search_text
from core.domain.errors import RuleInvalid, SkillWorkerError
from core.domain.messages import Message
from core.domain.models import Change, Kind, KnowledgeItem, Snapshot
from core.domain.models.cases import Case, CaseBody, CaseResult, Check
from core.domain.patterns import spans, wrong_with
from core.domain.ports import CaseAnswers, CaseRunner, Knowledge, SkillStore
from core.domain.text import shorten

_SHOWN = 160
_LONGEST_ANSWER = 20_000


@dataclass(frozen=True)
class WithBehaviour:
    """The `CaseRunner` port: cases of behaviour by a model, all others by `runner`.

    The model knows the item of the case and what the change makes of its own. A change may take
    `most` answers, each way, its own cases first; what needs more has no result.
    """

    runner: CaseRunner
    answers: CaseAnswers
    most: int
    knowledge: Knowledge
    skills: SkillStore

    async def before_and_after(
        self, change: Change, blobs: Mapping[str, bytes], cases: Sequence[Case]
    ) -> Sequence[tuple[bool | None, CaseResult]]:
        rest = [case for case in cases if not takes_model(case)]
        found = await self.runner.before_and_after(change, blobs, rest) if rest else ()
        done = {one.case.id: (before, one) for before, one in found}
        left = self.most
        for case in filter(takes_model, cases):
            if case.body.runs > left:
                done[case.id] = None, _unrun(case, self.most)
            else:
                left -= case.body.runs
                done[case.id] = await self._tried(change, case)
        return [done[case.id] for case in cases]

    async def now(self, cases: Sequence[Case]) -> Sequence[CaseResult]:
        return await self.runner.now(cases)

    async def _tried(self, change: Change, case: Case) -> tuple[bool | None, CaseResult]:
        """Return how a case ends, and whether it held before where that matters."""
        try:
            beside = await self._beside(change, case)
            after = await self._run(change, case, (*beside, *_known(change.kind, change.after)))
            if after.passed and case.change_id != change.id:
                return None, after
            before = await self._run(change, case, (*beside, *_known(change.kind, change.before)))
        except SkillWorkerError as error:
            return None, CaseResult(case=case, passed=None, why=error.message)
        return before.passed, after

    async def _beside(self, change: Change, case: Case) -> tuple[str, ...]:
        """Return the item of a case of another one, as it stands."""
        if (case.kind, case.item_id) == (change.kind, change.target_id):
            return ()
        if case.kind is Kind.SKILL:
            bundle = await self.skills.read(case.item_id, case.tenant_id)
            return (bundle.document,) if bundle is not None else ()
        item = await self.knowledge.get(case.kind, case.tenant_id, case.item_id)
        return _known(case.kind, item)

    async def _run(self, change: Change, case: Case, knowledge: Sequence[str]) -> CaseResult:
        failures: list[str] = []
        for run in range(1, case.body.runs + 1):
            said = "\n\n".join(knowledge)
            answer = await self.answers.answer(change, case.body.text, said, run)
            failures += [failed] if (failed := await self._failed(change, case, answer)) else []
        passed = case.body.runs - len(failures)
        if passed >= case.body.at_least * case.body.runs:
            return CaseResult(case=case, passed=True)
        told = Message(
            "case.behaves_otherwise", passed=passed, runs=case.body.runs, why=failures[0]
        )
        return CaseResult(case=case, passed=False, why=told)

    async def _failed(self, change: Change, case: Case, answer: str) -> str:
        """Return the first assertion that an answer does not meet, "" if it meets all."""
        for wanted, asserted in _assertions(case.body):
            if await self._holds(change, asserted, answer) is not wanted:
                text = shorten(asserted, _SHOWN)
                if wanted:
                    return Message("case.answer_lacks", text=text)
                return Message("case.answer_has", text=text)
        return ""

    async def _holds(self, change: Change, asserted: str, answer: str) -> bool:
        if asserted.startswith(JUDGED):
            statement = asserted.removeprefix(JUDGED).strip()
            return await self.answers.judge(change, statement, answer)
        return await meets(answer, asserted)


async def meets(answer: str, asserted: str) -> bool:
    """Whether an answer meets an assertion: `/regular expression/`, else a text that it says.

    Raises SkillWorkerError if the expression cannot be read, or takes too long.
    """
    pattern = pattern_in(asserted)
    if pattern is None:
        return says(answer, asserted)
    shown = shorten(pattern, _SHOWN)
    if why := wrong_with(pattern):
        raise SkillWorkerError(Message("case.pattern_wrong", pattern=shown, why=why))
    try:
        return await asyncio.to_thread(_occurs, pattern, answer[:_LONGEST_ANSWER])
    except TimeoutError as error:
        raise SkillWorkerError(Message("case.pattern_slow", pattern=shown)) from error


def _occurs(pattern: str, text: str) -> bool:
    return any(True for _ in spans(pattern, text, ignore_case=True))


def takes_model(case: Case) -> bool:
    """Whether a case is run by a model."""
    return case.body.check is Check.BEHAVIOUR


def _assertions(body: CaseBody) -> Iterator[tuple[bool, str]]:
    """Yield what an answer must do, and must not; what takes no model comes first."""
    pairs = [*((True, text) for text in body.must), *((False, text) for text in body.must_not)]
    yield from sorted(pairs, key=lambda pair: pair[1].startswith(JUDGED))


def _known(kind: Kind, state: Snapshot | KnowledgeItem | None) -> tuple[str, ...]:
    """Return what an agent reads of an item, nothing where it is not there."""
    if state is None:
        return ()
    if kind is not Kind.DMN_RULE:
        return (state.content,)
    try:
        return (search_text(read_xml(state.content)),)
    except RuleInvalid:
        return (state.content,)


def _unrun(case: Case, most: int) -> CaseResult:
    why = Message("case.over_budget", runs=case.body.runs, most=most)
    return CaseResult(case=case, passed=None, why=why)
