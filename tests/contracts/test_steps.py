"""How targets came to be, in memory and in PostgreSQL."""

from __future__ import annotations

import pytest

from core.adapters.postgres.duplicate_waiters import PostgresEchoes
from core.adapters.postgres.queries import Pool
from core.adapters.postgres.steps import PostgresSteps
from core.domain.ports import Echoes, Steps
from core.testing.changes import MemoryChangeLog
from core.testing.contracts.echoes import EchoesContract
from core.testing.contracts.steps import StepsContract
from core.testing.echoes import MemoryEchoes
from core.testing.knowledge import MemoryKnowledge
from core.testing.steps import MemorySteps
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


class TestEchoesInMemory(EchoesContract):
    @pytest.fixture
    def change_log(self) -> MemoryChangeLog:
        return MemoryChangeLog(MemoryKnowledge())

    @pytest.fixture
    def echoes(self, change_log: MemoryChangeLog) -> Echoes:
        return MemoryEchoes(change_log)


class TestEchoesInPostgres(PostgresStores, EchoesContract):
    @pytest.fixture
    def echoes(self, pool: Pool) -> Echoes:
        return PostgresEchoes(pool)
