"""The audit chain on PostgreSQL: it never forks, and what is done to its rows shows."""

from __future__ import annotations

import asyncio

from core.adapters.postgres.audit import PostgresAudit
from core.adapters.postgres.change_log import PostgresChangeLog
from core.adapters.postgres.queries import Pool, connection
from core.adapters.postgres.reviews import PostgresReviews
from core.changes.audit import ChainCheck
from core.domain.models import Change, ChangeStatus, RunEvent
from core.domain.models.audit import ChainHead, Verification
from tests.contracts.suites.change_log import history_of, memory_change
from tests.contracts.suites.reviews import waiting

AT_ONCE = 12


async def verified(pool: Pool, *, page: int = 5) -> Verification:
    audit = PostgresAudit(pool, page=page)
    check = ChainCheck(await audit.heads(None), rows=True)
    async for entry in audit.entries(None):
        check.see(entry)
    for row in await audit.unchained(None):
        check.insert(*row)
    return check.end()


async def attempt(pool: Pool, number: int) -> None:
    """Put the history of one attempt on record, of one of two tenants."""
    tenant = "t" if number % 4 else "other"
    change = memory_change(f"c{number}", None, "Amounts in KRW").model_copy(
        update={"tenant_id": tenant, "target_id": f"mem-{number}"}
    )
    log = PostgresChangeLog(pool)
    await log.store(change, {}, RunEvent(name="change.failed"), history_of(change))


async def run(pool: Pool, statement: str) -> None:
    async with connection(pool) as conn:
        await conn.execute(statement)


async def test_what_is_done_to_rows_past_the_chain_is_named(pool: Pool) -> None:
    await asyncio.gather(*(attempt(pool, number) for number in range(AT_ONCE)))
    whole = await verified(pool)
    assert not whole.problems
    assert {(head.tenant_id, head.seq) for head in whole.heads} == {("t", 9), ("other", 3)}
    for statement in (
        "UPDATE history SET new_content = 'Amounts in USD' WHERE change_id = 'c1'",
        "UPDATE history SET created_at = created_at - interval '1 day' WHERE change_id = 'c2'",
        "DELETE FROM history WHERE change_id = 'c3'",
        "UPDATE audit_chain SET subject = 'history-new' WHERE subject = 'history-c5'",
        "UPDATE history SET id = 'history-moved' WHERE id = 'history-c6'",
    ):
        await run(pool, statement)
    found = {(p.fault.value, p.subject) for p in (await verified(pool)).problems}
    assert found == {
        ("changed", "history-c1"),
        ("changed", "history-c2"),
        ("missing", "history-c3"),
        ("reordered", "history-new"),
        ("inserted", "history-c5"),
        ("missing", "history-c6"),
        ("inserted", "history-moved"),
    }


async def test_an_end_that_is_cut_off_misses_the_head_that_was_logged(pool: Pool) -> None:
    audit = PostgresAudit(pool)
    await attempt(pool, 1)
    await attempt(pool, 2)
    assert await audit.log_heads(3600) == 1
    assert await audit.log_heads(3600) == 0  # another process, or a minute later
    (head,) = await audit.heads("t")
    await run(pool, "DELETE FROM history WHERE change_id = 'c2'")
    await run(pool, "DELETE FROM audit_chain WHERE seq = 2")
    (problem,) = (await verified(pool)).problems
    assert (problem.fault, problem.seq) == ("missing", head.seq)
    assert head == ChainHead(tenant_id="t", seq=2, digest=head.digest)


async def test_each_decision_is_an_entry(pool: Pool) -> None:
    change: Change = waiting()
    await PostgresChangeLog(pool).store(change, {}, RunEvent(name="change.held"))
    event = RunEvent(name="change.rejected")
    await PostgresReviews(pool).end(change, ChangeStatus.REJECTED, "kim", "no", event)
    found = await verified(pool)
    assert (found.entries, found.problems) == (1, ())
    await run(pool, "UPDATE decisions SET decided_by = 'lee'")
    (problem,) = (await verified(pool)).problems
    assert "decided_by" in problem.message
