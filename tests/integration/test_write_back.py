"""What was learnt reaches the platform's tables on a real PostgreSQL, whatever goes wrong."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from core.adapters.postgres.figures import PostgresBacklog
from core.app.bootstrap import ask_platform
from core.app.program import open_app
from core.delivery.platform import backfill
from core.delivery.platform_rules import table_id
from core.domain.models import (
    Agent,
    ChangeFilter,
    ChangeStatus,
    ListEdit,
    MemoryRequest,
    MergeMode,
    NewFeedback,
    Operation,
    RuleRequest,
    SkillListRequest,
    SkillRequest,
)
from core.domain.models.deliveries import DeliveryStatus
from tests.support.api import settings_of
from tests.support.databases import url_of
from tests.support.postgrest_server import KEY
from tests.support.writing_back import AGENTS, BINARY, TENANT, WritingBack, writing_back

FIRST, SECOND = AGENTS
APPLIED = ChangeFilter(statuses=(ChangeStatus.APPLIED,))


@pytest.fixture
async def world(database: str, empty_database: str, tmp_path: Path) -> AsyncIterator[WritingBack]:
    async with writing_back(database, empty_database, tmp_path) as opened:
        yield opened


async def test_every_kind_of_change_arrives_as_the_platform_has_it(world: WritingBack) -> None:
    await world.memory("김 과장은 금액을 원화로 원한다")
    made = await world.rule("승인 한도", 100)
    rule_id = str(made.target_id)
    await world.rule("승인 한도", 500, rule_id=rule_id, mode=MergeMode.EXTEND)
    replaced = {"mode": MergeMode.REPLACE, "no_more": (100, 500)}
    await world.rule("승인 한도", 900, rule_id=rule_id, **replaced)  # type: ignore[arg-type]
    await world.skill("refund")
    await world.skill("refund", "second", update=True)
    await world.deliver()
    assert await world.differences() == []
    versions = await world.platform.run("SELECT * FROM proc_def_version ORDER BY version")
    assert [(v["version"], v["version_tag"], v["parent_version"]) for v in versions] == [
        ("1.0.0", "major", None),
        ("1.1.0", "minor", "1.0.0"),
        ("2.0.0", "major", "1.1.0"),
    ]
    (table,) = await world.platform.run("SELECT * FROM proc_def")
    assert table["id"] == table_id(TENANT, rule_id)
    assert (table["type"], table["owner"], table["prod_version"]) == ("dmn", FIRST, "2.0.0")
    (skill,) = await world.platform.run(
        "SELECT new_content FROM agent_knowledge_history"
        " WHERE knowledge_type = 'SKILL' AND operation = 'CREATE'"
    )
    files = json.loads(skill["new_content"])
    assert files["scripts/run.py"] == "print('hello')\n"
    assert files["assets/picture.png"].startswith("data:application/octet-stream;base64,")
    assert BINARY not in skill["new_content"].encode()


async def test_what_is_undone_is_undone_there_too(world: WritingBack) -> None:
    memory = await world.memory("Ms. Kim wants short answers")
    rule = await world.rule("limit", 100)
    skill = await world.skill("refund")
    listing = SkillListRequest(target_id=SECOND, skill_ids=("refund",))
    attached = await world.submit(listing, SECOND)
    await world.deliver()
    assert await world.listed(SECOND) == "refund"
    for receipt in (memory, rule, attached, skill):
        await world.app.revert(str(receipt.change_id), "wrong")
    await world.deliver()
    assert await world.differences() == []
    assert await world.listed() == await world.listed(SECOND) == ""
    (table,) = await world.platform.run("SELECT isdeleted, bpmn FROM proc_def")
    assert table["isdeleted"]
    assert table["bpmn"]
    items, _ = await world.app.stores.reader.changes(APPLIED, limit=9, cursor=None)
    for change in items[:4]:  # the four that have undone something
        await world.app.revert(change.id, "it was right after all")
    await world.deliver()
    assert await world.differences() == []
    assert await world.listed() == await world.listed(SECOND) == "refund"


async def test_what_the_platform_changed_between_wins_and_comes_back(world: WritingBack) -> None:
    for name in ("refund", "invoice", "audit"):
        await world.skill(name)
    await world.skill("archive", agent_id=SECOND)
    await world.deliver()
    # Somebody there takes one off, adds one of ours, and one that only the platform has.
    changed = f"UPDATE users SET skills = 'archive,audit,built-in,invoice' WHERE id = '{FIRST}'"
    await world.platform.run(changed)
    # And while we write, somebody else once more: what was read is not there any more.
    again = f"UPDATE users SET skills = skills || ',late' WHERE id = '{FIRST}'"
    world.platform.meanwhile["PATCH users"] = again
    await world.skill("payroll")
    await world.deliver()
    assert await world.listed() == "archive,audit,built-in,invoice,late,payroll"
    agent = await world.app.stores.agents.get(TENANT, FIRST)
    assert sorted(agent.skills) == ["archive", "audit", "invoice", "payroll"]
    await world.skill("refund", "once more", update=True)  # what is learnt anew is listed again
    await world.submit(SkillRequest(operation=Operation.DELETE, target_id="payroll"))
    await world.deliver()
    assert await world.listed() == "archive,audit,built-in,invoice,late,refund"
    rows = await world.platform.run("SELECT skill_name FROM agent_skills WHERE user_id = %s", FIRST)
    assert sorted(row["skill_name"] for row in rows) == ["archive", "audit", "invoice", "refund"]


async def test_only_what_comes_after_the_switch_goes_out_unless_asked(
    database: str, empty_database: str, tmp_path: Path
) -> None:
    async with writing_back(
        database, empty_database, tmp_path, platform_write_back=False
    ) as before:
        await before.memory("said before")
        await before.skill("old-one")
        await before.skill("gone-one")
        await before.submit(SkillRequest(operation=Operation.DELETE, target_id="gone-one"))
        assert not await before.deliveries()
        stores, url = before.app.stores, before.platform.url
        assert not stores.parts.settings.writes_back
        settings = settings_of(database, tmp_path, supabase_url=url, supabase_key=KEY)
        async with open_app(settings) as app:
            now = WritingBack(app, before.platform, before.clock, before.numbers, before.stack)
            await now.skill("new-one")
            await now.deliver()
            assert await now.listed() == "new-one"
            unsent = app.stores.unsent
            asked = {"tenant_id": None, "since": None}
            assert await backfill(unsent, **asked, dry_run=True) == (4, 0)
            none = await backfill(unsent, tenant_id="other", since=None, dry_run=False)
            assert none == (0, 0)
            assert await backfill(unsent, **asked, dry_run=False) == (4, 0)
            assert await backfill(unsent, **asked, dry_run=False) == (0, 0)
            await now.deliver()
            assert await now.listed() == "new-one,old-one"
            assert await now.differences() == []


async def test_a_table_or_column_that_is_not_there_holds_nothing_up(
    world: WritingBack, capsys: pytest.CaptureFixture[str]
) -> None:
    await world.platform.run("DROP TABLE tenants CASCADE")
    await world.platform.run("ALTER TABLE users DROP COLUMN skills")
    await world.platform.run("ALTER TABLE proc_def DROP COLUMN prod_version")
    await world.platform.run("ALTER TABLE proc_def_version DROP COLUMN diff")
    await world.platform.run("ALTER TABLE agent_knowledge_history DROP COLUMN knowledge_name")
    foreign = Agent(id="no-uuid", tenant_id=TENANT, name="Foreign")
    stranger = Agent(id=str(uuid4()), tenant_id=TENANT, name="Unknown there")
    memories = []
    for agent in (foreign, stranger):
        await world.app.stores.agents.save(agent)
        memories.append((await world.memory(f"{agent.name} likes tea", agent.id), agent.id))
        await world.memory(f"{agent.name} sends no coffee", agent.id)
        await world.skill(f"brew-{len(agent.id)}", agent_id=agent.id)
    table = await world.rule("limit", 100)
    skill = await world.skill("refund")
    await world.deliver()
    (whole,) = await world.deliveries(statuses=(DeliveryStatus.DELIVERED,))
    assert whole.change_id == table.change_id
    left = await world.deliveries(statuses=(DeliveryStatus.SKIPPED,))
    assert len(left) == len(await world.deliveries()) - 1
    counted = await PostgresBacklog(world.app.stores.pool).going_out()
    assert counted == {
        ("platform", DeliveryStatus.DELIVERED): 1,
        ("platform", DeliveryStatus.SKIPPED): len(left),
    }
    why = {one.change_id: str(one.error) for one in left}
    assert "tenants" in why[skill.change_id]
    assert "history" not in why[skill.change_id]
    for receipt, whose in memories:
        assert f"agent '{whose}'" in why[receipt.change_id]
    (version,) = await world.platform.run("SELECT version FROM proc_def_version")
    assert version["version"] == "1.0.0"
    rows = await world.platform.run("SELECT user_id::text, skill_name FROM agent_skills")
    assert [(row["user_id"], row["skill_name"]) for row in rows] == [(FIRST, "refund")]
    told = [line for line in capsys.readouterr().err.splitlines() if "platform.skipped" in line]
    for what in ("tenants", "prod_version", "diff", "knowledge_name", "no-uuid", stranger.id):
        assert len([line for line in told if what in line]) == 1, what
    said = await ask_platform(world.app.stores.parts.settings)
    assert "users without skills" in said
    assert said.endswith("; not to tenants")


async def test_a_dead_platform_and_a_wrong_key_are_waited_for(world: WritingBack) -> None:
    world.platform.is_down = True
    for number in range(4):
        await world.memory(f"Ms. Kim wants answer number {number} in French {number * 37}")
    await world.skill("refund")
    for _ in range(20):  # an hour
        await world.deliver()
        world.clock.forward(180)
    calls = len(world.platform.calls)
    assert calls < 3 * 20  # three calls an attempt: less than one a look, though five wait
    (state,) = await world.app.stores.delivery_log.targets()
    assert state.name == "platform"
    assert state.open_until is not None
    world.platform.is_down, world.platform.key = False, "another"
    await world.deliver(1)
    world.clock.forward(36_000)
    await world.deliver(1)
    assert {one.status for one in await world.deliveries()} == {DeliveryStatus.WAITING}
    errors = {str(one.error) for one in await world.deliveries()}
    assert any("SUPABASE_KEY" in error for error in errors)
    world.platform.key = KEY
    await world.deliver(3)
    assert await world.differences() == []
    (skill,) = [one for one in await world.deliveries() if "skills" in one.subject]
    replayed = await world.app.stores.delivery_log.replay(skill.id)
    assert replayed.status is DeliveryStatus.WAITING
    await world.deliver()
    assert await world.differences() == []


async def _learn(world: WritingBack, count: int) -> None:
    """Make `count` changes of all kinds, some of which undo others."""
    for number in range(count // 5):
        agent = AGENTS[number % 2]
        memory = await world.memory(f"고객 {number}번은 {number * 7919}호로 답을 받는다", agent)
        rule = await world.rule(f"table {number} of {number * 7919}", number)
        await world.skill(f"task-{number}", f"step {number * 7919}", agent)
        if number % 3 == 0:
            await world.app.revert(str(rule.change_id), "wrong")
            await world.delete(MemoryRequest, str(memory.target_id))
        elif number % 3 == 1:
            rule_id = str(rule.target_id)
            await world.rule("", number + 50, rule_id=rule_id, mode=MergeMode.EXTEND)
            listed = SkillListRequest(target_id=FIRST, skill_ids=(f"task-{number}",))
            await world.submit(listed, FIRST)
        else:
            await world.submit(
                SkillListRequest(
                    target_id=agent, skill_ids=(f"task-{number}",), edit=ListEdit.REMOVE
                ),
                agent,
            )
            await world.delete(RuleRequest, str(rule.target_id))


async def _cut_off(world: WritingBack, after: int) -> None:
    """Deliver, and end without a trace at a call to the platform."""
    reached = asyncio.Event()
    calls = len(world.platform.calls)
    world.platform.before_call = lambda n: reached.set() if n >= calls + after else None
    dispatcher = await world.dispatcher()
    working = asyncio.create_task(dispatcher.drain())
    await asyncio.wait(
        {working, asyncio.create_task(reached.wait())}, return_when=asyncio.FIRST_COMPLETED
    )
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    await dispatcher.close()
    world.platform.before_call = lambda number: None
    world.clock.forward(700)


async def test_a_platform_that_fails_each_fifth_call_ends_equal_to_us(world: WritingBack) -> None:
    world.platform.fails_each = 5
    await _learn(world, 25)
    await _cut_off(world, 13)
    await world.deliver(6)
    assert await world.differences() == []
    assert {one.status for one in await world.deliveries()} == {DeliveryStatus.DELIVERED}


_SAID = (
    "고객 {n}번은 {m}호로 답을 받고 싶어 한다",
    "Orders over {m} KRW need the approval of manager {n}",
    "How to settle claim {n}: first check form {m}, then ask lead {n}, then pay it",
)


@pytest.mark.nightly
@pytest.mark.timeout(1800)
async def test_three_hundred_pieces_with_kills_end_equal_to_us(
    world: WritingBack, database: str, tmp_path: Path
) -> None:
    pieces = [
        NewFeedback(
            tenant_id=TENANT,
            agent_ids=(AGENTS[n % 2],),
            content=_SAID[n % 3].format(n=n, m=n * 7919 + 13),
        )
        for n in range(300)
    ]
    await world.app.stores.inbox.add("test", pieces)
    world.platform.fails_each = 5
    settings = {
        "DATABASE_URL": url_of(database),
        "SKILL_WORKER_HOME": str(tmp_path),
        "SUPABASE_URL": world.platform.url,
        "SUPABASE_KEY": KEY,
    }
    killed = 0
    for run in range(40):
        worker = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "core", "run", "--once", "--offline"),
            env={**os.environ, **settings},
            cwd=Path(__file__).parents[2],
            stderr=asyncio.subprocess.DEVNULL,
        )
        end = len(world.platform.calls) + 10 + 5 * run  # there are some 200 calls in all

        def kill(call: int, worker: asyncio.subprocess.Process = worker, end: int = end) -> None:
            if call == end and worker.returncode is None:
                worker.kill()

        world.platform.before_call = kill
        killed += await worker.wait() == -signal.SIGKILL
        counts = await world.app.stores.reader.counts()
        if not set(counts) & {"queued", "processing"}:
            break
    world.platform.before_call = lambda call: None
    world.clock.now = datetime.now(UTC) + timedelta(days=1)
    await world.deliver(12)
    assert killed >= 5
    assert sum(counts.values()) == 300
    assert await world.differences() == []
    assert not await world.deliveries(statuses=(DeliveryStatus.WAITING, DeliveryStatus.DEAD))
