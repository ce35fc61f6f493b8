"""Recorded runs are found by their own ids, tags and tenants."""

from __future__ import annotations

import pytest

from core.adapters.postgres.queries import Pool
from core.adapters.postgres.run_records import PostgresRunRecords
from core.domain.errors import NotFound, Refused
from core.domain.models.recorded_runs import RunFilter
from tests.support.seeding import AT, DAY, Row, put_all


def piece(feedback_id: str, days: int = 0, tenant: str = "t", **more: object) -> Row:
    row = {"id": feedback_id, "source_id": feedback_id, "tenant_id": tenant}
    return "feedback", row | {"created_at": AT + days * DAY} | more


def candidate(candidate_id: str, feedback_id: str, **more: object) -> Row:
    row: dict[str, object] = {
        "id": candidate_id, "feedback_id": feedback_id, "tenant_id": "t", "agent_id": "a",
        "epoch": 1, "generation": 2, "verdict": {"status": "learnt", "reason": "why"},
    }  # fmt: skip
    return "candidates", row | more


def tag(run: str, feedback_id: str, name: str = "good", tenant: str = "t") -> Row:
    return "run_tags", {"run": run, "feedback_id": feedback_id, "tag": name, "tenant_id": tenant}


@pytest.fixture
async def records(pool: Pool) -> PostgresRunRecords:
    fork = {"tenant_id": "t", "feedback_id": "f", "run": "c1:2", "from_run": "c1:1", "step": 3}
    await put_all(
        pool,
        piece("f"), piece("g", 1), piece("h", 2), piece("u", 3, "u"),
        candidate("c1", "f"), candidate("c2", "f", position=2, agent_id="b", epoch=0),
        candidate("d1", "g"), candidate("d2", "g", position=2, agent_id="b", generation=1),
        candidate("e1", "h", epoch=0), candidate("u1", "u", tenant_id="u"),
        tag("c1:1", "f"), tag("c1:2", "f", "bad"), tag("c1:1", "f", "also"),
        tag("u1:2", "u", "good", "u"),
        tag("d1:1", "g", "other"), ("run_forks", fork),
    )  # fmt: skip
    return PostgresRunRecords(pool)


async def ids(records: PostgresRunRecords, **wanted: str) -> list[str]:
    page, _ = await records.page(RunFilter.model_validate(wanted), limit=9, cursor=None)
    return [one.id for one in page]


async def test_the_last_run_of_each_candidate_is_listed_newest_first(
    records: PostgresRunRecords,
) -> None:
    assert await ids(records) == ["u1:2", "d2:1", "d1:2", "c1:2"]
    assert await ids(records, tenant_id="t") == ["d2:1", "d1:2", "c1:2"]
    assert await ids(records, agent_id="b") == ["d2:1"]
    assert await ids(records, feedback_id="f") == ["c1:2"]
    first, cursor = await records.page(RunFilter(), limit=2, cursor=None)
    rest, end = await records.page(RunFilter(), limit=2, cursor=cursor)
    assert [one.id for one in (*first, *rest)] == await ids(records)
    assert end is None


async def test_with_a_tag_all_runs_that_have_it_are_listed(records: PostgresRunRecords) -> None:
    assert await ids(records, tag="good") == ["u1:2", "c1:1"]
    assert await ids(records, tag="good", tenant_id="t") == ["c1:1"]
    assert await ids(records, tag="bad") == ["c1:2"]
    assert await ids(records, tag="other") == ["d1:1"]
    assert await ids(records, tag="none") == []


async def test_a_run_is_found_by_its_id_its_candidate_or_its_feedback(
    records: PostgresRunRecords,
) -> None:
    earlier, last = await records.get("c1:1"), await records.get("c1")
    assert (earlier.id, earlier.generation, earlier.tags) == ("c1:1", 1, ("also", "good"))
    assert (earlier.status, earlier.reason, earlier.forked_from) == (None, "", None)
    assert (last.id, last.status, last.reason) == ("c1:2", "learnt", "why")
    assert (last.tags, last.forked_from, last.from_step) == (("bad",), "c1:1", 3)
    assert (last.feedback_id, last.agent_id, last.tenant_id) == ("f", "a", "t")
    assert (await records.get("f")).id == "c1:2"
    for unknown in ("c1:0", "c1:3", "c2", "e1", "h", "none", "f:1", "c1:x"):
        with pytest.raises(NotFound):
            await records.get(unknown)
    with pytest.raises(Refused) as several:
        await records.get("g")
    assert "d1:2, d2:1" in several.value.hint


async def test_a_run_is_tagged_while_it_is_there(pool: Pool, records: PostgresRunRecords) -> None:
    run = await records.get("d1")
    tagged = await records.tag(run, ["x", "y", "x"], by="kim")
    assert tagged.tags == ("x", "y")
    assert (await records.untag(tagged, ["x"])).tags == ("y",)
    assert (await records.get("c1:1")).tags == ("also", "good")
    await put_all(pool, piece("p", pruned=True), candidate("p1", "p"))
    with pytest.raises(NotFound):
        await records.tag(await records.get("p1"), ["x"], by="kim")
    assert (await records.get("p1")).tags == ()
