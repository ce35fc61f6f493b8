"""Skills that several agents list, in memory and in PostgreSQL."""

from __future__ import annotations

import pytest

from core.adapters.postgres.agents import PostgresAgents
from core.adapters.postgres.change_log import PostgresChangeLog
from core.adapters.postgres.queries import Pool
from core.domain.errors import Stale, Unforeseen
from core.domain.models import Agent
from core.domain.ports import Agents, ChangeLog, Reviews
from core.testing.changes import MemoryChangeLog
from core.testing.knowledge import MemoryKnowledge
from core.testing.reviews import MemoryReviews
from core.testing.stores import MemoryAgents
from tests.contracts.suites.shared_skills import SharedSkillsContract, deletion, listing
from tests.contracts.test_locks import waits
from tests.support.postgres_stores import PostgresStores


class TestMemory(SharedSkillsContract):
    @pytest.fixture
    def change_log(self) -> ChangeLog:
        return MemoryChangeLog(MemoryKnowledge())

    @pytest.fixture
    def agents(self, change_log: MemoryChangeLog) -> Agents:
        return MemoryAgents(log=change_log)

    @pytest.fixture
    def reviews(self, change_log: MemoryChangeLog) -> Reviews:
        return MemoryReviews(change_log)


class TestPostgres(PostgresStores, SharedSkillsContract):
    @pytest.fixture
    def agents(self, pool: Pool) -> Agents:
        return PostgresAgents(pool)


@pytest.fixture
async def log(pool: Pool) -> PostgresChangeLog:
    """A log of agents a, who lists `refund`, and b, who does not."""
    agents = PostgresAgents(pool)
    await agents.save(Agent(id="a", tenant_id="t", name="A", skills=("refund",)))
    await agents.save(Agent(id="b", tenant_id="t", name="B"))
    return PostgresChangeLog(pool)


async def test_a_deletion_waits_for_a_list_that_is_being_written(
    pool: Pool, log: PostgresChangeLog
) -> None:
    attach = listing("b", "", "refund")
    await log.open(attach, {})
    async with log.unit_of_work(attach) as unit:
        await unit.set_agent_skills(attach)
        deleting = await waits(pool, log.open(deletion(), {}))
    with pytest.raises(Unforeseen, match="'b'"):
        await deleting


async def test_a_list_waits_for_a_deletion_that_is_being_recorded(
    pool: Pool, log: PostgresChangeLog
) -> None:
    attach, gone = listing("b", "", "refund"), deletion()
    await log.open(attach, {})
    await log.open(gone, {})

    async def attached() -> None:
        async with log.unit_of_work(attach) as unit:
            await unit.set_agent_skills(attach)

    async with log.unit_of_work(gone) as unit:
        await unit.update_agent_and_tenant_skills(gone)
        attaching = await waits(pool, attached())
    with pytest.raises(Stale, match="deleted meanwhile"):
        await attaching
