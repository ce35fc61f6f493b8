"""Four worker processes against one, and what a piece of feedback costs PostgreSQL."""

from __future__ import annotations

from dataclasses import dataclass

from core.adapters.postgres.pool import open_pool
from core.adapters.postgres.runs import PostgresRetention
from tests.benchmarks import notify, server_load, trips
from tests.benchmarks.costs import Costs, save_costs
from tests.benchmarks.fleet import Fleet, fleet
from tests.benchmarks.table import Figure, machine
from tests.benchmarks.world import resident_bytes

PROCESSES = 4
CONCURRENCY = 8
SLOW = 400
FAST = 2_000
CALL_SECONDS = 1.0
START = 1_000  # above the numbers of the warm-up
TARGET = 3.5
KIB, MIB = 1024, 1024 * 1024


@dataclass(frozen=True)
class Work:
    """The cost of a batch: wall seconds, CPU seconds of both sides, growth of rows and bytes."""

    seconds: float
    worker_cpu: float
    postgres_cpu: float
    wal: int
    run: tuple[int, int]
    kept: tuple[int, int]


async def measure() -> list[Figure]:
    """Measure real processes on one PostgreSQL, which runs on the same machine."""
    one = await _slow(1)
    four = await _slow(PROCESSES)
    figures = [
        Figure(
            f"{SLOW} feedback, model 1 s a call, {PROCESSES} processes",
            f"{four:.1f} s",
            f"one process {one:.1f} s",
            one / four,
            at_least=TARGET,
        )
    ]
    async with fleet(PROCESSES, concurrency=CONCURRENCY) as workers:
        work = await _fast(workers)
        resident = sum(map(resident_bytes, workers.pids)) / PROCESSES
        connections = (await server_load.connections(workers) - 2) / PROCESSES
        pruning = await _prune(workers)
        alone, flushed = await notify.per_second(workers.database_url)
    counted = await trips.count()
    save_costs(
        Costs(
            machine=machine(),
            worker_cpu_ms=work.worker_cpu / FAST * 1000,
            postgres_cpu_ms=work.postgres_cpu / FAST * 1000,
            prune_cpu_ms=pruning / FAST * 1000,
            round_trips=counted.number,
            trip_ms=counted.each_ms,
            wal_kb=work.wal / FAST / KIB,
            run_rows=work.run[0] / FAST,
            run_kb=work.run[1] / FAST / KIB,
            kept_rows=work.kept[0] / FAST,
            kept_kb=work.kept[1] / FAST / KIB,
            process_mib=resident / MIB,
            process_connections=connections,
            prompt_chars=counted.prompt_chars,
            flushed_events_per_second=flushed,
        )
    )
    return [*figures, _throughput(work), *trips.figures(counted), notify.figure(alone, flushed)]


async def _slow(processes: int) -> float:
    async with fleet(processes, concurrency=CONCURRENCY, delay=CALL_SECONDS) as workers:
        return await workers.work_off(SLOW, START)


async def _fast(workers: Fleet) -> Work:
    before = await _state(workers, 0)
    after = await _state(workers, await workers.work_off(FAST, START))
    return Work(
        seconds=after.seconds,
        worker_cpu=after.worker_cpu - before.worker_cpu,
        postgres_cpu=after.postgres_cpu - before.postgres_cpu,
        wal=after.wal - before.wal,
        run=(after.run[0] - before.run[0], after.run[1] - before.run[1]),
        kept=(after.kept[0] - before.kept[0], after.kept[1] - before.kept[1]),
    )


async def _state(workers: Fleet, seconds: float) -> Work:
    return Work(
        seconds=seconds,
        worker_cpu=server_load.process_cpu(workers.pids),
        postgres_cpu=server_load.server_cpu(workers.home),
        wal=await server_load.wal_bytes(workers),
        run=await server_load.total(workers, server_load.RUN_TABLES),
        kept=await server_load.total(workers, server_load.KEPT_TABLES),
    )


async def _prune(workers: Fleet) -> float:
    """Prune all runs; return the CPU seconds that PostgreSQL spends on it."""
    begun = server_load.server_cpu(workers.home)
    async with open_pool(workers.database_url) as pool:
        assert await PostgresRetention(pool).prune(0) >= FAST
        return server_load.server_cpu(workers.home) - begun


def _throughput(work: Work) -> Figure:
    share = work.postgres_cpu / (work.postgres_cpu + work.worker_cpu)
    theirs, ours = work.postgres_cpu / FAST * 1000, work.worker_cpu / FAST * 1000
    return Figure(
        f"inbox to acknowledge, {FAST} feedback, zero-time model, {PROCESSES} processes",
        f"{FAST / work.seconds:.1f} feedback/s",
        f"PostgreSQL {share:.0%} of the CPU time: {theirs:.1f} ms a piece, workers {ours:.1f} ms",
    )
