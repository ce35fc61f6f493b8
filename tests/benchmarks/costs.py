"""What one piece of feedback costs, as `scale` measures it and the simulation assumes it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = Path(__file__).with_name("costs.json")


@dataclass(frozen=True)
class Costs:
    """Costs of one piece with two model calls; `machine` says where and when they were measured.

    Run rows are what retention deletes, permanent rows are the audit and what was learnt. Prompt
    characters are those of one model call, tools included.
    """

    machine: str
    worker_cpu_ms: float
    postgres_cpu_ms: float
    prune_cpu_ms: float
    round_trips: float
    trip_ms: float
    wal_kb: float
    run_rows: float
    run_kb: float
    kept_rows: float
    kept_kb: float
    process_mib: float
    process_connections: float
    prompt_chars: float
    flushed_events_per_second: float


def load_costs() -> Costs:
    """Return the costs that were measured last."""
    return Costs(**json.loads(FILE.read_text("utf-8")))


def save_costs(costs: Costs) -> None:
    """Store the costs for the simulation."""
    rounded = {k: round(v, 2) if isinstance(v, float) else v for k, v in asdict(costs).items()}
    FILE.write_text(json.dumps(rounded, indent=2) + "\n", "utf-8")
