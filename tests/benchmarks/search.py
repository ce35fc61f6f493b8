"""Which share of the sought items is among the first five hits, and how long that takes."""

from __future__ import annotations

import sys
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.adapters.postgres.queries import connection, transaction
from core.adapters.postgres.search import PostgresSearch, index_document
from core.domain.ports import Ranking
from tests.benchmarks import search_latency
from tests.benchmarks.search_database import database
from tests.benchmarks.search_meaning import WITH_MEANING, by_meaning
from tests.benchmarks.search_rivals import RIVALS, Bm25, FullText
from tests.benchmarks.search_sets import AGENT, DATA, TENANT, Query, documents, queries
from tests.benchmarks.table import Figure

FIRST = 5
TARGET = 0.95
QUIET = 0.75
HALVES = ("tuning half", "held-out half")


@dataclass(frozen=True)
class Found:
    """What our search and each rival returned for a query, best first."""

    query: Query
    ours: Sequence[str]
    rivals: Mapping[str, Sequence[str]]
    meant: Sequence[str] | None = None


async def measure() -> list[Figure]:
    """Measure recall, and search time at up to 100,000 items."""
    return [*await recall(), *await search_latency.measure()]


async def recall() -> list[Figure]:
    """Measure recall at five on both halves, and that of both rivals on the same queries."""
    found, quiet = await look()
    by_category: dict[str, list[Found]] = defaultdict(list)
    for one in found:
        by_category[one.query.category].append(one)
    show_misses(found)
    figures = [_total(found, half) for half in (False, True)]
    figures += [_with_meaning(found, half) for half in (False, True) if found[0].meant is not None]
    for category, ones in by_category.items():
        for half in (False, True):
            part = [f for f in ones if f.query.held_out == half]
            figures.append(_figure(f"recall@5, {category}, {HALVES[half]}", part, promised=False))
    return [*figures, _nfd(found), quiet]


async def look() -> tuple[list[Found], Figure]:
    """Index the corpus and run all queries in all searches; in ours also the hopeless ones."""
    corpus = documents()
    rivals = {name: Bm25(corpus, terms) for name, terms in RIVALS.items()}
    async with database(vectors=True) as pool:
        async with transaction(pool) as conn:
            for document in corpus:
                await index_document(conn, document)
        search = PostgresSearch(pool, None)
        async with connection(pool) as conn:
            full_text = FullText(conn)
            await full_text.put(corpus)
            found = [
                Found(
                    query,
                    await _ours(search, query.text),
                    {name: rival.best(query.text, FIRST) for name, rival in rivals.items()}
                    | {"PostgreSQL full text": await full_text.best(query.text, FIRST)},
                )
                for query in queries()
            ]
        async with by_meaning(pool) as fused:
            if fused:
                found = [await _meant(one, fused) for one in found]
        return found, await _quiet(search)


def show_misses(found: Sequence[Found]) -> None:
    """Print what was not found to stderr."""
    for one in found:
        if not one.query.wanted & {*one.ours} and not one.query.category.startswith("NFD"):
            half = HALVES[one.query.held_out]
            print(
                f"  missed ({one.query.category}, {half}): {one.query.text!r}"
                f" wanted {', '.join(sorted(one.query.wanted))}, got {', '.join(one.ours) or '-'}",
                file=sys.stderr,
            )


async def _meant(one: Found, fused: Ranking) -> Found:
    """Add what search with meaning returns; it reads decomposed text as composed."""
    if one.query.category == "NFD input":
        return replace(one, meant=one.ours)
    return replace(one, meant=await _ours(fused, one.query.text))


async def _ours(search: Ranking, query: str) -> list[str]:
    hits = await search.search(query, tenant_id=TENANT, agent_id=AGENT, kind=None, limit=FIRST)
    return [hit.id for hit in hits]


async def _quiet(search: PostgresSearch) -> Figure:
    asked = (DATA / "nothing.txt").read_text("utf-8").splitlines()
    hits = {query: await _ours(search, query) for query in asked}
    silent = sum(not ids for ids in hits.values())
    for query, ids in hits.items():
        if ids:
            print(f"  answered all the same: {query!r} with {', '.join(ids)}", file=sys.stderr)
    return Figure(
        "search: no hit for what shares no word with any item",
        f"{silent}",
        f"{len(asked)}",
        silent / len(asked),
        at_least=QUIET,
    )


def _total(found: Sequence[Found], half: bool) -> Figure:
    """Return the promised figure; NFD has one of its own, since the rivals do not support it."""
    part = [f for f in found if f.query.held_out == half and f.query.category != "NFD input"]
    first = sum(bool(f.query.wanted & {*f.ours[:1]}) for f in part) / len(part)
    figure = _figure(f"search: recall@5, {HALVES[half]}", part)
    return replace(figure, measured=f"{figure.measured}; the first hit {first:.3f}")


def _with_meaning(found: Sequence[Found], half: bool) -> Figure:
    meant = [replace(one, ours=one.meant or ()) for one in found]
    figure, by_words = _total(meant, half), _total(found, half)
    name = figure.name.replace("search:", f"search {WITH_MEANING}:")
    against = f"by words alone {by_words.measured}; {figure.against}"
    return replace(figure, name=name, against=against, at_least=None)


def _figure(name: str, found: Sequence[Found], *, promised: bool = True) -> Figure:
    ours = _recall(found, [f.ours for f in found])
    rivals = {name: _recall(found, [one.rivals[name] for one in found]) for name in found[0].rivals}
    return Figure(
        name,
        f"{ours:.3f} of {len(found)}",
        ", ".join(f"{name} {share:.3f}" for name, share in rivals.items()),
        ours,
        at_least=TARGET if promised else None,
    )


def _recall(found: Sequence[Found], got: Sequence[Sequence[str]]) -> float:
    hits = sum(bool(one.query.wanted & {*ids}) for one, ids in zip(found, got, strict=True))
    return hits / max(1, len(found))


def _nfd(found: Sequence[Found]) -> Figure:
    composed = {f.query.text: f.ours for f in found}
    pairs = [f for f in found if f.query.category == "NFD input"]
    same = sum(f.ours == composed[unicodedata.normalize("NFC", f.query.text)] for f in pairs)
    return Figure(
        "search: NFD queries answered as in NFC",
        f"{same}",
        f"{len(pairs)}",
        same / len(pairs),
        at_least=1,
    )
