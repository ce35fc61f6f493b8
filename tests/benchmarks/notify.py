"""How many events a second can be written: PostgreSQL serialises commits that notify."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from tempfile import TemporaryDirectory

from core.adapters.embedded.postgres_wheel import programs
from core.adapters.postgres.queries import sql
from tests.benchmarks.table import Figure

CLIENTS = 16
SECONDS = 4
_EVENT = {
    "name": "'model.called'",
    "tenant_id": "'benchmark'",
    "feedback_id": "'feedback'",
    "candidate_id": "NULL",
    "change_id": "NULL",
    "data": "'{}'",
}


async def per_second(database_url: str) -> tuple[float, float]:
    """Return events a second that commit alone, and those whose commits wait for the disk."""
    return await _rate(database_url, _event("true")), await _rate(database_url, _event("false"))


def figure(alone: float, flushed: float) -> Figure:
    """Return the row of the table."""
    return Figure(
        f"events written a second, {CLIENTS} connections",
        f"{alone:.0f}",
        f"those that carry a bill or a change wait for the disk: {flushed:.0f}",
    )


def _event(alone: str) -> str:
    given = {**_EVENT, "alone": alone}
    return re.sub(r"%\((\w+)\)s", lambda match: given.get(match[1], "0"), sql("journal.emit"))


async def _rate(database_url: str, statement: str) -> float:
    with TemporaryDirectory() as folder:
        script = Path(folder) / "event.sql"
        script.write_text(f"{statement};\n")
        options = f"-n -c {CLIENTS} -j 2 -T {SECONDS} -M prepared -f {script}"
        process = await asyncio.create_subprocess_exec(
            str(programs() / "pgbench"),
            *(*options.split(), database_url),
            stdout=asyncio.subprocess.PIPE,
        )
        told, _ = await process.communicate()
    found = re.search(r"tps = ([\d.]+)", told.decode())
    assert found, told
    return float(found[1])
