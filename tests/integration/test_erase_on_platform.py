"""What a person said is taken out of the platform's tables too, whatever had been written there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from core.app.program import open_app
from core.changes.erasing import Eraser
from core.delivery.platform import backfill
from core.domain.models import MergeMode, NewFeedback
from core.domain.models.audit import ERASED, ErasedTenant
from core.domain.models.deliveries import DeliveryStatus
from tests.support.api import settings_of
from tests.support.platform_tables import PlatformTables
from tests.support.writing_back import AGENTS, TENANT, WritingBack, writing_back

AUTHOR, WORD = "kim.canary", "Zanzibarcode"
_TABLES = ("agent_knowledge_history", "proc_def", "proc_def_version")


@pytest.fixture
async def world(database: str, empty_database: str, tmp_path: Path) -> AsyncIterator[WritingBack]:
    async with writing_back(database, empty_database, tmp_path) as opened:
        yield opened


async def say(world: WritingBack, author: str = AUTHOR) -> str:
    """Let a person say something; what is taught next is taught by it."""
    words = f"{WORD} wants it so" if author == AUTHOR else "Let it be so"
    piece = NewFeedback(tenant_id=TENANT, agent_ids=AGENTS, author=author, content=words)
    ((feedback_id, _),) = await world.app.stores.inbox.add("test", [piece])
    world.feedback_id, world.words = feedback_id, words
    return feedback_id


async def erase(world: WritingBack, *, dry_run: bool = False) -> ErasedTenant:
    stores = world.app.stores
    eraser = Eraser(
        erasing=stores.erasing,
        cancel=stores.intake.cancel,
        reject=world.app.gate.decisions.reject,
    )
    (done,) = (await eraser.erase(AUTHOR, None, by="lee", dry_run=dry_run)).tenants
    return done


async def with_word(platform: PlatformTables) -> Sequence[str]:
    """Return the tables of the platform in which the word stands."""
    found = []
    for table in _TABLES:
        rows = await platform.run(f"SELECT t::text AS row FROM {table} t")
        found += [table for row in rows if WORD in row["row"]]
    return found


async def test_what_was_taken_back_and_erased_is_erased_there_too(world: WritingBack) -> None:
    said = await say(world)
    await world.memory(f"Ms. Park of {WORD} wants short answers")
    table = await world.rule(f"limit of {WORD}", 100)
    rule_id = str(table.target_id)
    await world.rule("", 500, rule_id=rule_id, mode=MergeMode.EXTEND)
    await world.skill("refund", f"Ask {WORD} first.")
    await say(world, "lee")
    await world.memory("Mr. Lee wants long answers")
    await world.deliver()
    assert set(await with_word(world.platform)) == set(_TABLES)
    piece = await world.app.stores.intake.cancel(said, "all of it is wrong")
    assert (await world.app.retractor.retract(piece, by="lee")).is_done
    world.platform.fails_each = 5
    would = await erase(world, dry_run=True)
    done = await erase(world)
    assert would.sent == done.sent
    assert done.sent["platform"] >= 4
    assert done.sources == {"test": 1}
    assert (await erase(world)).sent == {}  # it is on its way
    assert WORD not in str(await world.deliveries())
    await world.deliver(6)
    assert await with_word(world.platform) == []
    assert await world.differences() == []
    assert {one.status for one in await world.deliveries()} == {DeliveryStatus.DELIVERED}
    (row,) = await world.platform.run("SELECT name, bpmn, isdeleted FROM proc_def")
    assert (row["name"], row["bpmn"], row["isdeleted"]) == (ERASED, ERASED, True)
    kept = await world.platform.run(
        "SELECT 1 FROM agent_knowledge_history WHERE new_content LIKE '%%Mr. Lee%%'"
    )
    assert len(kept) == 1


async def test_what_stands_keeps_its_text_there_without_the_words(world: WritingBack) -> None:
    await say(world)
    table = await world.rule("limit", 100)
    await world.memory("Ms. Park wants short answers")
    await world.deliver()
    done = await erase(world)
    assert {one.id for one in done.left} > {table.target_id}
    await world.deliver()
    assert await world.differences() == []
    rows = await world.platform.run("SELECT * FROM agent_knowledge_history")
    assert {row["feedback_content"] for row in rows} == {ERASED}
    assert all(ERASED not in row["new_content"] for row in rows)
    (version,) = await world.platform.run("SELECT * FROM proc_def_version")
    assert "<" in version["snapshot"]
    assert WORD not in version["message"]


async def test_what_was_erased_unsent_is_sent_when_erased_again(
    world: WritingBack, database: str, tmp_path: Path
) -> None:
    """As by an earlier release, or by a command that did not know of the platform."""
    await say(world)
    await world.memory("Ms. Park wants short answers")
    await world.deliver()
    settings = settings_of(database, tmp_path, platform_write_back=False)
    async with open_app(settings) as apart:
        alone = WritingBack(apart, world.platform, world.clock, world.numbers)
        alone.feedback_id, alone.words = world.feedback_id, world.words
        await alone.memory("Mr. Choi wants long answers")  # which never went out
        assert (await erase(alone)).sent == {}
    await world.deliver()
    assert WORD in str(await world.platform.run("SELECT * FROM agent_knowledge_history"))
    assert (await erase(world)).sent == {"platform": 2}
    await world.deliver()
    unsent = {"tenant_id": None, "since": None}
    assert await backfill(world.app.stores.unsent, **unsent, dry_run=False) == (1, 0)
    await world.deliver()
    assert await world.differences() == []
    rows = await world.platform.run("SELECT feedback_content FROM agent_knowledge_history")
    assert [row["feedback_content"] for row in rows] == [ERASED, ERASED]


async def test_what_has_yet_to_go_out_goes_out_without_the_words(world: WritingBack) -> None:
    said = await say(world)
    await world.memory(f"Ms. Park of {WORD} wants short answers")
    await world.app.stores.intake.cancel(said, f"{WORD} says so")
    await erase(world)
    assert WORD not in str(await world.deliveries())
    await world.deliver()
    assert await world.differences() == []
    (row,) = await world.platform.run("SELECT * FROM agent_knowledge_history")
    assert row["feedback_content"] == ERASED
