"""A database that takes no writes is not called ready: read-only, with a full disk, newer."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from core.adapters.postgres.migrations import migrate
from core.adapters.postgres.pool import open_pool, probe_writes
from core.adapters.postgres.queries import Pool
from core.domain.errors import DatabaseDown
from tests.support.databases import alter, url_of
from tests.support.home import Home

SECONDS = 60.0


async def test_a_probe_leaves_nothing_however_often_it_is_made(pool: Pool) -> None:
    for _ in range(3):
        await probe_writes(pool, SECONDS)
    async with pool.connection() as conn:
        assert not await (await conn.execute("SELECT FROM write_probes")).fetchall()


async def test_a_database_that_is_read_only_takes_no_writes(database: str) -> None:
    async with open_pool(_read_only(database)) as pool:
        with pytest.raises(DatabaseDown, match="takes no writes now") as caught:
            await probe_writes(pool, SECONDS)
    assert "default_transaction_read_only" in caught.value.hint


def test_the_doctor_tells_a_read_only_database_and_its_fix(
    home: Home, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _database_check(home, code=0)["status"] == "OK"
    monkeypatch.setenv("DATABASE_URL", url_of(_read_only(database)))
    check = _database_check(home, code=3)
    assert check["status"] == "FAIL"
    assert "takes no writes now" in str(check["detail"])
    assert "CONTEXT" not in str(check["detail"])
    assert "primary" in str(check["fix"])
    _newer(database)
    told = [home.call("db", "status"), home.call("db", "migrate")]
    assert [code for code, _, _ in told] == [4, 4]
    assert told[0][2] == told[1][2]
    assert "Upgrade skill-worker" in told[0][2]


@pytest.mark.nightly
async def test_a_full_disk_takes_no_writes_until_there_is_room(server: str, disk: Path) -> None:
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(f"CREATE TABLESPACE small LOCATION '{disk / 'space'}'")
        try:
            conn.execute("CREATE DATABASE on_small TEMPLATE template0 TABLESPACE small")
            await _fill(make_conninfo(server, dbname="on_small"), disk)
        finally:
            conn.execute("DROP DATABASE IF EXISTS on_small WITH (FORCE)")
            conn.execute("DROP TABLESPACE small")


async def _fill(conninfo: str, disk: Path) -> None:
    await migrate(conninfo)
    async with open_pool(conninfo, max_size=1) as pool:
        await probe_writes(pool, SECONDS)
        with suppress(OSError), (disk / "rest").open("wb", buffering=0) as rest:
            while True:
                rest.write(b"x" * 4096)
        for _ in range(2):
            with pytest.raises(DatabaseDown, match="no disk space left"):
                await probe_writes(pool, SECONDS)
        (disk / "rest").unlink()
        await probe_writes(pool, SECONDS)


@pytest.fixture
def disk(server: str) -> Iterator[Path]:
    """A disk of 100 MB, where this process may mount one; `space` is the server's."""
    with psycopg.connect(server) as conn:
        row = conn.execute("SHOW data_directory").fetchone()
    assert row is not None
    owner = os.stat(row[0])
    with tempfile.TemporaryDirectory(dir="/tmp") as place:  # the server may reach it
        mount = ["mount", "-t", "tmpfs", "-o", "size=100m,mode=755", "tmpfs", place]
        if os.geteuid() or subprocess.run(mount, check=False).returncode:
            pytest.skip("only root can mount a small disk")
        try:
            Path(place).chmod(0o755)
            space = Path(place) / "space"
            space.mkdir(mode=0o700)
            os.chown(space, owner.st_uid, owner.st_gid)
            yield Path(place)
        finally:
            subprocess.run(["umount", "--lazy", place], check=True)


def _database_check(home: Home, *, code: int) -> dict[str, object]:
    done, out, err = home.call("doctor", "--offline", "--json")
    assert done == code, out + err
    found: dict[str, object] = next(c for c in json.loads(out)["items"] if c["name"] == "database")
    return found


def _read_only(conninfo: str) -> str:
    return make_conninfo(conninfo, options="-cdefault_transaction_read_only=on")


def _newer(conninfo: str) -> None:
    alter(conninfo, "UPDATE alembic_version SET version_num = '9999'")
