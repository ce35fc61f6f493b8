"""How PostgreSQL is asked: named SQL blocks, their rows as models, its errors as ours."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from importlib import resources
from typing import LiteralString, TypeAlias
from weakref import WeakKeyDictionary

import psycopg
import structlog
from psycopg import AsyncConnection
from psycopg import errors as pg
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb
from psycopg_pool import AsyncConnectionPool
from pydantic import TypeAdapter, ValidationError

from core.domain.errors import ConfigurationError, DatabaseDown, InvalidInput, SkillWorkerError
from core.domain.messages import Message
from core.domain.models import Candidate, Feedback, Usage
from core.domain.models.base import read_message

DOWN_HINT = Message("database.hint_down")
RETRY_HINT = Message("database.hint_retry")
SCHEMA_HINT = Message("database.hint_migrate")
_SCHEMA = (pg.UndefinedTable, pg.UndefinedColumn, pg.UndefinedFunction)
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
    except psycopg.Error as error:
        raise translate(error) from error
    except UnicodeEncodeError as error:
        raise InvalidInput(Message("database.no_unicode", why=error.reason)) from error


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


def translate(error: psycopg.Error) -> SkillWorkerError:
    """Map a psycopg error into the program's error hierarchy."""
    said = str(error).partition("\nCONTEXT:")[0].strip()  # where in a function of ours
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

log = structlog.get_logger(__name__)

_FEEDBACK = set(Feedback.model_fields) - {"usage"}
_CANDIDATE = set(Candidate.model_fields) - {"usage"}
# Stand-ins for columns that cannot be read. All others are safe by their type.
_BLANK: dict[str, object] = {"agent_ids": (), "events": ()}


def to_said(*texts: str | None) -> Jsonb | None:
    """Return the codes and parameters of the messages among texts, by text; None without any."""
    found = {str(text): text.to_json() for text in texts if isinstance(text, Message)}
    return Jsonb(found) if found else None


def recalled(said: object) -> Mapping[str, Message]:
    """Return the messages behind stored texts, by text, leaving out unreadable ones."""
    try:
        return {
            text: read_message(data) for text, data in _SAID.validate_python(said or {}).items()
        }
    except ValueError:
        return {}


def feedback_of(row: DictRow) -> Feedback:
    """Build feedback from a row; unreadable columns are left out and named in its error."""
    feedback, problem = read_feedback(row)
    if problem is None:
        return feedback
    return feedback.model_copy(update={"error": feedback.error or problem})


def read_feedback(row: DictRow) -> tuple[Feedback, str | None]:
    """Build feedback from a row without unreadable columns; return what is wrong with them too.

    Internal columns are left out.
    """
    known = {key: value for key, value in row.items() if key in _FEEDBACK}
    known["error"] = recalled(row["said"]).get(row["error"], row["error"])
    try:
        return Feedback.model_validate({**known, "usage": usage_of(row)}), None
    except ValidationError as error:
        bad = {str(problem["loc"][0]): problem["msg"] for problem in error.errors()}
    blank = {column: _BLANK[column] for column in bad if column in _BLANK}
    feedback = Feedback.model_validate({**known, **blank, "usage": usage_of(row)})
    return feedback, "; ".join(f"column {name} cannot be read: {bad[name]}" for name in bad)


def candidate_of(row: DictRow) -> Candidate:
    """Build a candidate from a row; an unreadable verdict is dropped, to be reached again."""
    known = {key: value for key, value in row.items() if key in _CANDIDATE}
    known["verdict"] = _with_messages(row["verdict"], recalled(row["said"]))
    try:
        return Candidate.model_validate({**known, "usage": usage_of(row)})
    except ValidationError as error:
        log.warning("verdict.unreadable", candidate_id=known["id"], error=str(error))
    return Candidate.model_validate({**known, "verdict": None, "usage": usage_of(row)})


def _with_messages(data: object, said: Mapping[str, Message]) -> object:
    """Return JSON with its texts as the messages that they were written from."""
    if isinstance(data, str):
        return said.get(data, data)
    if isinstance(data, list):
        return [_with_messages(part, said) for part in data]
    if isinstance(data, dict):
        return {key: _with_messages(value, said) for key, value in data.items()}
    return data


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

# The limit of concurrent `writing` blocks, by pool.
_WRITERS: WeakKeyDictionary[Pool, asyncio.Semaphore] = WeakKeyDictionary()
_HEADER = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)


def sql(name: str) -> LiteralString:
    """Return the block `file.block`, which `-- name: block` begins in `file.sql`."""
    file, block = name.split(".")
    return _blocks(file)[block]


async def fetch_one(pool: Pool, name: str, /, **params: object) -> DictRow | None:
    """Run a block and return its first row, or None."""
    async with connection(pool) as conn:
        return await (await conn.execute(sql(name), params)).fetchone()


async def fetch_all(pool: Pool, name: str, /, **params: object) -> list[DictRow]:
    """Run a block and return its rows."""
    async with connection(pool) as conn:
        return await (await conn.execute(sql(name), params)).fetchall()


async def execute(pool: Pool, name: str, /, **params: object) -> int:
    """Run a block and return the number of affected rows."""
    async with connection(pool) as conn:
        return (await conn.execute(sql(name), params)).rowcount


def joined(texts: Iterable[str]) -> str:
    """Join texts without line breaks, for `string_to_array(…, E'\\n')`.

    Passing a list costs the driver a call per element, which matters for hundreds of them.
    """
    return "\n".join(texts)


@asynccontextmanager
async def connection(pool: Pool) -> AsyncIterator[Connection]:
    """Borrow a connection in autocommit mode, with its errors translated."""
    with translated():
        async with pool.connection() as conn:
            try:
                yield conn
            except (pg.FeatureNotSupported, pg.InvalidSqlStatementName):
                await conn.close()  # its prepared statements stay invalid; the pool opens another
                raise


@asynccontextmanager
async def transaction(pool: Pool) -> AsyncIterator[Connection]:
    """Borrow a connection inside a transaction that rolls back on any error."""
    async with connection(pool) as conn, conn.transaction():
        yield conn


@asynccontextmanager
async def writing(pool: Pool) -> AsyncIterator[Connection]:
    """Borrow a connection inside a transaction, like `transaction`, from half of the pool.

    Writers wait for each other, for locks and for the disk; readers must not have to wait for them.
    They are not pipelined: a worker suspended in the middle of a pipeline counts as active, so that
    no timeout of PostgreSQL ever releases its locks.
    """
    # Measured on a loaded machine: the median of a review view fell from 1.2 to 0.5 s.
    few = _WRITERS.setdefault(pool, asyncio.Semaphore(max(1, pool.max_size // 2)))
    async with few, transaction(pool) as conn:
        yield conn


@cache
def _blocks(file: str) -> Mapping[str, LiteralString]:
    text = (resources.files("core.adapters.postgres") / "sql" / f"{file}.sql").read_text("utf-8")
    _, *parts = _HEADER.split(text)
    return {name: body.strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}
