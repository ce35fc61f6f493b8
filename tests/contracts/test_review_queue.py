"""The queue of held changes, in memory and in PostgreSQL."""

from __future__ import annotations

import pytest

from core.adapters.postgres.queries import Pool
from core.adapters.postgres.reviews import PostgresReviewQueue
from core.domain.ports import ReviewQueue, Reviews
from core.testing.changes import MemoryChangeLog
from core.testing.contracts.review_queue import ReviewQueueContract
from core.testing.knowledge import MemoryKnowledge
from core.testing.review_queue import MemoryReviewQueue
from core.testing.reviews import MemoryReviews
from tests.support.postgres_stores import PostgresStores


class TestReviewQueueInMemory(ReviewQueueContract):
    @pytest.fixture
    def change_log(self) -> MemoryChangeLog:
        return MemoryChangeLog(MemoryKnowledge())

    @pytest.fixture
    def reviews(self, change_log: MemoryChangeLog) -> Reviews:
        return MemoryReviews(change_log)

    @pytest.fixture
    def queue(self, change_log: MemoryChangeLog) -> ReviewQueue:
        return MemoryReviewQueue(change_log)


class TestReviewQueueInPostgres(PostgresStores, ReviewQueueContract):
    @pytest.fixture
    def queue(self, pool: Pool) -> ReviewQueue:
        return PostgresReviewQueue(pool)
