"""Keep tenants apart in the database: roles, rights and the policies of every table.

Each table with a column `tenant_id` gets the same policies, after the migrations: none is
forgotten, and a migration needs to know nothing of them.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TypeAlias

import psycopg
from psycopg import errors as pg
from psycopg.rows import DictRow
from psycopg.sql import SQL, Composable, Identifier

from core.adapters.postgres.queries import ALL_TENANTS_ROLE, sql
from core.domain.errors import ConfigurationError
from core.domain.messages import Message

SyncConnection: TypeAlias = psycopg.Connection[DictRow]

# What a migration fills, and nobody else.
_READ_ONLY = frozenset({"alembic_version", "component_versions", "checkpoint_migrations"})
# Hashes of tenant and word, whose documents say whose they are. They are read by all: a search
# reads thousands, and would have to ask the document of each.
_POSTINGS = "search_postings"
_OWN = SQL("tenant_id = current_setting('skill_worker.tenant', true)")
_OF_DOCUMENT = SQL("EXISTS (SELECT FROM search_documents d WHERE d.id = document_id)")
# The owner migrates, copies and restores, and workers of the release before log in as it: none of
# these sets a tenant. Once set, it is never NULL again.
_OWNER = SQL(
    "current_setting('skill_worker.tenant', true) IS NULL"
    " OR current_setting('skill_worker.over_tenants', true) = 'on'"
)
_ALL = Identifier(ALL_TENANTS_ROLE)


def keep_apart(conn: SyncConnection, worker: str | None) -> None:
    """Give every table its policies, and a `worker` that does not own them exactly its rights.

    One table at a time: workers that run meanwhile wait for one lock, and none for another's.
    Raises ConfigurationError where the owner may not do so.
    """
    me = conn.execute(sql("tenants.me")).fetchall()[0]
    own = worker is None or worker == me["name"]
    if not own:
        _make_roles(conn, str(worker), may_set=me["has_set_option"])
    # The version of the policies is recorded after them, and flushed to disk with all before it.
    conn.execute("SET synchronous_commit TO off")
    conn.execute(sql("tenants.threads"))
    for table in _names(conn, "tenants.tables"):
        _protect(conn, table, Identifier(me["name"]), with_role=not own)
    _protect(conn, _POSTINGS, Identifier(me["name"]), with_role=not own)
    for view in _names(conn, "tenants.views"):  # else it shows what its owner may see
        conn.execute(SQL("ALTER VIEW {} SET (security_invoker = true)").format(Identifier(view)))
    if not own:
        _grant(conn, Identifier(me["schema"]), Identifier(str(worker)))
    conn.execute("RESET synchronous_commit")


def lacks_rights(conn: SyncConnection, worker: str | None) -> bool:
    """Whether a worker's role that does not own the tables cannot work with them yet."""
    me = conn.execute(sql("tenants.me")).fetchall()[0]
    if worker is None or worker == me["name"]:
        return False
    found = conn.execute(sql("tenants.lacks_rights"), {"name": worker}).fetchone()
    return found is None or bool(found["lacks"])


def _names(conn: SyncConnection, block: str) -> list[str]:
    return [row["name"] for row in conn.execute(sql(block))]


def _protect(conn: SyncConnection, table: str, owner: Identifier, *, with_role: bool) -> None:
    """Replace the policies of a table."""
    name = Identifier(table)
    policies = _policies(table, owner, with_role=with_role)
    statements: list[Composable] = [
        SQL("ALTER TABLE {} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY").format(name)
    ]
    rows = conn.execute(sql("tenants.policies"), {"table": table})
    known = {row["name"] for row in rows} & policies.keys()
    statements += [SQL("DROP POLICY {} ON {}").format(Identifier(old), name) for old in known]
    for policy, rule in policies.items():
        found = {"policy": Identifier(policy), "table": name, "rule": rule}
        statements.append(SQL("CREATE POLICY {policy} ON {table} {rule}").format(**found))
    conn.execute(SQL("; ").join(statements))  # together, they are one transaction


def _policies(table: str, owner: Identifier, *, with_role: bool) -> dict[str, Composable]:
    everything = SQL("TO {} USING (true) WITH CHECK (true)")
    policies: dict[str, Composable] = {"of_owner": SQL("TO {} USING ({})").format(owner, _OWNER)}
    if with_role:
        policies["all_tenants"] = everything.format(_ALL)
    if table != _POSTINGS:
        return {**policies, "own_tenant": SQL("USING ({})").format(_OWN)}
    return {
        **policies,
        "readable": SQL("FOR SELECT USING (true)"),
        "own_added": SQL("FOR INSERT WITH CHECK ({})").format(_OF_DOCUMENT),
        "own_changed": SQL("FOR UPDATE USING ({})").format(_OF_DOCUMENT),
        "own_dropped": SQL("FOR DELETE USING ({})").format(_OF_DOCUMENT),
    }


def _make_roles(conn: SyncConnection, worker: str, *, may_set: bool) -> None:
    """Create what is missing: the worker's role, and that of all tenants, which it may take.

    It takes that on purpose only: what it inherited would be in force at all times.
    """
    if not may_set:
        raise ConfigurationError(Message("tenants.old_server"), hint=Message("tenants.hint_one"))
    name = Identifier(worker)
    try:
        for role, kind in ((worker, SQL("LOGIN")), (ALL_TENANTS_ROLE, SQL("NOLOGIN"))):
            _make_role(conn, role, kind)
        grant = SQL("GRANT {} TO {} WITH INHERIT FALSE, SET TRUE")
        conn.execute(grant.format(_ALL, name))
    except pg.InsufficientPrivilege as error:
        said = str(error).splitlines()[0]
        raise ConfigurationError(
            Message("tenants.no_roles", why=said),
            hint=Message("tenants.hint_roles", role=ALL_TENANTS_ROLE, worker=worker),
        ) from error


def _make_role(conn: SyncConnection, role: str, kind: SQL) -> None:
    if conn.execute(sql("tenants.role"), {"name": role}).fetchone():
        return
    with suppress(pg.DuplicateObject):  # by a migration of another database of the same server
        conn.execute(SQL("CREATE ROLE {} ").format(Identifier(role)) + kind)


def _grant(conn: SyncConnection, schema: Identifier, worker: Identifier) -> None:
    """Give both roles their rights on the rows, and none on the tables."""
    roles = SQL(", ").join([worker, _ALL])
    conn.execute(SQL("GRANT USAGE ON SCHEMA {} TO {}").format(schema, roles))
    tables = _names(conn, "tenants.relations")
    of_rows = "SELECT, INSERT, UPDATE, DELETE"
    for rights, given in (("SELECT", _READ_ONLY), (of_rows, {*tables} - _READ_ONLY)):
        names = SQL(", ").join(map(Identifier, sorted(given)))
        conn.execute(SQL("GRANT {} ON {} TO {}").format(SQL(rights), names, roles))
    query = SQL("GRANT USAGE ON ALL SEQUENCES IN SCHEMA {} TO {}")
    conn.execute(query.format(schema, roles))
