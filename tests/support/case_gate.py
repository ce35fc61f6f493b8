"""A gate for memories over PostgreSQL, with cases that end as the test says."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.adapters.postgres.cases import PostgresCases
from core.adapters.postgres.change_log import PostgresChangeLog, PostgresSteps, PostgresTargetLocks
from core.adapters.postgres.duplicate_waiters import PostgresDuplicateWaiters
from core.adapters.postgres.knowledge import PostgresKnowledge
from core.adapters.postgres.queries import Connection, Pool
from core.adapters.postgres.reviews import PostgresReviews
from core.adapters.postgres.runs import PostgresJournal
from core.adapters.postgres.scoped_search import ScopedSearch
from core.adapters.postgres.search import PostgresSearch
from core.app.bootstrap.stores import new_id, utc_now
from core.changes.cases.config import CaseRules
from core.changes.cases.judging import CaseGate
from core.changes.gate.change_gate import ChangeGate
from core.changes.gate.deps import GateDeps
from core.domain.models import Change, Kind
from core.domain.models.cases import Case, CaseResult
from core.learning_committers.base import Neighbours
from core.learning_committers.memory_committer import MemoryCommitter
from core.testing.skill_store import MemorySkillStore


@dataclass
class ScriptedRunner:
    """Ends cases as they are said to, by what they ask: before a change and after it.

    `late` are those that fail in the transaction that records it.
    """

    ends: dict[str, tuple[bool | None, bool | None]] = field(default_factory=dict)
    late: set[str] = field(default_factory=set)
    drifting: set[str] = field(default_factory=set)  # fail, and the change does not come up
    runs: int = 0
    newest: tuple[str, ...] = ()

    async def before_and_after(
        self, change: Change, blobs: Mapping[str, bytes], cases: Sequence[Case]
    ) -> Sequence[tuple[bool | None, CaseResult]]:
        del blobs
        self.newest = (change.target_id,)
        ends = [self.ends.get(case.body.text, (False, True)) for case in cases]
        return [
            (before, _ended(case, after, *self._found(case, change)))
            for case, (before, after) in zip(cases, ends, strict=True)
        ]

    def _found(self, case: Case, change: Change) -> tuple[str, ...]:
        return () if case.body.text in self.drifting else (change.target_id,)

    async def now(self, cases: Sequence[Case]) -> Sequence[CaseResult]:
        return [_ended(case, self.ends.get(case.body.text, (False, True))[1]) for case in cases]

    async def in_transaction(self, conn: Connection, cases: Sequence[Case]) -> Sequence[CaseResult]:
        self.runs += 1
        return [_ended(case, case.body.text not in self.late, *self.newest) for case in cases]


def _ended(case: Case, passed: bool | None, *found: str) -> CaseResult:
    why = "" if passed else "it is otherwise"
    return CaseResult(case=case, passed=passed, why=why, found=found)


class CaseGateWorld:
    """The stores of one database, a gate for memories over them, and the runner of its cases."""

    def __init__(self, pool: Pool, rules: CaseRules | None = None) -> None:
        self.runner = ScriptedRunner()
        self.cases = PostgresCases(pool)
        self.changes = PostgresChangeLog(pool, run_cases=self.runner.in_transaction)
        skills = MemorySkillStore()
        self.knowledge = PostgresKnowledge(pool, skills)
        search = ScopedSearch(PostgresSearch(pool, None), utc_now)
        committer = MemoryCommitter(self.knowledge, Neighbours(search, skills))
        self.gate = ChangeGate(
            GateDeps(
                committers={Kind.MEMORY: committer},
                changes=self.changes,
                target_locks=PostgresTargetLocks(pool),
                reviews=PostgresReviews(pool),
                steps=PostgresSteps(pool),
                duplicate_waiters=PostgresDuplicateWaiters(pool),
                journal=PostgresJournal(pool),
                new_id=new_id,
                sleep=lambda seconds: asyncio.sleep(min(seconds, 0.01)),
                cases=CaseGate(self.cases, self.runner, rules or CaseRules()),
            )
        )
