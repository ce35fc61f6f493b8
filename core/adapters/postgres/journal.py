"""The event log of runs, written for live viewers and for later inspection."""

from __future__ import annotations

from psycopg.types.json import Jsonb

from core.adapters.postgres.queries import Connection, Pool, connection, sql
from core.agent.prices import UNBILLED, Billing
from core.domain.models import NO_USAGE, RunEvent, Usage
from core.domain.observers import nobody
from core.domain.ports import Observer


class PostgresJournal:
    """The `Journal` port; `observe` is called with each event once it is committed."""

    def __init__(self, pool: Pool, observe: Observer = nobody, billing: Billing = UNBILLED) -> None:
        self._pool = pool
        self._observe = observe
        self._billing = billing

    async def emit(self, event: RunEvent, spent: Usage = NO_USAGE) -> None:
        async with connection(self._pool) as conn:
            if spent.model_calls:
                await write_paid_event(conn, event, spent, self._billing)
            else:
                await write_event(conn, event, alone=True)
        self._observe(event, spent)


async def write_event(conn: Connection, event: RunEvent, *, alone: bool = False) -> None:
    """Write an event in the caller's transaction, which notifies when it commits.

    The caller then calls the observer. `alone`: the transaction contains nothing else.
    """
    await conn.execute(sql("journal.emit"), {**_row(event), "alone": alone})


async def write_paid_event(
    conn: Connection, event: RunEvent, spent: Usage, billing: Billing
) -> None:
    """Write the event of a paid call, and charge it."""
    params = {**_row(event), **bill(billing, event.tenant_id, spent)}
    await conn.execute(sql("journal.pay"), params)


def bill(billing: Billing, tenant_id: str | None, spent: Usage) -> dict[str, object]:
    """Return the parameters that charge a call to its tenant's day."""
    return {
        **spent.model_dump(),
        "tenant_id": tenant_id,
        "model": billing.model,
        "unpriced": billing.unpriced(spent),
    }


def _row(event: RunEvent) -> dict[str, object]:
    return {**event.model_dump(exclude={"id", "at", "data", "state"}), "data": Jsonb(event.data)}
