"""A database is copied to another whole and checked, or not at all."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.support.databases import of_owner, url_of
from tests.support.home import Home

KNOWN = ("knowledge", "list", "--tenant", "t")


@pytest.fixture
def home(home: Home) -> Home:
    for text in ("Ms. Kim wants invoices in English", "환불은 7일 안에만 됩니다\t\\ 탭"):
        given = ("--agent", "a", "--tenant", "t", "--text", text)
        assert home.call("feedback", "add", *given)[0] == 0
    assert home.call("run", "--once", "--offline")[0] == 0
    return home


@pytest.fixture
def others(database: str) -> Iterator[None]:
    """Have a program of others keep its tables in the same database."""
    with psycopg.connect(of_owner(database)) as conn:
        conn.execute("CREATE SCHEMA theirs")
        conn.execute("CREATE TABLE theirs.orders (id bigint PRIMARY KEY)")
        conn.execute("CREATE TABLE theirs.lines (of_order bigint REFERENCES theirs.orders)")
    yield
    with psycopg.connect(of_owner(database)) as conn:
        conn.execute("DROP SCHEMA theirs CASCADE")


@pytest.mark.usefixtures("others")
def test_all_is_there_after_a_copy_and_work_goes_on(
    home: Home, database: str, empty_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_MIGRATION_URL", url_of(of_owner(database)))
    before = (home.items(*KNOWN), home.items("feedback", "list"), home.items("history", "list"))
    copied = home.items("db", "copy", "--to", url_of(empty_database))
    rows = {str(one["table"]): one["rows"] for one in copied}
    assert (rows["feedback"], rows["agents_of_tenants"], rows["knowledge_versions"]) == (2, 2, 2)
    monkeypatch.setenv("DATABASE_URL", url_of(empty_database))
    monkeypatch.delenv("DATABASE_MIGRATION_URL")
    assert before == (
        home.items(*KNOWN),
        home.items("feedback", "list"),
        home.items("history", "list"),
    )
    assert home.items("knowledge", "search", "환불 7일", "--tenant", "t")
    given = ("--agent", "a", "--tenant", "t", "--text", "Mr. Park wants reports as PDF")
    assert home.call("feedback", "add", *given)[0] == 0
    assert home.call("run", "--once", "--offline")[0] == 0
    assert len(home.items(*KNOWN)) == 3


def test_nothing_is_copied_over_what_is_there_or_while_workers_run(
    home: Home, database: str, empty_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_MIGRATION_URL", url_of(of_owner(database)))
    same = home.fails("db", "copy", "--to", url_of(database), code=1)
    assert same["message"] == "source and target are the same database"
    with psycopg.connect(database) as conn:
        conn.execute("INSERT INTO procrastinate_workers DEFAULT VALUES")
    running = home.fails("db", "copy", "--to", url_of(empty_database), code=1)
    assert running["message"] == "1 workers are running on the source"
    with psycopg.connect(database) as conn:
        conn.execute("DELETE FROM procrastinate_workers")
    with psycopg.connect(empty_database) as conn:
        conn.execute("INSERT INTO sweeps (name, at) VALUES ('x', now())")
    down = home.fails("db", "copy", "--to", "postgresql://u:secret@127.0.0.1:1/x", code=3)
    assert str(down["message"]).startswith("the target: PostgreSQL does not answer")
    assert down["hint"] == "Look whether its server runs and its address is right."
    assert "secret" not in str(down)
    wrong = home.fails("db", "copy", "--to", "nonsense", code=4)
    assert str(wrong["message"]).startswith("the target: ")
    filled = home.fails("db", "copy", "--to", url_of(empty_database), code=1)
    assert filled["message"] == "the table sweeps of the target has rows already"
    with psycopg.connect(empty_database) as conn:
        row = conn.execute("SELECT count(*) FROM feedback").fetchone()
    assert row == (0,)
