"""What the audit chain costs changes of one tenant that are applied at the same time."""

from __future__ import annotations

import asyncio
import itertools
import statistics
import tempfile
import time
from pathlib import Path

from core.adapters.embedded.postgres import embedded_postgres
from core.adapters.postgres.change_log import PostgresChangeLog
from core.adapters.postgres.migrations import migrate
from core.adapters.postgres.pool import open_pool
from core.adapters.postgres.queries import Pool, connection
from core.domain.models import ChangeStatus, HistoryRecord, RunEvent
from tests.benchmarks.table import Figure
from tests.contracts.suites.change_log import history_of, memory_change

AT_ONCE = 32
EACH = 10
ROUNDS = 6
_numbers = itertools.count()


async def measure() -> list[Figure]:
    """Apply changes with the chain and without, by turns, on a server that flushes to disk."""
    with tempfile.TemporaryDirectory() as home, embedded_postgres(Path(home)) as uri:
        await migrate(uri)
        async with open_pool(uri, silence=60) as pool:
            await _round(pool)
            rates: dict[str, list[float]] = {"ENABLE": [], "DISABLE": []}
            for _ in range(ROUNDS):
                for way, measured in rates.items():
                    async with connection(pool) as conn:
                        await conn.execute(f"ALTER TABLE history {way} TRIGGER history_chained")  # type: ignore[arg-type]
                    measured.append(await _round(pool))
    chained, bare = (statistics.median(rates[way]) for way in ("ENABLE", "DISABLE"))
    return [
        Figure(
            f"changes of one tenant applied a second, {AT_ONCE} at a time",
            f"{chained:.0f} chained",
            f"{bare:.0f} without the chain",
            chained / bare,
            at_least=0.8,
        )
    ]


async def _round(pool: Pool) -> float:
    begun = time.perf_counter()
    await asyncio.gather(*(_apply(pool) for _ in range(AT_ONCE)))
    return AT_ONCE * EACH / (time.perf_counter() - begun)


async def _apply(pool: Pool) -> None:
    log = PostgresChangeLog(pool)
    for _ in range(EACH):
        number = next(_numbers)
        text = f"Ms. Kim wants amounts of order {number} in KRW"
        change = memory_change(f"c{number}", None, text)
        change = change.model_copy(update={"target_id": f"mem-{number}"})
        record: HistoryRecord = history_of(change)
        await log.open(change, {})
        async with log.unit_of_work(change) as unit:
            await unit.write_item(change)
            await unit.record_knowledge_history(record)
            await unit.close(change.id, ChangeStatus.APPLIED)
            await unit.emit(RunEvent(name="change.applied", tenant_id="t"))
