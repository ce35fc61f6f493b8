"""Every source of feedback, and deliveries, in memory and in PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from core.adapters.postgres.inbox import PostgresDeliveries
from core.adapters.postgres.queries import Pool
from core.domain.ports import Deliveries, Inbox, Intake
from core.testing.contracts.source import SourceContract, SourceWorld
from core.testing.intake import MemoryDeliveries, MemoryIntake
from core.testing.stores import (
    MemoryInbox,
)
from tests.contracts.suites.deliveries import DeliveriesContract
from tests.support.postgres_stores import PostgresStores
from tests.support.supabase import supabase


class TestPostgrestSource(SourceContract):
    @pytest.fixture
    async def world(self) -> AsyncIterator[SourceWorld]:
        async with supabase() as world:
            yield world


class TestDeliveriesInMemory(DeliveriesContract):
    @pytest.fixture
    def inbox(self) -> Inbox:
        return MemoryInbox()

    @pytest.fixture
    def deliveries(self, inbox: MemoryInbox) -> Deliveries:
        return MemoryDeliveries(inbox)

    @pytest.fixture
    def intake(self, inbox: MemoryInbox) -> Intake:
        return MemoryIntake(inbox)


class TestDeliveriesInPostgres(PostgresStores, DeliveriesContract):
    @pytest.fixture
    def deliveries(self, pool: Pool) -> Deliveries:
        return PostgresDeliveries(pool)
