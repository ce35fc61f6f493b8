"""How many lines an import takes a second, against the index alone, singly and in sets."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

from core.adapters.postgres.queries import Pool, transaction
from core.adapters.postgres.search import index_document
from core.app.bootstrap.stores import open_database
from core.app.observability import configure_logging
from core.app.program import App, open_app
from core.domain.input_formats.feedback import Problem
from core.domain.input_formats.lines import LineSplitter, RawLine
from core.domain.models import Agent, Kind
from core.knowledge.search.documents import SearchDocument
from core.knowledge.transfer.importer import Imported, Importer
from core.knowledge.transfer.owners import Owners
from core.knowledge.transfer.pipeline import import_lines
from tests.benchmarks.search_texts import Texts
from tests.benchmarks.table import Figure
from tests.benchmarks.world import AGENT, TENANT, settings

LINES = 1_000
KNOWN = 1_000
SET = 100
LEAST = 0.25  # 250 lines a second where the index alone takes 1,000


async def measure() -> list[Figure]:
    """Import 1,000 memories beside 1,000 that are known; then index as many, one and 100 a time."""
    configure_logging("error", "console")
    texts = _texts(KNOWN + 3 * LINES)
    known, new, singly, sets = (texts[at * LINES : (at + 1) * LINES] for at in range(4))
    with tempfile.TemporaryDirectory(prefix="skill-worker-bench-") as home:
        # Texts drawn at random look harmful now and then: what waits is no import.
        given = settings(Path(home), screen="note")
        async with open_app(given) as app, open_database(given) as pool:
            await app.stores.agents.save(Agent(id=AGENT, tenant_id=TENANT, name="Bench"))
            await _take(app, known, "known.jsonl")
            rate = await _take(app, new, "new.jsonl")
            again = await _take(app, new, "new.jsonl", outcome="known")
            one = await _index(pool, singly, 1, "singly")
            hundred = await _index(pool, sets, SET, "sets")
    floor = f"the index alone: {one:.0f}/s singly, {hundred:.0f}/s in sets of {SET}"
    return [
        Figure("import of memories", f"{rate:.0f} lines/s", floor, rate / hundred, at_least=LEAST),
        Figure("the same import again", f"{again:.0f} lines/s", "the first", again / rate),
    ]


def _texts(count: int) -> list[str]:
    """Return distinct texts of memories, with word frequencies as in the search benchmark."""
    drawn = Texts(seed=19).items(count * 3)
    found = dict.fromkeys(item.content for item in drawn if item.kind is Kind.MEMORY)
    return [*found][:count]


async def _take(app: App, texts: list[str], name: str, outcome: str = "created") -> float:
    lines = [
        json.dumps({"kind": "MEMORY", "agent_id": AGENT, "content": text}).encode()
        for text in texts
    ]
    importer = Importer(
        gate=app.gate,
        changes=app.stores.changes,
        knowledge=app.stores.knowledge,
        skills=app.stores.skills,
        owners=Owners({agent.id: [agent.tenant_id] for agent in await app.stores.agents.list()}),
        origin=name,
    )
    results: Counter[str] = Counter()

    def tell(result: Imported | Problem | None, _: int) -> None:
        results[result.outcome if isinstance(result, Imported) else str(result)] += 1

    begun = time.perf_counter()
    await import_lines(_raw(b"\n".join(lines)), importer, 10_000, tell)
    taken = time.perf_counter() - begun
    assert results == {outcome: len(texts)}, results
    print(f"  {name} ({outcome}): {len(texts) / taken:.0f}/s", file=sys.stderr, flush=True)
    return len(texts) / taken


async def _raw(data: bytes) -> AsyncIterator[RawLine]:
    splitter = LineSplitter(1_000_000)
    for line in [*splitter.feed(data), *splitter.end()]:
        yield line


async def _index(pool: Pool, texts: list[str], size: int, name: str) -> float:
    """Return how many documents a second are indexed, `size` in a transaction."""
    documents = [
        SearchDocument(
            tenant_id=TENANT,
            kind=Kind.MEMORY,
            item_id=f"{name}-{number}",
            agent_id=AGENT,
            name=text[:60],
            content=text,
            files=(),
        )
        for number, text in enumerate(texts)
    ]
    begun = time.perf_counter()
    for start in range(0, len(documents), size):
        async with transaction(pool) as conn:
            for document in documents[start : start + size]:
                await index_document(conn, document)
    return len(documents) / (time.perf_counter() - begun)
