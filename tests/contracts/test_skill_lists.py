"""Skills in lists of knowledge: those of the tenant that asks, and of its agent, in PostgreSQL."""

from __future__ import annotations

import pytest

from core.adapters.postgres.agents import PostgresAgents
from core.adapters.postgres.change_log import PostgresChangeLog
from core.adapters.postgres.knowledge import PostgresKnowledge, PostgresKnowledgePages
from core.adapters.postgres.queries import Pool, connection
from core.adapters.postgres.search import SkillFollower
from core.domain.models import Agent, ChangeStatus, Kind, Snapshot
from core.testing.skill_store import MemorySkillStore
from tests.contracts.suites.change_log import history_of, memory_change
from tests.contracts.suites.search_items import skill
from tests.support.search_index import PostgresIndex

TENANTS = {"t": ("a", "b"), "u": ("c",)}


@pytest.fixture
async def learnt(pool: Pool) -> None:
    """Agents a and b of tenant t, c of u: a and c have learnt `refund`, b `audit`, and a once more.

    Nobody of ours wrote `built-in`, which tenant t has.
    """
    for tenant_id, agents in TENANTS.items():
        for agent_id in agents:
            await PostgresAgents(pool).save(Agent(id=agent_id, tenant_id=tenant_id, name="A"))
    log = PostgresChangeLog(pool)
    states = [("t", "a", "refund"), ("u", "c", "refund"), ("t", "b", "audit"), ("t", "a", "refund")]
    for number, (tenant_id, agent_id, name) in enumerate(states):
        change = memory_change(f"c{number}", None if number < 3 else "old", name)
        update = {"kind": Kind.SKILL, "tenant_id": tenant_id, "agent_id": agent_id}
        after = Snapshot(content=f"# {name}", name=name, files={})
        change = change.model_copy(update={**update, "target_id": name, "after": after})
        await log.open(change, {})
        async with log.unit_of_work(change) as unit:
            await unit.update_agent_and_tenant_skills(change)
            await unit.record_knowledge_history(history_of(change))
            await unit.close(change.id, ChangeStatus.APPLIED)
    follower = SkillFollower(pool, await stocked(), every=0, clock=lambda: 0.0)
    for tenant_id in TENANTS:
        await follower.follow(tenant_id)


async def stocked() -> MemorySkillStore:
    """Return a store of all these skills."""
    store = MemorySkillStore()
    await store.upload(skill("built-in", "was there before"), "t")
    for tenant_id, names in {"t": ("refund", "audit"), "u": ("refund",)}.items():
        for name in names:
            await store.upload(skill(name, f"how to {name}"), tenant_id)
    return store


@pytest.mark.usefixtures("learnt")
@pytest.mark.parametrize(
    ("tenant_id", "agent_id", "found"),
    [
        ("t", None, ["t/audit 1 c2", "t/built-in 1 None", "t/refund 2 c3"]),
        ("u", None, ["u/refund 1 c1"]),
        ("t", "a", ["t/refund 2 c3"]),
        ("t", "b", ["t/audit 1 c2"]),
        ("u", "a", []),
        (None, "c", ["u/refund 1 c1"]),
        ("v", None, []),
    ],
)
async def test_skills_are_those_of_the_tenant_and_its_agent(
    pool: Pool, tenant_id: str | None, agent_id: str | None, found: list[str]
) -> None:
    scope = {"tenant_id": tenant_id, "agent_id": agent_id, "kind": Kind.SKILL}
    items = await PostgresKnowledge(pool, MemorySkillStore()).list(**scope)
    told = [f"{item.tenant_id}/{item.id} {item.version} {item.change_id}" for item in items]
    assert sorted(told) == found
    page = await PostgresKnowledgePages(pool).browse(**scope, after=None, limit=9)
    assert [f"{i.tenant_id}/{i.id} {i.version} {i.change_id}" for i in page] == found
    scope["kind"] = Kind.MEMORY
    assert await PostgresKnowledgePages(pool).browse(**scope, after=None, limit=9) == []


@pytest.mark.usefixtures("learnt")
async def test_a_skill_tells_of_its_own_last_change(pool: Pool) -> None:
    knowledge = PostgresKnowledge(pool, await stocked())
    for tenant_id, name, version, change_id in [
        ("t", "refund", 2, "c3"),
        ("t", "audit", 1, "c2"),
        ("t", "built-in", 1, None),
        ("u", "refund", 1, "c1"),
    ]:
        item = await knowledge.get(Kind.SKILL, tenant_id, name)
        assert (item.version, item.change_id) == (version, change_id)


@pytest.mark.usefixtures("learnt")
async def test_a_deleted_skill_leaves_the_lists_of_its_agent_and_tenant_alone(pool: Pool) -> None:
    deletion = memory_change("gone", "# refund", None)
    deletion = deletion.model_copy(update={"kind": Kind.SKILL, "target_id": "refund"})
    log = PostgresChangeLog(pool)
    async with connection(pool) as conn:
        await conn.execute("INSERT INTO agent_skills (agent_id, name) VALUES ('a', 'pricing')")
    await log.open(deletion, {})
    async with log.unit_of_work(deletion) as unit:
        await unit.update_agent_and_tenant_skills(deletion)
    agents = await PostgresAgents(pool).list()
    assert [(agent.id, agent.skills) for agent in agents] == [
        ("a", ("pricing",)),
        ("b", ("audit",)),
        ("c", ("refund",)),
    ]
    async with connection(pool) as conn:
        rows = await conn.execute("SELECT tenant_id, name FROM tenant_skills ORDER BY 1, 2")
        listed = [(row["tenant_id"], row["name"]) for row in await rows.fetchall()]
    assert listed == [("t", "audit"), ("u", "refund")]


@pytest.mark.usefixtures("learnt")
async def test_browsing_goes_on_behind_a_skill_and_shows_how_it_begins(pool: Pool) -> None:
    pages = PostgresKnowledgePages(pool)
    scope = {"tenant_id": None, "agent_id": None, "kind": None}
    first = await pages.browse(**scope, after=None, limit=2)
    assert [item.id for item in first] == ["audit", "built-in"]
    assert first[0].excerpt == "# audit"
    assert first[1].excerpt.startswith("built-in\nwas there before")
    rest = await pages.browse(**scope, after=("t", "SKILL", "built-in"), limit=9)
    assert [(item.tenant_id, item.id) for item in rest] == [("t", "refund"), ("u", "refund")]


@pytest.mark.usefixtures("learnt")
async def test_following_a_tenant_leaves_the_skills_of_another(pool: Pool) -> None:
    store = MemorySkillStore()
    await store.upload(skill("audit", "how to audit"), "t")
    await SkillFollower(pool, store, every=0, clock=lambda: 0.0).follow("t")
    knowledge = PostgresKnowledge(pool, store)
    for tenant_id, names in {"t": ["audit"], "u": ["refund"]}.items():
        items = await knowledge.list(tenant_id=tenant_id, agent_id=None, kind=Kind.SKILL)
        assert [item.id for item in items] == names


@pytest.mark.usefixtures("learnt")
async def test_a_dropped_skill_is_gone_for_its_tenant_alone(pool: Pool) -> None:
    await PostgresIndex(pool).drop("t", Kind.SKILL, "refund")
    items = await PostgresKnowledge(pool, MemorySkillStore()).list(
        tenant_id=None, agent_id=None, kind=Kind.SKILL
    )
    assert sorted((i.tenant_id, i.id) for i in items) == [
        ("t", "audit"),
        ("t", "built-in"),
        ("u", "refund"),
    ]
