"""The inbox and the runs, in memory and in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.adapters.postgres.queries import Pool, connection
from core.domain.ports import ChangeLog, Inbox, Intake, Journal, Replies, Runs
from core.testing.changes import MemoryChangeLog
from core.testing.contracts.inbox import InboxContract, WaitingJobs
from core.testing.contracts.intake import IntakeContract
from core.testing.contracts.runs import RunsContract
from core.testing.knowledge import MemoryKnowledge
from core.testing.stores import MemoryInbox, MemoryIntake, MemoryJournal, MemoryReplies, MemoryRuns
from tests.support.postgres_stores import PostgresStores


class InMemory:
    @pytest.fixture
    def change_log(self) -> ChangeLog:
        return MemoryChangeLog(MemoryKnowledge())

    @pytest.fixture
    def runs(self, change_log: MemoryChangeLog) -> Runs:
        return MemoryRuns(log=change_log)

    @pytest.fixture
    def replies(self) -> Replies:
        return MemoryReplies()

    @pytest.fixture
    def journal(self, runs: MemoryRuns) -> Journal:
        return MemoryJournal(runs=runs)

    @pytest.fixture
    def inbox(self, runs: MemoryRuns, replies: MemoryReplies) -> Inbox:
        return MemoryInbox(runs=runs, replies=replies)

    @pytest.fixture
    def intake(self, inbox: MemoryInbox) -> Intake:
        return MemoryIntake(inbox)

    @pytest.fixture
    def jobs(self, inbox: MemoryInbox) -> WaitingJobs:
        async def waiting() -> Sequence[str]:
            return [feedback_id for feedback_id, _ in inbox.jobs]

        return waiting


class InPostgres(PostgresStores):
    @pytest.fixture
    def jobs(self, pool: Pool) -> WaitingJobs:
        async def waiting() -> Sequence[str]:
            async with connection(pool) as conn:
                rows = await conn.execute(
                    "SELECT args ->> 'feedback_id' AS id FROM procrastinate_jobs"
                    " WHERE status = 'todo' ORDER BY procrastinate_jobs.id"
                )
                return [row["id"] for row in await rows.fetchall()]

        return waiting


class TestInboxInMemory(InMemory, InboxContract):
    pass


class TestInboxInPostgres(InPostgres, InboxContract):
    pass


class TestIntakeInMemory(InMemory, IntakeContract):
    pass


class TestIntakeInPostgres(InPostgres, IntakeContract):
    pass


class TestRunsInMemory(InMemory, RunsContract):
    pass


class TestRunsInPostgres(InPostgres, RunsContract):
    pass
