"""What writes an item writes its own versions, and reads none of another tenant, kind or id."""

from __future__ import annotations

from itertools import product

import pytest

from core.adapters.postgres.change_log import PostgresChangeLog
from core.adapters.postgres.knowledge import packages_in
from core.adapters.postgres.queries import Pool, connection, transaction
from core.adapters.postgres.unit_of_work import PostgresUnitOfWork, item_put
from core.domain.errors import Stale
from core.domain.hashing import state_hash
from core.domain.models import Change, Kind, Snapshot
from core.domain.ports import Concluded
from tests.contracts.suites.change_log import concluded
from tests.support.react import item_change
from tests.support.seeding import AT, DAY, Row, put_all

BEFORE = Snapshot(content="was", name="n")
WHOSE = [*product("tu", ("MEMORY", "DMN_RULE"), "mn")]


def version(tenant: str, kind: str, item: str, number: int = 1, **more: object) -> Row:
    one = f"{tenant} {kind} {item} {number}"
    row = {"tenant_id": tenant, "kind": kind, "item_id": item, "version": number, "agent_id": "a"}
    names = {"name": one, "name_key": one, "same_key": one, "content": "was", "valid_from": AT}
    return "knowledge_versions", row | names | {"hash": state_hash(BEFORE)} | more


def changed(item: str = "m", text: str | None = "is", **more: object) -> Change:
    made = item_change(Kind.MEMORY, item, "new name", text or "")
    given = {"tenant_id": "t", "agent_id": "a", "before": BEFORE, "base_hash": state_hash(BEFORE)}
    after = None if text is None else made.after
    return made.model_copy(update=given | {"after": after, "feedback_id": "f"} | more)


async def standing(pool: Pool) -> dict[str, tuple[int, str]]:
    """Return the version and the text of what stands."""
    query = b"""SELECT tenant_id || ' ' || kind || ' ' || item_id AS one, version, content
                FROM knowledge_versions WHERE valid_to IS NULL"""
    async with connection(pool) as conn:
        rows = await (await conn.execute(query)).fetchall()
    return {row["one"]: (row["version"], row["content"]) for row in rows}


async def write(pool: Pool, change: Change) -> None:
    async with transaction(pool) as conn, item_put(conn, change):
        pass


ALL = {" ".join(one): (1, "was") for one in WHOSE}


async def test_a_version_takes_the_place_of_the_one_of_its_item(pool: Pool) -> None:
    await put_all(pool, *(version(*one) for one in WHOSE),
                  version("t", "MEMORY", "m", 5, valid_to=AT))  # fmt: skip
    await write(pool, changed())
    assert await standing(pool) == ALL | {"t MEMORY m": (2, "is")}
    with pytest.raises(Stale):
        await write(pool, changed(text="late"))
    with pytest.raises(Stale):
        await write(pool, changed("none"))
    async with connection(pool) as conn:
        query = b"SELECT valid_from, valid_to FROM knowledge_versions WHERE same_key = %s"
        closed = await (await conn.execute(query, ["t MEMORY m 1"])).fetchone()
        query = b"""SELECT valid_from, name, change_id, feedback_id FROM knowledge_versions
                    WHERE content = 'is'"""
        fresh = await (await conn.execute(query)).fetchone()
    assert closed is not None
    assert fresh is not None
    assert closed["valid_from"] == AT < closed["valid_to"] == fresh["valid_from"]
    assert (fresh["name"], fresh["change_id"], fresh["feedback_id"]) == ("new name", "made-m", "f")


async def test_an_item_is_ended_as_it_was_seen_and_no_other(pool: Pool) -> None:
    await put_all(pool, *(version(*one) for one in WHOSE),
                  version("t", "MEMORY", "m", 5, valid_to=AT))  # fmt: skip
    with pytest.raises(Stale):
        await write(pool, changed(text=None, base_hash="other"))
    assert await standing(pool) == ALL
    await write(pool, changed(text=None))
    assert await standing(pool) == {one: is_ for one, is_ in ALL.items() if one != "t MEMORY m"}
    with pytest.raises(Stale):
        await write(pool, changed(text=None))
    async with connection(pool) as conn:
        query = b"SELECT valid_to FROM knowledge_versions WHERE version = 5"
        row = await (await conn.execute(query)).fetchone()
    assert row is not None
    assert row["valid_to"] == AT


async def test_what_is_created_again_goes_on_counting_its_own_versions(pool: Pool) -> None:
    gone = AT + 9_000 * DAY  # by a clock that was set back since
    rows = [version(*one, n + 2, valid_to=AT) for n, one in enumerate(WHOSE)]
    await put_all(pool, *rows, version("t", "MEMORY", "m", 1, valid_to=gone))
    await write(pool, changed(before=None))
    await write(pool, changed("new", text="new", before=None))
    assert await standing(pool) == {"t MEMORY m": (3, "is"), "t MEMORY new": (1, "new")}
    async with connection(pool) as conn:
        query = b"SELECT valid_from FROM knowledge_versions WHERE content = 'is'"
        row = await (await conn.execute(query)).fetchone()
    assert row is not None
    assert row["valid_from"] == gone
    with pytest.raises(Stale):
        await write(pool, changed(before=None, text="twice"))


async def test_items_that_are_written_together_count_their_own_versions(pool: Pool) -> None:
    made = [concluded(n) for n in (1, 2)]
    (tenant, ids) = made[0].change.tenant_id, [one.change.target_id for one in made]
    first = str(ids[0])
    other = "u" if tenant != "u" else "v"
    await put_all(
        pool, version(tenant, "MEMORY", first, 4, valid_to=AT),
        version(other, "MEMORY", first, 7, valid_to=AT),
        version(tenant, "DMN_RULE", first, 8, valid_to=AT),
        version(tenant, "MEMORY", "beside", 9, valid_to=AT),
    )  # fmt: skip
    log = PostgresChangeLog(pool)
    await log.conclude(made)
    found = await standing(pool)
    assert {one: number for one, (number, _) in found.items()} == {
        f"{tenant} MEMORY {ids[0]}": 5, f"{tenant} MEMORY {ids[1]}": 1,
    }  # fmt: skip
    assert [(await log.get(one.change.id)).status for one in made] == ["applied", "applied"]
    twice: list[Concluded] = [concluded(3), concluded(3)]
    with pytest.raises(Stale):
        await log.conclude(twice)
    assert await standing(pool) == found


async def test_a_kind_is_of_the_package_that_wrote_it_last(pool: Pool) -> None:
    for kind, package in ((Kind("NOTE"), "one"), (Kind("TASK"), "two"), (Kind("NOTE"), "three")):
        async with transaction(pool) as conn:
            await PostgresUnitOfWork(conn).note_package(kind, package)
    assert await packages_in(pool) == {Kind("NOTE"): "three", Kind("TASK"): "two"}
