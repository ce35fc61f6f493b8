"""Changes that wait, in memory and in PostgreSQL."""

from __future__ import annotations

import pytest

from core.models import Agent
from core.ports import ChangeLog, Reviews
from core.postgres.agents import PostgresAgents
from core.postgres.changelog import PostgresChangeLog
from core.postgres.queries import Pool
from core.testing.changes import MemoryChangeLog
from core.testing.contracts.reviews import ReviewsContract
from core.testing.knowledge import MemoryKnowledge
from core.testing.reviews import MemoryReviews
from tests.support.postgres_stores import PostgresStores


class TestReviewsInMemory(ReviewsContract):
    @pytest.fixture
    def change_log(self) -> MemoryChangeLog:
        return MemoryChangeLog(MemoryKnowledge())

    @pytest.fixture
    def reviews(self, change_log: MemoryChangeLog) -> Reviews:
        return MemoryReviews(change_log)


class TestReviewsInPostgres(PostgresStores, ReviewsContract):
    @pytest.fixture
    async def change_log(self, pool: Pool) -> ChangeLog:
        await PostgresAgents(pool).save(Agent(id="a", tenant_id="t", name="A"))
        return PostgresChangeLog(pool)
