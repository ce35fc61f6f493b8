"""Which version was valid when: spans, ties, gaps, and the nearest version in a gap."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from core.domain.models import Kind, KnowledgeItem, MemoryRequest, Operation, Relationship
from core.knowledge.history import absent, stood
from tests.support.gate import World, ask, on_behalf

DAY = datetime(2026, 11, 20, tzinfo=UTC)


def version(number: int, start: float, end: float | None) -> KnowledgeItem:
    """Return a version valid from one hour of the day to another."""
    return KnowledgeItem(
        id="m",
        kind=Kind.MEMORY,
        tenant_id="t",
        agent_id="a",
        name="m",
        content=f"text {number}",
        version=number,
        valid_from=DAY + timedelta(hours=start),
        valid_to=None if end is None else DAY + timedelta(hours=end),
    )


def held(hour: float, *versions: KnowledgeItem) -> int | None:
    found = stood(versions, DAY + timedelta(hours=hour))
    return found.version if found else None


def test_a_span_takes_in_its_start_and_leaves_out_its_end() -> None:
    versions = version(1, 1, 2), version(2, 2, None)
    assert [held(hour, *versions) for hour in (0.9, 1, 1.9, 2, 99)] == [None, 1, 1, 2, 2]


def test_nothing_held_between_a_deletion_and_what_was_made_again() -> None:
    versions = version(1, 1, 2), version(2, 5, None)
    assert [held(hour, *versions) for hour in (1.5, 2, 4, 5)] == [1, None, None, 2]


def test_of_versions_that_begin_at_once_the_last_holds() -> None:
    assert held(1, version(1, 1, 1), version(2, 1, 1), version(3, 1, None)) == 3
    assert held(1, version(1, 1, 1)) is None


@pytest.mark.parametrize(
    ("hour", "words"),
    [
        (0, "version 1 (2026-11-20T01:00:00+00:00 until 2026-11-20T02:00:00+00:00) began then: "
            "--as-of 2026-11-20T01:00:00+00:00"),
        (2.5, "version 1 (2026-11-20T01:00:00+00:00 until 2026-11-20T02:00:00+00:00) ended before: "
              "--as-of 2026-11-20T01:59:59.999999+00:00"),
        (4, "version 3 (2026-11-20T05:00:00+00:00 until now) began then: "
            "--as-of 2026-11-20T05:00:00+00:00"),
    ],
)  # fmt: skip
def test_where_none_held_the_nearest_one_is_named(hour: float, words: str) -> None:
    versions = [version(1, 1, 2), version(2, 5, 5), version(3, 5, None)]
    at = DAY + timedelta(hours=hour)
    error = absent(Kind.MEMORY, "m", at, versions)
    assert error.message == f"there was no MEMORY 'm' at {at.isoformat()}"
    assert error.hint == words
    assert "the worker changed itself" in absent(Kind.SKILL, "s", at).hint


@pytest.mark.parametrize("relationship", [Relationship.CONFLICTS, Relationship.SUPERSEDES])
async def test_a_contradiction_supersedes_and_erases_nothing(relationship: Relationship) -> None:
    world = World()
    first = await world.gate.submit(ask("금액은 원화로 적는다"), on_behalf("k1"))
    assert first.target_id is not None
    change = {"operation": "UPDATE", "target_id": first.target_id, "merge_mode": "REPLACE"}
    said = ask("금액은 달러로 적는다", **change, relationship=relationship, reason="바뀌었다")
    second = await world.gate.submit(said, on_behalf("k2"))
    old, new = await world.knowledge.versions(Kind.MEMORY, "t", first.target_id)
    assert (old.content, new.content) == ("금액은 원화로 적는다", "금액은 달러로 적는다")
    assert (new.relationship, new.change_id) == (relationship, second.change_id)
    assert old.valid_to == new.valid_from
    assert old.valid_from is not None
    read, _ = await world.knowledge.as_of(Kind.MEMORY, "t", first.target_id, old.valid_from)
    assert read == old
    gone = MemoryRequest(operation=Operation.DELETE, content="", target_id=first.target_id)
    await world.gate.submit(gone, on_behalf("k3"))
    assert [
        (item.content, item.valid_to is not None)
        for item in await world.knowledge.versions(Kind.MEMORY, "t", first.target_id)
    ] == [(old.content, True), (new.content, True)]
