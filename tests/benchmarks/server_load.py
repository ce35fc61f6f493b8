"""The load of PostgreSQL: CPU seconds of its processes, sizes of tables, connections."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import psutil

from tests.benchmarks.fleet import Fleet

# What a run stores to continue after a crash; retention deletes it.
RUN_TABLES = (
    "checkpoints",
    "checkpoint_blobs",
    "checkpoint_writes",
    "model_replies",
    "run_events",
)
# What stays: the audit, and what was learnt.
KEPT_TABLES = (
    "feedback",
    "candidates",
    "changes",
    "history",
    "knowledge_versions",
    "search_documents",
    "search_postings",
)
CLIENTS = "pg_stat_activity WHERE backend_type = 'client backend'"


def server_cpu(home: Path) -> float:
    """Return the CPU seconds of PostgreSQL so far, including ended processes."""
    pid = int((home / "postgres" / "postmaster.pid").read_text().split()[0])
    while True:
        server = psutil.Process(pid)
        try:
            living = process_cpu([pid, *(child.pid for child in server.children())])
        # It has ended meanwhile, so the counters of ended processes include it.
        except psutil.NoSuchProcess:
            continue
        ended = server.cpu_times()
        return living + float(ended.children_user + ended.children_system)


def process_cpu(pids: Iterable[int]) -> float:
    """Return the CPU seconds of processes so far."""
    times = (psutil.Process(pid).cpu_times() for pid in pids)
    return sum(t.user + t.system for t in times)


async def sizes(fleet: Fleet, tables: Sequence[str]) -> Mapping[str, tuple[int, int]]:
    """Return rows and bytes (with indexes and what vacuum has not yet reclaimed) of tables."""
    found = {}
    for table in tables:
        (taken,) = await fleet.row("SELECT pg_total_relation_size(%s::regclass)", (table,))
        found[table] = await fleet.number(table), int(taken)
    return found


async def total(fleet: Fleet, tables: Sequence[str]) -> tuple[int, int]:
    """Return the total rows and bytes of some tables."""
    found = (await sizes(fleet, tables)).values()
    return sum(rows for rows, _ in found), sum(taken for _, taken in found)


async def wal_bytes(fleet: Fleet) -> int:
    """Return the bytes of write-ahead log so far."""
    (written,) = await fleet.row("SELECT (pg_current_wal_lsn() - '0/0'::pg_lsn)::bigint")
    return int(written)


async def connections(fleet: Fleet) -> int:
    """Return the number of open connections, the benchmark's own included."""
    return await fleet.number(CLIENTS)
