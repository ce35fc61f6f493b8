"""The change log in memory and in PostgreSQL."""

from __future__ import annotations

import pytest

from core.adapters.postgres.knowledge import PostgresKnowledge
from core.adapters.postgres.queries import Pool
from core.domain.errors import Stale
from core.domain.models import ChangeStatus, Kind
from core.domain.ports import ChangeLog, Knowledge
from core.testing.changes import MemoryChangeLog
from core.testing.knowledge import MemoryKnowledge
from core.testing.skill_store import MemorySkillStore
from tests.contracts.suites.change_log import ChangeLogContract, carry_out, memory_change
from tests.support.postgres_stores import PostgresStores


class TestMemory(ChangeLogContract):
    @pytest.fixture
    def knowledge(self) -> Knowledge:
        return MemoryKnowledge()

    @pytest.fixture
    def change_log(self, knowledge: MemoryKnowledge) -> ChangeLog:
        return MemoryChangeLog(knowledge)


class TestPostgres(PostgresStores, ChangeLogContract):
    @pytest.fixture
    def knowledge(self, pool: Pool) -> Knowledge:
        return PostgresKnowledge(pool, MemorySkillStore())

    async def test_what_is_learnt_is_found_by_name_and_list(
        self, change_log: ChangeLog, knowledge: Knowledge
    ) -> None:
        await carry_out(change_log, memory_change("c1", None, "one"))
        items = await knowledge.list(tenant_id=None, agent_id="a", kind=Kind.MEMORY)
        assert [(item.id, item.content, item.change_id) for item in items] == [
            ("mem-1", "one", "c1")
        ]

    async def test_an_ended_change_is_not_opened_again(self, change_log: ChangeLog) -> None:
        change = memory_change("c1", None, "one")
        await carry_out(change_log, change)
        with pytest.raises(Stale, match="change c1 is settled already"):
            await change_log.open(change.model_copy(update={"status": ChangeStatus.PREPARED}), {})
