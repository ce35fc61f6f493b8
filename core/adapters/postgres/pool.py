"""One connection pool per process, shared by our stores, the job engine and the saver."""

from __future__ import annotations

import asyncio
import json
import select
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from types import TracebackType

import psycopg
from psycopg import AsyncCursor
from psycopg.pq import TransactionStatus
from psycopg.rows import DictRow, RowMaker, dict_row
from psycopg.types.json import set_json_dumps, set_json_loads
from psycopg_pool import AsyncConnectionPool, PoolTimeout
from pydantic_core import PydanticSerializationError, from_json, to_json

from core.adapters.postgres.queries import (
    DOWN_HINT,
    Connection,
    Pool,
    TenantConnection,
    TenantCursor,
    connecting,
    connection,
    fetch_one,
    sql,
)
from core.domain.errors import DatabaseDown
from core.domain.messages import Message
from core.domain.tasks import acting_tenant, over_all_tenants

POOL_SIZE = 8  # with the job engine's LISTEN and a spare for migrations: ten per process
CONNECT_SECONDS = 10
RECONNECT_SECONDS = 10.0  # short, since the pool backs off exponentially between its attempts
BORROW_SECONDS = 10.0
CLOSE_SECONDS = 1.0
SILENCE_SECONDS = 30.0
# A piece of feedback takes some ninety statements and what runs beside it forty: by psycopg's own
# limit, 100, they drove each other out, and each was planned anew.
PREPARED = 200
_UNDO_AFTER = "SELECT set_config('idle_in_transaction_session_timeout', %s, false)"
# A host that vanished silently is noticed after idle + interval * count = 60 s.
_KEEPALIVE = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
_COLUMNS: dict[str, tuple[str, ...]] = {}  # by statement
_MOST_COLUMNS = 1_000


class _Lending:
    """A connection lent for a block: as by the pool's own generator, in a third of its CPU."""

    def __init__(self, pool: Pool, timeout: float | None) -> None:
        self._pool = pool
        self._timeout = timeout

    async def __aenter__(self) -> Connection:
        self._conn = await self._pool.getconn(self._timeout)
        return self._conn

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        conn = self._conn
        try:
            if conn.pgconn.transaction_status != TransactionStatus.IDLE:  # else nothing to end
                await conn.__aexit__(kind, error, trace)
        finally:
            await self._pool.putconn(conn)


class LastFirstPool(AsyncConnectionPool[Connection]):
    """Lends first a session set to the acting tenant, and of those what was returned last.

    A session keeps the tenant and the prepared statements of its last use. Lent in turn, as
    psycopg does, eight of them met a piece of feedback, and each had to be set to its tenant anew;
    and so had the last one, by all that works over all tenants in between.
    """

    def connection(  # type: ignore[override]  # not by a generator
        self, timeout: float | None = None
    ) -> _Lending:
        """Lend a connection for a block."""
        return _Lending(self, timeout)

    async def _get_ready_connection(  # the pool's own signature
        self,
        timeout: float | None,  # noqa: ASYNC109
    ) -> Connection | None:
        wanted = acting_tenant()
        for conn in self._pool:
            if isinstance(conn, TenantConnection) and conn.tenant == wanted:
                self._pool.remove(conn)
                self._pool.appendleft(conn)
                break
        return await super()._get_ready_connection(timeout)

    async def _add_to_pool(self, conn: Connection) -> None:
        await super()._add_to_pool(conn)
        if self._pool and self._pool[-1] is conn:
            self._pool.rotate(1)


@asynccontextmanager
async def open_pool(
    conninfo: str, *, max_size: int = POOL_SIZE, silence: float = SILENCE_SECONDS
) -> AsyncIterator[Pool]:
    """Open a pool of autocommit connections with rows as dicts; all are closed at the end.

    The server rolls back a transaction that is idle for `silence` seconds: its process is suspended
    or gone, and nobody could take over what it has locked. Raises ConfigurationError if the URL is
    wrong or access is refused, DatabaseDown if the server does not answer.
    """
    has_role = await _try_once(conninfo)
    pool: Pool = LastFirstPool(
        conninfo,
        connection_class=TenantConnection,
        kwargs=_connection_kwargs(),
        min_size=1,
        max_size=max_size,
        timeout=BORROW_SECONDS,
        reconnect_timeout=RECONNECT_SECONDS,
        configure=partial(_configure, silence=silence, has_role=has_role),
        check=_check,
        open=False,
        name="skill-worker",
    )
    try:
        await _open(pool)
        yield pool
    finally:
        await pool.close(CLOSE_SECONDS)


async def answers(pool: Pool, seconds: float) -> bool:
    """Whether the server answers in time."""
    try:
        async with asyncio.timeout(seconds), pool.connection(seconds) as conn:
            await conn.execute("")
    except (TimeoutError, psycopg.Error):
        return False
    return True


async def probe_writes(pool: Pool, seconds: float) -> None:
    """Write a row and read it again. Raises DatabaseDown, also where it takes longer."""
    try:
        async with asyncio.timeout(seconds), connection(pool) as conn:
            with over_all_tenants():  # the temporary table is of one role
                await conn.execute(sql("migrations.probe_writes"))
    except TimeoutError:
        raise DatabaseDown(Message("database.slow_answer")) from None


async def _open(pool: Pool) -> None:
    try:
        await pool.open(wait=True, timeout=CONNECT_SECONDS)
    except PoolTimeout as error:
        raise DatabaseDown(Message("database.down", text=error), hint=DOWN_HINT) from error


def _connection_kwargs() -> dict[str, object]:
    return {
        "row_factory": _rows_by_name,
        "cursor_factory": TenantCursor,
        "connect_timeout": CONNECT_SECONDS,
        "application_name": "skill-worker",
        **_KEEPALIVE,
    }


def _rows_by_name(cursor: AsyncCursor[DictRow]) -> RowMaker[DictRow]:
    """Make rows dicts, as psycopg's `dict_row`: the columns of one statement are named once.

    They were decoded anew with every result, which took a fiftieth of the worker's CPU.
    """
    result = cursor.pgresult
    asked = cursor.asked if isinstance(cursor, TenantCursor) else None
    if asked is None or result is None or not result.nfields:
        return dict_row(cursor)
    names = _COLUMNS.get(asked, ())
    if len(names) != result.nfields:  # not named yet, or a migration has come since
        names = tuple(column.name for column in cursor.description or ())
        if len(_COLUMNS) < _MOST_COLUMNS:
            _COLUMNS[asked] = names

    def named(values: Sequence[object]) -> DictRow:
        return dict(zip(names, values, strict=True))

    return named


async def _try_once(conninfo: str) -> bool:
    """Return whether all tenants are a role of their own here.

    Connects directly: a pool reports only that it timed out, not why.
    """
    with connecting():
        async with await psycopg.AsyncConnection.connect(
            conninfo, connect_timeout=CONNECT_SECONDS, autocommit=True
        ) as conn:
            found = await (await conn.execute(sql("tenants.has_role"))).fetchone()
    return bool(found and found[0])


async def _configure(conn: Connection, *, silence: float, has_role: bool) -> None:
    assert isinstance(conn, TenantConnection)
    conn.has_role = has_role
    # Not among the keyword arguments above: Procrastinate adds its own `autocommit` to those.
    await conn.set_autocommit(True)
    conn.prepared_max = PREPARED
    # The standard library's take up to ten times as long: a twentieth of the worker's CPU.
    set_json_loads(_loads, conn)
    set_json_dumps(_dumps, conn)
    await conn.execute(_UNDO_AFTER, (f"{max(1, round(silence * 1000))}ms",))
    if conn.info.parameter_status("TimeZone") != "UTC":
        await conn.execute("SET TimeZone TO 'UTC'")


def _loads(text: str | bytes) -> object:
    """Parse JSON; what Python cannot represent becomes a text that says so: no list breaks."""
    try:
        return from_json(text)
    except ValueError:
        return _loads_odd(text)


def _loads_odd(text: str | bytes) -> object:
    """Parse what the quick parser refuses: nesting of some hundred levels, lone surrogates."""
    try:
        return json.loads(text)
    except (RecursionError, ValueError) as error:  # nested too deeply, or a number of 5,000 digits
        return f"unreadable JSON: {error}"


def _dumps(value: object) -> str | bytes:
    """Write JSON; what cannot be UTF-8 is escaped, for the server to refuse it."""
    try:
        return to_json(value)
    except PydanticSerializationError:
        return json.dumps(value)


async def _check(conn: Connection) -> None:
    """Refuse a connection that the server has closed; costs no round trip while it is quiet.

    An idle connection has nothing to read; if it has, it is most likely the server's goodbye.
    """
    poll = select.poll()
    poll.register(conn.fileno(), select.POLLIN | select.POLLHUP | select.POLLERR)
    if poll.poll(0):
        await conn.execute("")


async def bound_by(pool: Pool) -> str:
    """Return what keeps a worker to one tenant: `role`, `owner` if it owns tables, or `nothing`."""
    row = await fetch_one(pool, "tenants.bound")
    return str(row["by"]) if row else "nothing"
