"""Retention, in memory and in PostgreSQL."""

from __future__ import annotations

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from core.adapters.postgres.queries import Pool
from core.adapters.postgres.runs import PostgresRetention
from core.adapters.postgres.saver import postgres_saver
from core.domain.ports import Inbox, Intake, Journal, Reader, Replies, Retention, Runs
from core.testing.contracts.retention import RetentionContract, Saver
from core.testing.determinism import ticking_clock
from core.testing.intake import MemoryIntake
from core.testing.retention import MemoryRetention
from core.testing.stores import MemoryInbox, MemoryJournal, MemoryReader, MemoryReplies, MemoryRuns
from tests.support.postgres_stores import PostgresStores


class TestRetentionInMemory(RetentionContract):
    @pytest.fixture
    def saver(self) -> Saver:
        return InMemorySaver()

    @pytest.fixture
    def runs(self) -> Runs:
        return MemoryRuns()

    @pytest.fixture
    def replies(self) -> Replies:
        return MemoryReplies()

    @pytest.fixture
    def journal(self, runs: MemoryRuns) -> Journal:
        return MemoryJournal(runs=runs)

    @pytest.fixture
    def inbox(self, runs: MemoryRuns, replies: MemoryReplies) -> Inbox:
        self.clock = ticking_clock()
        return MemoryInbox(runs=runs, replies=replies, clock=self.clock)

    @pytest.fixture
    def intake(self, inbox: MemoryInbox) -> Intake:
        return MemoryIntake(inbox)

    @pytest.fixture
    def reader(self, inbox: MemoryInbox, journal: MemoryJournal) -> Reader:
        return MemoryReader(inbox=inbox, journal=journal)

    @pytest.fixture
    def retention(
        self,
        inbox: MemoryInbox,
        runs: MemoryRuns,
        replies: MemoryReplies,
        journal: MemoryJournal,
        saver: InMemorySaver,
    ) -> Retention:
        return MemoryRetention(
            inbox=inbox,
            runs=runs,
            replies=replies,
            journal=journal,
            saver=saver,
            clock=self.clock,
        )


class TestRetentionInPostgres(PostgresStores, RetentionContract):
    @pytest.fixture
    async def saver(self, pool: Pool) -> Saver:
        return postgres_saver(pool)

    @pytest.fixture
    def retention(self, pool: Pool) -> Retention:
        return PostgresRetention(pool)
