"""Who may do what on the server: the owner migrates, the worker works, others are not let in."""

from __future__ import annotations

import asyncio
import json
import os
import pwd
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from core.adapters.embedded.postgres import embedded_postgres, worker_uri
from core.adapters.postgres.pool import open_pool
from core.adapters.postgres.queries import connection
from core.domain.tasks import NO_TENANT, in_name_of, over_all_tenants
from tests.support.databases import HOME_VARIABLE, of_owner, url_of
from tests.support.home import Home


class Roles(NamedTuple):
    """The connection strings of an empty database, for its owner and for a worker."""

    owner: str
    worker: str


@pytest.fixture
def roles(template: str, empty_database: str) -> Iterator[Roles]:
    """An owner who is no superuser but may give rights, and a role that may only log in."""
    del template  # the role of all tenants was made with it
    own = uuid.uuid4().hex[:8]
    names = [sql.Identifier(f"{kind}_{own}") for kind in ("owner", "worker")]
    with psycopg.connect(empty_database, autocommit=True) as conn:
        conn.execute(sql.SQL("CREATE ROLE {} LOGIN CREATEROLE").format(names[0]))
        conn.execute(sql.SQL("CREATE ROLE {} LOGIN").format(names[1]))
        conn.execute(sql.SQL("ALTER SCHEMA public OWNER TO {}").format(names[0]))
        grant = sql.SQL("GRANT skill_worker_all TO {} WITH ADMIN TRUE, INHERIT FALSE, SET FALSE")
        conn.execute(grant.format(names[0]))
    yield Roles(*(make_conninfo(empty_database, user=name.as_string()[1:-1]) for name in names))
    with psycopg.connect(empty_database, autocommit=True) as conn:
        for name in names:
            conn.execute(sql.SQL("DROP OWNED BY {} CASCADE").format(name))
            conn.execute(sql.SQL("DROP ROLE {}").format(name))


def _database_check(home: Home) -> dict[str, object]:
    _, out, _ = home.call("doctor", "--offline", "--json")
    found: dict[str, object] = next(c for c in json.loads(out)["items"] if c["name"] == "database")
    return found


def _learns(home: Home) -> int:
    given = ("--agent", "a", "--tenant", "t", "--text", "Ms. Kim wants invoices in English")
    assert home.call("agents", "add", "--id", "a", "--tenant", "t", "--name", "A")[0] == 0
    assert home.call("feedback", "add", *given)[0] == 0
    code, out, err = home.call("run", "--once", "--offline")
    assert code == 0, out + err
    return len(home.items("knowledge", "list", "--tenant", "t"))


@pytest.fixture
def home(
    roles: Roles,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Home:
    monkeypatch.setenv("DATABASE_URL", url_of(roles.worker))
    monkeypatch.setenv("SKILL_WORKER_HOME", str(tmp_path))
    return Home(tmp_path, capsys, monkeypatch)


def test_the_owner_migrates_and_a_role_without_rights_works(
    home: Home, roles: Roles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_MIGRATION_URL", url_of(roles.owner))
    code, out, err = home.call("db", "migrate")
    assert code == 0, out + err
    assert _database_check(home)["status"] == "OK"
    assert _learns(home) == 1
    with psycopg.connect(roles.worker) as conn:
        assert conn.execute("SELECT count(*) FROM knowledge_versions").fetchone() == (0,)


def test_a_view_shows_no_more_than_who_reads_it_may_see(
    home: Home, roles: Roles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_MIGRATION_URL", url_of(roles.owner))
    assert home.call("db", "migrate")[0] == 0
    query = (
        "SELECT relname, 'security_invoker=true' = ANY(reloptions) FROM pg_class"
        " WHERE relkind = 'v' AND relnamespace = 'public'::regnamespace"
    )
    with psycopg.connect(roles.owner) as conn:
        views = dict(conn.execute(query).fetchall())
    assert {"agents", "change_costs"} < {*views}
    assert {*views.values()} == {True}


def test_an_owner_that_may_give_no_roles_is_told_what_the_server_said(
    home: Home, roles: Roles, empty_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = sql.Identifier(conninfo_to_dict(roles.owner)["user"])
    with psycopg.connect(empty_database, autocommit=True) as conn:
        conn.execute(sql.SQL("REVOKE skill_worker_all FROM {}").format(owner))
    monkeypatch.setenv("DATABASE_MIGRATION_URL", url_of(roles.owner))
    refused = home.fails("db", "migrate", code=4)
    assert "permission denied to grant role" in str(refused["message"])


async def _rows_of(conninfo: str, tenant: str | None) -> object:
    async with open_pool(conninfo) as pool:
        with over_all_tenants() if tenant is None else in_name_of(tenant):
            async with connection(pool) as conn:
                rows = await conn.execute("SELECT count(*) AS n FROM knowledge_versions")
                row = await rows.fetchone()
    return row and row["n"]


def test_one_role_that_owns_the_tables_is_held_to_a_tenant_too(
    home: Home, roles: Roles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", url_of(roles.owner))
    assert home.call("db", "migrate")[0] == 0
    check = _database_check(home)
    assert check["status"] == "WARN"
    assert "one role owns the tables" in str(check["detail"])
    assert "DATABASE_MIGRATION_URL" in str(check["fix"])
    assert _learns(home) == 1
    rows = [asyncio.run(_rows_of(roles.owner, tenant)) for tenant in (None, "t", "u", NO_TENANT)]
    assert rows == [1, 1, 0, 0]


def test_a_copy_for_owners_that_are_no_superusers_is_whole(
    home: Home, roles: Roles, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", url_of(database))
    assert _learns(home) == 1
    refused = home.fails("db", "copy", "--to", url_of(roles.owner), code=1)
    assert "one tenant's rows" in str(refused["message"])
    monkeypatch.setenv("DATABASE_MIGRATION_URL", url_of(of_owner(database)))
    before = home.items("knowledge", "list", "--tenant", "t")
    assert home.items("db", "copy", "--to", url_of(roles.owner))
    monkeypatch.delenv("DATABASE_MIGRATION_URL")
    monkeypatch.setenv("DATABASE_URL", url_of(roles.owner))
    assert home.items("knowledge", "list", "--tenant", "t") == before
    with psycopg.connect(roles.owner) as conn:
        unforced = "SELECT FROM pg_class WHERE relrowsecurity AND NOT relforcerowsecurity"
        assert not conn.execute(unforced).fetchall()


def test_a_superuser_is_told_that_nothing_holds_it(
    home: Home, database: str, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    del server
    monkeypatch.setenv("DATABASE_URL", url_of(make_conninfo(database, user="postgres", options="")))
    check = _database_check(home)
    assert check["status"] == "WARN"
    assert "superuser" in str(check["detail"])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_the_embedded_server_lets_no_other_user_in() -> None:
    home = Path(os.environ[HOME_VARIABLE]) / uuid.uuid4().hex[:8]
    with embedded_postgres(home) as uri:
        for folder in (home.parent, home, home / "postgres"):
            folder.chmod(0o711)
        (home / "postgres" / ".s.PGSQL.5432").chmod(0o777)
        for each in (uri, worker_uri(uri)):
            assert "Peer authentication failed" in _as_nobody(each)


def _as_nobody(uri: str) -> str:
    """Return what another user of the system is told who connects."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        nobody = pwd.getpwnam("nobody")
        os.setgroups([])
        os.setgid(nobody.pw_gid)
        os.setuid(nobody.pw_uid)
        try:
            psycopg.connect(uri).close()
            said = "it was let in"
        except psycopg.Error as error:
            said = str(error)
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as told:
        return told.read()
