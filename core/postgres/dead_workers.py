"""Workers that are known to be dead: nobody has to wait for their silence to be long enough."""

from __future__ import annotations

import psycopg
from psycopg import errors as pg

from core.postgres.errors import connecting
from core.postgres.queries import sql


def forget_workers(conninfo: str) -> None:
    """Forget all workers of a database that no process uses; the next sweep takes up their jobs.

    Raises DatabaseDown.
    """
    with connecting(), psycopg.connect(conninfo, autocommit=True) as conn:
        try:
            conn.execute(sql("workers.forget"))
        except pg.UndefinedTable:
            return  # nobody has ever worked here
