"""What goes into an agent's files: what it knows and may show, and nobody else's."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from core.delivery.files.knowing import Known, known_to
from core.domain.errors import InvalidInput, NotFound
from core.domain.models import Agent, Bundle, Change, Kind, Reach, Snapshot
from core.domain.models.base import Scope
from core.testing.knowledge import MemoryKnowledge
from core.testing.skill_store import MemorySkillStore
from core.testing.stores import MemoryAgents
from tests.support.file_sync import AGENT, memory, skill
from tests.support.react import item_change

NOW = datetime.now(UTC)


def brought(kind: Kind, name: str, agent_id: str, tenant_id: str = "t", **reach: object) -> Change:
    state = Snapshot(content=f"says {name}", name=name, reach=Reach.model_validate(reach))
    given = {"agent_id": agent_id, "tenant_id": tenant_id, "after": state}
    return item_change(kind, name, name, "").model_copy(update=given)


class Skills(MemorySkillStore):
    """Skills of which one cannot be read."""

    async def read(self, name: str, tenant_id: str) -> Bundle | None:
        if name == "broken":
            raise InvalidInput("too large")
        return await super().read(name, tenant_id)


async def known(user: str | None = None) -> Known:
    knowledge, skills = MemoryKnowledge(), Skills()
    for change in (
        brought(Kind.MEMORY, "own", "orders"),
        brought(Kind.MEMORY, "other's", "returns"),
        brought(Kind.MEMORY, "for all", "returns", scope=Scope.TENANT),
        brought(Kind.MEMORY, "of another tenant", "orders", "u", scope=Scope.TENANT),
        brought(Kind.MEMORY, "for kim", "orders", scope=Scope.USER, user="kim"),
        brought(Kind.MEMORY, "for lee", "orders", scope=Scope.USER, user="lee"),
        brought(Kind.MEMORY, "over", "orders", valid_until=NOW - timedelta(days=1)),
        brought(Kind.DMN_RULE, "table", "orders"),
        brought(Kind.DMN_RULE, "other's table", "returns"),
        brought(Kind.SKILL, "refund", "orders"),
        brought(Kind.SKILL, "foreign", "returns"),
    ):
        knowledge.write(change)
    for tenant, name in (("t", "refund"), ("t", "vat"), ("u", "missing"), ("t", "unlisted")):
        skills.skills[tenant, name] = skill(name)
    listed = AGENT.model_copy(update={"skills": ("refund", "vat", "missing", "broken")})
    stale = Agent(id=AGENT.id, tenant_id="t", name="as it was")
    return await known_to(MemoryAgents([listed]), knowledge, skills, stale, user)


async def test_an_agent_s_files_have_what_it_knows_and_its_tenant() -> None:
    found = await known()
    assert {item.name for item in found.memories} == {"own", "for all"}
    assert [item.name for item in found.tables] == ["table"]
    assert [bundle.name for bundle in found.skills] == ["refund", "vat"]
    assert (found.versions, found.unreadable) == ({"refund": 1}, {"broken": "too large"})
    assert found.agent.name == AGENT.name


@pytest.mark.parametrize(
    ("user", "more"), [("kim", {"for kim"}), ("lee", {"for lee"}), ("x", set())]
)
async def test_what_is_for_one_person_is_there_for_that_one_alone(
    user: str, more: set[str]
) -> None:
    assert {item.name for item in (await known(user)).memories} == {"own", "for all"} | more


async def test_an_agent_that_is_not_there_is_told() -> None:
    with pytest.raises(NotFound):
        await known_to(MemoryAgents(), MemoryKnowledge(), Skills(), AGENT, None)


def test_files_are_over_with_the_first_memory_that_is() -> None:
    soon, late = NOW + timedelta(days=1), NOW + timedelta(days=2)
    dated = [memory(f"m{n}", "x").model_copy(update={"valid_until": at})
             for n, at in enumerate((late, None, soon))]  # fmt: skip
    assert Known(AGENT, dated).ends == soon
    assert Known(AGENT, [memory("m", "x")]).ends is None
