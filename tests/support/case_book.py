"""Cases over memory: a plain search by shared words stands in for the real one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.changes.cases.proposed import asked_words, brought_words
from core.domain.models import Change, ChangeStatus, Kind
from core.domain.models.cases import Case, CaseBody, CaseFilter, CaseResult, CasesInReach, Check
from core.domain.text import normal_form
from core.knowledge.search.tokens import term_counts
from core.testing.changes import MemoryChangeLog


@dataclass
class CaseBook:
    """The cases of a change log in memory, as far as the gate asks for them."""

    log: MemoryChangeLog
    added: dict[str, Case] = field(default_factory=dict)

    async def reach(self, change: Change, limit: int) -> CasesInReach:
        brought = {*brought_words(change)}
        near = [
            case
            for case in self.live()
            if case.item_id == change.target_id or brought & {*asked_words(case.body)}
        ]
        ended = change.target_id if change.after is None else None
        found = [case for case in near if case.item_id != ended]
        return CasesInReach(cases=tuple(found[:limit]), seen=(len(self.log.changes),))

    async def seen(self, change: Change) -> tuple[int, ...]:
        return (await self.reach(change, 0)).seen

    async def page(
        self, wanted: CaseFilter, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[Case], str | None]:
        assert cursor is None
        found = [case for case in self.live() if case.item_id == wanted.item_id]
        return found[:limit], None

    def live(self) -> list[Case]:
        """Return the cases whose change is in force, and that none in force has retired."""
        known = {**self.log.kept, **self.added}.values()
        return [
            case for case in known if self._holds(case.change_id) and not self._is_retired(case)
        ]

    def _holds(self, change_id: str | None) -> bool:
        return change_id is None or self.log.changes[change_id].status is ChangeStatus.APPLIED

    def _is_retired(self, case: Case) -> bool:
        by = self.log.retired.get(case.id)
        return by is not None and self._holds(by)


@dataclass
class PlainRunner:
    """Runs the checks of memories by their words."""

    log: MemoryChangeLog

    async def before_and_after(
        self, change: Change, blobs: Mapping[str, bytes], cases: Sequence[Case]
    ) -> Sequence[tuple[bool | None, CaseResult]]:
        before = await self._texts()
        after = {**before, change.target_id: change.after.content if change.after else ""}
        return [(_passes(before, case), _result(after, case)) for case in cases]

    async def now(self, cases: Sequence[Case]) -> Sequence[CaseResult]:
        texts = await self._texts()
        return [_result(texts, case) for case in cases]

    async def _texts(self) -> dict[str, str]:
        items = await self.log.knowledge.list(tenant_id="t", agent_id="a", kind=Kind.MEMORY)
        return {item.id: item.content for item in items}


def _result(texts: Mapping[str, str], case: Case) -> CaseResult:
    passed, best = _passes(texts, case), _found(texts, case.body)
    why = "" if passed else "it is otherwise"
    return CaseResult(case=case, passed=passed, why=why, found=(best,) if best else ())


def _passes(texts: Mapping[str, str], case: Case) -> bool | None:
    body = case.body
    if body.check is Check.UNSAID:
        return normal_form(body.text) not in normal_form(texts.get(case.item_id, ""))
    if body.check not in {Check.RECALL, Check.SILENCE}:
        return None
    return (_found(texts, body) == case.item_id) is (body.check is Check.RECALL)


def _found(texts: Mapping[str, str], body: CaseBody) -> str | None:
    """Return the item that shares most words with a question, in the shortest text."""
    asked = {*asked_words(body)}
    shared = {key: len(asked & {*term_counts(text)}) for key, text in texts.items()}
    best = max(shared, key=lambda key: (shared[key], -len(texts[key])), default=None)
    return best if best is not None and shared[best] else None
