"""What other runs have learnt since a change was compared with what was known."""

from __future__ import annotations

from core.adapters.postgres.queries import Connection, sql
from core.domain.errors import Repeated, TargetBusy
from core.domain.messages import Message
from core.domain.models import Change, Kind
from core.knowledge.duplicates.repeats import repeats, repeats_skill


async def newest_revision(
    conn: Connection, tenant_id: str, agent_id: str | None, kind: Kind
) -> int:
    """Return the newest revision of an agent's documents of a kind, 0 if there are none.

    Without an agent, of those that the tenant shares.
    """
    params = {"tenant_id": tenant_id, "agent_id": agent_id, "kind": kind}
    found = await (await conn.execute(sql("neighbours.newest"), params)).fetchone()
    return int(found["newest"]) if found else 0


async def refuse_repeated(conn: Connection, change: Change) -> None:
    """Serialise writers of an agent's knowledge of a kind, and check what is new there.

    The lock lasts until the caller's transaction ends; it is taken after those of the change and
    its candidate. Raises Repeated if an item added or changed since says the same, or nearly.
    """
    params = {**await _lock(conn, change), "item_id": change.target_id, "seen": change.seen}
    if change.seen is None or change.after is None:
        return
    block = "neighbours.tables" if change.kind is Kind.DMN_RULE else "neighbours.newer"
    for row in await (await conn.execute(sql(block), params)).fetchall():
        if repeats(change, row["content"]):
            raise Repeated(
                f"{change.kind} {row['item_id']!r} says nearly this meanwhile",
                item_id=row["item_id"],
            )


async def refuse_skill_beside(conn: Connection, change: Change) -> None:
    """Check which skills appeared since a new one was compared, or are about to appear.

    A skill is uploaded before it is recorded, so this runs before the upload. Raises Repeated if
    one made since says nearly the same, TargetBusy while one is being made.
    """
    if change.kind is not Kind.SKILL or change.before is not None or change.seen is None:
        return
    params = {**await _lock(conn, change), "item_id": change.target_id, "seen": change.seen}
    for row in await (await conn.execute(sql("neighbours.skills"), params)).fetchall():
        if repeats_skill(change, row["item_id"], row["content"]):
            if row["is_open"]:
                raise TargetBusy(
                    Message(
                        "near.being_made",
                        "skill {name!r} says nearly this and is being made",
                        name=row["item_id"],
                    )
                )
            raise Repeated(
                f"skill {row['item_id']!r} says nearly this meanwhile", item_id=row["item_id"]
            )


async def lock_skills(conn: Connection, change: Change) -> None:
    """Serialise the recording of a tenant's skills, so that their revisions appear in order."""
    await _lock(conn, change)


async def _lock(conn: Connection, change: Change) -> dict[str, object]:
    """Lock a kind of an agent's knowledge, or a tenant's skills, until the transaction ends."""
    owner = "" if change.kind is Kind.SKILL else change.agent_id
    params: dict[str, object] = {
        "tenant_id": change.tenant_id,
        "agent_id": owner,
        "kind": change.kind,
    }
    await conn.execute(sql("neighbours.lock"), params)
    return params
