"""Retention, in memory and in PostgreSQL."""

from __future__ import annotations

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from core.ports import Inbox, Intake, Journal, Reader, Replies, Retention, Runs
from core.postgres.inbox import PostgresInbox
from core.postgres.intake import PostgresIntake
from core.postgres.jobs import Jobs
from core.postgres.journal import PostgresJournal
from core.postgres.queries import Pool
from core.postgres.reads import PostgresReader
from core.postgres.replies import PostgresReplies
from core.postgres.retention import PostgresRetention
from core.postgres.runs import PostgresRuns
from core.postgres.saver import postgres_saver
from core.testing.contracts.retention import RetentionContract, Saver
from core.testing.determinism import counting_ids, ticking_clock
from core.testing.intake import MemoryIntake
from core.testing.retention import MemoryRetention
from core.testing.stores import (
    MemoryInbox,
    MemoryJournal,
    MemoryReader,
    MemoryReplies,
    MemoryRuns,
)


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


class TestRetentionInPostgres(RetentionContract):
    @pytest.fixture
    async def saver(self, pool: Pool) -> Saver:
        return postgres_saver(pool)

    @pytest.fixture
    def runs(self, pool: Pool) -> Runs:
        return PostgresRuns(pool, counting_ids("candidate"))

    @pytest.fixture
    def replies(self, pool: Pool) -> Replies:
        return PostgresReplies(pool)

    @pytest.fixture
    def journal(self, pool: Pool) -> Journal:
        return PostgresJournal(pool)

    @pytest.fixture
    def inbox(self, pool: Pool) -> Inbox:
        return PostgresInbox(pool, Jobs(pool), counting_ids("feedback"))

    @pytest.fixture
    def intake(self, pool: Pool) -> Intake:
        return PostgresIntake(pool, Jobs(pool))

    @pytest.fixture
    def reader(self, pool: Pool) -> Reader:
        return PostgresReader(pool)

    @pytest.fixture
    def retention(self, pool: Pool) -> Retention:
        return PostgresRetention(pool)
