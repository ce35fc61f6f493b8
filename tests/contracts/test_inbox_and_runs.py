"""The inbox and the runs, in memory and in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.adapters.postgres.queries import Pool, connection
from core.domain.ports import ChangeLog, Inbox, Intake, Journal, Replies, Runs
from core.testing.changes import MemoryChangeLog
from core.testing.intake import MemoryIntake
from core.testing.knowledge import MemoryKnowledge
from core.testing.stores import (
    MemoryInbox,
    MemoryJournal,
    MemoryReplies,
    MemoryRuns,
)
from tests.contracts.suites.inbox import (
    DONE,
    InboxContract,
    WaitingJobs,
    added,
    claimed,
    piece,
)
from tests.contracts.suites.intake import IntakeContract
from tests.contracts.suites.runs import RunsContract
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
    async def test_a_new_piece_does_not_wait_behind_what_has_ended(
        self, pool: Pool, inbox: Inbox
    ) -> None:
        ended = [await added(inbox, piece(f"ended-{n}")) for n in range(3)]
        for feedback_id in ended:
            await inbox.finish(await claimed(inbox, feedback_id), DONE)
        await added(inbox, piece("new"))
        turns = await _turns(pool)
        assert turns["new"] < turns["ended-2"]


class TestIntakeInMemory(InMemory, IntakeContract):
    pass


class TestIntakeInPostgres(InPostgres, IntakeContract):
    async def test_a_revived_piece_waits_behind_its_own_tenants_pieces_alone(
        self, pool: Pool, inbox: Inbox, intake: Intake
    ) -> None:
        mine = await added(inbox)
        await inbox.finish(await claimed(inbox, mine), DONE)
        many = [piece(f"u-{n}").model_copy(update={"tenant_id": "u"}) for n in range(5)]
        await inbox.add("cli", many)
        await inbox.add("cli", [piece("own-1"), piece("own-2")])
        await intake.revive(mine)
        turns = await _turns(pool)
        assert turns["own-1"] < turns["own-2"] < turns["s-1"] < turns["u-4"]


class TestRunsInMemory(InMemory, RunsContract):
    pass


class TestRunsInPostgres(InPostgres, RunsContract):
    pass


async def _turns(pool: Pool) -> dict[str, int]:
    async with connection(pool) as conn:
        rows = await conn.execute("SELECT source_id, turn FROM feedback")
        return {row["source_id"]: row["turn"] for row in await rows.fetchall()}
