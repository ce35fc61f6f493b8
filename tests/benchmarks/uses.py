"""What it costs a call to put on record what it answered: with the record and without, by turns."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from core.app.program import App, open_app
from core.app.settings import load_settings
from core.domain.models import Agent, Hit
from core.domain.models.uses import Use, Way
from core.domain.ports import NoUses, Uses
from tests.benchmarks.table import Figure
from tests.support.learning import Teacher

ITEMS, HITS = 40, 20
CALLS, ROUNDS = 50, 6
MOST_MS = 1.0
WORDS = "order {n} is shipped from warehouse {n} on day {n}"


async def measure() -> list[Figure]:
    """Search as an agent does, and note what was found; what is stored beside counts too."""
    with tempfile.TemporaryDirectory() as home:
        settings = load_settings({"skill_worker_home": Path(home)}, env_file=None)
        async with open_app(settings) as app:
            await app.stores.agents.save(Agent(id="a", tenant_id="t", name="A"))
            for n in range(ITEMS):
                await Teacher(app).memory(WORDS.format(n=n))
            await _round(app, app.uses)
            taken: dict[str, list[float]] = {"with": [], "without": []}
            for _ in range(ROUNDS):
                taken["with"].append(await _round(app, app.uses))
                taken["without"].append(await _round(app, NoUses()))
    return [_figure(taken["with"], taken["without"])]


async def _round(app: App, uses: Uses) -> float:
    """Return how many milliseconds of CPU a call takes, with its share of what is stored."""
    begun = time.process_time()
    for _ in range(CALLS):
        await _call(app, uses)
    await uses.flush()
    return (time.process_time() - begun) * 1000 / CALLS


async def _call(app: App, uses: Uses) -> None:
    hits = await app.stores.search.search(
        "order shipped from warehouse", tenant_id="t", agent_id="a", kind=None, limit=HITS
    )
    uses.note(_uses(hits))


def _uses(hits: Sequence[Hit]) -> list[Use]:
    now, whose = datetime.now(UTC), {"tenant_id": "t", "agent_id": "a", "version": 1}
    return [
        Use(at=now, kind=hit.kind, item_id=hit.id, digest="0" * 64, way=Way.RECALLED, **whose)
        for hit in hits
    ]


def _figure(recorded: Sequence[float], bare: Sequence[float]) -> Figure:
    with_it, without = statistics.median(recorded), statistics.median(bare)
    return Figure(
        f"CPU of a search that puts {HITS} hits on record",
        f"{with_it:.2f} ms",
        f"{without:.2f} ms without, {MOST_MS:g} ms more at most",
        (with_it - without) / MOST_MS,
        at_most=1.0,
    )
