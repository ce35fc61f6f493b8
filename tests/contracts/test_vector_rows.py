"""Vectors of each model, tenant, agent and kind: which are missing, made, compared and kept."""

from __future__ import annotations

from core.adapters.postgres.queries import Pool, connection
from core.adapters.postgres.vectors import PostgresVectors
from core.domain.models import Kind
from core.domain.models.vectors import Embedded, Vector
from core.knowledge.search.documents import SearchDocument
from core.knowledge.search.vectors import unit
from tests.support.change_rows import change
from tests.support.search_index import PostgresIndex
from tests.support.seeding import AT, DAY, put_all

EAST, NORTH, WEST = unit((1.0, 0.01, 0.01)), unit((0.01, 1.0, 0.01)), unit((-1.0, 0.01, 0.01))
MEMORY, RULE = Kind.MEMORY, Kind.DMN_RULE


async def document(
    pool: Pool, item: str, kind: Kind = MEMORY, tenant: str = "t", agent: str | None = "a"
) -> None:
    made = SearchDocument(
        tenant_id=tenant, kind=kind, item_id=item, agent_id=agent, name=f"name of {item}",
        content=f"{item} {tenant}",
    )  # fmt: skip
    await PostgresIndex(pool).put(made)


async def embed(vectors: PostgresVectors, **made: Vector | None) -> None:
    """Embed all that waits: east, where nothing else is said of the first word of its text."""
    batch = await vectors.take(99, 0.0)
    assert batch is not None
    await vectors.begin(3, 0.0)
    await vectors.put(
        [
            Embedded(one.document_id, one.revision, made.get(one.text.split()[-2], EAST))
            for one in batch.documents
        ]
    )


async def nearest(
    vectors: PostgresVectors, vector: Vector = EAST, tenant: str = "t", agent: str | None = "a",
    kind: Kind | None = None, limit: int = 9, among: list[str] | None = None,
) -> list[str]:  # fmt: skip
    found = await vectors.nearest(
        vector, tenant_id=tenant, agent_id=agent, kind=kind, limit=limit, among=among
    )
    return [f"{one.kind} {one.id}" for one in found]


async def test_the_nearest_are_of_the_tenant_agent_and_kind_asked_for(vector_pool: Pool) -> None:
    vectors = PostgresVectors(vector_pool, "m")
    await vectors.enlist()
    for item, kind, tenant, agent in (
        ("own", MEMORY, "t", "a"), ("own", RULE, "t", "a"), ("shared", MEMORY, "t", None),
        ("of-b", MEMORY, "t", "b"), ("own", MEMORY, "u", "a"), ("north", MEMORY, "t", "a"),
        ("west", MEMORY, "t", "a"), ("none", MEMORY, "t", "a"),
    ):  # fmt: skip
        await document(vector_pool, item, kind, tenant, agent)
    await embed(vectors, north=NORTH, west=WEST, none=None)
    own = ["MEMORY own", "DMN_RULE own", "MEMORY shared"]
    assert await nearest(vectors) == [*own, "MEMORY north"]
    assert await nearest(vectors, kind=MEMORY) == ["MEMORY own", "MEMORY shared", "MEMORY north"]
    assert await nearest(vectors, kind=RULE) == ["DMN_RULE own"]
    assert await nearest(vectors, agent="b") == ["MEMORY shared", "MEMORY of-b"]
    assert await nearest(vectors, agent=None) == [*own, "MEMORY of-b", "MEMORY north"]
    assert await nearest(vectors, tenant="u") == ["MEMORY own"]
    assert await nearest(vectors, among=["own", "of-b"]) == own[:2]
    assert await nearest(vectors, among=["own"], kind=MEMORY) == own[:1]
    assert await nearest(vectors, among=[]) == []
    assert await nearest(vectors, limit=2) == own[:2]
    assert await nearest(vectors, WEST) == ["MEMORY west", "MEMORY north"]
    assert await nearest(PostgresVectors(vector_pool, "other")) == []
    # Signs choose what is compared: those with the fewest that differ, the oldest of them first.
    few = PostgresVectors(vector_pool, "m", shortlist=2)
    assert await nearest(few) == own[:2]
    assert await nearest(vectors, unit((1.0, 1.0))) == []  # of another dimension


async def test_what_is_near_comes_with_whose_it_is_and_how_long_it_holds(vector_pool: Pool) -> None:
    vectors = PostgresVectors(vector_pool, "m")
    await vectors.enlist()
    await document(vector_pool, "own", agent=None)
    await document(vector_pool, "bare")
    version = {"tenant_id": "t", "kind": "MEMORY", "item_id": "own", "agent_id": "b"}
    until = {"valid_until": AT + DAY, "scope": "user", "scope_user": "kim", "change_id": "c"}
    ended = {"valid_to": AT, "version": 1, "same_key": "2", "change_id": "d", "agent_id": "z"}
    await put_all(
        vector_pool, ("knowledge_versions", version | until | {"version": 2}),
        ("knowledge_versions", version | ended),
        ("knowledge_versions", version | ended | {"tenant_id": "u", "valid_to": None}),
        ("knowledge_versions", version | ended | {"kind": "DMN_RULE", "valid_to": None}),
        ("knowledge_versions", version | ended | {"item_id": "x", "valid_to": None}),
        change("c", said_at=AT + DAY), change("d"),
    )  # fmt: skip
    await embed(vectors)
    found = await vectors.nearest(EAST, tenant_id="t", agent_id="a", kind=None, limit=9)
    assert [(one.id, one.agent_id, one.name, one.content) for one in found] == [
        ("own", "b", "name of own", "own t"), ("bare", "a", "name of bare", "bare t"),
    ]  # fmt: skip
    first, second = found
    assert (first.valid_until, first.user, first.taught_at) == (AT + DAY, "kim", AT + DAY)
    assert (second.valid_until, second.user, second.taught_at) == (None, None, None)


async def test_what_lacks_a_vector_is_listed_leased_and_counted(vector_pool: Pool) -> None:
    await document(vector_pool, "first")
    await document(vector_pool, "second")
    vectors, other = PostgresVectors(vector_pool, "m"), PostgresVectors(vector_pool, "o")
    assert (await vectors.backlog()).documents == 2
    assert (await vectors.backlog()).waiting == 2
    await vectors.enlist()
    await other.enlist()
    await vectors.enlist()
    one = await vectors.take(1, 60.0)
    assert one is not None
    assert [document.text.split()[-2:] for document in one.documents] == [["second", "t"]]
    assert await vectors.take(9, 60.0) is None  # it is leased
    assert await other.take(9, 60.0) is not None
    await vectors.begin(3, 0.25)
    await vectors.put([Embedded(one.documents[0].document_id, one.documents[0].revision, EAST)])
    backlog = await vectors.backlog()
    assert (backlog.documents, backlog.waiting, backlog.others) == (2, 1, ())
    assert ((await other.backlog()).waiting, (await other.backlog()).others) == (2, ("m",))
    batch = await vectors.take(9, 60.0)
    assert batch is not None
    assert batch.dimension == 3
    (left,) = batch.documents
    # What was changed in between is not what was embedded.
    await vectors.put([Embedded(left.document_id, left.revision + 1, EAST)])
    assert (await vectors.backlog()).waiting == 1
    await vectors.put([Embedded(left.document_id, left.revision, None)])
    assert (await vectors.backlog()).waiting == 0
    assert await nearest(vectors) == ["MEMORY second"]
    assert await vectors.take(9, 60.0) is None


async def test_a_failure_puts_off_its_model_alone(vector_pool: Pool) -> None:
    vectors, other = PostgresVectors(vector_pool, "m"), PostgresVectors(vector_pool, "o")
    await document(vector_pool, "first")
    for one in (vectors, other):
        await one.enlist()
    assert [await vectors.put_off("down", None) for _ in range(3)] == [1, 2, 4]
    assert await vectors.put_off("x" * 900, 77.0) == 77
    assert await PostgresVectors(vector_pool, "unknown").put_off("down", None) == 1
    assert (await vectors.backlog()).error == "x" * 500
    assert (await other.backlog()).error == ""
    assert await vectors.take(9, 60.0) is None
    await embed(other)
    assert await vectors.put_off("down", None) == 16
    await vectors.put([])
    assert (await vectors.backlog()).error == ""
    assert await vectors.put_off("down", None) == 1
    async with connection(vector_pool) as conn:
        await conn.execute("UPDATE search_models SET failures = 30 WHERE name = 'm'")
    assert await vectors.put_off("down", 400.0) == 400
    assert await vectors.put_off("down", None) == 300


async def test_another_dimension_of_one_model_makes_its_own_vectors_anew(vector_pool: Pool) -> None:
    vectors, other = PostgresVectors(vector_pool, "m"), PostgresVectors(vector_pool, "o")
    await document(vector_pool, "first")
    await document(vector_pool, "empty")
    for one in (vectors, other):
        await one.enlist()
        await embed(one, empty=None)
    await vectors.begin(3, 0.5)  # what it took no part of may be tried again
    assert ((await vectors.backlog()).waiting, (await other.backlog()).waiting) == (1, 0)
    before = await vectors.nearest(EAST, tenant_id="t", agent_id="a", kind=None, limit=9)
    assert [one.score for one in before] == [1.0]
    await vectors.begin(2, 0.0)
    assert ((await vectors.backlog()).waiting, (await other.backlog()).waiting) == (2, 0)
    assert await nearest(other) == ["MEMORY first"]
    assert await nearest(vectors) == []
