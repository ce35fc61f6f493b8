"""Transcripts of runs in PostgreSQL."""

from __future__ import annotations

import pytest

from core.adapters.postgres.queries import Pool
from core.adapters.postgres.saver import postgres_saver
from core.adapters.postgres.threads import PostgresThreads
from core.domain.ports import Threads
from tests.contracts.suites.threads import Saver, ThreadsContract


class TestThreads(ThreadsContract):
    @pytest.fixture
    async def saver(self, pool: Pool) -> Saver:
        return postgres_saver(pool)

    @pytest.fixture
    def threads(self, pool: Pool) -> Threads:
        return PostgresThreads(pool)
