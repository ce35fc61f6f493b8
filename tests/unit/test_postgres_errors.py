"""PostgreSQL errors are translated: invalid value, transient, or permanent."""

from __future__ import annotations

import psycopg
import pytest
from psycopg import errors as pg

from core.adapters.postgres.queries import translate
from core.domain.errors import ConfigurationError, DatabaseDown, InvalidInput, SkillWorkerError


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (pg.ProgramLimitExceeded("index row size 9016"), InvalidInput, "cannot store this value"),
        (pg.StringDataRightTruncation("too long"), InvalidInput, "cannot store this value"),
        (pg.DiskFull("could not extend file"), DatabaseDown, "no disk space left"),
        (pg.OutOfMemory("failed on request"), DatabaseDown, "no memory left"),
        (pg.TooManyConnections("sorry"), DatabaseDown, "no more connections"),
        (pg.DeadlockDetected("process 1 waits"), DatabaseDown, "collided"),
        (pg.SerializationFailure("could not serialize"), DatabaseDown, "collided"),
        (pg.LockNotAvailable("lock timeout"), DatabaseDown, "waited too long for a lock"),
        (pg.QueryCanceled("statement timeout"), DatabaseDown, "cancelled a statement"),
        (pg.ReadOnlySqlTransaction("cannot execute INSERT"), DatabaseDown, "takes no writes"),
        (pg.TransactionTimeout("too slow"), DatabaseDown, "ended a slow transaction"),
        (pg.IdleInTransactionSessionTimeout("idle"), DatabaseDown, "ended a slow transaction"),
        (pg.InternalError_("cache lookup failed"), DatabaseDown, "broke on a statement"),
        (pg.DataCorrupted("invalid page"), DatabaseDown, "damaged data"),
        (pg.FeatureNotSupported("cached plan"), DatabaseDown, "prepare a statement anew"),
        (pg.AdminShutdown("terminating"), DatabaseDown, "does not answer"),
        (pg.CannotConnectNow("starting up"), DatabaseDown, "does not answer"),
        (pg.IoError("could not read block"), DatabaseDown, "does not answer"),
        (psycopg.OperationalError("server closed"), DatabaseDown, "does not answer"),
        (pg.UndefinedTable("no relation"), ConfigurationError, "lacks our schema"),
        (pg.InsufficientPrivilege("denied"), ConfigurationError, "refuses us"),
        (pg.NotNullViolation("null value"), SkillWorkerError, "refused a statement"),
    ],
)
def test_an_error_has_its_own_words_and_keeps_those_of_the_server(
    error: psycopg.Error, kind: type[SkillWorkerError], words: str
) -> None:
    found = translate(error)
    assert type(found) is kind
    assert words in found.message
    assert str(error) in found.message
