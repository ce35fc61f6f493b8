"""What a reviewer sees that is like a change: of its kind, without itself, and never unlike it."""

from __future__ import annotations

import pytest

from core.domain.models import Change, Kind, Snapshot
from core.entrypoints.service.review_view.view import SHOWN, similar_to
from core.testing.knowledge import MemoryKnowledge
from tests.support.knowledge_search import KnowledgeSearch
from tests.support.react import item_change
from tests.support.rules import learnt, row

TEXT = "Ms. Kim wants amounts in KRW"


def known(**texts: str) -> MemoryKnowledge:
    knowledge = MemoryKnowledge()
    for item_id, text in texts.items():
        knowledge.write(item_change(Kind.MEMORY, item_id, item_id, text))
    return knowledge


async def similar(change: Change, knowledge: MemoryKnowledge) -> list[str]:
    return [hit.id for hit in await similar_to(change, KnowledgeSearch(knowledge))]


async def test_what_says_nearly_the_same_is_shown_with_why() -> None:
    knowledge = known(same="Ms. Kim wants all amounts in KRW", unlike="회의는 정각에 시작한다")
    change = item_change(Kind.MEMORY, "new", "new", TEXT)
    (hit,) = await similar_to(change, KnowledgeSearch(knowledge))
    assert (hit.id, hit.kind, hit.agent_id) == ("same", Kind.MEMORY, "a1")
    assert hit.excerpt == "Ms. Kim wants all amounts in KRW"
    assert 0.5 < hit.score < 1
    assert "similarity" in hit.why


async def test_the_target_itself_is_not_like_itself_and_few_are_shown() -> None:
    texts = {f"m{n}": f"Ms. Kim wants amounts in KRW, case {n}" for n in range(SHOWN + 2)}
    change = item_change(Kind.MEMORY, "m0", "m0", TEXT)
    found = await similar(change, known(**texts))
    assert len(found) == SHOWN
    assert "m0" not in found


async def test_a_deletion_is_compared_by_what_it_deletes() -> None:
    state = Snapshot(content=TEXT, name="m")
    change = item_change(Kind.MEMORY, "new", "new", "x")
    change = change.model_copy(update={"before": state, "after": None})
    assert await similar(change, known(same=TEXT)) == ["same"]


@pytest.mark.parametrize("kind", [Kind.MEMORY, Kind.AGENT_SKILLS])
async def test_what_has_no_words_is_like_nothing(kind: Kind) -> None:
    text = "same" if kind is Kind.AGENT_SKILLS else "  "
    assert await similar(item_change(kind, "new", "new", text), known(same="same")) == []


async def test_a_table_that_cannot_be_read_is_compared_by_its_name() -> None:
    knowledge = MemoryKnowledge()
    approval = learnt(row("> 100", "team lead"), name="approval of orders").xml
    knowledge.write(item_change(Kind.DMN_RULE, "r", "approval of orders", approval))
    broken = item_change(Kind.DMN_RULE, "new", "approval of orders", "<")
    assert await similar(broken, knowledge) == ["r"]


@pytest.mark.parametrize(
    ("document", "found"),
    [
        ("---\nname: new\ndescription: Refund parcels damaged at sea\n---\nbody\n", True),
        (
            "---\nname: new\ndescription: Pack lunch for the crew\n---\nRefund parcels damaged\n",
            False,
        ),
        ("Refund parcels damaged at sea, without a head\n", False),
    ],
)
async def test_a_skill_is_compared_by_its_description(document: str, found: bool) -> None:
    knowledge = MemoryKnowledge()
    known_skill = "---\nname: refund\ndescription: Refund parcels damaged at sea\n---\nbody\n"
    knowledge.write(item_change(Kind.SKILL, "refund", "refund", known_skill))
    change = item_change(Kind.SKILL, "new", "new", document)
    assert bool(await similar(change, knowledge)) is found


async def test_a_skill_without_a_description_is_compared_by_its_name() -> None:
    knowledge = MemoryKnowledge()
    name = "refund-damaged-parcels"
    text = f"---\nname: {name}\ndescription: Refund damaged parcels\n---\nbody\n"
    knowledge.write(item_change(Kind.SKILL, name, name, text))
    bare = item_change(Kind.SKILL, "new", "refund damaged parcels", "no head\n")
    assert await similar(bare, knowledge) == [name]
