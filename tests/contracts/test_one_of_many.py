"""What is asked of one item is told of that item: others have its id, its kind or its tenant."""

from __future__ import annotations

import itertools

import pytest

from core.adapters.postgres.agents import PostgresAgents
from core.adapters.postgres.change_log import PostgresChangeLog, PostgresSteps, PostgresTargetLocks
from core.adapters.postgres.knowledge import PostgresKnowledge, PostgresKnowledgePast
from core.adapters.postgres.lineage import PostgresLineage
from core.adapters.postgres.queries import Pool
from core.adapters.postgres.reads import PostgresReader
from core.adapters.postgres.reviews import PostgresReviewQueue
from core.domain.errors import NotFound
from core.domain.hashing import state_hash
from core.domain.models import Agent, Change, ChangeFilter, HistoryFilter, Kind, Snapshot
from core.testing.skill_store import MemorySkillStore
from tests.contracts.suites.inbox import added, piece
from tests.contracts.suites.knowledge_past import carry, step
from tests.contracts.suites.reviews import HAPPENED, waiting
from tests.support.postgres_stores import PostgresStores
from tests.support.rules import learnt, row

AGENTS = {"t": "a", "u": "c"}
KINDS = (Kind.MEMORY, Kind.DMN_RULE, Kind.SKILL)
ALL = [*itertools.product(AGENTS, KINDS, ("x", "y"))]
Item = tuple[str, Kind, str]


def text(item: Item, number: int) -> str:
    tenant_id, kind, item_id = item
    name = f"{tenant_id} {item_id} {number}"
    return learnt(row("> 100", "team lead"), name=name).xml if kind is Kind.DMN_RULE else name


def changes(item: Item) -> list[Change]:
    """Make the item, and write it anew."""
    tenant_id, kind, item_id = item
    texts = [None, text(item, 1), text(item, 2)]
    made = [step(n, texts[n - 1], texts[n], kind=kind, tenant_id=tenant_id) for n in (1, 2)]
    return [
        change.model_copy(
            update={
                "id": f"{tenant_id}-{kind}-{item_id}-{number}",
                "key": f"{tenant_id}-{kind}-{item_id}-{number}",
                "target_id": item_id,
                "target_name": item_id,
                "before": _named(change.before, item_id),
                "after": _named(change.after, item_id),
                "base_hash": state_hash(_named(change.before, item_id)),
                "agent_id": AGENTS[tenant_id],
                "feedback_id": f"{tenant_id}-{item_id}",
            }
        )
        for number, change in enumerate(made, start=1)
    ]


def _named(state: Snapshot | None, name: str) -> Snapshot | None:
    return state and state.model_copy(update={"name": name})


def ids(item: Item) -> list[str]:
    return [change.id for change in changes(item)]


@pytest.fixture
async def many(pool: Pool) -> None:
    for tenant_id, agent_id in AGENTS.items():
        await PostgresAgents(pool).save(Agent(id=agent_id, tenant_id=tenant_id, name="A"))
    for item in ALL:
        await carry(PostgresChangeLog(pool), *changes(item))


@pytest.mark.usefixtures("many")
async def test_every_read_of_an_item_is_of_that_item(pool: Pool) -> None:
    knowledge = PostgresKnowledge(pool, MemorySkillStore())
    for item in ALL:
        tenant_id, kind, item_id = item
        versions = await knowledge.versions(kind, tenant_id, item_id)
        assert [version.change_id for version in versions] == ids(item)
        first, _ = await knowledge.as_of(kind, tenant_id, item_id, versions[0].valid_from)
        assert first.change_id == ids(item)[0]
        last, _ = await knowledge.as_of(kind, tenant_id, item_id, versions[1].valid_from)
        assert last.change_id == ids(item)[1]
        past = PostgresKnowledgePast(pool)
        for number, change_id in enumerate(ids(item), start=1):
            found, _ = await past.version(kind, tenant_id, item_id, number)
            assert found.change_id == change_id
        (newest,) = await past.last(item_id, tenant_id=tenant_id, kind=kind)
        assert (newest.change_id, newest.id) == (ids(item)[1], item_id)
        made = await PostgresLineage(pool).made(
            kind, tenant_id, item_id, limit=9, max_bytes=1 << 30
        )
        assert [each.by.change_id for each in made] == ids(item)
        assert [each.version for each in made] == [1, 2]
        chain = await PostgresSteps(pool).chain(kind, tenant_id, item_id)
        assert [each.id for each in chain] == ids(item)
        latest = await PostgresTargetLocks(pool).latest(tenant_id, kind, item_id)
        assert latest is not None
        assert latest.id == ids(item)[1]


@pytest.mark.usefixtures("many")
async def test_what_stands_is_of_its_tenant_agent_kind_and_id(pool: Pool) -> None:
    knowledge = PostgresKnowledge(pool, MemorySkillStore())
    for item in ALL:
        tenant_id, kind, item_id = item
        if kind is Kind.SKILL:
            continue
        agent_id, said = AGENTS[tenant_id], text(item, 2)
        assert (await knowledge.get(kind, tenant_id, item_id)).change_id == ids(item)[1]
        same = await knowledge.find_same(kind, tenant_id, agent_id, said)
        assert same is not None
        assert same.change_id == ids(item)[1]
        for other in ((kind, tenant_id, "z"), (kind, "z", agent_id)):
            assert await knowledge.find_same(*other, said) is None
        other_kind = Kind.MEMORY if kind is Kind.DMN_RULE else Kind.DMN_RULE
        assert await knowledge.find_same(other_kind, tenant_id, agent_id, said) is None
        assert await knowledge.find_same(kind, tenant_id, agent_id, text(item, 1)) is None
    for tenant_id, agent_id in AGENTS.items():
        listed = await knowledge.list(tenant_id=tenant_id, agent_id=agent_id, kind=Kind.MEMORY)
        assert sorted(i.content for i in listed) == [f"{tenant_id} x 2", f"{tenant_id} y 2"]
    with pytest.raises(NotFound):
        await knowledge.get(Kind.MEMORY, "t", "z")


@pytest.mark.usefixtures("many")
async def test_lists_of_changes_and_history_hold_what_is_asked_for(pool: Pool) -> None:
    reader = PostgresReader(pool)
    every = {change_id: item for item in ALL for change_id in ids(item)}
    for wanted, fits in [
        ({"tenant_id": "t"}, lambda item: item[0] == "t"),
        ({"agent_id": "c"}, lambda item: item[0] == "u"),
        ({"kind": Kind.SKILL}, lambda item: item[1] is Kind.SKILL),
        ({"feedback_id": "t-x"}, lambda item: (item[0], item[2]) == ("t", "x")),
        ({"target_id": "y"}, lambda item: item[2] == "y"),
        ({"tenant_id": "t", "kind": Kind.MEMORY}, lambda item: item[:2] == ("t", Kind.MEMORY)),
    ]:
        expected = {change_id for change_id, item in every.items() if fits(item)}
        found, _ = await reader.changes(ChangeFilter(**wanted), limit=99, cursor=None)
        assert {change.id for change in found} == expected
        given = {"item_id" if name == "target_id" else name: v for name, v in wanted.items()}
        records, _ = await reader.history(HistoryFilter(**given), limit=99, cursor=None)
        assert {record.change_id for record in records} == expected
    (one, *_), _ = await reader.history(HistoryFilter(tenant_id="u"), limit=1, cursor=None)
    assert await reader.history_record(one.id) == one


@pytest.mark.usefixtures("many")
async def test_what_was_taught_and_is_known_is_counted_by_tenant(pool: Pool) -> None:
    lineage = PostgresLineage(pool)
    for tenant_id, agent_id in AGENTS.items():
        counts = await lineage.counts(tenant_id)
        assert [(c.agent_id, c.kind, c.count) for c in counts] == [
            (agent_id, Kind.DMN_RULE, 2),
            (agent_id, Kind.MEMORY, 2),
        ]
        taught = await lineage.taught(tenant_id, agent_id=None, limit=99)
        assert {(each.kind, each.item_id, each.change_id) for each in taught} == {
            (kind, item_id, ids((tenant_id, kind, item_id))[1])
            for kind in (Kind.MEMORY, Kind.DMN_RULE)
            for item_id in ("x", "y")
        }
        assert await lineage.taught(tenant_id, agent_id="z", limit=99) == []
        assert len(await lineage.taught(tenant_id, agent_id=agent_id, limit=3)) == 3


class TestQueueOfMany(PostgresStores):
    """Changes that wait, of two tenants, among some that do not."""

    async def test_the_line_is_of_the_tenant_and_of_what_waits(
        self, pool: Pool, change_log: PostgresChangeLog, inbox: object
    ) -> None:
        queue = PostgresReviewQueue(pool)
        feedback_id = await added(inbox, piece("s"))  # type: ignore[arg-type]
        for name, tenant_id, held in [
            ("1", "t", True),
            ("2", "u", True),
            ("3", "t", False),
            ("4", "t", True),
            ("5", "t", True),
        ]:
            change = waiting(name).model_copy(
                update={"id": name, "key": name, "tenant_id": tenant_id, "feedback_id": feedback_id}
            )
            change = change if held else change.model_copy(update={"status": "failed"})
            await change_log.store(change, {}, HAPPENED)
        assert list(await queue.oldest(tenant_id="t", but=())) == ["1", "4", "5"]
        assert list(await queue.oldest(tenant_id=None, but=("2",))) == ["1", "4", "5"]
        found = await queue.open("4", tenant_id="t", but=())
        place = found.queue_position
        assert (place.waiting, place.position, place.previous) == (3, 2, "1")
        assert place.following == ("5", "1")
        assert found.cause is not None
        assert found.cause.id == feedback_id
        skipped = (await queue.open("4", tenant_id=None, but=("5",))).queue_position
        assert (skipped.waiting, skipped.position, skipped.previous) == (4, 3, "2")
        assert skipped.following == ("1", "2")
        ended = (await queue.open("3", tenant_id="t", but=())).queue_position
        assert (ended.waiting, ended.position, ended.previous) == (3, None, "1")


async def test_an_equal_state_of_another_is_not_what_was_left(pool: Pool) -> None:
    """Two items of one text: what is written anew is the one that is named."""
    log = PostgresChangeLog(pool)
    one = step(1, None, "원화")
    two = one.model_copy(update={"id": "2", "key": "2", "target_id": "other", "agent_id": "b"})
    await carry(log, one, two)
    before = Snapshot(content="원화", name="item")
    after = step(3, "원화", "달러").model_copy(update={"before": before, "target_id": "other"})
    await carry(log, after.model_copy(update={"agent_id": "b"}))
    knowledge = PostgresKnowledge(pool, MemorySkillStore())
    assert (await knowledge.get(Kind.MEMORY, "t", "item")).content == "원화"
    assert (await knowledge.get(Kind.MEMORY, "t", "other")).content == "달러"
