"""Ten thousand pieces through one worker: nothing may grow with the work done."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass

from core.app.program import PRUNE_SECONDS, SETTLED_SECONDS
from tests.benchmarks import server_load
from tests.benchmarks.fleet import Fleet, fleet
from tests.benchmarks.table import Figure
from tests.benchmarks.world import pieces, resident_bytes

FIRST = 2_000
ALL = 10_000
BATCH = 500
CONCURRENCY = 8
LOOK_EVERY = 1.0
SECONDS = 1_200
LATELY = SETTLED_SECONDS + PRUNE_SECONDS + 10  # the longest from the end of a run to its pruning
MIB = 1024 * 1024
JOBS = ("procrastinate_jobs", "procrastinate_events")


@dataclass(frozen=True)
class Sample:
    """What was stored after `done` pieces, of which `lately` ended too recently to be pruned."""

    done: int
    lately: int
    resident: int
    connections: int
    checkpoints: int
    jobs: int
    run_bytes: int


async def measure() -> list[Figure]:
    """Measure with RETENTION_DAYS=0, so that a run is pruned a minute or two after its end."""
    async with fleet(1, concurrency=CONCURRENCY, retention_days=0) as worker:
        begun = time.monotonic()
        samples = await _soak(worker)
        seconds = time.monotonic() - begun
    _print(samples)
    return _figures(samples, seconds)


async def _soak(worker: Fleet) -> list[Sample]:
    """Feed the worker, and sample each second."""
    samples: list[Sample] = []
    given = 0
    async with asyncio.timeout(SECONDS):
        while not samples or samples[-1].done < ALL:
            waiting = await worker.number("feedback WHERE status = 'queued'")
            if given < ALL and waiting < BATCH // 2:
                await worker.app.stores.inbox.add("soak", pieces(BATCH, 1_000 + given))
                given += BATCH
            samples.append(await _sample(worker))
            await asyncio.sleep(LOOK_EVERY)
    return samples


async def _sample(worker: Fleet) -> Sample:
    found = await server_load.sizes(worker, (*server_load.RUN_TABLES, *JOBS))
    ended = "feedback WHERE source = 'soak' AND status = 'completed'"
    return Sample(
        done=await worker.number(ended),
        lately=await worker.number(f"{ended} AND finished_at > now() - interval '{LATELY} s'"),
        resident=resident_bytes(worker.pids[0]),
        connections=await server_load.connections(worker) - 2,
        checkpoints=found["checkpoints"][0],
        jobs=_rows(found, JOBS),
        run_bytes=sum(found[table][1] for table in server_load.RUN_TABLES),
    )


def _rows(found: Mapping[str, tuple[int, int]], tables: tuple[str, ...]) -> int:
    return sum(found[table][0] for table in tables)


def _figures(samples: list[Sample], seconds: float) -> list[Figure]:
    early, last = _at(samples, FIRST), samples[-1]
    later = [s for s in samples if s.done > ALL // 2]
    each = _at(samples, BATCH).checkpoints / _at(samples, BATCH).done
    fullest = max(later, key=lambda s: s.checkpoints / s.lately)
    return [
        Figure(
            f"soak: resident memory after {ALL} feedback",
            f"{last.resident / MIB:.0f} MiB",
            f"after {FIRST}: {early.resident / MIB:.0f} MiB",
            last.resident / early.resident,
            at_most=1.05,
        ),
        Figure(
            "soak: open connections, at most",
            str(max(s.connections for s in later)),
            f"in the first half {max(s.connections for s in samples if s not in later)}",
            max(s.connections for s in samples) / 10,
            at_most=1,
        ),
        Figure(
            "soak: checkpoints, at most in the second half",
            f"{fullest.checkpoints} rows",
            f"made by the {fullest.lately} runs of the last {LATELY:.0f} s: {each:.1f} each",
            fullest.checkpoints / (each * fullest.lately),
            at_most=1.05,
        ),
        Figure(
            "soak: jobs and their events, at most",
            f"{max(s.jobs for s in samples)} rows",
            f"at the end {last.jobs} rows; {ALL / seconds:.0f} feedback/s",
            max(s.jobs for s in samples) / (4 * BATCH),
            at_most=1,
        ),
    ]


def _at(samples: list[Sample], done: int) -> Sample:
    return next(sample for sample in samples if sample.done >= done)


def _print(samples: list[Sample]) -> None:
    print("  done  resident  connections  checkpoints  jobs  run tables", file=sys.stderr)
    for done in range(0, ALL + 1, 1_000):
        s = _at(samples, done)
        print(
            f"{s.done:6}  {s.resident / MIB:4.0f} MiB  {s.connections:11}  {s.checkpoints:11}"
            f"  {s.jobs:4}  {s.run_bytes / MIB:6.0f} MiB",
            file=sys.stderr,
        )
