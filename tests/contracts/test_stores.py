"""Replies, agents and reads, in memory and in PostgreSQL."""

from __future__ import annotations

import pytest

from core.adapters.postgres.agents import PostgresAgents
from core.adapters.postgres.queries import Pool
from core.domain.ports import Agents, Replies
from core.testing.stores import (
    MemoryAgents,
    MemoryReplies,
)
from tests.contracts.suites.agents import AgentsContract
from tests.contracts.suites.reads import ReaderContract
from tests.contracts.suites.replies import RepliesContract
from tests.support.postgres_stores import PostgresStores


class TestRepliesInMemory(RepliesContract):
    @pytest.fixture
    def replies(self) -> Replies:
        return MemoryReplies()


class TestRepliesInPostgres(PostgresStores, RepliesContract):
    pass


class TestAgentsInMemory(AgentsContract):
    @pytest.fixture
    def agents(self) -> Agents:
        return MemoryAgents()

    @pytest.fixture
    def greeting(self) -> Agents:
        return MemoryAgents(sets_up_new=True)


class TestAgentsInPostgres(AgentsContract):
    @pytest.fixture
    def agents(self, pool: Pool) -> Agents:
        return PostgresAgents(pool)

    @pytest.fixture
    def greeting(self, pool: Pool) -> Agents:
        return PostgresAgents(pool, sets_up_new=True)


class TestReaderInPostgres(PostgresStores, ReaderContract):
    pass
