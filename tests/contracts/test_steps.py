"""The changes that made targets what they are, in memory and in PostgreSQL."""

from __future__ import annotations

import pytest

from core.adapters.postgres.change_log import PostgresSteps
from core.adapters.postgres.duplicate_waiters import PostgresDuplicateWaiters
from core.adapters.postgres.queries import Pool
from core.domain.ports import DuplicateWaiters, Steps
from core.testing.changes import MemoryChangeLog
from core.testing.duplicate_waiters import MemoryDuplicateWaiters
from core.testing.knowledge import MemoryKnowledge
from core.testing.steps import MemorySteps
from tests.contracts.suites.duplicate_waiters import DuplicateWaitersContract
from tests.contracts.suites.steps import StepsContract
from tests.support.postgres_stores import PostgresStores


class TestStepsInMemory(StepsContract):
    @pytest.fixture
    def change_log(self) -> MemoryChangeLog:
        return MemoryChangeLog(MemoryKnowledge())

    @pytest.fixture
    def steps(self, change_log: MemoryChangeLog) -> Steps:
        return MemorySteps(change_log)


class TestStepsInPostgres(PostgresStores, StepsContract):
    @pytest.fixture
    def steps(self, pool: Pool) -> Steps:
        return PostgresSteps(pool)


class TestDuplicateWaitersInMemory(DuplicateWaitersContract):
    @pytest.fixture
    def change_log(self) -> MemoryChangeLog:
        return MemoryChangeLog(MemoryKnowledge())

    @pytest.fixture
    def duplicate_waiters(self, change_log: MemoryChangeLog) -> DuplicateWaiters:
        return MemoryDuplicateWaiters(change_log)


class TestDuplicateWaitersInPostgres(PostgresStores, DuplicateWaitersContract):
    @pytest.fixture
    def duplicate_waiters(self, pool: Pool) -> DuplicateWaiters:
        return PostgresDuplicateWaiters(pool)
