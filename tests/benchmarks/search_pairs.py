"""First hit and recall of the real search on a file of pairs, beside BM25 of three kinds."""

from __future__ import annotations

import csv
import json
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from core.adapters.postgres.queries import transaction
from core.adapters.postgres.search import PostgresSearch, index_document
from core.domain.models import Kind
from core.domain.ports import Ranking
from core.knowledge.search.documents import SearchDocument
from tests.benchmarks.search_database import database
from tests.benchmarks.search_meaning import WITH_MEANING, by_meaning
from tests.benchmarks.search_rivals import RIVALS, Bm25
from tests.benchmarks.search_sets import AGENT, TENANT
from tests.benchmarks.table import Figure

FIRST = 5
OURS = "ours"
LEAST = 10
RESAMPLES = 2_000
NOT_BEHIND = -1.0  # points: what the lower end of the interval may be
MEANT = 4.0  # the least similarity of a pair of KorSTS from which one sentence asks for the other


class BadPairs(ValueError):
    """A file of pairs that cannot be measured: what is wrong, where, and what to do."""


@dataclass(frozen=True)
class Pair:
    """A query, the text that answers it, and their group (a language, say)."""

    query: str
    text: str
    group: str = ""


@dataclass(frozen=True)
class Pairs:
    """Queries with their answers, and all texts that are searched; each text once."""

    queries: tuple[Pair, ...]
    texts: tuple[str, ...]


def read_pairs(path: Path) -> Pairs:
    """Read a file: `query<TAB>text`, KorSTS by its header, or JSON lines of `query` and `item`.

    Raises BadPairs.
    """
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except OSError as error:
        raise BadPairs(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BadPairs(f"{path}: no UTF-8 at byte {error.start}; save it as UTF-8") from None
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not numbered:
        raise BadPairs(f"{path} is empty; it needs lines of a query, a tab and its text")
    if path.suffix == ".jsonl":
        pairs, texts = _json_lines(path, numbered)
    elif "sentence1" in numbered[0][1].split("\t"):
        pairs, texts = _korsts(path, numbered)
    else:
        pairs, texts = _columns(path, numbered)
    if len({pair for _, pair in pairs}) < LEAST:
        raise BadPairs(f"{path}: {len(pairs)} queries say nothing; there must be {LEAST}")
    return Pairs(_once(path, pairs), tuple(dict.fromkeys(texts)))


Numbered = Sequence[tuple[int, str]]
Found = tuple[list[tuple[int, Pair]], list[str]]


def _columns(path: Path, lines: Numbered) -> Found:
    has_header = lines[0][1].casefold().split("\t") == ["query", "text"]
    pairs = []
    for number, line in lines[has_header:]:
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) != 2:
            raise BadPairs(f"{path}:{number}: {len(cells)} columns; a query, a tab and its text")
        pairs.append((number, _pair(path, number, *cells)))
    return pairs, [pair.text for _, pair in pairs]


def _korsts(path: Path, lines: Numbered) -> Found:
    header = lines[0][1].split("\t")
    if missing := {"score", "sentence1", "sentence2"} - {*header}:
        raise BadPairs(f"{path}:{lines[0][0]}: no column {', '.join(sorted(missing))}")
    pairs: list[tuple[int, Pair]] = []
    texts = []
    for number, line in lines[1:]:
        cells = next(csv.reader([line], delimiter="\t", quoting=csv.QUOTE_NONE))
        if len(cells) < len(header):
            raise BadPairs(f"{path}:{number}: {len(cells)} columns of {len(header)}")
        row = dict(zip(header, cells, strict=False))
        try:
            score = float(row["score"])
        except ValueError:
            raise BadPairs(f"{path}:{number}: score {row['score']!r} is no number") from None
        pair = _pair(path, number, row["sentence1"].strip(), row["sentence2"].strip())
        texts.append(pair.text)
        if score >= MEANT and pair not in {known for _, known in pairs}:
            pairs.append((number, pair))
    return pairs, texts


def _json_lines(path: Path, lines: Numbered) -> Found:
    pairs = []
    for number, line in lines:
        try:
            row = json.loads(line)
            query, text, group = str(row["query"]), str(row["item"]), str(row.get("lang", ""))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise BadPairs(f"{path}:{number}: no object with query and item") from None
        pairs.append((number, _pair(path, number, query, text, group)))
    return pairs, [pair.text for _, pair in pairs]


def _pair(path: Path, number: int, query: str, text: str, group: str = "") -> Pair:
    if not query or not text:
        raise BadPairs(f"{path}:{number}: the {'text' if query else 'query'} is empty")
    return Pair(query, text, group)


def _once(path: Path, pairs: Iterable[tuple[int, Pair]]) -> tuple[Pair, ...]:
    seen: dict[Pair, int] = {}
    for number, pair in pairs:
        if pair in seen:
            raise BadPairs(f"{path}:{number}: the pair of line {seen[pair]} again; leave one out")
        seen[pair] = number
    return tuple(seen)


async def measure_pairs(path: Path) -> list[Figure]:
    """Measure the search on a file, by group; return the figures beside the better rival."""
    pairs = read_pairs(path)
    found = await _look(pairs)
    groups: dict[str, list[int]] = defaultdict(list)
    for at, pair in enumerate(pairs.queries):
        groups[pair.group].append(at)
    figures = []
    for group, places in groups.items():
        name = " ".join(filter(None, [path.name, group]))
        for called, depth in (("first hit", 1), (f"recall@{FIRST}", FIRST)):
            hits = {
                search: [pairs.queries[at].text in got[at][:depth] for at in places]
                for search, got in found.items()
            }
            meant = hits.pop(WITH_MEANING, None)
            figures.append(_figure(f"search: {called}, {name}", hits))
            if meant:
                words = _share(hits[OURS])
                figure = _figure(f"search {WITH_MEANING}: {called}, {name}", {**hits, OURS: meant})
                against = f"by words alone {words:.3f}, {figure.against}"
                figures.append(replace(figure, against=against, at_least=None))
    return figures


async def _look(pairs: Pairs) -> dict[str, list[list[str]]]:
    """Return the texts that each search returned for each query, best first; ours first."""
    texts = {f"zq{number:07}": text for number, text in enumerate(pairs.texts)}
    documents = [
        SearchDocument(
            tenant_id=TENANT,
            kind=Kind.MEMORY,
            item_id=item_id,
            agent_id=AGENT,
            name=text if len(text) <= 60 else text[:59] + "…",
            content=text,
        )
        for item_id, text in texts.items()
    ]
    found: dict[str, list[list[str]]] = {}
    async with database(vectors=True) as pool:
        async with transaction(pool) as conn:
            for document in documents:
                await index_document(conn, document)
        found[OURS] = await _asked(PostgresSearch(pool, None), pairs.queries, texts)
        async with by_meaning(pool) as fused:
            if fused:
                found[WITH_MEANING] = await _asked(fused, pairs.queries, texts)
    for name, terms in RIVALS.items():
        rival = Bm25(documents, terms)
        found[name] = [[texts[i] for i in rival.best(p.query, FIRST)] for p in pairs.queries]
    return found


async def _asked(
    search: Ranking, queries: Sequence[Pair], texts: Mapping[str, str]
) -> list[list[str]]:
    found = []
    for pair in queries:
        hits = await search.search(
            pair.query, tenant_id=TENANT, agent_id=AGENT, kind=None, limit=FIRST
        )
        found.append([texts[hit.id] for hit in hits])
    return found


def _share(hits: Sequence[bool]) -> float:
    return sum(hits) / len(hits)


def _figure(name: str, hits: dict[str, list[bool]]) -> Figure:
    ours = hits[OURS]
    shares = {rival: _share(got) for rival, got in hits.items()}
    best = max((rival for rival in hits if rival != OURS), key=lambda rival: shares[rival])
    low, high = interval(ours, hits[best])
    rivals = ", ".join(f"{rival} {share:.3f}" for rival, share in shares.items() if rival != OURS)
    return Figure(
        name,
        f"{shares[OURS]:.3f} of {len(ours)}",
        f"{rivals}; {100 * (shares[OURS] - shares[best]):+.1f} points to the best,"
        f" 95 % {low:+.1f} to {high:+.1f}",
        low,
        at_least=NOT_BEHIND,
    )


def interval(ours: Sequence[bool], theirs: Sequence[bool]) -> tuple[float, float]:
    """Return the 95 % interval of the difference in points, by the paired bootstrap."""
    differences = [int(one) - int(other) for one, other in zip(ours, theirs, strict=True)]
    dice = random.Random(20261123)
    size = len(differences)
    means = sorted(100 * sum(dice.choices(differences, k=size)) / size for _ in range(RESAMPLES))
    cut = RESAMPLES // 40
    return means[cut], means[-cut - 1]
