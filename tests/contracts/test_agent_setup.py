"""New agents are set up alike in memory and in PostgreSQL."""

from __future__ import annotations

import pytest

from core.ports import Agents, Inbox
from core.postgres.agents import PostgresAgents
from core.postgres.inbox import PostgresInbox
from core.postgres.jobs import Jobs
from core.postgres.queries import Pool
from core.testing.contracts.agent_setup import AgentSetupContract
from core.testing.determinism import counting_ids
from core.testing.stores import MemoryAgents, MemoryInbox


class TestAgentSetupInMemory(AgentSetupContract):
    @pytest.fixture
    def greeting(self) -> Agents:
        return MemoryAgents(sets_up_new=True)

    @pytest.fixture
    def inbox(self, greeting: MemoryAgents) -> Inbox:
        return MemoryInbox(agents=greeting)


class TestAgentSetupInPostgres(AgentSetupContract):
    @pytest.fixture
    def greeting(self, pool: Pool) -> Agents:
        return PostgresAgents(pool, sets_up_new=True)

    @pytest.fixture
    def inbox(self, pool: Pool) -> Inbox:
        return PostgresInbox(pool, Jobs(pool), counting_ids("feedback"))
