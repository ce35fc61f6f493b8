"""What a day needs, as arithmetic on the costs, and which limit is reached first."""

from __future__ import annotations

from dataclasses import dataclass

from tests.benchmarks.costs import Costs
from tests.benchmarks.sim_load import DAY, Load

MEASURED_CALLS = 2  # of a piece of the benchmark: costs grow with the calls
RETENTION_DAYS = 7
GIB = 1024 * 1024  # in KiB
# Commits that notify and wait for the disk, besides one per model call: the change, the job.
FLUSHED_BESIDES = 2


@dataclass(frozen=True)
class Limit:
    """A limited resource, and how much of it the peak takes."""

    name: str
    needed: float
    there: float
    then: str

    @property
    def headroom(self) -> float:
        """The factor by which the peak could grow."""
        return self.there / self.needed


def limits(load: Load, costs: Costs, workers: int) -> list[Limit]:
    """Return the limits, the first to be reached first."""
    peak = load.rate(load.peak_hour)
    more = load.calls_a_piece / MEASURED_CALLS
    calls = peak * load.calls_a_piece
    stored = load.a_day * RETENTION_DAYS * costs.run_kb * more / GIB
    found = [
        Limit(
            "model calls a minute, one account (assumed)",
            calls * 60,
            10_000,
            "more accounts, a smaller model first, LLM_REQUESTS_PER_MINUTE for what is there",
        ),
        Limit(
            "PostgreSQL connections, embedded or by default",
            workers * costs.process_connections,
            100,
            "a server of your own, max_connections",
        ),
        Limit(
            "commits that notify, a second (measured here)",
            peak * (load.calls_a_piece + FLUSHED_BESIDES),
            costs.flushed_events_per_second,
            "a disk that flushes faster, two databases by tenant",
        ),
        Limit(
            "PostgreSQL cores, of 16",
            peak * (costs.postgres_cpu_ms * more + costs.prune_cpu_ms) / 1000,
            16,
            "more cores, two databases by tenant",
        ),
        Limit(
            "jobs begun a second (measured with empty jobs)",
            peak,
            600,
            "two databases by tenant",
        ),
        Limit(
            f"GiB of runs kept {RETENTION_DAYS} days, of 1,000",
            stored,
            1_000,
            "RETENTION_DAYS=1",
        ),
    ]
    return sorted(found, key=lambda limit: limit.headroom)


def print_needs(load: Load, costs: Costs, workers: int) -> None:
    """Print both tables."""
    print("\n| needed | |\n|---|---|")
    for name, amount in _needs(load, costs, workers):
        print(f"| {name} | {amount} |")
    print(
        "\n| at the peak, what breaks first | needed | there | fits | then |\n|---|---|---|---|---|"
    )
    for one in limits(load, costs, workers):
        fits = f"{one.headroom:.1f} times"
        print(f"| {one.name} | {one.needed:,.0f} | {one.there:,.0f} | {fits} | {one.then} |")


def _needs(load: Load, costs: Costs, workers: int) -> list[tuple[str, str]]:
    peak, day = load.rate(load.peak_hour), load.a_day
    more = load.calls_a_piece / MEASURED_CALLS
    calls = day * load.calls_a_piece
    read = calls * costs.prompt_chars / load.chars_a_token
    postgres = costs.postgres_cpu_ms * more + costs.prune_cpu_ms
    return [
        ("feedback a second, mean and peak", f"{day / DAY:.0f}, {peak:.0f}"),
        ("workers", f"{workers:,}"),
        ("cores for the workers at the peak", f"{peak * costs.worker_cpu_ms * more / 1000:.1f}"),
        ("memory of the workers", f"{workers * costs.process_mib / 1024:.0f} GiB"),
        ("PostgreSQL connections", f"{workers * costs.process_connections:,.0f}"),
        ("PostgreSQL cores at the peak", f"{peak * postgres / 1000:.1f}"),
        ("round trips a second at the peak", f"{peak * costs.round_trips * more:,.0f}"),
        ("model calls a day", f"{calls / 1e6:.1f} million"),
        ("tokens read a day", f"{read / 1e9:.0f} billion"),
        ("tokens written a day", f"{calls * load.answer_tokens / 1e9:.1f} billion"),
        ("rows that stay, a day", f"{day * costs.kept_rows / 1e6:.0f} million"),
        ("GiB that stay, a day", f"{day * costs.kept_kb / GIB:.0f}"),
        (
            f"GiB of runs, RETENTION_DAYS={RETENTION_DAYS}",
            f"{day * RETENTION_DAYS * costs.run_kb * more / GIB:,.0f}",
        ),
        ("GiB of write-ahead log a day", f"{day * costs.wal_kb * more / GIB:.0f}"),
    ]
