"""psycopg's exceptions, translated into the program's errors here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import psycopg
from psycopg import errors as pg

from core.domain.errors import ConfigurationError, DatabaseDown, InvalidInput, SkillWorkerError
from core.domain.messages import Message

DOWN_HINT = "Look whether the server runs and DATABASE_URL is right: `skill-worker doctor`."
RETRY_HINT = "It is tried again; nothing was written."
SCHEMA_HINT = "Run `skill-worker db migrate`."
_SCHEMA = (pg.UndefinedTable, pg.UndefinedColumn, pg.UndefinedFunction)
_GONE = (psycopg.OperationalError, psycopg.InterfaceError)
# Transient conditions that PostgreSQL itself reports: what to say, and what to do. All other
# operational errors mean that the server is not there.
_PASSING: Mapping[type[psycopg.Error], tuple[str, str]] = {
    pg.DiskFull: ("PostgreSQL has no disk space left", "Free space on the server's disk."),
    pg.OutOfMemory: ("PostgreSQL has no memory left", "Look what else runs on the server."),
    pg.TooManyConnections: (
        "PostgreSQL takes no more connections",
        "Raise max_connections, or run fewer processes: each uses ten at most.",
    ),
    pg.DeadlockDetected: ("PostgreSQL undid one of two transactions that collided", RETRY_HINT),
    pg.SerializationFailure: ("PostgreSQL undid a transaction that collided", RETRY_HINT),
    pg.LockNotAvailable: ("PostgreSQL waited too long for a lock", RETRY_HINT),
    pg.QueryCanceled: (
        "PostgreSQL cancelled a statement",
        "Look at statement_timeout, and whether the server is overloaded.",
    ),
    pg.ReadOnlySqlTransaction: (
        "PostgreSQL takes no writes now",
        "Point DATABASE_URL at the primary, or wait until the fail-over is done.",
    ),
    pg.IdleInTransactionSessionTimeout: ("PostgreSQL ended a slow transaction", RETRY_HINT),
    pg.TransactionTimeout: ("PostgreSQL ended a slow transaction", RETRY_HINT),
    pg.InternalError_: ("PostgreSQL broke on a statement", "Look at the server's own log."),
    pg.DataCorrupted: ("PostgreSQL found damaged data", "Look at the server's own log."),
    # A statement prepared on the connection no longer fits, as after a concurrent migration.
    pg.FeatureNotSupported: ("PostgreSQL must prepare a statement anew", RETRY_HINT),
    pg.InvalidSqlStatementName: ("PostgreSQL must prepare a statement anew", RETRY_HINT),
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
        raise InvalidInput(f"text that is not valid Unicode: {error.reason}") from error


@contextmanager
def connecting() -> Iterator[None]:
    """Distinguish a malformed connection string from a server that does not answer."""
    try:
        yield
    except psycopg.ProgrammingError:
        # The error's text may quote the connection string, password included.
        raise ConfigurationError(
            "DATABASE_URL is no connection string.",
            hint="Write it like postgresql://user:password@host:5432/database.",
        ) from None
    except psycopg.Error as error:
        raise translate(error) from error


def translate(error: psycopg.Error) -> SkillWorkerError:
    """Map a psycopg error into the program's error hierarchy."""
    said = str(error).strip()
    if isinstance(error, pg.InsufficientPrivilege):
        return ConfigurationError(
            Message("database.refuses", "PostgreSQL refuses us: {text}", text=said), hint=DOWN_HINT
        )
    if isinstance(error, _SCHEMA):
        return ConfigurationError(
            Message("database.no_schema", "The database lacks our schema: {text}", text=said),
            hint=SCHEMA_HINT,
        )
    if isinstance(error, psycopg.DataError | pg.ProgramLimitExceeded):
        return InvalidInput(
            Message("database.bad_value", "PostgreSQL cannot store this value: {text}", text=said)
        )
    for kind, (words, hint) in _PASSING.items():
        if isinstance(error, kind):
            return DatabaseDown(f"{words}: {said}", hint=hint)
    if isinstance(error, _GONE):
        return DatabaseDown(
            Message("database.down", "PostgreSQL does not answer: {text}", text=said),
            hint=DOWN_HINT,
        )
    return SkillWorkerError(f"PostgreSQL refused a statement: {said}")
