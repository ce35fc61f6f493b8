"""Many new memories at once: written together, in order, and each told as if it were alone."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.changes.gate.sets import TOGETHER
from core.domain.errors import DependencyDown, Refused, SkillWorkerError, Stale, TargetBusy
from core.domain.hashing import text_hash
from core.domain.models import (
    Change,
    ChangeRequest,
    Compared,
    Fence,
    Kind,
    KnownText,
    Receipt,
    ReceiptStatus,
    SubmitContext,
)
from core.domain.models.feedback import WORKER_AGENT
from core.domain.ports import Concluded, Judged
from core.testing.changes import MemoryChangeLog
from core.testing.duplicate_waiters import MemoryDuplicateWaiters
from tests.support.gate import World, ask

APPLIED, KNOWN, HELD = ReceiptStatus.APPLIED, ReceiptStatus.KNOWN, ReceiptStatus.HELD
REFUSED, PREPARED = ReceiptStatus.REFUSED, ReceiptStatus.PREPARED
# Texts that have no word in common, each with its own number in it.
_WORDS = [text_hash(str(n)).translate(str.maketrans("0123456789", "ghijklmnop")) for n in range(99)]
TEXTS = [f"{word[:8]} {word[8:16]} {word[16:24]}" for word in _WORDS[: 2 * TOGETHER + 2]]


class Together(MemoryChangeLog):
    """Remembers what was written together, and how many were prepared by then."""

    troubles: list[Exception]
    world: World

    async def conclude(self, made: Sequence[Concluded]) -> None:
        self.sets.append((len(made), self.world.committer.prepared))
        if self.troubles:
            raise self.troubles.pop(0)
        await super().conclude(made)


def opened(*troubles: Exception, **given: object) -> tuple[World, Together]:
    world = World(**given)  # type: ignore[arg-type]
    log = Together(world.knowledge)
    log.sets, log.troubles, log.world = [], [*troubles], world
    other = World(knowledge=world.knowledge)
    other.log, other.duplicate_waiters = log, MemoryDuplicateWaiters(log)
    world.use(other)
    return world, log


def asked(text: str, **given: object) -> tuple[ChangeRequest, SubmitContext]:
    """Return a memory that its caller has compared with all that is known."""
    known: dict[str, object] = {"key": text, "tenant_id": "t", "agent_id": "a"}
    context = SubmitContext(**known | {"compared": Compared(is_all=True)} | given)  # type: ignore[arg-type]
    return ask(text), context


def statuses(done: Sequence[Receipt | SkillWorkerError]) -> list[ReceiptStatus | type]:
    return [one.status if isinstance(one, Receipt) else type(one) for one in done]


async def contents(world: World) -> list[str]:
    items = await world.knowledge.list(tenant_id="t", agent_id=None, kind=Kind.MEMORY)
    return sorted(item.content for item in items)


async def test_new_memories_are_written_in_sets_while_the_next_are_prepared() -> None:
    world, log = opened()
    done = await world.gate.submit_all([asked(text) for text in TEXTS])
    assert statuses(done) == [APPLIED] * len(TEXTS)
    assert log.sets == [(TOGETHER, TOGETHER), (TOGETHER, 2 * TOGETHER), (2, len(TEXTS))]
    assert await contents(world) == sorted(TEXTS)
    changes = [await log.get(one.change_id or "") for one in done if isinstance(one, Receipt)]
    assert [change.after.content for change in changes if change.after] == TEXTS
    assert [change.attempt for change in changes] == [1] * len(TEXTS)
    assert len({row.id for row in log.history}) == len(TEXTS)
    assert [event.name for event in log.events] == ["change.applied"] * len(TEXTS)
    # The same keys once more come to the same, and nothing is written again.
    again = await world.gate.submit_all([asked(text) for text in TEXTS])
    assert again == done
    assert len(log.sets) == 3


async def test_nothing_at_once_is_nothing() -> None:
    world, log = opened()
    assert await world.gate.submit_all([]) == []
    assert log.sets == []


FENCED = {"fence": Fence(candidate_id="c", epoch=1)}
BESIDE = Compared(
    items=(KnownText(id="m", kind=Kind.MEMORY, name="n", agent_id="a", content="x", score=1.0),)
)


@pytest.mark.parametrize(
    "alone",
    [
        asked("the other", compared=None),
        asked("the other", **FENCED),
        (ask("the other", operation="UPDATE", target_id="m0"), asked("the other")[1]),
    ],
)
async def test_what_is_not_new_alone_is_written_after_what_came_before_it(
    alone: tuple[ChangeRequest, SubmitContext],
) -> None:
    world, log = opened()
    first = (ask(TEXTS[0], target_id="m0"), asked("first")[1])
    done = await world.gate.submit_all([first, alone, asked(TEXTS[1]), asked(TEXTS[2])])
    assert statuses(done) == [APPLIED] * 4
    assert [size for size, _ in log.sets] == [1, 2]
    applied = [change.key for change in log.changes.values()]
    assert applied == ["first", "the other", TEXTS[1], TEXTS[2]]


async def test_a_set_is_compared_with_what_it_was_told_of() -> None:
    world, log = opened()
    await world.gate.submit_all([asked(TEXTS[0], compared=BESIDE)])
    assert [size for size, _ in log.sets] == [1]


async def test_the_workers_own_id_is_for_nobody_in_a_set_either() -> None:
    world, log = opened()
    done = await world.gate.submit_all([asked(TEXTS[0], agent_id=WORKER_AGENT)])
    assert [isinstance(one, SkillWorkerError) for one in done] == [True]
    assert (log.sets, await contents(world)) == ([], [])


async def test_what_is_known_refused_or_held_is_told_as_alone() -> None:
    def policy(change: Change) -> Sequence[str]:
        return ("ledgers are looked at",) if change.target_name == TEXTS[2] else ()

    world, log = opened(policy=policy)
    await world.gate.submit(*asked(TEXTS[0], compared=None))
    asks = [
        asked(TEXTS[1]),
        asked(TEXTS[0], key="again", compared=Compared()),
        (ask(" "), asked("empty")[1]),
        asked(TEXTS[2]),
        asked(TEXTS[3]),
    ]
    done = await world.gate.submit_all(asks)
    assert statuses(done) == [APPLIED, KNOWN, REFUSED, HELD, APPLIED]
    assert [size for size, _ in log.sets] == [1, 1]
    assert await contents(world) == sorted([TEXTS[0], TEXTS[1], TEXTS[3]])


async def test_hooks_are_asked_about_each_of_many() -> None:
    async def asks(change: Change) -> Judged:
        return Judged(denied="not this one" if change.target_name == TEXTS[1] else "")

    world, log = opened(before_applied=asks)
    done = await world.gate.submit_all([asked(text) for text in TEXTS[:3]])
    assert statuses(done) == [APPLIED, REFUSED, APPLIED]
    assert log.sets == []


async def test_a_dry_run_of_many_says_what_would_become_of_them() -> None:
    world, log = opened(dry_run=True)
    done = await world.gate.submit_all([asked(text) for text in TEXTS[:2]])
    assert statuses(done) == [PREPARED, PREPARED]
    assert (log.sets, log.changes, await contents(world)) == ([], {}, [])


@pytest.mark.parametrize("trouble", [Stale("it moved"), TargetBusy("another is at it")])
async def test_what_cannot_be_written_together_is_written_one_by_one(trouble: Exception) -> None:
    world, log = opened(trouble)
    done = await world.gate.submit_all([asked(text) for text in TEXTS[:3]])
    assert statuses(done) == [APPLIED] * 3
    assert await contents(world) == sorted(TEXTS[:3])
    assert [size for size, _ in log.sets] == [3]


async def test_a_database_that_is_down_ends_it_and_what_was_written_stays() -> None:
    world, log = opened()
    log.troubles = [DependencyDown("the database is down")]
    with pytest.raises(DependencyDown):
        await world.gate.submit_all([asked(text) for text in TEXTS])
    assert world.committer.prepared <= 2 * TOGETHER
    assert await contents(world) == []
    done = await world.gate.submit_all([asked(text) for text in TEXTS])
    assert statuses(done) == [APPLIED] * len(TEXTS)


async def test_of_one_that_fails_for_good_only_that_one_is_told() -> None:
    world, _ = opened()
    world.committer.troubles = [Refused("the store says no")]
    asks = [asked(TEXTS[0], compared=None), asked(TEXTS[1])]
    done = await world.gate.submit_all(asks)
    assert statuses(done) == [ReceiptStatus.FAILED, APPLIED]
    world.committer.troubles = [DependencyDown("503")]
    with pytest.raises(DependencyDown):
        await world.gate.submit_all([asked(TEXTS[2], compared=None), asked(TEXTS[3])])
