"""Contract of every store of vectors; a test class supplies `vectors` and `index`."""

from __future__ import annotations

import pytest

from core.domain.models import Kind
from core.domain.models.vectors import Embedded, Vector, VectorBatch
from core.domain.ports import Vectors
from core.knowledge.search.vectors import unit
from tests.contracts.suites.search import SearchIndex, memory

EAST, NORTH = unit((1.0, 0.01, 0.01)), unit((0.01, 1.0, 0.01))
BETWEEN = unit((1.0, 0.9, 0.01))


async def embed(vectors: Vectors, made: dict[str, Vector | None], *, noise: float = 0.0) -> None:
    """Embed every pending document by the vector of its text."""
    batch = await vectors.take(100, 60)
    assert batch is not None
    await vectors.begin(3, noise)
    await vectors.put([Embedded(d.document_id, d.revision, made[d.text]) for d in batch.documents])


async def nearest(
    vectors: Vectors, vector: Vector = EAST, *, agent_id: str | None = "a", kind: Kind | None = None
) -> list[tuple[str, float]]:
    """Return id and score of the nearest documents in tenant `t`."""
    found = await vectors.nearest(vector, tenant_id="t", agent_id=agent_id, kind=kind, limit=5)
    return [(known.id, round(known.score, 2)) for known in found]


def texts(batch: VectorBatch | None) -> list[str]:
    """Return the texts of a batch."""
    return [document.text for document in batch.documents] if batch else []


class VectorsContract:
    """Inherit in a test class that defines the fixtures `vectors` and `index`."""

    @pytest.fixture(autouse=True)
    async def listed(self, vectors: Vectors) -> None:
        """The model in use."""
        await vectors.enlist()

    async def test_the_nearest_come_first(self, vectors: Vectors, index: SearchIndex) -> None:
        for item_id in ("east", "north", "between"):
            await index.put(memory(item_id, item_id))
        await embed(vectors, {"east": EAST, "north": NORTH, "between": BETWEEN})
        assert await nearest(vectors, EAST) == [("east", 1.0), ("between", 0.75), ("north", 0.02)]
        found = await vectors.nearest(EAST, tenant_id="t", agent_id="a", kind=None, limit=1)
        assert [(known.content, known.kind) for known in found] == [("east", Kind.MEMORY)]

    async def test_what_is_no_closer_than_unrelated_texts_is_left_out(
        self, vectors: Vectors, index: SearchIndex
    ) -> None:
        for item_id in ("east", "north", "between"):
            await index.put(memory(item_id, item_id))
        made: dict[str, Vector | None] = {"east": EAST, "north": NORTH, "between": BETWEEN}
        await embed(vectors, made, noise=0.5)
        assert await nearest(vectors, EAST) == [("east", 1.0), ("between", 0.5)]

    async def test_scope_is_tenant_agent_and_kind(
        self, vectors: Vectors, index: SearchIndex
    ) -> None:
        await index.put(memory("own", "own"))
        await index.put(memory("others", "others", agent_id="b"))
        await index.put(memory("shared", "shared", agent_id=None))
        await index.put(memory("foreign", "foreign", tenant_id="u"))
        await index.put(memory("rule", "rule").model_copy(update={"kind": Kind.DMN_RULE}))
        await embed(vectors, dict.fromkeys(("own", "others", "shared", "foreign", "rule"), EAST))
        assert {name for name, _ in await nearest(vectors)} == {"own", "shared", "rule"}
        everyone = {name for name, _ in await nearest(vectors, agent_id=None)}
        assert everyone == {"own", "others", "shared", "rule"}
        assert await nearest(vectors, kind=Kind.DMN_RULE) == [("rule", 1.0)]

    async def test_only_those_among_which_to_look_are_found(
        self, vectors: Vectors, index: SearchIndex
    ) -> None:
        for item_id in ("near", "far", "shared"):
            await index.put(memory(item_id, item_id))
        await embed(vectors, {"near": EAST, "far": BETWEEN, "shared": EAST})
        given = {"tenant_id": "t", "agent_id": "a", "kind": Kind.MEMORY, "limit": 1}
        found = await vectors.nearest(EAST, **given, among=("far", "nobody's"))  # type: ignore[arg-type]
        assert [known.id for known in found] == ["far"]
        assert not await vectors.nearest(EAST, **given, among=())  # type: ignore[arg-type]

    async def test_a_changed_document_has_no_vector_until_it_has_its_own(
        self, vectors: Vectors, index: SearchIndex
    ) -> None:
        await index.put(memory("m", "old"))
        await embed(vectors, {"old": EAST})
        await index.put(memory("m", "new"))
        assert await nearest(vectors) == []
        await embed(vectors, {"new": NORTH})
        assert await nearest(vectors, NORTH) == [("m", 1.0)]

    async def test_the_same_document_again_keeps_its_vector(
        self, vectors: Vectors, index: SearchIndex
    ) -> None:
        await index.put(memory("m", "same"))
        await embed(vectors, {"same": EAST})
        await index.put(memory("m", "same"))
        assert await nearest(vectors) == [("m", 1.0)]
        assert await vectors.take(10, 60) is None

    async def test_a_vector_of_text_that_has_changed_meanwhile_is_dropped(
        self, vectors: Vectors, index: SearchIndex
    ) -> None:
        await index.put(memory("m", "old"))
        batch = await vectors.take(10, 60)
        assert batch is not None
        await vectors.begin(3, 0.0)
        await index.put(memory("m", "new"))
        (old,) = batch.documents
        await vectors.put([Embedded(old.document_id, old.revision, EAST)])
        assert await nearest(vectors) == []
        assert texts(await vectors.take(10, 60)) == ["new"]

    async def test_a_deleted_document_is_gone(self, vectors: Vectors, index: SearchIndex) -> None:
        await index.put(memory("m", "text"))
        await embed(vectors, {"text": EAST})
        await index.put(memory("n", "text"))
        batch = await vectors.take(10, 60)
        assert batch is not None
        for item_id in ("m", "n"):
            await index.drop("t", Kind.MEMORY, item_id)
        (gone,) = batch.documents
        await vectors.put([Embedded(gone.document_id, gone.revision, EAST)])
        assert await nearest(vectors) == []

    async def test_what_the_model_takes_no_part_of_is_not_asked_again(
        self, vectors: Vectors, index: SearchIndex
    ) -> None:
        await index.put(memory("m", "text"))
        await embed(vectors, {"text": None})
        assert await nearest(vectors) == []
        assert await vectors.take(10, 60) is None
        await index.put(memory("m", "other"))
        assert texts(await vectors.take(10, 60)) == ["other"]

    async def test_one_worker_at_a_time_takes_the_newest_first(
        self, vectors: Vectors, index: SearchIndex
    ) -> None:
        for item_id in ("first", "second", "third"):
            await index.put(memory(item_id, item_id))
        batch = await vectors.take(2, 60)
        assert texts(batch) == ["third", "second"]
        assert await vectors.take(2, 60) is None
        assert batch is not None
        await vectors.put([Embedded(d.document_id, d.revision, EAST) for d in batch.documents])
        assert texts(await vectors.take(2, 60)) == ["first"]

    async def test_a_worker_that_died_holds_the_others_up_for_its_time_only(
        self, vectors: Vectors, index: SearchIndex
    ) -> None:
        await index.put(memory("m", "text"))
        assert texts(await vectors.take(2, 0)) == ["text"]
        assert texts(await vectors.take(2, 60)) == ["text"]

    async def test_after_failures_the_pause_grows_and_is_at_least_what_was_asked_for(
        self, vectors: Vectors, index: SearchIndex
    ) -> None:
        await index.put(memory("m", "text"))
        pauses = [await vectors.put_off("no", None) for _ in range(12)]
        assert pauses[:4] == [1, 2, 4, 8]
        assert pauses[-1] == 300
        assert await vectors.put_off("no", 1_000) == 1_000
        assert await vectors.take(2, 60) is None
        await vectors.put([])
        assert await vectors.put_off("no", None) == 1

    async def test_another_dimension_makes_all_anew(
        self, vectors: Vectors, index: SearchIndex
    ) -> None:
        await index.put(memory("m", "text"))
        await embed(vectors, {"text": EAST})
        assert await nearest(vectors, (1.0, 0.0)) == []
        await vectors.begin(2, 0.0)
        assert await nearest(vectors) == []
        batch = await vectors.take(2, 60)
        assert batch is not None
        assert (texts(batch), batch.dimension) == (["text"], 2)
        (again,) = batch.documents
        await vectors.put([Embedded(again.document_id, again.revision, (1.0, 0.0))])
        assert await nearest(vectors, (1.0, 0.0)) == [("m", 1.0)]
