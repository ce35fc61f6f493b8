"""Retention on PostgreSQL: in batches, one process at a time, and again after a revive."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TypeVar

import pytest

from core.adapters.postgres.inbox import PostgresInbox, PostgresIntake
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.queries import Pool, connection, sql, transaction
from core.adapters.postgres.runs import PostgresJournal, PostgresRetention
from core.app.program import open_app
from core.app.settings import load_settings
from core.domain.models import FeedbackStatus, NewFeedback, Outcome, RunEvent
from core.testing.determinism import counting_ids
from core.testing.scripted_model import ScriptedChatModel
from tests.contracts.suites.inbox import claimed
from tests.support.databases import url_of
from tests.support.waiting import SOON

T = TypeVar("T")

DONE = Outcome(status=FeedbackStatus.COMPLETED)
DAY = 86_400.0


@pytest.fixture
def inbox(pool: Pool) -> PostgresInbox:
    return PostgresInbox(pool, Jobs(pool), counting_ids("feedback"))


async def ended(inbox: PostgresInbox, number: int) -> list[str]:
    new = [NewFeedback(tenant_id="t", agent_ids=("a",), content=f"원화 {n}") for n in range(number)]
    stored = [feedback_id for feedback_id, _ in await inbox.add("cli", new)]
    for feedback_id in stored:
        await inbox.finish(await claimed(inbox, feedback_id), DONE)
    return stored


async def rows(pool: Pool, table: str) -> int:
    async with connection(pool) as conn:
        found = await (await conn.execute(f"SELECT count(*) AS n FROM {table}")).fetchone()
        assert found
        return int(found["n"])


async def test_all_batches_are_worked_off_at_once(pool: Pool, inbox: PostgresInbox) -> None:
    await ended(inbox, 7)
    assert await PostgresRetention(pool, batch=3).prune(0) == 7
    assert await rows(pool, "feedback WHERE pruned") == 7


async def test_while_another_process_prunes_nothing_is_done(
    pool: Pool, inbox: PostgresInbox
) -> None:
    await ended(inbox, 1)
    async with transaction(pool) as other:
        await other.execute(sql("retention.try_lock"))
        assert await PostgresRetention(pool).prune(0) == 0
    assert await PostgresRetention(pool).prune(0) == 1


async def test_a_piece_that_somebody_holds_is_left_for_later(
    pool: Pool, inbox: PostgresInbox
) -> None:
    held, _ = await ended(inbox, 2)
    async with transaction(pool) as other:
        await other.execute("SELECT FROM feedback WHERE id = %s FOR UPDATE", [held])
        assert await PostgresRetention(pool).prune(0) == 1
    assert await PostgresRetention(pool).prune(0) == 1


async def test_events_of_no_feedback_go_with_age(pool: Pool) -> None:
    await PostgresJournal(pool).emit(RunEvent(name="change.reverted"))
    await PostgresRetention(pool).prune(DAY)
    assert await rows(pool, "run_events") == 1
    await PostgresRetention(pool).prune(0)
    assert await rows(pool, "run_events") == 0


async def test_a_revive_is_pruned_again(pool: Pool, inbox: PostgresInbox) -> None:
    (feedback_id,) = await ended(inbox, 1)
    assert await PostgresRetention(pool).prune(0) == 1
    await PostgresIntake(pool, Jobs(pool)).revive(feedback_id)
    assert await PostgresRetention(pool).prune(0) == 0
    await inbox.finish(await claimed(inbox, feedback_id), DONE)
    assert await PostgresRetention(pool).prune(0) == 1


class Asked:
    """Stands in for retention, and records its calls."""

    def __init__(self) -> None:
        self.seconds: asyncio.Queue[float] = asyncio.Queue()

    async def prune(self, seconds: float) -> int:
        await self.seconds.put(seconds)
        return 0


@pytest.mark.parametrize(("days", "seconds"), [(0, 60.0), (1, DAY), (0.5, DAY / 2)])
async def test_a_worker_prunes_what_is_older_than_set_but_keeps_a_minute(
    database: str, tmp_path: Path, days: float, seconds: float
) -> None:
    asked, stop = Asked(), asyncio.Event()

    def wrap(name: str, port: T, /) -> T:
        return asked if name == "retention" else port  # type: ignore[return-value]

    given = {"skill_worker_home": tmp_path, "database_url": url_of(database)}
    settings = load_settings({**given, "retention_days": days, "health_port": 0}, env_file=None)
    async with open_app(settings, model=True, chat=ScriptedChatModel([]), wrap=wrap) as app:
        worker = asyncio.create_task(app.run(False, 1, stop, lambda _: None))
        assert await asyncio.wait_for(asked.seconds.get(), SOON) == seconds
        stop.set()
        await asyncio.wait_for(worker, SOON)
