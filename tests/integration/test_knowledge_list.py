"""A list of knowledge stays within the tenant."""

from __future__ import annotations

import pytest

from core.adapters.postgres.agents import PostgresAgents
from core.adapters.postgres.knowledge import PostgresKnowledge
from core.adapters.postgres.queries import Pool, transaction
from core.adapters.postgres.search import index_document
from core.domain.models import SKILL_MD, Agent, Bundle, Kind, SkillFile
from core.testing.skill_store import MemorySkillStore
from tests.contracts.suites.search import memory

_HISTORY = """
INSERT INTO history (id, knowledge_type, knowledge_id, knowledge_name, agent_id, tenant_id,
    operation, feedback_content, feedback_id, change_id, attempt, status)
VALUES (%(id)s, 'SKILL', 'refund', 'refund', 'a', %(tenant)s, %(operation)s, 'x', %(feedback)s,
    %(id)s, 1, %(status)s)
"""


async def put_on_record(
    pool: Pool, change_id: str, operation: str, *, tenant: str = "t", status: str = "applied"
) -> None:
    params = {"id": change_id, "operation": operation, "tenant": tenant, "status": status}
    async with transaction(pool) as conn:
        await conn.execute(_HISTORY, {**params, "feedback": f"feedback of {change_id}"})


async def refund_skill(pool: Pool) -> PostgresKnowledge:
    async with transaction(pool) as conn:
        skill = memory("refund", "flat text", tenant_id="t", agent_id=None)
        await index_document(conn, skill.model_copy(update={"kind": Kind.SKILL}))
    store = MemorySkillStore()
    document = b"---\nname: refund\ndescription: How to refund.\n---\n# Refund\n"
    await store.upload(Bundle(name="refund", files={SKILL_MD: SkillFile(data=document)}), "t")
    return PostgresKnowledge(pool, store)


async def test_a_skill_has_the_version_and_the_cause_of_our_last_change(pool: Pool) -> None:
    knowledge = await refund_skill(pool)
    await put_on_record(pool, "c1", "CREATE")
    await put_on_record(pool, "c2", "UPDATE")
    await put_on_record(pool, "c3", "UPDATE", status="failed")
    await put_on_record(pool, "c4", "UPDATE", tenant="other")
    (listed,) = await knowledge.list(tenant_id="t", agent_id=None, kind=Kind.SKILL)
    shown = await knowledge.get(Kind.SKILL, "t", "refund")
    for item in (listed, shown):
        assert (item.version, item.change_id) == (2, "c2")
        assert item.feedback_id == "feedback of c2"
        assert item.valid_from is not None
    assert listed.content == ""
    assert shown.content.startswith("---\nname: refund")


@pytest.mark.parametrize("records", [[], ["CREATE", "DELETE"]])
async def test_a_skill_of_others_has_no_change_of_ours(pool: Pool, records: list[str]) -> None:
    knowledge = await refund_skill(pool)
    for number, operation in enumerate(records):
        await put_on_record(pool, f"c{number}", operation)
    (listed,) = await knowledge.list(tenant_id="t", agent_id=None, kind=Kind.SKILL)
    shown = await knowledge.get(Kind.SKILL, "t", "refund")
    for item in (listed, shown):
        assert (item.version, item.change_id, item.valid_from) == (1, None, None)


async def test_an_agents_skills_are_those_of_its_own_tenant(pool: Pool) -> None:
    await PostgresAgents(pool).save(Agent(id="a", tenant_id="t", name="A", skills=("refund",)))
    async with transaction(pool) as conn:
        for tenant_id in ("t", "other"):
            skill = memory("refund", f"of {tenant_id}", tenant_id=tenant_id, agent_id=None)
            await index_document(conn, skill.model_copy(update={"kind": Kind.SKILL}))
    knowledge = PostgresKnowledge(pool, MemorySkillStore())
    listed = await knowledge.list(tenant_id=None, agent_id="a", kind=None)
    assert [(item.tenant_id, item.id) for item in listed] == [("t", "refund")]
