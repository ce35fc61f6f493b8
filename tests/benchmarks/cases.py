"""How long the cases in reach of one change take at 10,000 items, against one plain search."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from random import Random
from statistics import median, quantiles

from core.adapters.postgres.agents import PostgresAgents
from core.adapters.postgres.case_runner import PostgresCaseRunner
from core.adapters.postgres.cases import PostgresCases
from core.adapters.postgres.queries import Pool, connection, transaction
from core.adapters.postgres.search import PostgresSearch
from core.adapters.postgres.unit_of_work import item_put
from core.changes.cases.judging import CaseGate
from core.changes.cases.proposed import derive, own_cases, question_of
from core.decision_table import draft_to_table, to_xml
from core.domain.hashing import state_hash
from core.domain.models import (
    Agent,
    Change,
    ChangeStatus,
    InputColumn,
    Kind,
    Operation,
    OutputColumn,
    RowEdit,
    RuleDraft,
    Snapshot,
)
from core.domain.models.cases import (
    MOST_IN_REACH,
    Case,
    CaseBody,
    CaseOrigin,
    CaseRole,
    CaseStatus,
    Check,
)
from core.knowledge.search.documents import SearchDocument
from core.testing.determinism import counting_ids
from tests.benchmarks.search_database import database
from tests.benchmarks.search_load import load
from tests.benchmarks.search_sets import AGENT, TENANT
from tests.benchmarks.search_texts import Texts
from tests.benchmarks.table import Figure

SIZE, WITH_CASES, CHANGES, WARMING = 10_000, 5_000, 60, 10
TARGET_MS = 50.0
_AT_ONCE = 50
_LISTED = 20  # skills of the agent
_VERSIONS = """
INSERT INTO knowledge_versions (
    item_id, version, kind, tenant_id, agent_id, name, name_key, content, hash, same_key, change_id)
SELECT item_id, 1, kind, tenant_id, agent_id, name, item_id, content, '', item_id, ''
FROM search_documents WHERE kind <> 'SKILL'
"""


async def measure() -> list[Figure]:
    """Measure at 10,000 items of one agent, half of them with a case."""
    return await at(SIZE, WITH_CASES, CHANGES)


async def at(size: int, with_cases: int, changes: int) -> list[Figure]:
    """Measure `changes` changes of each kind."""
    async with database() as pool:
        documents = [_of_one(one) for one in Texts().items(size)]
        await _fill(pool, documents)
        cases = PostgresCases(pool)
        wanted = [case for one in documents[:with_cases] if (case := _case_of(one)) is not None]
        for start in range(0, len(wanted), _AT_ONCE):
            await asyncio.gather(*map(cases.add, wanted[start : start + _AT_ONCE]))
        async with connection(pool) as conn:
            await conn.execute(b"UPDATE cases SET status = 'green'")
            await conn.execute(b"VACUUM ANALYZE")
        return [await _of_kind(pool, kind, changes) for kind in _TEXTS]


async def _fill(pool: Pool, documents: Sequence[SearchDocument]) -> None:
    await load(pool, documents)
    async with connection(pool) as conn:
        await conn.execute(_VERSIONS.encode())
    skills = [one.item_id for one in documents if one.kind is Kind.SKILL][:_LISTED]
    agent = Agent(id=AGENT, tenant_id=TENANT, name="a", skills=tuple(skills))
    await PostgresAgents(pool).save(agent)


async def _of_kind(pool: Pool, kind: Kind, count: int) -> Figure:
    cases, runner = PostgresCases(pool), PostgresCaseRunner(pool, _now)
    search = PostgresSearch(pool, None)
    taken: list[float] = []
    floor: list[float] = []
    reaching: list[float] = []
    run: list[int] = []
    for number, change in enumerate(islice(_changes(kind), count + WARMING)):
        begun = time.perf_counter()
        own = own_cases(change, derive(change))
        reached = (await cases.reach(change, MOST_IN_REACH)).cases
        found = time.perf_counter()
        await runner.before_and_after(change, {}, [*own, *reached])
        ended = time.perf_counter()
        await search.search(
            reached[0].body.text if reached else change.target_name,
            tenant_id=TENANT,
            agent_id=AGENT,
            kind=None,
            limit=5,
        )
        if number >= WARMING:
            taken.append((ended - begun) * 1_000)
            reaching.append((found - begun) * 1_000)
            floor.append((time.perf_counter() - ended) * 1_000)
            run.append(len(own) + len(reached))
    print(
        f"  {kind}: p50 {median(taken):.1f} ms, to find them {median(reaching):.1f} ms",
        file=sys.stderr,
        flush=True,
    )
    return Figure(
        f"cases in reach of a change of {kind}: {median(run):.0f}",
        f"p50 {median(taken):.1f} ms, p95 {_p95(taken):.1f} ms",
        f"{TARGET_MS:.0f} ms; one search p50 {median(floor):.1f} ms, p95 {_p95(floor):.1f} ms",
        _p95(taken) / TARGET_MS,
        at_most=1,
    )


def _of_one(document: SearchDocument) -> SearchDocument:
    own = None if document.kind is Kind.SKILL else AGENT
    return document.model_copy(update={"agent_id": own})


def _case_of(document: SearchDocument) -> Case | None:
    asked = question_of(document.content)
    check = Check.CHOSEN if document.kind is Kind.SKILL else Check.RECALL
    return (
        asked
        and Case(
            id=f"case-{document.item_id}",
            tenant_id=TENANT,
            agent_id=AGENT,
            kind=document.kind,
            item_id=document.item_id,
            body=CaseBody(check=check, text=asked),
            role=CaseRole.REGRESSION,
            origin=CaseOrigin.PERSON,
            status=CaseStatus.GREEN,
        )
    ) or None


def _changes(kind: Kind) -> Iterator[Change]:
    texts = Texts(seed=17)
    for number, document in enumerate(texts.items(1_000_000)):
        if document.kind is kind:
            after = Snapshot(content=_TEXTS[kind](document.content), name=document.name)
            yield Change(
                id=f"change-{number}",
                key=f"key-{number}",
                digest="",
                tenant_id=TENANT,
                agent_id=AGENT,
                kind=kind,
                target_id=f"new-{number}",
                target_name=document.name,
                operation=Operation.CREATE,
                before=None,
                after=after,
                base_hash=state_hash(None),
                status=ChangeStatus.PREPARED,
            )


def _memory(text: str) -> str:
    return text


def _table(text: str) -> str:
    words = text.split()
    rows = tuple(
        RowEdit(
            inputs={"amount": f"> {at}"},
            outputs={"who": f'"{words[at]} {words[at + 1]}"'},
        )
        for at in range(0, len(words) - 1, 2)
    )
    draft = RuleDraft(
        name=" ".join(words[:4]),
        inputs=(InputColumn(name="amount", type="number"),),
        outputs=(OutputColumn(name="who"),),
        rows=rows,
    )
    return to_xml(draft_to_table(draft, new_row_id=counting_ids("row")), decision_id="d")


def _skill(text: str) -> str:
    words = text.replace("#", " ").split()
    said = "\n".join(f"{at}. {' '.join(words[at * 8 : at * 8 + 8])}" for at in range(1, 10))
    head = f"---\nname: new\ndescription: {' '.join(words[:15])}\n---\n# New\n\n{said}\n\n"
    return head + " ".join(words)


_TEXTS = {Kind.MEMORY: _memory, Kind.DMN_RULE: _table, Kind.SKILL: _skill}


def _p95(values: list[float]) -> float:
    return quantiles(values, n=20)[-1]


def _now() -> datetime:
    return datetime.now(UTC)


DRIFT_SIZE, DRIFT_CASES, DRIFT_CHANGES, DRIFT_WORDS = 2_000, 1_000, 200, 3


async def drift() -> list[Figure]:
    """Count the questions that miss their item since new memories shift what words weigh.

    Each asks with three of its memory's words, by lot; the gate stops what brings itself up.
    """
    async with database() as pool:
        documents = [_of_one(one) for one in Texts().items(DRIFT_SIZE)]
        await _fill(pool, documents)
        cases, runner = PostgresCases(pool), PostgresCaseRunner(pool, _now)
        asked = await _passing(cases, runner, documents[:DRIFT_CASES])
        gate = CaseGate(cases, runner, derive=lambda change, _: derive(change))
        stopped, at_once = 0, set[str]()
        for change in islice(_changes(Kind.MEMORY), DRIFT_CHANGES):
            tried = await gate.judge(change, {})
            stopped += bool(tried.broken)
            if not tried.broken:
                at_once |= {one.case.id for one in tried.change.tried.drifted}  # type: ignore[union-attr]
                async with transaction(pool) as conn, item_put(conn, change):
                    pass
        missed = {one.case.id for one in await runner.now(asked) if one.passed is False}
        told = f"{len(missed)}, of them told at once {len(missed & at_once)}"
        among = f"of {len(asked)}; of {DRIFT_CHANGES} changes {stopped} stopped"
        return [Figure("questions that miss their item by word weights", told, among)]


async def _passing(
    cases: PostgresCases, runner: PostgresCaseRunner, documents: Sequence[SearchDocument]
) -> Sequence[Case]:
    """Store a weak question for each memory or table; return those that bring it up."""
    lot, wanted = Random(5), list[Case]()
    for one in documents:
        case, words = _case_of(one), sorted({*one.content.split()})
        if case is not None and case.body.check is Check.RECALL:
            text = " ".join(lot.sample(words, min(DRIFT_WORDS, len(words))))
            body = case.body.model_copy(update={"text": text})
            wanted.append(case.model_copy(update={"body": body}))
    for start in range(0, len(wanted), _AT_ONCE):
        await asyncio.gather(*map(cases.add, wanted[start : start + _AT_ONCE]))
    results = await runner.now(wanted)
    await cases.note(results)
    return [one.case for one in results if one.passed]
