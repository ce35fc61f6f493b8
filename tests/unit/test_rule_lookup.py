"""A learnt table is found by name; if the name is ambiguous, the owners are named."""

from __future__ import annotations

import pytest

from core.domain.errors import InvalidInput, NotFound
from core.domain.hashing import ABSENT
from core.domain.models import Change, ChangeStatus, Kind, Operation, Snapshot
from core.entrypoints.cli.rule.lookup import find_rule
from core.testing.knowledge import MemoryKnowledge


def learnt(knowledge: MemoryKnowledge, item_id: str, tenant: str, agent: str, name: str) -> None:
    knowledge.write(
        Change(
            id=f"c-{item_id}",
            key=item_id,
            digest="",
            agent_id=agent,
            tenant_id=tenant,
            kind=Kind.DMN_RULE,
            operation=Operation.CREATE,
            target_id=item_id,
            target_name=name,
            before=None,
            base_hash=ABSENT,
            status=ChangeStatus.APPLIED,
            after=Snapshot(name=name, content="<x/>"),
        )
    )


@pytest.fixture
def knowledge() -> MemoryKnowledge:
    found = MemoryKnowledge()
    learnt(found, "1", "t", "a", "주문 승인")
    learnt(found, "2", "t", "b", "주문 승인")
    learnt(found, "3", "other", "c", "주문 승인")
    learnt(found, "4", "other", "c", "Fees")
    return found


@pytest.mark.parametrize("name", ["fees", "FEES", " Fees "])
async def test_a_name_that_is_there_once_is_enough(knowledge: MemoryKnowledge, name: str) -> None:
    assert (await find_rule(knowledge, name, None, None)).id == "4"


async def test_a_tenant_or_an_agent_narrows_the_choice(knowledge: MemoryKnowledge) -> None:
    assert (await find_rule(knowledge, "주문 승인", "other", None)).id == "3"
    assert (await find_rule(knowledge, "주문 승인", None, "b")).id == "2"
    assert (await find_rule(knowledge, "주문 승인", "t", "a")).id == "1"


async def test_several_of_that_name_are_listed_with_their_owners(
    knowledge: MemoryKnowledge,
) -> None:
    with pytest.raises(InvalidInput) as refused:
        await find_rule(knowledge, "주문 승인", None, None)
    assert refused.value.message == (
        "several tables are named '주문 승인': of agent 'a' of tenant 't', "
        "agent 'b' of tenant 't', agent 'c' of tenant 'other'"
    )
    assert "--agent" in refused.value.hint


async def test_a_table_of_somebody_else_is_not_found(knowledge: MemoryKnowledge) -> None:
    with pytest.raises(NotFound, match="no decision table is named 'Fees' for agent 'a'"):
        await find_rule(knowledge, "Fees", "t", "a")
