"""Retrying all feedback with one status, also concurrently."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.adapters.postgres.inbox import PostgresInbox, PostgresIntake
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.queries import Pool
from core.adapters.postgres.reads import PostgresReader
from core.domain.models import Feedback, FeedbackFilter, FeedbackStatus, NewFeedback, Outcome
from core.entrypoints.cli.app import run
from core.entrypoints.cli.feedback.retrying import revive_all
from core.testing.determinism import counting_ids
from tests.contracts.suites.inbox import claimed

DEAD, FAILED = FeedbackStatus.DEAD, FeedbackStatus.FAILED


def inbox_of(pool: Pool) -> PostgresInbox:
    return PostgresInbox(pool, Jobs(pool), counting_ids("feedback"))


def intake_of(pool: Pool) -> PostgresIntake:
    return PostgresIntake(pool, Jobs(pool))


async def ended(inbox: PostgresInbox, tenant_id: str, status: FeedbackStatus) -> str:
    piece = NewFeedback(tenant_id=tenant_id, agent_ids=("a",), content="원화로")
    ((feedback_id, _),) = await inbox.add("test", [piece])
    await inbox.finish(await claimed(inbox, feedback_id), Outcome(status=status))
    return feedback_id


async def test_all_that_are_dead_are_queued_and_nothing_else(pool: Pool) -> None:
    inbox = inbox_of(pool)
    dead = [await ended(inbox, tenant, DEAD) for tenant in ("t", "u")]
    others = [await ended(inbox, "t", status) for status in (FAILED, FeedbackStatus.COMPLETED)]
    done: list[int] = []
    revived = await revive_all(intake_of(pool), PostgresReader(pool), [DEAD], None, done.append)
    assert {piece.id for piece in revived} == set(dead)
    assert {piece.status for piece in revived} == {FeedbackStatus.QUEUED}
    assert sum(done) == 2
    assert [(await inbox.get(other)).status for other in others] == [FAILED, "completed"]


async def test_a_tenant_is_enough(pool: Pool) -> None:
    inbox = inbox_of(pool)
    mine, _ = [await ended(inbox, tenant, FAILED) for tenant in ("t", "u")]
    reader = PostgresReader(pool)
    revived = await revive_all(intake_of(pool), reader, [DEAD, FAILED], "t", lambda _: None)
    assert [piece.id for piece in revived] == [mine]


async def test_what_another_has_revived_meanwhile_is_left_to_them(pool: Pool) -> None:
    inbox = inbox_of(pool)
    first, second = [await ended(inbox, "t", DEAD) for _ in range(2)]
    taken: list[str] = []

    class Rival(PostgresReader):
        async def feedback(
            self, wanted: FeedbackFilter, *, limit: int, cursor: str | None
        ) -> tuple[Sequence[Feedback], str | None]:
            page = await super().feedback(wanted, limit=limit, cursor=cursor)
            if not taken:
                taken.append((await intake_of(pool).revive(first)).id)
            return page

    revived = await revive_all(intake_of(pool), Rival(pool), [DEAD], None, lambda _: None)
    assert [piece.id for piece in revived] == [second]


@pytest.mark.parametrize(
    "arguments", [[], ["x", "--all-dead"], ["x", "--tenant", "t"], ["--tenant", "t"]]
)
def test_one_piece_or_all_must_be_said(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["feedback", "retry", *arguments]) == 2
    assert "--all-dead" in capsys.readouterr().err
