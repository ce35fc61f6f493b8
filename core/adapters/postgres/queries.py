"""How PostgreSQL is asked: named SQL blocks, in whose name, and its errors as ours."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import resources
from types import TracebackType
from typing import LiteralString, NamedTuple, Self, TypeAlias
from weakref import WeakKeyDictionary

import psycopg
from psycopg import AsyncConnection, AsyncCursor
from psycopg import errors as pg
from psycopg.abc import Params, Query, QueryNoTemplate
from psycopg.rows import DictRow, Row
from psycopg.types.json import Jsonb
from psycopg_pool import AsyncConnectionPool
from pydantic import TypeAdapter

from core.domain.errors import ConfigurationError, DatabaseDown, InvalidInput, SkillWorkerError
from core.domain.messages import Message
from core.domain.models import Finding, Usage
from core.domain.models.base import read_message
from core.domain.tasks import acting_tenant

DOWN_HINT = Message("database.hint_down")
RETRY_HINT = Message("database.hint_retry")
SCHEMA_HINT = Message("database.hint_migrate")
_SCHEMA = (pg.UndefinedTable, pg.UndefinedColumn, pg.UndefinedFunction)
_FOREIGN = (psycopg.Error, UnicodeEncodeError)
_GONE = (psycopg.OperationalError, psycopg.InterfaceError)
# Transient conditions that PostgreSQL itself reports: what to say, and what to do. All other
# operational errors mean that the server is not there.
_PASSING: Mapping[type[psycopg.Error], tuple[str, str]] = {
    pg.DiskFull: (Message("database.disk"), Message("database.hint_disk")),
    pg.OutOfMemory: (Message("database.memory"), Message("database.hint_memory")),
    pg.TooManyConnections: (Message("database.connections"), Message("database.hint_connections")),
    pg.DeadlockDetected: (Message("database.deadlock"), RETRY_HINT),
    pg.SerializationFailure: (Message("database.collision"), RETRY_HINT),
    pg.LockNotAvailable: (Message("database.lock"), RETRY_HINT),
    pg.QueryCanceled: (Message("database.cancelled"), Message("database.hint_timeout")),
    pg.ReadOnlySqlTransaction: (Message("database.read_only"), Message("database.hint_primary")),
    pg.IdleInTransactionSessionTimeout: (Message("database.slow"), RETRY_HINT),
    pg.TransactionTimeout: (Message("database.slow"), RETRY_HINT),
    pg.InternalError_: (Message("database.broke"), Message("database.hint_log")),
    pg.DataCorrupted: (Message("database.damaged"), Message("database.hint_log")),
    # A statement prepared on the connection no longer fits, as after a concurrent migration.
    pg.FeatureNotSupported: (Message("database.prepare"), RETRY_HINT),
    pg.InvalidSqlStatementName: (Message("database.prepare"), RETRY_HINT),
}


@contextmanager
def translated() -> Iterator[None]:
    """Translate what psycopg raises inside the block into the program's errors.

    A store that expects a particular error (say, a unique violation) catches it further inside.
    """
    try:
        yield
    except _FOREIGN as error:
        raise translate(error) from error


@contextmanager
def connecting() -> Iterator[None]:
    """Distinguish a malformed connection string from a server that does not answer."""
    try:
        yield
    except psycopg.ProgrammingError:
        # The error's text may quote the connection string, password included.
        raise ConfigurationError(
            Message("database.no_url"),
            hint=Message("database.hint_url"),
        ) from None
    except psycopg.Error as error:
        raise translate(error) from error


def translate(error: psycopg.Error | UnicodeEncodeError) -> SkillWorkerError:
    """Map what psycopg raises into the program's error hierarchy."""
    if isinstance(error, UnicodeEncodeError):
        return InvalidInput(Message("database.no_unicode", why=error.reason))
    # DETAIL quotes the values of a row; CONTEXT is where in a function of ours.
    said = re.split(r"\n(?:DETAIL|CONTEXT):", str(error), maxsplit=1)[0].strip()
    if isinstance(error, pg.InsufficientPrivilege):
        return ConfigurationError(Message("database.refuses", text=said), hint=DOWN_HINT)
    if isinstance(error, _SCHEMA):
        return ConfigurationError(Message("database.no_schema", text=said), hint=SCHEMA_HINT)
    if isinstance(error, psycopg.DataError | pg.ProgramLimitExceeded):
        return InvalidInput(Message("database.bad_value", text=said))
    for kind, (words, hint) in _PASSING.items():
        if isinstance(error, kind):
            return DatabaseDown(Message("database.passing", what=words, text=said), hint=hint)
    if isinstance(error, _GONE):
        return DatabaseDown(Message("database.down", text=said), hint=DOWN_HINT)
    return SkillWorkerError(Message("database.refused", text=said))


_SAID = TypeAdapter[dict[str, object]](dict[str, object])


def to_said(*texts: str | None) -> Jsonb | None:
    """Return the codes and parameters of the messages among texts, by text; None without any."""
    found = {str(text): text.to_json() for text in texts if isinstance(text, Message)}
    return Jsonb(found) if found else None


def recalled(said: object) -> Mapping[str, Message]:
    """Return the messages behind stored texts, by text, leaving out unreadable ones."""
    if not said:
        return {}
    try:
        return {text: read_message(data) for text, data in _SAID.validate_python(said).items()}
    except ValueError:
        return {}


def findings_json(findings: Iterable[Finding]) -> list[dict[str, object]]:
    """Return findings as they are stored: the text in English, and what it was written from."""
    return [
        {**one.model_dump(mode="json", exclude={"is_allowed"}), "said": one.text.to_json()}
        if isinstance(one.text, Message)
        else one.model_dump(mode="json", exclude={"is_allowed"})
        for one in findings
    ]


def usage_of(row: DictRow) -> Usage:
    """Build usage from its columns."""
    return Usage(
        model_calls=int(row["model_calls"]),
        input_tokens=int(row["input_tokens"]),
        output_tokens=int(row["output_tokens"]),
        cost=row["cost"],
    )


Connection: TypeAlias = AsyncConnection[DictRow]
Pool: TypeAlias = AsyncConnectionPool[Connection]

ALL_TENANTS_ROLE = "skill_worker_all"
_UNKNOWN = "\0"  # no tenant has such an id


class TenantConnection(AsyncConnection[DictRow]):
    """A connection whose session shows the tenant in whose name each statement comes.

    `tenant` is what the session is set to; None, all tenants, is a role of its own if `has_role`,
    else a setting that counts for nobody but the owner of the tables.
    """

    tenant: str | None = _UNKNOWN
    has_role = False

    def setting(self, tenant_id: str | None) -> tuple[str, str, str]:
        """Return the parameters that set the session to a tenant, or to all."""
        over = tenant_id is None
        if self.has_role:
            return tenant_id or "", "role", ALL_TENANTS_ROLE if over else "none"
        return tenant_id or "", "skill_worker.over_tenants", "on" if over else "off"


class TenantCursor(AsyncCursor[Row]):
    """Sets its session to the acting tenant in the trip of the first statement that comes for it.

    A session keeps its tenant, so most statements cost nothing more: set for each, that was a
    tenth of the worker's CPU. After an error it is unknown, since a rollback undoes it.
    `asked` is the statement whose rows are to come, None before any and where it is one of several.
    """

    asked: str | None = None
    _is_used = False

    async def execute(  # type: ignore[override]  # no statement of ours is a template
        self,
        query: QueryNoTemplate,
        params: Params | None = None,
        *,
        prepare: bool | None = None,
        binary: bool | None = None,
    ) -> Self:
        """Run a statement in the name of the acting tenant."""
        self.asked = query if isinstance(query, str) and not self._is_used else None
        self._is_used = True
        conn, wanted = self._conn, acting_tenant()
        if isinstance(conn, TenantConnection) and conn.tenant != wanted:
            conn.tenant = _UNKNOWN
            if conn.pgconn.pipeline_status:
                await AsyncCursor(conn).execute(sql("tenants.act_for"), conn.setting(wanted))
                await super().execute(query, params, prepare=prepare, binary=binary)
            else:
                async with conn.pipeline():
                    await AsyncCursor(conn).execute(sql("tenants.act_for"), conn.setting(wanted))
                    await super().execute(query, params, prepare=prepare, binary=binary)
            conn.tenant = wanted
            return self
        try:
            return await super().execute(query, params, prepare=prepare, binary=binary)
        except BaseException:  # what set the session may be rolled back with it
            if isinstance(conn, TenantConnection):
                conn.tenant = _UNKNOWN
            raise

    async def executemany(
        self, query: Query, params_seq: Iterable[Params], *, returning: bool = False
    ) -> None:
        """Run a statement many times in the name of the acting tenant."""
        if isinstance(self._conn, TenantConnection) and self._conn.tenant != acting_tenant():
            await self._conn.execute("SELECT")
        await super().executemany(query, params_seq, returning=returning)


# The limit of concurrent `writing` blocks, by pool.
_WRITERS: WeakKeyDictionary[Pool, asyncio.Semaphore] = WeakKeyDictionary()
_BOUNDS_TRANSACTIONS = 170000
_BOUND = """SELECT set_config('transaction_timeout',
                   current_setting('idle_in_transaction_session_timeout'), true)"""
_HEADER = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)


@cache
def sql(name: str) -> LiteralString:
    """Return the block `file.block`, which `-- name: block` begins in `file.sql`."""
    file, block = name.split(".")
    return _blocks(file)[block]


async def fetch_one(pool: Pool, name: str, /, **params: object) -> DictRow | None:
    """Run a block and return its first row, or None."""
    with translated():
        return await (await _ran(pool, name, params)).fetchone()


async def fetch_all(pool: Pool, name: str, /, **params: object) -> list[DictRow]:
    """Run a block and return its rows."""
    with translated():
        return await (await _ran(pool, name, params)).fetchall()


async def execute(pool: Pool, name: str, /, **params: object) -> int:
    """Run a block and return the number of affected rows."""
    return (await _ran(pool, name, params)).rowcount


async def _ran(pool: Pool, name: str, params: Mapping[str, object]) -> AsyncCursor[DictRow]:
    text = sql(name)
    if _WAITING.get() and text.startswith("SELECT"):  # a read delays no commit by what it carries
        return (await send(pool, Statement(text, params, lasts=False)))[0]
    async with connection(pool) as conn:
        return await conn.execute(text, params)


class Statement(NamedTuple):
    """A statement and what is called once it is committed.

    With `lasts` its commit waits for the disk. A parameter `alone` is set: whether nothing that is
    sent with it lasts.
    """

    text: LiteralString
    params: Sequence[object] | Mapping[str, object]
    lasts: bool = True
    done: Callable[[], None] | None = None


# What waits for the next trip of this piece of feedback; None where nothing may wait.
_WAITING: ContextVar[list[Statement] | None] = ContextVar("_WAITING", default=None)


@asynccontextmanager
async def gathering(pool: Pool) -> AsyncIterator[None]:
    """Let statements of `send_later` wait in the block; what still does at its end is sent."""
    token = _WAITING.set([])
    try:
        yield
    finally:
        try:
            await send(pool)
        finally:
            _WAITING.reset(token)


async def send_later(pool: Pool, *statements: Statement) -> None:
    """Run statements with the next `send` or read of this piece; at once outside of `gathering`."""
    waiting = _WAITING.get()
    if waiting is None:
        await send(pool, *statements)
    else:
        waiting += statements


async def send(pool: Pool, *statements: Statement) -> Sequence[AsyncCursor[DictRow]]:
    """Run statements in one trip and one transaction, after those that wait; return their cursors.

    What waited and was rolled back waits again, but for one that can never be stored.
    """
    waiting = _WAITING.get()
    if not statements and not waiting:
        return []
    cursors: list[AsyncCursor[DictRow]] = []
    async with connection(pool) as conn:
        taken = list(waiting or ())
        if waiting:
            waiting.clear()
        try:
            await _together(conn, [*taken, *statements], cursors)
        except psycopg.Error as error:
            # Without a state the connection was lost: it may be committed, and never runs twice.
            if waiting is not None and error.sqlstate:
                waiting[:0] = _still_waiting(taken, cursors, error)
            raise
    for statement in (*taken, *statements):
        if statement.done is not None:
            statement.done()
    return cursors[len(taken) :]


async def _together(
    conn: Connection, statements: Sequence[Statement], cursors: list[AsyncCursor[DictRow]]
) -> None:
    lasts = any(statement.lasts for statement in statements)
    asked = [
        {**params, "alone": not lasts} if isinstance(params, Mapping) else params
        for _, params, _, _ in statements
    ]
    if len(statements) == 1:
        cursors.append(await conn.execute(statements[0].text, asked[0]))
        return
    async with conn.pipeline():
        for statement, params in zip(statements, asked, strict=True):
            cursors.append(await conn.execute(statement.text, params))


def _still_waiting(
    taken: Sequence[Statement], cursors: Sequence[AsyncCursor[DictRow]], error: psycopg.Error
) -> Sequence[Statement]:
    """Return what waits again after an error: all, but for the one to blame if it never passes."""
    if translate(error).retryable:
        return taken
    unanswered = (at for at, cursor in enumerate(cursors) if cursor.pgresult is None)
    failed = next(unanswered, len(cursors))
    return [*taken[:failed], *taken[failed + 1 :]]


def joined(texts: Iterable[str]) -> str:
    """Join texts without line breaks, for `string_to_array(…, E'\\n')`.

    Passing a list costs the driver a call per element, which matters for hundreds of them.
    """
    return "\n".join(texts)


class _Borrowing:
    """A connection of a pool for a block, with its errors translated.

    No generator: a piece of feedback borrows thirty times.
    """

    def __init__(self, pool: Pool) -> None:
        self._lending = pool.connection()

    async def __aenter__(self) -> Connection:
        try:
            self._conn = await self._lending.__aenter__()
        except _FOREIGN as error:
            raise translate(error) from error
        return self._conn

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        conn = self._conn
        try:
            if isinstance(error, pg.FeatureNotSupported | pg.InvalidSqlStatementName):
                await conn.close()  # its prepared statements stay invalid; the pool opens another
            elif error is not None and isinstance(conn, TenantConnection):
                conn.tenant = _UNKNOWN
            await self._lending.__aexit__(kind, error, trace)
        except _FOREIGN as raised:
            raise translate(raised) from raised
        if isinstance(error, _FOREIGN):
            raise translate(error) from error


def connection(pool: Pool) -> _Borrowing:
    """Borrow a connection in autocommit mode for a block, with its errors translated."""
    return _Borrowing(pool)


@asynccontextmanager
async def transaction(pool: Pool) -> AsyncIterator[Connection]:
    """Borrow a connection inside a transaction that rolls back on any error."""
    async with connection(pool) as conn, conn.transaction():
        yield conn


@asynccontextmanager
async def rolled_back(pool: Pool) -> AsyncIterator[Connection]:
    """Borrow a connection inside a transaction of which nothing stays, in trips as of `writing`."""
    with nothing_along():
        async with connection(pool) as conn:
            was = getattr(conn, "tenant", None)
            async with _pipelined(conn, stays=False):
                yield conn
            if isinstance(conn, TenantConnection) and conn.tenant != was:
                conn.tenant = _UNKNOWN  # what set the session was rolled back too


@contextmanager
def nothing_along() -> Iterator[None]:
    """Let the reads of a block, in a transaction of their own, take nothing along that waits."""
    token = _WAITING.set(None)
    try:
        yield
    finally:
        _WAITING.reset(token)


@asynccontextmanager
async def writing(pool: Pool) -> AsyncIterator[Connection]:
    """Borrow a connection inside a transaction, like `transaction`, from half of the pool.

    Writers wait for each other, for locks and for the disk; readers must not have to wait for them.
    Statements travel together: a trip is made where a row is read, so `rowcount` is not known.
    """
    # Measured on a loaded machine: the median of a review view fell from 1.2 to 0.5 s.
    few = _WRITERS.setdefault(pool, asyncio.Semaphore(max(1, pool.max_size // 2)))
    async with few, connection(pool) as conn, _pipelined(conn):
        yield conn


@asynccontextmanager
async def _pipelined(conn: Connection, *, stays: bool = True) -> AsyncIterator[None]:
    """Open a transaction in a pipeline, which is committed at its end if it `stays`.

    A worker suspended in the middle of one counts as active, so that the timeout of idle
    transactions never releases its locks; that of all transactions does, from PostgreSQL 17 on.
    Before, each statement travels alone.
    """
    if conn.info.server_version < _BOUNDS_TRANSACTIONS:
        async with conn.transaction(force_rollback=not stays):
            yield
        return
    try:
        async with conn.pipeline():
            await conn.execute("BEGIN")
            await conn.execute(_BOUND)
            yield
            await (conn.execute("COMMIT") if stays else _roll_back(conn))
    except BaseException:
        if not conn.closed:
            await conn.rollback()
        raise


async def _roll_back(conn: Connection) -> None:
    """Undo a transaction; by a ROLLBACK that it counts psycopg forgets all that is prepared."""
    threshold, conn.prepare_threshold = conn.prepare_threshold, None
    try:
        await conn.execute("ROLLBACK")
    finally:
        conn.prepare_threshold = threshold


@cache
def _blocks(file: str) -> Mapping[str, LiteralString]:
    text = (resources.files("core.adapters.postgres") / "sql" / f"{file}.sql").read_text("utf-8")
    _, *parts = _HEADER.split(text)
    return {name: body.strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}
