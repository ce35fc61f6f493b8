"""Contract of the stores of knowledge: the same id, name and text of another is another's."""

from __future__ import annotations

import pytest

from core.decision_table import to_xml
from core.domain.errors import NotFound
from core.domain.models import Change, HistoryStatus, InputColumn, Kind
from core.domain.ports import ChangeLog, Knowledge, KnowledgePages, KnowledgePast, Lineage
from tests.contracts.suites.change_log import history_of
from tests.contracts.suites.knowledge_past import carry, step
from tests.support.table_cells import table

MEMORY, RULE = Kind.MEMORY, Kind.DMN_RULE
_COLUMN = InputColumn(name="amount", type="number")
# Of every kind, so that only the kind tells them apart.
ONE, TWO = (to_xml(table([_COLUMN], [[cell]]), decision_id="d") for cell in "12")
SCOPES = (("t", MEMORY), ("t", RULE), ("T", MEMORY), ("T", RULE))


def of(scope: tuple[str, Kind], number: int, before: str | None, after: str | None) -> Change:
    """Return an intent to change `item` of a tenant and a kind."""
    return step(number, before, after, kind=scope[1], tenant_id=scope[0])


class KeptApartContract:
    """Tests for all stores that read the same tables; a test class supplies each of them.

    Everything is made once as ONE; then the memory of t becomes TWO and the rule of T goes. Beside
    each item stands one of agent b that says ONE and stays as it is.
    """

    @pytest.fixture(autouse=True)
    async def _made(self, change_log: ChangeLog) -> None:
        for scope in SCOPES:
            await carry(change_log, _beside(scope), of(scope, 1, None, ONE))
        await carry(change_log, of(("t", MEMORY), 2, ONE, TWO))
        await carry(change_log, of(("T", RULE), 2, ONE, None))

    async def test_each_tenant_and_kind_has_its_own_versions(
        self, knowledge: Knowledge, past: KnowledgePast, change_log: ChangeLog
    ) -> None:
        found = {}
        for tenant, kind in SCOPES:
            versions = await knowledge.versions(kind, tenant, "item")
            assert {(item.tenant_id, item.kind) for item in versions} == {(tenant, kind)}
            found[tenant, kind] = [(item.version, item.content) for item in versions]
            at = versions[0].valid_from
            assert at is not None
            then = (await knowledge.as_of(kind, tenant, "item", at))[0]
            first = (await past.version(kind, tenant, "item", 1))[0]
            assert (then.content, then.tenant_id, then.kind) == (ONE, tenant, kind)
            assert (first.content, first.tenant_id, first.kind) == (ONE, tenant, kind)
        first = [(1, ONE)]
        assert [*found.values()] == [[*first, (2, TWO)], first, first, first]
        for tenant, kind in (("t", RULE), ("T", MEMORY)):
            with pytest.raises(NotFound):
                await past.version(kind, tenant, "item", 2)
        await carry(change_log, of(("T", RULE), 3, None, ONE))
        assert (await knowledge.get(RULE, "T", "item")).version == 2

    async def test_what_changes_or_goes_is_one_tenants_and_kinds(
        self, knowledge: Knowledge, past: KnowledgePast, pages: KnowledgePages
    ) -> None:
        now = [await knowledge.get(kind, tenant, "item") for tenant, kind in SCOPES[:3]]
        assert [(item.tenant_id, item.kind) for item in now] == [*SCOPES[:3]]
        assert [item.content for item in now] == [TWO, ONE, ONE]
        with pytest.raises(NotFound):
            await knowledge.get(RULE, "T", "item")
        listed = await knowledge.list(tenant_id=None, agent_id=None, kind=None)
        assert sorted((i.tenant_id, i.kind) for i in listed if i.id == "item") == sorted(SCOPES[:3])
        assert sorted((i.tenant_id, i.kind) for i in listed if i.id != "item") == sorted(SCOPES)
        for given, most in (
            ({"tenant_id": "t", "agent_id": "a", "kind": None}, 2),
            ({"tenant_id": "T", "agent_id": None, "kind": None}, 3),
            ({"tenant_id": "t", "agent_id": None, "kind": RULE}, 2),
            ({"tenant_id": None, "agent_id": "b", "kind": None}, 4),
        ):
            found = await knowledge.list(**given)
            assert len(found) == most
            assert all(given["tenant_id"] in (None, item.tenant_id) for item in found)
        for tenant, kinds in (("t", [RULE, MEMORY]), ("T", [MEMORY])):
            browsed = await pages.browse(
                tenant_id=tenant, agent_id="a", kind=None, after=None, limit=9
            )
            assert {item.id for item in browsed} == {"item"}
            assert [(item.tenant_id, item.kind) for item in browsed] == [(tenant, k) for k in kinds]
            page = await pages.page(RULE, tenant_id=tenant, agent_id="a", after=None, limit=9)
            assert [item.id for item in page] == ["item"][: len(kinds) - 1]
        for tenant, kind in SCOPES:
            (last,) = await past.last("item", tenant_id=tenant, kind=kind)
            assert (last.valid_to is None) is ((tenant, kind) != ("T", RULE))

    async def test_what_is_the_same_is_looked_for_where_it_stands_now(
        self, knowledge: Knowledge
    ) -> None:
        for tenant, kind, text in (("t", RULE, ONE), ("T", MEMORY, ONE), ("t", MEMORY, TWO)):
            same = await knowledge.find_same(kind, tenant, "a", text)
            assert same is not None
            assert (same.tenant_id, same.kind) == (tenant, kind)
        assert await knowledge.find_same(MEMORY, "t", "a", ONE) is None
        assert await knowledge.find_same(RULE, "T", "a", ONE) is None
        for tenant, kind in SCOPES:
            beside = await knowledge.find_same(kind, tenant, "b", ONE)
            assert beside is not None
            assert beside.version == 1
            assert (beside.tenant_id, beside.kind, beside.id) == (tenant, kind, "beside")
        rule = await knowledge.find_named(Kind.DMN_RULE, "t", "a", "item")
        assert rule is not None
        assert (rule.tenant_id, rule.kind) == ("t", RULE)
        for tenant, agent, name in (("T", "a", "item"), ("t", "b", "item"), ("t", "a", "beside")):
            assert await knowledge.find_named(Kind.DMN_RULE, tenant, agent, name) is None

    async def test_lineage_is_of_one_item_and_of_what_was_done(
        self, lineage: Lineage, change_log: ChangeLog
    ) -> None:
        for scope in SCOPES:
            await _failed(change_log, of(scope, 9, TWO, ONE))
        found = []
        for tenant, kind in SCOPES:
            made = await lineage.made(kind, tenant, "item", limit=9, max_bytes=10**6)
            found.append([(each.operation, each.after and each.after.content) for each in made])
        first = ("CREATE", ONE)
        assert found == [[first, ("UPDATE", TWO)], [first], [first], [first, ("DELETE", None)]]
        for tenant, kinds in (("t", {RULE, MEMORY}), ("T", {MEMORY})):
            taught = await lineage.taught(tenant, agent_id="a", limit=9)
            assert {(each.kind, each.item_id) for each in taught} == {(k, "item") for k in kinds}
            assert {each.feedback_id for each in taught} <= {"feedback-1", "feedback-2"}
            counts = await lineage.counts(tenant)
            assert {(each.agent_id, each.kind, each.count) for each in counts} == {
                *(("a", kind, 1) for kind in kinds),
                *(("b", kind, 1) for kind in (RULE, MEMORY)),
            }


def _beside(scope: tuple[str, Kind]) -> Change:
    change = of(scope, 8, None, ONE)
    assert change.after is not None
    after = change.after.model_copy(update={"name": "beside"})
    return change.model_copy(
        update={
            "target_id": "beside",
            "target_name": "beside",
            "agent_id": "b",
            "after": after,
        }
    )


async def _failed(log: ChangeLog, change: Change) -> None:
    await log.open(change, {})
    async with log.unit_of_work(change) as unit:
        failed = {"status": HistoryStatus.FAILED, "feedback_id": change.feedback_id}
        await unit.record_knowledge_history(history_of(change).model_copy(update=failed))
