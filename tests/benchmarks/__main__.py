"""`python -m tests.benchmarks [NAME …]`: measure, and print one table.

`search-recall --pairs FILE` measures search on a file of pairs instead of the project's own.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from core.domain.tasks import over_all_tenants
from tests.benchmarks import (
    audit_chain,
    cases,
    context,
    cpu,
    importing,
    latency,
    meaning,
    memory,
    pod,
    review_view,
    reviewers,
    scale,
    search,
    search_latency,
    search_pairs,
    simulation,
    soak,
    tables,
    throughput,
    tracing,
    trips,
    uses,
)
from tests.benchmarks.table import Figure, print_table

BENCHMARKS: dict[str, Callable[[], Awaitable[list[Figure]]]] = {
    "cpu": cpu.measure,
    "throughput": throughput.measure,
    "latency": latency.measure,
    "memory": memory.measure,
    "pod": pod.measure,
    "scale": scale.measure,
    "reviewers": reviewers.measure,
    "tables": tables.measure,
    "search": search.measure,
}
# Parts of others, and long ones: run by name only.
BY_NAME = {
    "audit": audit_chain.measure,
    "cases": cases.measure,
    "cases-drift": cases.drift,
    "context": context.measure,
    "import": importing.measure,
    "search-recall": search.recall,
    "search-latency": search_latency.measure,
    "meaning": meaning.measure,
    "tracing": tracing.measure,
    "trips": trips.measure,
    "uses": uses.measure,
    "review-view": review_view.measure,
    "soak": soak.measure,
    "simulate": simulation.measure,
}


def main() -> int:
    """Run the named benchmarks, BENCHMARKS by default; return 1 if a figure misses its target."""
    if "--pairs" in sys.argv:
        return _pairs(sys.argv[1:])
    names = sys.argv[1:] or list(BENCHMARKS)
    known = BENCHMARKS | BY_NAME
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(known)}")
        return 2
    figures: list[Figure] = []
    for name in names:
        print(f"measuring {name} …", file=sys.stderr, flush=True)
        with over_all_tenants():
            figures += asyncio.run(known[name]())
    if figures:
        print_table(figures)
    return 0 if all(figure.is_met for figure in figures) else 1


def _pairs(arguments: list[str]) -> int:
    match arguments:
        case ["search-recall", "--pairs", *files] if files:
            pass
        case _:
            print("usage: python -m tests.benchmarks search-recall --pairs FILE [FILE …]")
            return 2
    figures: list[Figure] = []
    for file in files:
        print(f"measuring search on {file} …", file=sys.stderr, flush=True)
        try:
            figures += asyncio.run(search_pairs.measure_pairs(Path(file)))
        except search_pairs.BadPairs as error:
            print(error, file=sys.stderr)
            return 2
    print_table(figures)
    return 0 if all(figure.is_met for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
