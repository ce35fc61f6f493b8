"""What a list of knowledge shows stays within the tenant."""

from __future__ import annotations

from core.models import Agent, Kind
from core.postgres.agents import PostgresAgents
from core.postgres.knowledge import PostgresKnowledge
from core.postgres.queries import Pool, transaction
from core.postgres.search_index import index_document
from core.testing.contracts.search import memory
from core.testing.skill_store import MemorySkillStore


async def test_an_agents_skills_are_those_of_its_own_tenant(pool: Pool) -> None:
    await PostgresAgents(pool).save(Agent(id="a", tenant_id="t", name="A", skills=("refund",)))
    async with transaction(pool) as conn:
        for tenant_id in ("t", "other"):
            skill = memory("refund", f"of {tenant_id}", tenant_id=tenant_id, agent_id=None)
            await index_document(conn, skill.model_copy(update={"kind": Kind.SKILL}))
    knowledge = PostgresKnowledge(pool, MemorySkillStore())
    listed = await knowledge.list(tenant_id=None, agent_id="a", kind=None)
    assert [(item.tenant_id, item.content) for item in listed] == [("t", "of t")]
