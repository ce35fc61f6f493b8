"""Rows of any table, put there past the program: what a test does not name is filled in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count

from psycopg import sql
from psycopg.types.json import Jsonb

from core.adapters.postgres.queries import Connection, Pool, connection

Row = tuple[str, dict[str, object]]
AT = datetime(2026, 1, 5, 9, tzinfo=UTC)
DAY = timedelta(days=1)
_FILLERS: dict[str, object] = {
    "text": "x",
    "int4": 1,
    "int8": 1,
    "float8": 0.0,
    "numeric": 0,
    "bool": False,
    "timestamptz": AT,
    "date": AT.date(),
    "jsonb": Jsonb({}),
    "bytea": b"",
    "_text": [],
}
_COLUMNS = """
    SELECT column_name AS name, udt_name AS type,
           is_nullable = 'YES' OR column_default IS NOT NULL OR is_identity = 'YES'
           OR is_generated = 'ALWAYS' AS is_optional
    FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = %s
"""
_numbers = count(1)


async def put(conn: Connection, table: str, **given: object) -> None:
    """Insert a row. A text key that is not given is one of its own."""
    columns = await (await conn.execute(_COLUMNS, (table,))).fetchall()
    assert columns, table
    values = dict(given)
    for column in columns:
        value = values.get(column["name"])
        if column["type"] == "jsonb" and isinstance(value, dict | list | str):
            values[column["name"]] = Jsonb(value)
        if column["name"] not in values and not column["is_optional"]:
            is_key = column["name"] == "id" and column["type"] == "text"
            filler = f"x{next(_numbers)}" if is_key else _FILLERS[column["type"]]
            values[column["name"]] = filler
    await conn.execute(
        sql.SQL("INSERT INTO {} ({}) OVERRIDING SYSTEM VALUE VALUES ({})").format(
            sql.Identifier(table),
            sql.SQL(", ").join(map(sql.Identifier, values)),
            sql.SQL(", ").join(sql.Placeholder() * len(values)),
        ),
        [*values.values()],
    )


async def put_all(pool: Pool, *rows: Row) -> None:
    """Insert rows of tables, in one transaction."""
    async with connection(pool) as conn:
        for table, values in rows:
            await put(conn, table, **values)
