"""The SQL of runbooks and of the autoscaler is valid for our schema."""

from __future__ import annotations

import re

import psycopg
import pytest

from tests.support import deploy

RUNBOOKS = (deploy.DEPLOY / "runbooks.md").read_text("utf-8")
SECTIONS = re.split(r"^## ", RUNBOOKS, flags=re.MULTILINE)[1:]
QUERIES = {part.split("\n", 1)[0]: deploy.blocks(part, "sql") for part in SECTIONS}


@pytest.mark.parametrize("section", [name for name, found in QUERIES.items() if found])
def test_a_runbooks_queries_run_and_write_nothing(database: str, section: str) -> None:
    with psycopg.connect(database) as conn:
        conn.execute("SET TRANSACTION READ ONLY")
        for query in QUERIES[section]:
            assert conn.execute(query.encode()).description


def _asked_by_keda(conn: psycopg.Connection) -> int:
    [trigger] = deploy.manifest("ScaledObject", "worker")["spec"]["triggers"]
    [(count,)] = conn.execute(trigger["metadata"]["query"].encode()).fetchall()
    return int(count)


def _put(conn: psycopg.Connection, name: str, status: str, retry_in: str | None = None) -> None:
    conn.execute(
        "INSERT INTO feedback (id, source, source_id, digest, tenant_id, agent_ids, content,"
        " status, retry_at) VALUES (%s, 's', %s, '', 't', '{}', '', %s, now() + %s::interval)",
        (name, name, status, retry_in),
    )


def test_the_autoscaler_counts_what_workers_could_do(database: str) -> None:
    with psycopg.connect(database) as conn:
        assert _asked_by_keda(conn) == 0
        for name, status in (("a", "queued"), ("b", "processing"), ("c", "completed")):
            _put(conn, name, status)
        _put(conn, "d", "queued", "1 hour")
        _put(conn, "e", "queued", "-1 hour")
        assert _asked_by_keda(conn) == 3


@pytest.mark.parametrize(
    "hold",
    [
        "INSERT INTO intake_pause (reason) VALUES ('backup')",
        "INSERT INTO model_lines (model, open_since, probe_at) VALUES ('m', now(), now())",
    ],
)
def test_the_autoscaler_asks_for_nobody_while_work_is_held_back(database: str, hold: str) -> None:
    with psycopg.connect(database) as conn:
        _put(conn, "a", "queued")
        assert _asked_by_keda(conn) == 1
        conn.execute(hold.encode())
        assert _asked_by_keda(conn) == 0


def test_a_model_that_is_no_longer_used_holds_nothing_back(database: str) -> None:
    with psycopg.connect(database) as conn:
        _put(conn, "a", "queued")
        conn.execute(
            "INSERT INTO model_lines (model, open_since, probe_at)"
            " VALUES ('old', now() - interval '9 days', now() - interval '8 days')"
        )
        assert _asked_by_keda(conn) == 1
