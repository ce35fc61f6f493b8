"""Replies, agents and reads, in memory and in PostgreSQL."""

from __future__ import annotations

import pytest

from core.adapters.postgres.agents import PostgresAgents
from core.adapters.postgres.queries import Pool
from core.domain.ports import Agents, ChangeLog, Inbox, Journal, Reader, Replies
from core.testing.changes import MemoryChangeLog
from core.testing.contracts.agents import AgentsContract
from core.testing.contracts.reads import ReaderContract
from core.testing.contracts.replies import RepliesContract
from core.testing.knowledge import MemoryKnowledge
from core.testing.stores import (
    MemoryAgents,
    MemoryInbox,
    MemoryJournal,
    MemoryReader,
    MemoryReplies,
)
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


class TestReaderInMemory(ReaderContract):
    @pytest.fixture
    def change_log(self) -> ChangeLog:
        return MemoryChangeLog(MemoryKnowledge())

    @pytest.fixture
    def inbox(self) -> Inbox:
        return MemoryInbox()

    @pytest.fixture
    def journal(self, change_log: MemoryChangeLog) -> Journal:
        return MemoryJournal(log=change_log)

    @pytest.fixture
    def reader(
        self, inbox: MemoryInbox, change_log: MemoryChangeLog, journal: MemoryJournal
    ) -> Reader:
        return MemoryReader(inbox=inbox, log=change_log, journal=journal)


class TestReaderInPostgres(PostgresStores, ReaderContract):
    pass
