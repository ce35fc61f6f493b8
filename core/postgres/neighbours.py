"""What other runs have learnt since a change was compared with what was known."""

from __future__ import annotations

from core.errors import Repeated
from core.knowledge_conflicts.repeats import repeats
from core.models import Change, Kind
from core.postgres.queries import Connection, sql


async def newest_revision(conn: Connection, tenant_id: str, agent_id: str, kind: Kind) -> int:
    """Give the newest revision of an agent's documents of a kind, 0 where there is none."""
    params = {"tenant_id": tenant_id, "agent_id": agent_id, "kind": kind}
    found = await (await conn.execute(sql("neighbours.newest"), params)).fetchone()
    return int(found["newest"]) if found else 0


async def refuse_repeated(conn: Connection, change: Change) -> None:
    """Let one at a time write an agent's knowledge of a kind, and see what is new there.

    The caller's transaction holds the lock until it ends; it is taken behind those of the change
    and its candidate. Raises Repeated where an item that was added or changed since says the
    same, or nearly.
    """
    params = {
        "tenant_id": change.tenant_id,
        "agent_id": change.agent_id,
        "kind": change.kind,
        "item_id": change.target_id,
        "seen": change.seen,
    }
    await conn.execute(sql("neighbours.lock"), params)
    if change.seen is None or change.after is None:
        return
    block = "neighbours.tables" if change.kind is Kind.DMN_RULE else "neighbours.newer"
    for row in await (await conn.execute(sql(block), params)).fetchall():
        if repeats(change, row["content"]):
            raise Repeated(
                f"{change.kind} {row['item_id']!r} says nearly this meanwhile",
                item_id=row["item_id"],
            )
