"""A worker that lost its lease checks the store: a late write of its own is recorded."""

from __future__ import annotations

import pytest

from core.changes.gate.records import report_divergence
from core.domain.errors import SkillApiDown
from core.domain.models import Change, ChangeStatus, Kind, Snapshot
from core.learning_committers.memory_committer import MemoryCommitter
from core.testing.stores import MemoryJournal
from tests.support.skills import World


class Holding(MemoryCommitter):
    """A committer whose store has a given state, or is down."""

    def __init__(self, held: Snapshot | None, *, down: bool = False) -> None:
        self.held = held
        self.down = down

    async def current(self, tenant_id: str, target_id: str) -> Snapshot | None:
        if self.down:
            raise SkillApiDown("503")
        return self.held


@pytest.fixture
async def world() -> World:
    world = World()
    await world.create()
    return world


async def seen(world: World, change: Change, store: Holding) -> list[str]:
    journal = MemoryJournal()
    await report_divergence(change, store, world.log, journal)
    return [event.name for event in journal.events]


async def test_a_store_that_holds_something_else_is_put_on_record(world: World) -> None:
    (change,) = world.log.changes.values()
    assert await seen(world, change, Holding(change.after)) == []
    assert await seen(world, change, Holding(None)) == ["change.diverged"]


async def test_a_change_that_is_being_applied_finds_out_itself(world: World) -> None:
    (change,) = world.log.changes.values()
    update = {"id": "next", "key": "next", "status": ChangeStatus.APPLYING}
    await world.log.open(change.model_copy(update=update), {})
    assert await seen(world, change, Holding(None)) == []


async def test_what_lives_in_our_database_was_fenced_there(world: World) -> None:
    (change,) = world.log.changes.values()
    memory = change.model_copy(update={"kind": Kind.MEMORY})
    assert await seen(world, memory, Holding(None)) == []


async def test_a_store_that_does_not_answer_changes_nothing(world: World) -> None:
    (change,) = world.log.changes.values()
    assert await seen(world, change, Holding(None, down=True)) == []
