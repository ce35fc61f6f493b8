"""The index follows the skill store: seldom, tenant by tenant, and never at the cost of a run."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import pytest
import structlog

from core.adapters.postgres.change_log import PostgresChangeLog, PostgresTargetLocks
from core.adapters.postgres.queries import Pool, fetch_all, transaction
from core.adapters.postgres.reads import PostgresReader
from core.adapters.postgres.search import (
    COMPARED_PER_SCAN,
    PostgresSearch,
    SkillFollower,
    index_document,
)
from core.changes.outside import OutsideChanges
from core.domain.errors import SkillApiDown
from core.domain.models import (
    SKILL_MD,
    Bundle,
    FileRef,
    HistoryFilter,
    Kind,
    Operation,
    SkillFile,
    SkillSummary,
)
from core.skills.bundle import bundle_hash
from core.testing.determinism import counting_ids
from core.testing.skill_store import MemorySkillStore
from tests.contracts.suites.search import PartlyUnreadable, found, memory, skill
from tests.support.waiting import SOON


class Clock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class CountingStore(MemorySkillStore):
    def __init__(self) -> None:
        super().__init__()
        self.lists = self.reads = 0

    async def list(self, tenant_id: str) -> Sequence[SkillSummary]:
        self.lists += 1
        return await super().list(tenant_id)

    async def read(self, name: str, tenant_id: str) -> Bundle | None:
        self.reads += 1
        return await super().read(name, tenant_id)


class HangingStore(MemorySkillStore):
    """Never answers for the tenants in `silent`, nor returns skills in `stuck`."""

    def __init__(self) -> None:
        super().__init__()
        self.silent: set[str] = set()
        self.stuck: set[str] = set()
        self.asked: list[str] = []

    async def list(self, tenant_id: str) -> Sequence[SkillSummary]:
        self.asked.append(tenant_id)
        if tenant_id in self.silent:
            await asyncio.Event().wait()
        return await super().list(tenant_id)

    async def read(self, name: str, tenant_id: str) -> Bundle | None:
        if name in self.stuck:
            await asyncio.Event().wait()
        return await super().read(name, tenant_id)


async def indexed(pool: Pool) -> list[str]:
    """Return the names of tenant `t`'s skills in the index."""
    rows = await fetch_all(pool, "search.skills", tenant_id="t")
    return sorted(row["item_id"] for row in rows)


async def test_a_tenant_is_scanned_seldom_and_few_unchanged_skills_are_read(
    pool: Pool,
) -> None:
    store, clock = CountingStore(), Clock()
    follower = SkillFollower(pool, store, every=30, clock=clock)
    count = COMPARED_PER_SCAN + 2
    for number in range(count):
        await store.upload(skill(f"skill-{number}", "부분 환불"), "t")
    await follower.follow("t")
    await follower.follow("t")
    assert (store.lists, store.reads) == (1, count)
    clock.now = 30.0
    await follower.follow("t")
    await follower.follow("u")
    assert (store.lists, store.reads) == (3, count + COMPARED_PER_SCAN)


async def test_a_change_that_does_not_show_in_the_list_is_seen_in_turn(pool: Pool) -> None:
    store = CountingStore()
    follower = SkillFollower(pool, store, every=0, clock=Clock())
    for number in range(3 * COMPARED_PER_SCAN):
        await store.upload(skill(f"skill-{number:02d}", "부분 환불"), "t")
    await follower.follow("t")
    for name in ("skill-00", f"skill-{3 * COMPARED_PER_SCAN - 1}"):
        before = skill(name, "부분 환불")
        edited = before.document.replace(f"# {name}", "# 교환")
        file = SkillFile(data=edited.encode())
        await store.put_file(name, SKILL_MD, file, "t", base_hash=bundle_hash(before))
    search = PostgresSearch(pool, None)
    for seen in (["skill-00"], ["skill-00"], ["skill-00", "skill-23"]):
        await follower.follow("t")
        assert sorted(hit.id for hit in await found(search, "교환")) == seen


async def test_a_skill_indexed_by_its_own_commit_is_not_read_again(pool: Pool) -> None:
    store = CountingStore()
    follower = SkillFollower(pool, store, every=0, clock=Clock())
    bundle = skill("reconcile", "부분 환불")
    await store.upload(bundle, "t")
    own = memory("reconcile", "부분 환불 절차", agent_id=None)
    async with transaction(pool) as conn:
        await index_document(conn, own.model_copy(update={"kind": Kind.SKILL}))
    await follower.follow("t")
    assert store.reads == 0
    changed = skill("reconcile", "교환").files[SKILL_MD]
    await store.put_file("reconcile", SKILL_MD, changed, "t", base_hash=bundle_hash(bundle))
    await follower.follow("t")
    search = PostgresSearch(pool, None)
    assert [hit.id for hit in await found(search, "교환")] == ["reconcile"]


async def test_a_skill_that_cannot_be_read_is_told_once_and_not_read_again(pool: Pool) -> None:
    store = PartlyUnreadable()
    follower = SkillFollower(pool, store, every=0, clock=Clock())
    for name in ("broken", "sound"):
        await store.upload(skill(name, "환불"), "t")
    with structlog.testing.capture_logs() as logs:
        for _ in range(3):
            await follower.follow("t")
    assert store.reads == 1
    (told,) = [entry for entry in logs if entry["event"] == "skill.unreadable"]
    assert (told["tenant_id"], told["skill"]) == ("t", "broken")
    assert await indexed(pool) == ["sound"]


async def test_what_others_write_is_on_record_once_whoever_sees_it(pool: Pool) -> None:
    store = CountingStore()
    ids = counting_ids("outside")
    outside = OutsideChanges(store, PostgresChangeLog(pool), PostgresTargetLocks(pool), ids)
    one, other = (
        SkillFollower(pool, store, every=0, clock=Clock(), outside=outside) for _ in range(2)
    )
    await store.upload(skill("reconcile", "부분 환불"), "t")
    for _ in range(2):
        await asyncio.gather(one.follow("t"), other.follow("t"))
    store.skills["t", "reconcile"] = skill("reconcile", "교환")
    for _ in range(2):
        await asyncio.gather(one.follow("t"), other.follow("t"))
    del store.skills["t", "reconcile"]
    for _ in range(2):
        await asyncio.gather(one.follow("t"), other.follow("t"))
    rows, _ = await PostgresReader(pool).history(HistoryFilter(), limit=10, cursor=None)
    assert [(row.operation, row.knowledge_name) for row in rows] == [
        (Operation.DELETE, "reconcile"),
        (Operation.UPDATE, "reconcile"),
        (Operation.CREATE, "reconcile"),
    ]
    assert [await reads(pool, row.new_files) for row in rows] == ["", "교환", "부분 환불"]


async def reads(pool: Pool, files: Mapping[str, FileRef] | None) -> str:
    """Return which of two words SKILL.md says, as its blob is stored."""
    if not files:
        return ""
    (data,) = (await PostgresChangeLog(pool).blobs([files[SKILL_MD]])).values()
    return "교환" if "교환" in data.decode() else "부분 환불"


async def test_a_store_that_is_down_is_asked_once_in_a_while(pool: Pool) -> None:
    class Down(CountingStore):
        async def list(self, tenant_id: str) -> Sequence[SkillSummary]:
            self.lists += 1
            raise SkillApiDown("503")

    store, clock = Down(), Clock()
    follower = SkillFollower(pool, store, every=30, clock=clock)
    ends = await asyncio.gather(*[follower.follow("t") for _ in range(8)], return_exceptions=True)
    assert [type(end) for end in ends].count(SkillApiDown) == 1
    assert store.lists == 1
    clock.now = 30.0
    with pytest.raises(SkillApiDown):
        await follower.follow("t")


async def test_one_tenant_does_not_wait_for_another_and_nobody_waits_for_long(pool: Pool) -> None:
    store = HangingStore()
    store.silent = {"slow"}
    await store.upload(skill("reconcile", "환불"), "t")
    follower = SkillFollower(pool, store, every=30, clock=Clock(), longest=0.5)
    waiting = [asyncio.create_task(follower.follow("slow")) for _ in range(8)]
    await asyncio.wait_for(follower.follow("t"), SOON)
    assert await indexed(pool) == ["reconcile"]
    assert not any(task.done() for task in waiting)
    ends = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), SOON)
    assert {type(end) for end in ends} <= {SkillApiDown, type(None)}
    assert store.asked.count("slow") == 1


async def test_a_look_that_is_cut_off_is_gone_on_with_at_once(pool: Pool) -> None:
    store = HangingStore()
    for name in ("a", "b", "c"):
        await store.upload(skill(name, "환불"), "t")
    store.stuck = {"b"}
    follower = SkillFollower(pool, store, every=30, clock=Clock(), longest=0.5)
    with pytest.raises(SkillApiDown, match="took longer"):
        await follower.follow("t")
    assert await indexed(pool) == ["a"]
    store.stuck = set()
    await follower.follow("t")
    assert await indexed(pool) == ["a", "b", "c"]
