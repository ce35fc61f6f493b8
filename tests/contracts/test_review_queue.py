"""The queue of held changes in PostgreSQL."""

from __future__ import annotations

import pytest

from core.adapters.postgres.queries import Pool
from core.adapters.postgres.reviews import PostgresReviewQueue
from core.domain.ports import ReviewQueue
from tests.contracts.suites.review_queue import ReviewQueueContract
from tests.support.postgres_stores import PostgresStores


class TestReviewQueue(PostgresStores, ReviewQueueContract):
    @pytest.fixture
    def queue(self, pool: Pool) -> ReviewQueue:
        return PostgresReviewQueue(pool)
