"""The inbox and the runs, in memory and in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.ports import ChangeLog, Inbox, Intake, Journal, Replies, Runs
from core.postgres.changelog import PostgresChangeLog
from core.postgres.inbox import PostgresInbox
from core.postgres.intake import PostgresIntake
from core.postgres.jobs import Jobs
from core.postgres.journal import PostgresJournal
from core.postgres.queries import Pool, connection
from core.postgres.replies import PostgresReplies
from core.postgres.runs import PostgresRuns
from core.testing.changes import MemoryChangeLog
from core.testing.contracts.inbox import InboxContract, WaitingJobs
from core.testing.contracts.intake import IntakeContract
from core.testing.contracts.runs import RunsContract
from core.testing.determinism import counting_ids
from core.testing.knowledge import MemoryKnowledge
from core.testing.stores import (
    MemoryInbox,
    MemoryIntake,
    MemoryJournal,
    MemoryReplies,
    MemoryRuns,
)


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


class InPostgres:
    @pytest.fixture
    def change_log(self, pool: Pool) -> ChangeLog:
        return PostgresChangeLog(pool)

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
