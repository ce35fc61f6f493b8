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

from core.adapters.embedded.postgres import OWNER, WORKER, embedded_postgres
from core.adapters.postgres.migrations import migrate
from core.adapters.postgres.queries import ALL_TENANTS_ROLE

HOME_VARIABLE = "TEST_SKILL_WORKER_HOME"
SERVER_VARIABLE = "TEST_DATABASE_URL"
SHARED_VARIABLE = "TEST_SHARED_SERVER"  # the embedded one of a run of several processes
IN_MEMORY = Path("/dev/shm")
ENOUGH = 4 * 2**30  # bytes; a whole run takes one
_VERSIONS = Path("core/adapters/postgres/migrations/versions")


def choose_home() -> None:
    """Choose, in the process that starts the run, where its server stores its files.

    In memory where there is enough of it: a database is a thousand files, and each test that has
    one of its own waited half a second for a busy disk, against 0.05 s.
    """
    os.environ[HOME_VARIABLE] = tempfile.mkdtemp(prefix="skill-worker-test-", dir=_in_memory())


def _in_memory() -> Path | None:
    """Return the folder of files in memory; None where there is none, or too little room."""
    if not IN_MEMORY.is_dir() or not os.access(IN_MEMORY, os.W_OK):
        return None
    return IN_MEMORY if shutil.disk_usage(IN_MEMORY).free > ENOUGH else None


def remove_home() -> None:
    """Remove the files at the end of the run, when no process uses the server any more."""
    shutil.rmtree(os.environ.pop(HOME_VARIABLE), ignore_errors=True)


@contextmanager
def test_server() -> Iterator[str]:
    """Yield the URI of the run's server, or of the one that the environment names."""
    if given := os.environ.get(SHARED_VARIABLE) or os.environ.get(SERVER_VARIABLE):
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
            asyncio.run(
                migrate(make_conninfo(server, dbname=draft), vectors=vectors, worker=_worker())
            )
            if _worker() is not None:  # tests look at sessions, and end some
                conn.execute(f"GRANT pg_monitor, pg_signal_backend TO {ALL_TENANTS_ROLE}")
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


def of_worker(conninfo: str) -> str:
    """Return the connection string as a worker has it, whose sessions begin over all tenants.

    So a test's own statements see every row, and what the program does in the name of a tenant is
    held to it. On a server of `TEST_DATABASE_URL` all is done as its one role.
    """
    worker = _worker()
    if worker is None:
        return conninfo
    return make_conninfo(conninfo, user=worker, options=f"-crole={ALL_TENANTS_ROLE}")


def of_owner(conninfo: str) -> str:
    """Return the connection string of a worker's database for its owner."""
    if _worker() is None:
        return conninfo
    return make_conninfo(conninfo, user=OWNER, options="")


def alter(conninfo: str, statement: str) -> None:
    """Alter the schema of a worker's database, as its owner."""
    with psycopg.connect(of_owner(conninfo), autocommit=True) as conn:
        conn.execute(statement.encode())


async def migrate_vectors(conninfo: str) -> None:
    """Migrate a worker's database for search by meaning, as its owner."""
    await migrate(of_owner(conninfo), vectors=True, worker=_worker())


def _worker() -> str | None:
    return None if SERVER_VARIABLE in os.environ else WORKER


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
