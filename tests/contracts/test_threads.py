"""Transcripts of runs, in memory and in PostgreSQL."""

from __future__ import annotations

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from core.adapters.postgres.queries import Pool
from core.adapters.postgres.saver import postgres_saver
from core.adapters.postgres.threads import PostgresThreads
from core.domain.ports import Threads
from core.testing.contracts.threads import Saver, ThreadsContract
from core.testing.threads import MemoryThreads


class TestThreadsInMemory(ThreadsContract):
    @pytest.fixture
    def saver(self) -> Saver:
        return InMemorySaver()

    @pytest.fixture
    def threads(self, saver: Saver) -> Threads:
        return MemoryThreads(saver)


class TestThreadsInPostgres(ThreadsContract):
    @pytest.fixture
    async def saver(self, pool: Pool) -> Saver:
        return postgres_saver(pool)

    @pytest.fixture
    def threads(self, pool: Pool) -> Threads:
        return PostgresThreads(pool)
