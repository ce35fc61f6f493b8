"""The stores over a test's own database, in the form that contract suites ask for."""

from __future__ import annotations

import pytest

from core.adapters.postgres.change_log import PostgresChangeLog
from core.adapters.postgres.inbox import PostgresInbox, PostgresIntake
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.queries import Pool
from core.adapters.postgres.reads import PostgresReader
from core.adapters.postgres.reviews import PostgresReviews
from core.adapters.postgres.runs import PostgresJournal, PostgresReplies, PostgresRuns
from core.domain.ports import ChangeLog, Inbox, Intake, Journal, Reader, Replies, Reviews, Runs
from core.testing.determinism import counting_ids


class PostgresStores:
    """A base for suites in PostgreSQL, to precede the contract; a suite may override parts."""

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
    def reader(self, pool: Pool) -> Reader:
        return PostgresReader(pool)

    @pytest.fixture
    def reviews(self, pool: Pool) -> Reviews:
        return PostgresReviews(pool)
