"""Contract of change logs for skills that two runs make concurrently."""

from __future__ import annotations

import pytest

from core.domain.errors import Repeated, TargetBusy
from core.domain.models import Change, ChangeStatus, HistoryRecord, Kind, Relationship, Snapshot
from core.domain.ports import ChangeLog, Search
from tests.contracts.suites.change_log import remembered

BODY = "Check the receipt, then refund the card and tell the customer when the money arrives."


def made(name: str, seen: int | None, *, says: str = BODY, what: str = "") -> Change:
    """Return an intent to create a skill, compared with the tenant's up to `seen`."""
    what = what or "Refund a customer's card payment. Use when a customer asks for money back."
    document = f"---\nname: {name}\ndescription: {what}\n---\n\n# {name}\n\n{says}\n"
    update = {"kind": Kind.SKILL, "after": Snapshot(content=document, name=name, files={})}
    return remembered(name, "", seen).model_copy(update=update)


class SkillNeighboursContract:
    """Tests for any pair of them; a test class supplies `change_log` and the `search` over it."""

    async def _mark(self, search: Search) -> int:
        near = await search.near(BODY, tenant_id="t", agent_id="a", kind=Kind.SKILL, limit=5)
        return near.seen

    async def _end(self, change_log: ChangeLog, change: Change, status: ChangeStatus) -> None:
        async with change_log.unit_of_work(change) as unit:
            if status is ChangeStatus.APPLIED:
                await unit.update_agent_and_tenant_skills(change)
                await unit.record_knowledge_history(_history(change))
            await unit.close(change.id, status)

    async def test_while_one_is_being_made_another_that_says_nearly_this_waits(
        self, change_log: ChangeLog, search: Search
    ) -> None:
        seen = await self._mark(search)
        first, second = made("card-refunds", seen), made("refunding-cards", seen)
        await change_log.open(first, {})
        with pytest.raises(TargetBusy, match="card-refunds"):
            await change_log.open(second, {})
        await self._end(change_log, first, ChangeStatus.APPLIED)
        with pytest.raises(Repeated, match="card-refunds") as repeated:
            await change_log.open(second, {})
        assert repeated.value.item_id == "card-refunds"

    async def test_another_tenants_skill_stands_in_nobodys_way(
        self, change_log: ChangeLog, search: Search
    ) -> None:
        seen = await self._mark(search)
        foreign = made("card-refunds", seen).model_copy(update={"tenant_id": "u"})
        await change_log.open(foreign, {})
        await change_log.open(made("refunding-cards", seen), {})

    async def test_one_that_came_to_nothing_stands_in_nobodys_way(
        self, change_log: ChangeLog, search: Search
    ) -> None:
        seen = await self._mark(search)
        first = made("card-refunds", seen)
        await change_log.open(first, {})
        await self._end(change_log, first, ChangeStatus.FAILED)
        await change_log.open(made("refunding-cards", seen), {})

    async def test_what_was_known_at_the_comparison_stands_in_nobodys_way(
        self, change_log: ChangeLog, search: Search
    ) -> None:
        first = made("card-refunds", await self._mark(search))
        await change_log.open(first, {})
        await self._end(change_log, first, ChangeStatus.APPLIED)
        await change_log.open(made("refunding-cards", await self._mark(search)), {})

    async def test_skills_not_compared_or_unrelated_do_not_wait(
        self, change_log: ChangeLog, search: Search
    ) -> None:
        seen = await self._mark(search)
        await change_log.open(made("card-refunds", seen), {})
        other = "Write the minutes of a meeting. Use when a meeting has ended."
        await change_log.open(made("minutes", seen, says="Name who came.", what=other), {})
        await change_log.open(made("imported-refunds", None), {})
        unrelated = made("refunds-of-cards", seen, says="Ask the bank for the card's money.")
        update = {"relationship": Relationship.UNRELATED}
        await change_log.open(unrelated.model_copy(update=update), {})


def _history(change: Change) -> HistoryRecord:
    assert change.after is not None
    return HistoryRecord(
        id=f"history-{change.id}",
        knowledge_type=Kind.SKILL,
        knowledge_id=change.target_id,
        knowledge_name=change.target_id,
        agent_id=change.agent_id,
        tenant_id=change.tenant_id,
        operation=change.operation,
        previous_content=None,
        new_content=change.after.content,
        previous_files=None,
        new_files=change.after.files,
        feedback_content="",
        feedback_id=None,
        change_id=change.id,
        attempt=1,
        status="applied",
    )
