"""New agents are set up alike in memory and in PostgreSQL."""

from __future__ import annotations

import pytest

from core.adapters.postgres.agents import PostgresAgents
from core.adapters.postgres.queries import Pool
from core.domain.ports import Agents, Inbox
from core.testing.stores import MemoryAgents, MemoryInbox
from tests.contracts.suites.agent_setup import AgentSetupContract
from tests.support.postgres_stores import PostgresStores


class TestAgentSetupInMemory(AgentSetupContract):
    @pytest.fixture
    def greeting(self) -> Agents:
        return MemoryAgents(sets_up_new=True)

    @pytest.fixture
    def inbox(self, greeting: MemoryAgents) -> Inbox:
        return MemoryInbox(agents=greeting)


class TestAgentSetupInPostgres(PostgresStores, AgentSetupContract):
    @pytest.fixture
    def greeting(self, pool: Pool) -> Agents:
        return PostgresAgents(pool, sets_up_new=True)
