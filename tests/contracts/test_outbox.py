"""The outbox in PostgreSQL, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence

import psycopg
import pytest

from core.adapters.postgres.inbox import PostgresInbox
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.outbox import PostgresDeliveryLog, PostgresOutbox
from core.adapters.postgres.queries import Pool, fetch_all, transaction
from core.adapters.postgres.runs import PostgresJournal, PostgresRetention, going_out, write_event
from core.delivery.hooks import Hook, Hooks
from core.domain.models import FeedbackStatus, NewFeedback, Outcome, RunEvent
from core.domain.ports import DeliveryLog, Journal, Outbox
from core.testing.determinism import counting_ids
from tests.contracts.suites.outbox import ALL, START, Double, OutboxContract, held, hook


class TestOutbox(OutboxContract):
    @pytest.fixture(autouse=True)
    def _pool(self, pool: Pool) -> None:
        self.pool = pool

    @pytest.fixture
    def outbox(self, pool: Pool) -> Outbox:
        return PostgresOutbox(pool)

    @pytest.fixture
    def delivery_log(self, pool: Pool) -> DeliveryLog:
        return PostgresDeliveryLog(pool)

    @pytest.fixture
    def journal(self, pool: Pool, hooks: Hooks) -> Journal:
        return PostgresJournal(pool, routes=hooks.routes)

    async def emit(self, hooks: Sequence[Hook], event: RunEvent) -> None:
        await PostgresJournal(self.pool, routes=Hooks(hooks).routes).emit(event)


async def test_what_is_rolled_back_never_goes_out(pool: Pool) -> None:
    async with transaction(pool) as conn:
        await write_event(conn, held(), Hooks([hook()]).routes)
        raise psycopg.Rollback
    assert not await fetch_all(pool, "outbox.page", at="infinity", id="", limit=9)


async def test_an_end_whose_worker_died_before_telling_it_goes_out(pool: Pool) -> None:
    hooks = Hooks([hook(event="feedback.failed")])
    inbox = PostgresInbox(pool, Jobs(pool), counting_ids("f"))
    piece = NewFeedback(tenant_id="t", agent_ids=("a",), content="x")
    for _ in range(2):
        ((id_, _),) = await inbox.add("test", [piece])
        claimed = await inbox.claim(id_)
        assert claimed is not None
        await inbox.finish(claimed, Outcome(status=FeedbackStatus.FAILED, error="no"))
    told = RunEvent(name="feedback.finished", tenant_id="t", feedback_id=id_)
    await PostgresJournal(pool).emit(told)
    outbox = PostgresOutbox(pool, routes=hooks.routes)
    assert await outbox.tell_ends(60.0) == 0
    assert await outbox.tell_ends(0.0) == 1
    assert await outbox.tell_ends(0.0) == 0
    (left,), _ = await PostgresDeliveryLog(pool).page(ALL, limit=9, cursor=None)
    assert (left.feedback_id, left.event) == ("f-000001", "feedback.failed")


def test_without_a_hook_on_it_an_event_costs_what_it_did() -> None:
    text, params = going_out("journal.emit", Hooks([hook()]).routes(RunEvent(name="run.started")))
    assert "deliveries" not in text
    assert not params


async def test_a_payload_of_a_newer_release_does_not_stop_the_others(pool: Pool) -> None:
    routes = Hooks([hook()]).routes
    for number in (1, 2):
        await PostgresJournal(pool, routes=routes).emit(held(number, f"f{number}"))
    async with transaction(pool) as conn:
        newer = '{"change": {"status": "folded"}, "moon": 1}'
        await conn.execute(
            "UPDATE deliveries SET payload = payload || jsonb_build_object('state', %s::jsonb)"
            " WHERE change_id = 'c1'",
            (newer,),
        )
    claimed = await PostgresOutbox(pool).claim({"us": Double()}, START)
    assert [(one.change_id, one.payload.name) for one in claimed] == [
        ("c1", "change.held"),
        ("c2", "change.held"),
    ]


async def test_what_was_delivered_long_ago_is_forgotten(pool: Pool) -> None:
    journal = PostgresJournal(pool, routes=Hooks([hook(), hook("them")]).routes)
    await journal.emit(held())
    async with transaction(pool) as conn:
        await conn.execute(
            "UPDATE deliveries SET created_at = now() - interval '20 days', ended_at ="
            " now() - interval '15 days', status = 'delivered' WHERE target = 'us'"
        )
        await conn.execute(
            "UPDATE deliveries SET created_at = now() - interval '20 days' WHERE target = 'them'"
        )
    await PostgresRetention(pool).prune(10 * 86_400)
    left, _ = await PostgresDeliveryLog(pool).page(ALL, limit=9, cursor=None)
    assert [one.target for one in left] == ["them"]
