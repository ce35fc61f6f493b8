"""Contract of the paged store of all knowledge."""

from __future__ import annotations

from core.domain.hashing import state_hash
from core.domain.models import Change, ChangeStatus, Kind, KnowledgeItem, Operation, Snapshot
from core.domain.ports import ChangeLog, KnowledgePages

IDS = ("B", "a-1", "a_1", "가", "b")


def memory(item_id: str, *, tenant_id: str = "t", agent_id: str = "a") -> Change:
    """Return an intent to create a memory."""
    state = Snapshot(content=f"{tenant_id} {item_id.encode().hex()}", name=item_id)
    return Change(
        id=f"change-{tenant_id}-{item_id}",
        key=f"key-{tenant_id}-{item_id}",
        digest="d",
        tenant_id=tenant_id,
        agent_id=agent_id,
        kind=Kind.MEMORY,
        target_id=item_id,
        target_name=item_id,
        operation=Operation.CREATE,
        before=None,
        after=state,
        base_hash=state_hash(None),
        status=ChangeStatus.APPLYING,
    )


class KnowledgePagesContract:
    """Tests for any store of pages; a test class supplies `pages` and the `change_log`."""

    async def _write(self, change_log: ChangeLog, change: Change) -> None:
        await change_log.open(change, {})
        async with change_log.unit_of_work(change) as unit:
            await unit.write_item(change)
            await unit.close(change.id, ChangeStatus.APPLIED)

    async def test_pages_give_every_item_once_in_the_order_of_code_points(
        self, pages: KnowledgePages, change_log: ChangeLog
    ) -> None:
        for tenant_id in ("t", "T"):
            for item_id in IDS:
                await self._write(change_log, memory(item_id, tenant_id=tenant_id))
        found: list[KnowledgeItem] = []
        while page := await pages.page(
            Kind.MEMORY,
            tenant_id=None,
            agent_id=None,
            after=found[-1] if found else None,
            limit=3,
        ):
            assert len(page) <= 3
            found += page
        assert [(i.tenant_id, i.id) for i in found] == [(t, i) for t in "Tt" for i in sorted(IDS)]
        assert found[0].content == "T 42"

    async def test_pages_hold_one_kind_of_one_tenant_and_agent(
        self, pages: KnowledgePages, change_log: ChangeLog
    ) -> None:
        await self._write(change_log, memory("1"))
        await self._write(change_log, memory("2", agent_id="b"))
        await self._write(change_log, memory("3", tenant_id="u"))

        async def ids(kind: Kind, tenant_id: str | None, agent_id: str | None) -> list[str]:
            page = await pages.page(
                kind, tenant_id=tenant_id, agent_id=agent_id, after=None, limit=9
            )
            return [item.id for item in page]

        assert await ids(Kind.MEMORY, "t", None) == ["1", "2"]
        assert await ids(Kind.MEMORY, "t", "b") == ["2"]
        assert await ids(Kind.DMN_RULE, None, None) == []

    async def test_an_id_belongs_to_its_tenant(
        self, pages: KnowledgePages, change_log: ChangeLog
    ) -> None:
        await self._write(change_log, memory("1"))
        await self._write(change_log, memory("1", tenant_id="u"))
        page = await pages.page(Kind.MEMORY, tenant_id=None, agent_id=None, after=None, limit=9)
        assert [(item.tenant_id, item.version) for item in page] == [("t", 1), ("u", 1)]

    async def test_all_kinds_are_browsed_in_one_lasting_order(
        self, pages: KnowledgePages, change_log: ChangeLog
    ) -> None:
        for tenant_id in ("t", "T"):
            for item_id in IDS:
                await self._write(change_log, memory(item_id, tenant_id=tenant_id))

        async def browsed(
            after: tuple[str, str, str] | None, **given: str | None
        ) -> list[tuple[str, str]]:
            wanted = {"tenant_id": None, "agent_id": None, **given}
            page = await pages.browse(**wanted, kind=None, after=after, limit=4)
            return [(item.tenant_id, item.id) for item in page]

        found: list[tuple[str, str]] = []
        while page := await browsed((found[-1][0], "MEMORY", found[-1][1]) if found else None):
            found += page
        assert found == [(t, i) for t in "Tt" for i in sorted(IDS)]
        assert await browsed(None, tenant_id="t", agent_id="b") == []
        assert (await browsed(None, tenant_id="t"))[0] == ("t", "B")
        assert await browsed(("t", "SKILL", "")) == []
