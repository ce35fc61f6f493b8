"""Replies, agents and reads, in memory and in PostgreSQL."""

from __future__ import annotations

import pytest

from core.ports import Agents, ChangeLog, Inbox, Journal, Reader, Replies
from core.postgres.agents import PostgresAgents
from core.postgres.changelog import PostgresChangeLog
from core.postgres.inbox import PostgresInbox
from core.postgres.jobs import Jobs
from core.postgres.journal import PostgresJournal
from core.postgres.queries import Pool
from core.postgres.reads import PostgresReader
from core.postgres.replies import PostgresReplies
from core.testing.changes import MemoryChangeLog
from core.testing.contracts.agents import AgentsContract
from core.testing.contracts.reads import ReaderContract
from core.testing.contracts.replies import RepliesContract
from core.testing.determinism import counting_ids
from core.testing.knowledge import MemoryKnowledge
from core.testing.stores import (
    MemoryAgents,
    MemoryInbox,
    MemoryJournal,
    MemoryReader,
    MemoryReplies,
)


class TestRepliesInMemory(RepliesContract):
    @pytest.fixture
    def replies(self) -> Replies:
        return MemoryReplies()


class TestRepliesInPostgres(RepliesContract):
    @pytest.fixture
    def replies(self, pool: Pool) -> Replies:
        return PostgresReplies(pool)


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


class TestReaderInPostgres(ReaderContract):
    @pytest.fixture
    def change_log(self, pool: Pool) -> ChangeLog:
        return PostgresChangeLog(pool)

    @pytest.fixture
    def inbox(self, pool: Pool) -> Inbox:
        return PostgresInbox(pool, Jobs(pool), counting_ids("feedback"))

    @pytest.fixture
    def journal(self, pool: Pool) -> Journal:
        return PostgresJournal(pool)

    @pytest.fixture
    def reader(self, pool: Pool) -> Reader:
        return PostgresReader(pool)
