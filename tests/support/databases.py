"""Databases for tests: one server per run, one migrated template, a copy per test."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from core.adapters.embedded.postgres import embedded_postgres
from core.adapters.postgres.migrations import migrate

HOME_VARIABLE = "TEST_SKILL_WORKER_HOME"
SERVER_VARIABLE = "TEST_DATABASE_URL"
_VERSIONS = Path("core/adapters/postgres/migrations/versions")


def choose_home() -> None:
    """Choose, in the process that starts the run, where its server stores its files."""
    os.environ[HOME_VARIABLE] = tempfile.mkdtemp(prefix="skill-worker-test-")


def remove_home() -> None:
    """Remove the files at the end of the run, when no process uses the server any more."""
    shutil.rmtree(os.environ.pop(HOME_VARIABLE), ignore_errors=True)


@contextmanager
def test_server() -> Iterator[str]:
    """Yield the URI of the run's server, or of the one `TEST_DATABASE_URL` names."""
    if given := os.environ.get(SERVER_VARIABLE):
        yield given
        return
    with embedded_postgres(Path(os.environ[HOME_VARIABLE])) as uri:
        with psycopg.connect(uri, autocommit=True) as conn:
            conn.execute("ALTER SYSTEM SET fsync = off")
            conn.execute("ALTER SYSTEM SET synchronous_commit = off")
            conn.execute("SELECT pg_reload_conf()")
        yield uri


def template(server: str, *, vectors: bool = False) -> str:
    """Return the name of a migrated template database, created by whichever process is first."""
    name = f"skill_worker_template_{_schema_digest()}{'_vectors' if vectors else ''}"
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute("SELECT pg_advisory_lock(20261120)")
        known = conn.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone()
        if not known:
            draft = f"{name}_draft"
            _drop(conn, draft)
            conn.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(draft)))
            asyncio.run(migrate(make_conninfo(server, dbname=draft), vectors=vectors))
            conn.execute(
                sql.SQL("ALTER DATABASE {} RENAME TO {}").format(
                    sql.Identifier(draft), sql.Identifier(name)
                )
            )
    return name


@contextmanager
def fresh_database(server: str, template_name: str | None) -> Iterator[str]:
    """Yield the connection string of a new database, a copy of the template or empty."""
    conninfo = create_database(server, template_name)
    try:
        yield conninfo
    finally:
        drop_database(server, conninfo)


def create_database(server: str, template_name: str | None) -> str:
    """Create a database, a copy of the template or empty, and return its connection string."""
    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(
                sql.Identifier(name), sql.Identifier(template_name or "template0")
            )
        )
    return make_conninfo(server, dbname=name)


def drop_database(server: str, conninfo: str) -> None:
    """Drop a database, even if others are connected to it."""
    with psycopg.connect(server, autocommit=True) as conn:
        _drop(conn, str(conninfo_to_dict(conninfo)["dbname"]))


def url_of(conninfo: str) -> str:
    """Return a connection string as a URL, as in DATABASE_URL."""
    given = {key: str(value) for key, value in conninfo_to_dict(conninfo).items()}
    name = given.pop("dbname")
    return f"postgresql:///{name}?{urlencode(given)}"


def _drop(conn: psycopg.Connection, name: str) -> None:
    conn.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def _schema_digest() -> str:
    scripts = sorted(_VERSIONS.glob("*.sql"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in scripts)).hexdigest()[:12]
