"""The SQL that the docs publish for the platform's database does what they say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

PAGE = Path(__file__).parents[2] / "docs/how-to/connect-supabase.md"
SETUP = """
create table public.todolist (
    id text primary key, feedback jsonb, feedback_status text, updated_at timestamptz)
"""
ROLES = ("anon", "authenticated", "service_role")


@pytest.fixture
def platform(empty_database: str) -> Iterator[psycopg.Connection]:
    """A database with the platform's table, and the SQL of the page."""
    with psycopg.connect(empty_database, autocommit=True) as conn:
        conn.execute(SETUP)
        for role in ROLES:
            known = conn.execute("select 1 from pg_roles where rolname = %s", (role,)).fetchone()
            if not known:
                conn.execute(psycopg.sql.SQL("create role {}").format(psycopg.sql.Identifier(role)))
        for block in re.findall(r"^```sql\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S):
            conn.execute(block)
        yield conn


def _put(conn: psycopg.Connection, row_id: str, feedback: str | None, day: int) -> None:
    conn.execute(
        "insert into todolist values (%s, %s, null, make_timestamptz(2026, 1, %s, 0, 0, 0))",
        (row_id, feedback, day),
    )


def _claim(conn: psycopg.Connection, limit: int) -> list[str]:
    found = conn.execute("select id from agent_feedback_task(%s)", (limit,))
    return sorted(row[0] for row in found.fetchall())


def test_rows_with_feedback_are_claimed_once_oldest_first(platform: psycopg.Connection) -> None:
    for row_id, day in (("young", 3), ("oldest", 1), ("old", 2)):
        _put(platform, row_id, '[{"content": "원화로"}]', day)
    for row_id, feedback in (("none", None), ("empty", "[]"), ("object", "{}"), ("null", "null")):
        _put(platform, row_id, feedback, 1)
    assert _claim(platform, 0) == []
    assert _claim(platform, 2) == ["old", "oldest"]
    assert _claim(platform, 9) == ["young"]
    assert _claim(platform, 9) == []


def test_two_workers_that_claim_at_once_do_not_wait_for_each_other(
    platform: psycopg.Connection, empty_database: str
) -> None:
    for number in (1, 2):
        _put(platform, f"row {number}", '["x"]', number)
    with psycopg.connect(empty_database) as other:
        assert _claim(other, 1) == ["row 1"]
        assert _claim(platform, 1) == ["row 2"]


def test_an_item_added_to_a_row_at_its_end_asks_for_it_anew(platform: psycopg.Connection) -> None:
    _put(platform, "row", '["one"]', 1)
    assert _claim(platform, 1) == ["row"]
    platform.execute("update todolist set feedback_status = 'COMPLETED'")
    assert _claim(platform, 1) == []
    platform.execute('update todolist set feedback = \'["one", "two"]\'')
    assert _claim(platform, 1) == ["row"]
