"""Which share of what tasks need is in their contexts, and of how many without need they are empty.

A rival is plain BM25: its best items under the same budget, as the block shows them.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from statistics import median, quantiles

from core.adapters.postgres.queries import Pool, connection
from core.adapters.postgres.scoped_search import PostgresTaskMatches
from core.domain.models import Agent, Kind
from core.domain.models.context import TaskMatch
from core.knowledge.context.rendering import Block, render
from core.knowledge.context.selection import select
from core.knowledge.search.documents import SearchDocument
from tests.benchmarks.search_database import database
from tests.benchmarks.search_load import load
from tests.benchmarks.search_meaning import by_meaning
from tests.benchmarks.search_rivals import RIVALS, Bm25
from tests.benchmarks.search_sets import TENANT
from tests.evals.context_texts import AGENT, SEED, Item, LookAlikes, read_item

SETS = Path(__file__).parent / "sets" / "open"
OPEN, HELD_BACK = SETS / "context.jsonl", SETS / "context_held_back.jsonl"
ITEMS = 10_000
BUDGET = 1_500
WORDS, BOTH = "by words", "by words and meaning"
_RIVAL_DEPTH = 60
_OF_HELD_BACK = 16  # of a hundred look-alikes: as many a topic as there are of the others
_PUT = "COPY knowledge_versions (item_id, version, kind, tenant_id, agent_id, name, name_key,"
_COLUMNS = " content, hash, same_key, change_id) FROM STDIN"


@dataclass(frozen=True)
class Task:
    """A line of the set: a task and the items that it needs."""

    id: str
    lang: str
    text: str
    needed: Sequence[Item]

    @property
    def is_held_out(self) -> bool:
        """Whether nothing was tuned on it."""
        return sha256(self.id.encode()).digest()[0] % 2 == 1


@dataclass(frozen=True)
class Given:
    """The context that a task got."""

    task: Task
    shown: frozenset[str]
    tokens: int

    @property
    def found(self) -> list[Item]:
        """Those of the needed items that are in it."""
        return [item for item in self.task.needed if item.id in self.shown]


Giving = Callable[[Task], Sequence[TaskMatch]]


def tasks(path: Path = OPEN) -> list[Task]:
    """Read a set."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [
        Task(line["id"], line["lang"], line["task"], [*map(read_item, line["relevant"])])
        for line in lines
    ]


def items(given: Sequence[Task], count: int = ITEMS, *, held_back: bool = False) -> list[Item]:
    """Return what the tasks need, with look-alikes up to `count` items.

    With `held_back` some of them are about the topics of the held-back tasks.
    """
    needed = [item for task in given for item in task.needed]
    others = count - len(needed)
    of_held_back = others * _OF_HELD_BACK // 100 if held_back else 0
    made = [*LookAlikes().items(others - of_held_back)]
    more = LookAlikes(SEED + 1, held_back=True).items(of_held_back, first=len(made))
    return [*needed, *made, *more]


@asynccontextmanager
async def world(known: Sequence[Item]) -> AsyncIterator[tuple[Pool, Agent]]:
    """Yield a database in which one agent knows all of this."""
    async with database(vectors=True) as pool:
        await put(pool, known)
        skills = tuple(item.id for item in known if item.kind is Kind.SKILL)
        yield pool, Agent(id=AGENT, tenant_id=TENANT, name=AGENT, skills=skills)


async def put(pool: Pool, known: Sequence[Item]) -> None:
    """Store and index items, past the gate."""
    documents: list[SearchDocument] = [item.document for item in known]
    await load(pool, documents)
    async with connection(pool) as conn, conn.cursor().copy(f"{_PUT}{_COLUMNS}") as copy:
        for item in known:
            if item.kind is not Kind.SKILL:
                key = (item.id, 1, item.kind, TENANT, AGENT, item.name, item.id)
                await copy.write_row((*key, item.content, "", item.id, ""))


async def measure(path: Path = OPEN) -> dict[str, list[Given]]:
    """Give all tasks of a set their contexts in each way; by meaning if the model can run."""
    given = tasks(path)
    known = items(given, held_back=path == HELD_BACK)
    async with world(known) as (pool, agent):
        ways = {WORDS: await _ours(PostgresTaskMatches(pool, _now), agent, given)}
        async with by_meaning(pool) as fused:
            if fused:
                matches = PostgresTaskMatches(pool, _now, fused.meant)
                ways[BOTH] = await _ours(matches, agent, given)
    documents = [item.document for item in known]
    by_id = {item.id: item for item in known}
    for name, terms in RIVALS.items():
        rival = Bm25(documents, terms)
        ways[name] = [_rival(rival, by_id, task) for task in given]
    return ways


def _now() -> datetime:
    return datetime.now(UTC)


async def _ours(matches: PostgresTaskMatches, agent: Agent, given: Sequence[Task]) -> list[Given]:
    return [
        _given(
            task, render(select(task.text, await matches.find(task.text, agent, user=None)), BUDGET)
        )
        for task in given
    ]


def _rival(rival: Bm25, known: dict[str, Item], task: Task) -> Given:
    best = [known[one] for one in rival.best(task.text, _RIVAL_DEPTH)]
    chosen = [
        TaskMatch(kind=i.kind, id=i.id, name=i.name, version=1, content=i.content) for i in best
    ]
    return _given(task, render(chosen, BUDGET))


def _given(task: Task, block: Block) -> Given:
    return Given(task, frozenset(one.id for one in block.shown), block.tokens)


def report(ways: dict[str, list[Given]], *, has_halves: bool = False) -> str:
    """Return the figures of all ways: in total, by language and by kind, of one set by halves."""
    head = (
        f"{'':<46}{'in the block':>14}{'silent if none':>16}{'silent if some':>16}"
        f"{'useful':>9}{'tokens p50':>12}{'p95':>7}"
    )
    rows = [head]
    for name, given in ways.items():
        rows.append(_row(name, given))
        if has_halves:
            rows += [
                _row(f"  {half}", [one for one in given if one.task.is_held_out is held])
                for half, held in (("tuning half", False), ("held-out half", True))
            ]
        if name in {WORDS, BOTH}:
            rows += [
                _row(f"  {lang}", [one for one in given if one.task.lang == lang])
                for lang in ("ko", "en")
            ]
            rows += [f"  {kind:<44}{_recall(given, kind):>14}" for kind in _KINDS]
    return "\n".join(rows)


_KINDS = (Kind.MEMORY, Kind.DMN_RULE, Kind.SKILL)


def _row(name: str, given: Sequence[Given]) -> str:
    none = [one for one in given if not one.task.needed]
    some = [one for one in given if one.task.needed]
    silent = sum(not one.shown for one in none)
    mute = sum(not one.shown for one in some)
    useful = sum(len(one.found) for one in some) / max(1, sum(len(one.shown) for one in given))
    tokens = [one.tokens for one in some]
    return (
        f"{name:<46}{_recall(some):>14}{f'{silent}/{len(none)}':>16}{f'{mute}/{len(some)}':>16}"
        f"{useful:>9.3f}{median(tokens):>12.0f}{quantiles(tokens, n=20)[-1]:>7.0f}"
    )


def _recall(given: Sequence[Given], kind: Kind | None = None) -> str:
    def count(some: Sequence[Item]) -> int:
        return sum(kind is None or item.kind is kind for item in some)

    found = sum(count(one.found) for one in given)
    needed = sum(count(one.task.needed) for one in given)
    return f"{found}/{needed} {found / max(1, needed):.3f}"


def main(arguments: Sequence[str]) -> int:
    """Print the figures of files, or of the first open set.

    `--show` prints what of an open set is missing or too much; of another file, figures alone.
    """
    shows = "--show" in arguments
    files = [Path(argument).resolve() for argument in arguments if argument != "--show"]
    for path in files or [OPEN]:
        ways = asyncio.run(measure(path))
        if shows and path.parent == SETS:
            for name in (WORDS, BOTH):
                print(*_wrong(name, ways.get(name, ())), sep="\n")
        print(path.name)
        print(report(ways, has_halves=path == OPEN))
    return 0


def _wrong(name: str, given: Sequence[Given]) -> list[str]:
    """Name what is missing or too much."""
    lines: list[str] = []
    for one in given:
        if one.shown and not one.task.needed:
            lines.append(f"{name}: not silent: {one.task.text}")
        missing = [item.searched[:60] for item in one.task.needed if item.id not in one.shown]
        lines += [f"{name}: {one.task.text[:60]!r} lacks {text!r}" for text in missing]
    return lines
