"""Paused work: nothing new begins, what runs continues, and the reason is reported."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest

from core.adapters.postgres.inbox import PostgresInbox, PostgresIntake
from core.adapters.postgres.job_sweep import take_over
from core.adapters.postgres.job_worker import AskPause, JobWorker, WorkerOptions
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.queries import Pool, connection
from core.domain.errors import ConfigurationError
from core.domain.models import FeedbackStatus, NewFeedback, Outcome, Pause, PauseKind
from core.testing.determinism import counting_ids
from tests.contracts.suites.inbox import claimed
from tests.support.waiting import SOON, until

DONE = Outcome(status=FeedbackStatus.COMPLETED)
WRONG_KEY = Pause(
    kind=PauseKind.MODEL, reason="the key is wrong", since=datetime.now(UTC), fatal=True
)


class Bench:
    """A worker whose jobs begin at once, and end when `go_on` is set."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.inbox = PostgresInbox(pool, Jobs(pool), counting_ids("feedback"))
        self.intake = PostgresIntake(pool, Jobs(pool))
        self.begun: asyncio.Queue[str] = asyncio.Queue()
        self.go_on = asyncio.Event()
        self.stop = asyncio.Event()

    async def add(self) -> str:
        piece = NewFeedback(tenant_id="t", agent_ids=("a",), content="원화로")
        ((feedback_id, _),) = await self.inbox.add("cli", [piece])
        return feedback_id

    async def status(self, feedback_id: str) -> FeedbackStatus:
        return (await self.inbox.get(feedback_id)).status

    async def run(self, ask_pause: AskPause, *, once: bool = False) -> None:
        options = WorkerOptions(heartbeat=0.1, stalled_after=1, sweep_every=0.2, poll=0.1)
        await JobWorker(Jobs(self.pool), self._body, options).run(
            self.stop, once=once, ask_pause=ask_pause
        )

    @asynccontextmanager
    async def working(
        self, ask_pause: AskPause, *, once: bool = False
    ) -> AsyncIterator[asyncio.Task[None]]:
        task = asyncio.create_task(self.run(ask_pause, once=once))
        try:
            yield task
        finally:
            self.go_on.set()
            self.stop.set()
            await asyncio.wait_for(asyncio.wait({task}), SOON)

    async def _body(self, feedback_id: str) -> None:
        held = await claimed(self.inbox, feedback_id)
        self.begun.put_nowait(feedback_id)
        await self.go_on.wait()
        await self.inbox.finish(held, DONE)


@pytest.fixture
def bench(pool: Pool) -> Bench:
    return Bench(pool)


class Looks:
    """A probe whose answer a test changes; `seen` says that it was asked since."""

    def __init__(self, answer: Pause | None = None, *, ask: AskPause | None = None) -> None:
        self.answer = answer
        self._ask = ask
        self._asked = asyncio.Event()

    async def __call__(self) -> Pause | None:
        self._asked.set()
        return await self._ask() if self._ask else self.answer

    async def seen(self, times: int = 2) -> None:
        for _ in range(times):
            self._asked.clear()
            await asyncio.wait_for(self._asked.wait(), SOON)


async def test_what_runs_goes_on_and_nothing_begins_until_work_is_resumed(bench: Bench) -> None:
    looks = Looks(ask=bench.intake.paused)
    async with bench.working(looks):
        first = await bench.add()
        assert await asyncio.wait_for(bench.begun.get(), SOON) == first
        await bench.intake.pause("점검")
        await looks.seen()
        second = await bench.add()
        bench.go_on.set()
        await until(lambda: _is(bench, first, FeedbackStatus.COMPLETED))
        assert await bench.status(second) is FeedbackStatus.QUEUED
        assert await bench.intake.resume()
        await until(lambda: _is(bench, second, FeedbackStatus.COMPLETED))


async def test_once_waits_for_the_end_of_a_pause(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    feedback_id = await bench.add()
    looks = Looks(await bench.intake.pause("점검"))
    async with bench.working(looks, once=True) as task:
        await looks.seen()
        assert (await bench.status(feedback_id), task.done()) == (FeedbackStatus.QUEUED, False)
        bench.go_on.set()
        looks.answer = None
        await asyncio.wait_for(asyncio.shield(task), SOON)
    assert await bench.status(feedback_id) is FeedbackStatus.COMPLETED
    said = "".join(capsys.readouterr())
    assert said.count("work.held") == said.count("work.resumed") == 1
    assert "점검" not in said  # no log has words that a person typed


async def test_once_ends_where_what_holds_it_will_not_pass_by_itself(bench: Bench) -> None:
    looks = Looks()
    running = await bench.add()
    async with bench.working(looks, once=True) as task:
        assert await asyncio.wait_for(bench.begun.get(), SOON) == running
        looks.answer = WRONG_KEY
        await looks.seen()
        waiting = await bench.add()
        assert not task.done()
        bench.go_on.set()
        with pytest.raises(ConfigurationError, match="the key is wrong"):
            await asyncio.wait_for(asyncio.shield(task), SOON)
    assert await bench.status(running) is FeedbackStatus.COMPLETED
    assert await bench.status(waiting) is FeedbackStatus.QUEUED
    assert (await bench.inbox.get(waiting)).attempts == 0


async def test_a_hold_that_will_not_pass_is_no_matter_where_nothing_waits(bench: Bench) -> None:
    await asyncio.wait_for(bench.run(Looks(WRONG_KEY), once=True), SOON)


async def test_jobs_that_end_while_the_worker_stops_are_not_taken_for_stalled(
    bench: Bench,
) -> None:
    feedback_id = await bench.add()
    async with bench.working(Looks()) as task:
        await asyncio.wait_for(bench.begun.get(), SOON)
        bench.stop.set()
        # Longer than the silence after which it would count as dead.
        started = asyncio.get_running_loop().time()
        while asyncio.get_running_loop().time() - started < 1.5:
            assert await take_over(Jobs(bench.pool), stalled_after=1) == 0
            await asyncio.wait({task}, timeout=0.1)
        bench.go_on.set()
        await asyncio.wait_for(asyncio.shield(task), SOON)
    assert (await bench.inbox.get(feedback_id)).attempts == 1


async def test_a_worker_that_was_removed_for_dead_is_registered_again(bench: Bench) -> None:
    async with bench.working(Looks()):
        await asyncio.wait_for(_first_done(bench), SOON)
        async with connection(bench.pool) as conn:
            await conn.execute("DELETE FROM procrastinate_workers")
        second = await bench.add()
        await until(lambda: _is(bench, second, FeedbackStatus.COMPLETED))
        async with connection(bench.pool) as conn:
            rows = await conn.execute("SELECT count(*) AS workers FROM procrastinate_workers")
            assert (await rows.fetchall())[0]["workers"] == 1


async def _first_done(bench: Bench) -> None:
    bench.go_on.set()
    first = await bench.add()
    await until(lambda: _is(bench, first, FeedbackStatus.COMPLETED))


async def _is(bench: Bench, feedback_id: str, status: FeedbackStatus) -> bool:
    return await bench.status(feedback_id) is status
