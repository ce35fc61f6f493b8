"""Feedback that lost its job gets another: one of all processes checks in each interval."""

from __future__ import annotations

import pytest

from core.adapters.postgres.inbox import PostgresInbox
from core.adapters.postgres.job_sweep import BATCH, reconcile
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.queries import Pool, connection
from core.domain.errors import SkillWorkerError
from core.domain.models import NewFeedback
from core.testing.determinism import counting_ids
from tests.support.databases import alter

_NO_NEW_JOBS = """
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE 'the disk is full'; END $$;
CREATE TRIGGER refuse BEFORE INSERT ON procrastinate_jobs
FOR EACH ROW EXECUTE FUNCTION refuse();
"""


@pytest.fixture
def jobs(pool: Pool) -> Jobs:
    return Jobs(pool)


async def lose(pool: Pool, number: int) -> None:
    """Store pieces whose jobs are gone, as after a restore without the engine's tables."""
    inbox = PostgresInbox(pool, Jobs(pool), counting_ids("feedback"))
    content = [f"원화로 {n}" for n in range(number)]
    await inbox.add(
        "cli", [NewFeedback(tenant_id="t", agent_ids=("a",), content=c) for c in content]
    )
    await _execute(pool, "DELETE FROM procrastinate_jobs")


async def test_one_of_all_processes_looks_in_each_interval(pool: Pool, jobs: Jobs) -> None:
    assert await reconcile(Jobs(pool), every=60) == 0
    await lose(pool, 3)
    assert await reconcile(jobs, every=60) == 0
    await _execute(pool, "UPDATE sweeps SET at = at - interval '61 seconds'")
    assert await reconcile(jobs, every=60) == 3


async def test_who_looks_takes_up_all_at_once(pool: Pool, jobs: Jobs) -> None:
    await lose(pool, BATCH + 5)
    assert await reconcile(jobs, every=60) == BATCH + 5


async def test_a_clock_that_was_set_back_puts_nothing_off(pool: Pool, jobs: Jobs) -> None:
    assert await reconcile(jobs, every=60) == 0
    await _execute(pool, "UPDATE sweeps SET at = at + interval '1 day'")
    await lose(pool, 1)
    assert await reconcile(jobs, every=60) == 1


async def test_who_fails_leaves_it_to_the_next(pool: Pool, jobs: Jobs) -> None:
    await lose(pool, 1)
    alter(pool.conninfo, _NO_NEW_JOBS)
    with pytest.raises(SkillWorkerError, match="the disk is full"):
        await reconcile(jobs, every=60)
    alter(pool.conninfo, "DROP TRIGGER refuse ON procrastinate_jobs")
    assert await reconcile(jobs, every=60) == 1


async def _execute(pool: Pool, statement: str) -> None:
    async with connection(pool) as conn:
        await conn.execute(statement)
