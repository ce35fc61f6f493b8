"""Locks on targets and open intents: which are released, read and adopted, in PostgreSQL."""

from __future__ import annotations

import pytest

from core.adapters.postgres.change_log import PostgresTargetLocks
from core.adapters.postgres.queries import Pool, connection
from core.domain.errors import NotFound, TargetBusy
from core.domain.models import Candidate, Change, ChangeStatus, Feedback, Kind
from core.domain.ports import ChangeLog, Inbox, Runs
from tests.contracts.suites.change_log import carry_out, memory_change
from tests.contracts.suites.inbox import DONE, added, claimed, parts_of, piece
from tests.support.postgres_stores import PostgresStores

LONG_AGO = "UPDATE changes SET created_at = clock_timestamp() - interval '11 minutes'"


def lock(change_id: str, run: Candidate | None = None, **given: object) -> Change:
    """Return a lock on memory `mem-1` of tenant t, taken by a run or by a person."""
    update: dict[str, object] = {"status": ChangeStatus.PREPARED, **given}
    if run is not None:
        update |= {"candidate_id": run.id, "epoch": run.epoch, "feedback_id": run.feedback_id}
    return memory_change(change_id, None, "one").model_copy(update=update)


def intent(change_id: str, run: Candidate, target_id: str = "mem-1") -> Change:
    return lock(change_id, run, status=ChangeStatus.APPLYING, target_id=target_id)


class TestTargetLocks(PostgresStores):
    """A run, or a person, that finds a target locked by another."""

    @pytest.fixture(autouse=True)
    def _stores(self, pool: Pool, change_log: ChangeLog, inbox: Inbox, runs: Runs) -> None:
        self.pool, self.change_log = pool, change_log
        self.inbox, self.runs = inbox, runs
        self.locks = PostgresTargetLocks(pool)

    async def _run(self, source_id: str = "s-1") -> tuple[Feedback, Candidate]:
        feedback = await claimed(self.inbox, await added(self.inbox, piece(source_id)))
        candidate, *_ = await self.runs.save_candidates(feedback, parts_of(feedback))
        return feedback, await self.runs.start(candidate, 1)

    async def _age(self) -> None:
        async with connection(self.pool) as conn:
            await conn.execute(LONG_AGO)

    async def _there(self, *change_ids: str) -> list[str]:
        found = []
        for change_id in change_ids:
            try:
                found.append((await self.change_log.get(change_id)).id)
            except NotFound:
                continue
        return found

    async def test_a_dead_runs_lock_is_released_on_the_wanted_target_alone(self) -> None:
        _, run = await self._run()
        others = {
            "tenant": {"tenant_id": "u"},
            "kind": {"kind": Kind.DMN_RULE},
            "target": {"target_id": "mem-2"},
        }
        await self.locks.acquire(lock("mine", run))
        for name, other in others.items():
            await self.locks.acquire(lock(name, run, **other))
        await self.runs.start(run, 1)
        await self.locks.acquire(lock("next"))
        assert await self._there("mine", *others) == [*others]

    async def test_a_dead_runs_intent_stays_until_it_is_concluded(self) -> None:
        _, run = await self._run()
        await carry_out(self.change_log, memory_change("past", None, "zero"))
        await self.change_log.open(intent("mine", run), {})
        await self.runs.start(run, 1)
        with pytest.raises(TargetBusy):
            await self.locks.acquire(lock("next"))
        assert await self._there("past", "mine") == ["past", "mine"]

    async def test_a_live_runs_lock_stays_whatever_became_of_others(self) -> None:
        _, run = await self._run()
        ended, other = await self._run("s-2")
        await self.runs.start(other, 1)
        await self.inbox.finish(ended, DONE)
        await self.locks.acquire(lock("mine", run))
        await self._age()
        with pytest.raises(TargetBusy):
            await self.locks.acquire(lock("next"))
        assert await self._there("mine") == ["mine"]

    async def test_a_lock_is_released_once_its_feedback_has_ended(self) -> None:
        feedback, run = await self._run()
        await self.locks.acquire(lock("mine", run))
        await self.inbox.finish(feedback, DONE)
        await self.locks.acquire(lock("next"))
        assert await self._there("mine") == []

    async def test_a_persons_lock_stays_for_minutes_then_is_released(self) -> None:
        feedback, _ = await self._run()
        await self.inbox.finish(feedback, DONE)
        await self.locks.acquire(lock("mine", feedback_id=feedback.id))
        with pytest.raises(TargetBusy):
            await self.locks.acquire(lock("next"))
        await self._age()
        await self.locks.acquire(lock("next"))
        assert await self._there("mine") == []

    async def test_a_lock_that_became_an_intent_is_not_released(self) -> None:
        _, run = await self._run()
        await self.change_log.open(intent("mine", run), {})
        await self.locks.acquire(lock("other", run, target_id="mem-2"))
        await self.locks.release("mine")
        assert await self._there("mine", "other") == ["mine", "other"]
        await self.locks.release("other")
        assert await self._there("mine", "other") == ["mine"]

    async def test_a_run_finishes_its_own_open_intents_in_their_order(self) -> None:
        (_, run), (_, other) = await self._run(), await self._run("s-2")
        for change_id, owner in (("b", run), ("a", run), ("c", other)):
            await self.change_log.open(intent(change_id, owner, target_id=change_id), {})
        await self.locks.acquire(lock("d", run, target_id="d"))
        await self._end("e", run, ChangeStatus.APPLIED)
        await self._end("f", run, ChangeStatus.FAILED)
        assert [change.id for change in await self.locks.unfinished(run.id)] == ["b", "a"]

    async def _end(self, change_id: str, run: Candidate, status: ChangeStatus) -> None:
        change = intent(change_id, run, target_id=change_id)
        await self.change_log.open(change, {})
        async with self.change_log.unit_of_work(change) as unit:
            await unit.close(change.id, status)

    async def test_what_failed_is_not_the_latest_change_of_its_target(self) -> None:
        _, run = await self._run()
        await carry_out(self.change_log, memory_change("c1", None, "one"))
        failed = intent("c2", run)
        await self.change_log.open(failed, {})
        async with self.change_log.unit_of_work(failed) as unit:
            await unit.close(failed.id, ChangeStatus.FAILED)
        await self.locks.acquire(lock("c3", run))
        latest = await self.locks.latest(failed.tenant_id, failed.kind, failed.target_id)
        assert latest is not None
        assert latest.id == "c1"

    async def test_only_an_open_intent_of_ended_feedback_is_adopted(self) -> None:
        feedback, run = await self._run()
        mine = intent("mine", run)
        await self.change_log.open(mine, {})
        assert await self.locks.abandoned(0) == []
        assert await self.locks.adopt(mine) is None
        await self.inbox.finish(feedback, DONE)
        (found,) = await self.locks.abandoned(0)
        adopted = await self.locks.adopt(found)
        assert adopted is not None
        assert (adopted.id, adopted.epoch) == ("mine", run.epoch + 1)
        async with self.change_log.unit_of_work(adopted) as unit:
            await unit.close("mine", ChangeStatus.APPLIED)
        assert await self.locks.abandoned(0) == []
        assert await self.locks.adopt(adopted) is None

    async def test_adopting_one_intent_fences_off_nothing_else(self) -> None:
        runs = [await self._run(f"s-{n}") for n in range(3)]
        intents = [intent(f"c{n}", run, f"mem-{n}") for n, (_, run) in enumerate(runs)]
        for change in intents:
            await self.change_log.open(change, {})
        for feedback, _ in runs[:2]:
            await self.inbox.finish(feedback, DONE)
        assert [change.id for change in await self.locks.abandoned(0)] == ["c0", "c1"]
        assert await self.locks.abandoned(3600) == []
        await self.locks.adopt(intents[0])
        for change in intents[1:]:
            async with self.change_log.unit_of_work(change) as unit:
                await unit.close(change.id, ChangeStatus.APPLIED)
