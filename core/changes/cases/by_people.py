"""Cases as people add, edit, disable and run them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass

from core.changes.cases.coverage import uncovered_rows
from core.changes.cases.proposed import problem_in
from core.decision_table import read_xml
from core.domain.errors import InvalidInput, NotFound, Refused, RuleInvalid
from core.domain.messages import Message
from core.domain.models import Kind, KnowledgeItem, Scope
from core.domain.models.case_figures import CasesRun, Coverage
from core.domain.models.cases import (
    Case,
    CaseBody,
    CaseFilter,
    CaseOrigin,
    CaseResult,
    CaseRole,
    CaseStatus,
    Check,
)
from core.domain.ports import Agents, CaseRunner, Cases, Knowledge, NewId

MOST_TABLES = 20  # of a list, whose rows are looked at
_MOST_CASES = 1000  # of a table
_BATCH = 100
MaskBody = Callable[[CaseBody], Awaitable[CaseBody]]


@dataclass(frozen=True, kw_only=True)
class CasesByPeople:
    """What people do with cases. A case is run at once when it is added or edited.

    `masked` returns a case as it may be stored.
    """

    cases: Cases
    runner: CaseRunner
    knowledge: Knowledge
    agents: Agents
    masked: MaskBody
    new_id: NewId

    async def add(
        self, item: KnowledgeItem, body: CaseBody, *, agent_id: str | None, by: str
    ) -> CaseResult:
        """Add a case to an item, and return how it ends. Raises InvalidInput, NotFound."""
        _refuse_unfit(body, item.kind)
        case = Case(
            id=f"case-{self.new_id()}",
            tenant_id=item.tenant_id,
            agent_id=await self._agent(item, agent_id),
            kind=item.kind,
            item_id=item.id,
            item_name=item.name,
            body=await self.masked(body),
            role=CaseRole.REGRESSION,
            origin=CaseOrigin.PERSON,
            by=by,
        )
        await self.cases.add(case)
        return await self._run_again(case.id)

    async def edit(self, known: Case, body: CaseBody, *, by: str) -> CaseResult:
        """Replace what a case asks and expects, and return how it ends.

        Raises InvalidInput, NotFound; Refused if it is disabled.
        """
        if known.status is CaseStatus.DISABLED:
            raise Refused(
                Message("cases.is_disabled", id=known.id), hint=Message("cases.hint_disabled")
            )
        _refuse_unfit(body, known.kind)
        body = await self.masked(body)
        await self.cases.edit(known.model_copy(update={"body": body, "by": by}))
        return await self._run_again(known.id)

    async def run(self, wanted: CaseFilter, limit: int) -> CasesRun:
        """Run the cases that match, newest first, at most `limit`, and note how they end."""
        results: list[CaseResult] = []
        async for batch, following in self._batches(wanted, limit):
            results += await self._run(batch)
            if len(results) >= limit or following is None:
                return CasesRun(results=tuple(results), more=following is not None)
        return CasesRun(results=tuple(results))

    async def run_these(self, cases: Sequence[Case]) -> CasesRun:
        """Run these cases, and note how they end."""
        return CasesRun(results=tuple(await self._run(cases)))

    async def coverage(self, wanted: CaseFilter, cases: Sequence[Case]) -> tuple[Coverage, ...]:
        """Return which rows no case decides by, of the first tables that a list is about."""
        items = [(c.tenant_id, c.item_id) for c in cases if c.kind is Kind.DMN_RULE]
        if wanted.tenant_id and wanted.item_id and wanted.kind in {None, Kind.DMN_RULE}:
            items.append((wanted.tenant_id, wanted.item_id))
        tables = [*dict.fromkeys(items)][:MOST_TABLES]
        found = [await self.coverage_of(*table) for table in tables]
        return tuple(one for one in found if one is not None)

    async def coverage_of(self, tenant_id: str, item_id: str) -> Coverage | None:
        """Return which rows of a table no case decides by; None of what is no readable table."""
        try:
            item = await self.knowledge.get(Kind.DMN_RULE, tenant_id, item_id)
            table = read_xml(item.content)
        except (NotFound, RuleInvalid):
            return None
        wanted = CaseFilter(
            tenant_id=item.tenant_id, kind=item.kind, item_id=item.id, check=Check.DECISION
        )
        cases, _ = await self.cases.page(wanted, limit=_MOST_CASES, cursor=None)
        bodies = [case.body for case in cases if case.status is not CaseStatus.DISABLED]
        return Coverage(
            tenant_id=item.tenant_id,
            item_id=item.id,
            item_name=item.name,
            rows=len(table.rows),
            uncovered=uncovered_rows(table, bodies),
        )

    async def _batches(
        self, wanted: CaseFilter, limit: int
    ) -> AsyncIterator[tuple[Sequence[Case], str | None]]:
        cursor, left = None, limit
        while left > 0:
            batch, cursor = await self.cases.page(wanted, limit=min(left, _BATCH), cursor=cursor)
            yield batch, cursor
            left -= len(batch)
            if cursor is None:
                return

    async def _run_again(self, case_id: str) -> CaseResult:
        (result,) = await self._run([await self.cases.get(case_id)])
        return result.model_copy(update={"case": await self.cases.get(case_id)})

    async def _run(self, cases: Sequence[Case]) -> list[CaseResult]:
        """Run what can be run here, note how it ends, and return all in their order."""
        results = await self.runner.now([case for case in cases if _why_not(case) is None])
        await self.cases.note(results)
        ended = {result.case.id: result for result in results}
        return [
            ended.get(case.id) or CaseResult(case=case, passed=None, why=_why_not(case) or "")
            for case in cases
        ]

    async def _agent(self, item: KnowledgeItem, given: str | None) -> str:
        """Return the agent that a case is tried with. Raises InvalidInput."""
        if item.kind is Kind.SKILL:
            return await self._holder(item, given)
        if given in {None, item.agent_id} or item.scope is Scope.TENANT:
            return given or item.agent_id
        raise InvalidInput(
            Message("cases.of_another", kind=item.kind, id=item.id, agent=item.agent_id)
        )

    async def _holder(self, item: KnowledgeItem, given: str | None) -> str:
        """Return the agent with whose skills a skill is compared: one that lists it."""
        holders = [agent.id for agent in await self.agents.having(item.tenant_id, item.id)]
        if not holders:
            raise InvalidInput(
                Message("cases.on_no_list", id=item.id), hint=Message("cases.hint_list")
            )
        chosen = given or (item.agent_id if item.agent_id in holders else None)
        chosen = chosen or (holders[0] if len(holders) == 1 else None)
        if chosen in holders:
            return str(chosen)
        raise InvalidInput(
            Message("cases.which_agent", id=item.id, agents=", ".join(map(repr, holders))),
            hint=Message("access.say_agent"),
        )


def _why_not(case: Case) -> Message | None:
    """Return why a case is not run here, None if it is."""
    if case.status is CaseStatus.DISABLED:
        return Message("cases.is_disabled", id=case.id)
    return Message("case.needs_model") if case.body.check is Check.BEHAVIOUR else None


def _refuse_unfit(body: CaseBody, kind: Kind) -> None:
    if why := problem_in(body, kind):
        raise InvalidInput(why, hint=Message("cases.hint_check"))
