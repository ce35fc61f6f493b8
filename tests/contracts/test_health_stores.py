"""Monitoring of the queue, and observers of events, in memory and in PostgreSQL."""

from __future__ import annotations

import psycopg
import pytest

from core.adapters.postgres.change_log import PostgresChangeLog
from core.adapters.postgres.figures import PostgresBacklog
from core.adapters.postgres.inbox import PostgresInbox, PostgresIntake
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.queries import Pool
from core.adapters.postgres.runs import PostgresJournal, PostgresReplies
from core.domain.models import RunEvent, Usage
from core.domain.ports import Backlog, ChangeLog, Inbox, Intake, Journal, Replies
from core.testing.changes import MemoryChangeLog
from core.testing.determinism import counting_ids
from core.testing.intake import MemoryIntake
from core.testing.knowledge import MemoryKnowledge
from core.testing.stores import (
    MemoryInbox,
    MemoryJournal,
    MemoryReplies,
)
from tests.contracts.suites.backlog import BacklogContract
from tests.contracts.suites.observed import ObservedContract, Told
from tests.support.postgres_stores import PostgresStores


class TestBacklogInPostgres(PostgresStores, BacklogContract):
    @pytest.fixture
    def backlog(self, pool: Pool) -> Backlog:
        return PostgresBacklog(pool)


class _Observed(ObservedContract):
    @pytest.fixture
    def told(self) -> Told:
        return []

    @pytest.fixture
    def observe(self, told: Told) -> object:
        return lambda event, spent: told.append((event, spent))


class TestObservedInMemory(_Observed):
    @pytest.fixture
    def journal(self, observe: object) -> Journal:
        return MemoryJournal(observe=observe)  # type: ignore[arg-type]

    @pytest.fixture
    def change_log(self, observe: object) -> ChangeLog:
        return MemoryChangeLog(MemoryKnowledge(), observe)  # type: ignore[arg-type]

    @pytest.fixture
    def replies(self, observe: object) -> Replies:
        return MemoryReplies(observe)  # type: ignore[arg-type]

    @pytest.fixture
    def inbox(self) -> Inbox:
        return MemoryInbox()

    @pytest.fixture
    def intake(self, inbox: MemoryInbox, journal: MemoryJournal) -> Intake:
        return MemoryIntake(inbox, journal=journal)


class TestObservedInPostgres(_Observed):
    @pytest.fixture
    def journal(self, pool: Pool, observe: object) -> Journal:
        return PostgresJournal(pool, observe)  # type: ignore[arg-type]

    @pytest.fixture
    def change_log(self, pool: Pool, observe: object) -> ChangeLog:
        return PostgresChangeLog(pool, observe)  # type: ignore[arg-type]

    @pytest.fixture
    def replies(self, pool: Pool, observe: object) -> Replies:
        return PostgresReplies(pool, observe)  # type: ignore[arg-type]

    @pytest.fixture
    def inbox(self, pool: Pool) -> Inbox:
        return PostgresInbox(pool, Jobs(pool), counting_ids("feedback"))

    @pytest.fixture
    def intake(self, pool: Pool, observe: object) -> Intake:
        return PostgresIntake(pool, Jobs(pool), observe)  # type: ignore[arg-type]


async def test_whoever_is_told_of_an_event_finds_its_row(pool: Pool) -> None:
    found: list[int] = []

    def look(event: RunEvent, _: Usage) -> None:
        with psycopg.connect(pool.conninfo) as conn:  # type: ignore[arg-type]
            found.append(len(conn.execute("SELECT FROM run_events").fetchall()))

    journal = PostgresJournal(pool, look)
    await journal.emit(RunEvent(name="feedback.claimed", feedback_id="f1"))
    await journal.emit(RunEvent(name="feedback.finished", feedback_id="f1"))
    assert found == [1, 2]
