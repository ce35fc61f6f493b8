"""Items of a kind that a package adds: made, merged, refused by it, and named where it breaks."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.domain.errors import InvalidInput, Refused
from core.domain.models import (
    KindRequest,
    MergeMode,
    Operation,
    ReceiptStatus,
    Relationship,
    SubmitContext,
)
from core.learning_committers.base import CommitDeps
from core.learning_committers.kind_committer import KindCommitter, MissingKind, commit_to_kind
from core.testing.gate import FakeGate
from core.testing.knowledge import MemoryKnowledge
from tests.support.all_kinds import POEM, Everything, Poem, Verse, poem
from tests.support.react import item_change

SEA = "title: Sea\nlines:\n- waves"
CREATE, UPDATE, DELETE = Operation.CREATE, Operation.UPDATE, Operation.DELETE
REFUSED, KNOWN = ReceiptStatus.REFUSED, ReceiptStatus.KNOWN
CONTEXT = SubmitContext(key="k", tenant_id="t", agent_id="a")


class Ballad(Poem):
    """A package with an opinion, that adds lines to those known, and breaks on demand."""

    def problems(self, content: Verse) -> Sequence[str]:
        return ["it is about nothing"] if "nothing" in content.lines else ()

    def merged(self, known: Verse, new: Verse) -> Verse:
        if "burst" in new.lines:
            raise RuntimeError("out of ink")
        return Verse(title=new.title, lines=(*known.lines, *new.lines))


def ballads(knowledge: MemoryKnowledge | None = None) -> KindCommitter:
    return KindCommitter(Ballad(), "ballads 2.1", knowledge or MemoryKnowledge())


def written(text: str, target: str | None = None, **given: object) -> KindRequest:
    """Return a request of a person, who writes the whole text."""
    asked = {"operation": UPDATE if target else CREATE, "target_kind": POEM, "target_id": target}
    return KindRequest.model_validate(asked | {"text": text, **given})


async def test_an_item_is_made_once_and_named_by_its_package() -> None:
    world = Everything()
    made = await world.learn(poem("Sea", "waves"))
    assert (made.kind, made.operation, made.target_name) == (POEM, CREATE, "Sea")
    assert made.target_id.startswith("poem-")
    assert await world.says(POEM) == [SEA]
    again = await world.submit(poem("Sea", "waves"))
    assert (again.status, again.target_id) == (KNOWN, made.target_id)
    # Of one name there is one, whatever case and spaces.
    taken = await world.submit(poem(" SEA ", "foam"))
    assert (taken.status, taken.target_id) == (REFUSED, made.target_id)
    assert [hit.excerpt for hit in taken.hits] == [SEA]
    assert made.target_id in taken.message
    assert "'Sea'" in taken.hits[0].why
    assert (await world.submit(poem("Sea", "foam"), agent_id="b")).status == "applied"


async def test_an_item_keeps_the_id_that_a_person_gave_it() -> None:
    world = Everything()
    made = await world.learn(poem("Sea", "waves", target_id="p1", operation=CREATE))
    assert made.target_id == "p1"
    taken = await world.submit(poem("Hill", "grass", target_id="p1", operation=CREATE))
    assert (taken.status, taken.target_id) == (REFUSED, "p1")


async def test_an_item_is_changed_by_its_own_agent_and_keeps_its_name_to_itself() -> None:
    world = Everything()
    await world.learn(poem("Sea", "waves", target_id="p1", operation=CREATE))
    await world.learn(poem("Hill", "grass", target_id="p2", operation=CREATE))
    changed = await world.learn(poem("Sea", "foam", target="p1"))
    assert (changed.operation, changed.target_id) == (UPDATE, "p1")
    assert changed.before is not None
    assert changed.before.content == SEA
    renamed = await world.submit(poem("Hill", "foam", target="p1"))
    assert (renamed.status, renamed.target_id) == (REFUSED, "p2")
    assert (await world.submit(poem("Sea", "foam", target="p1"))).status is KNOWN
    theirs = await world.submit(poem("Sea", "mine", target="p1"), agent_id="b")
    assert theirs.status is REFUSED
    assert "agent a" in theirs.message
    nameless = KindRequest(operation=UPDATE, target_kind=POEM, content={"title": "x"})
    assert (await world.submit(nameless)).status is REFUSED
    assert (await world.submit(poem("Sea", "x", target="p9"))).status is REFUSED
    gone = await world.learn(KindRequest(operation=DELETE, target_kind=POEM, target_id="p1"))
    assert (gone.operation, gone.after) == (DELETE, None)
    assert await world.says(POEM) == ["title: Hill\nlines:\n- grass"]


async def test_a_change_that_was_reverted_brings_back_what_stood() -> None:
    world = Everything()
    await world.learn(poem("Sea", "waves", target_id="p1", operation=CREATE))
    gone = await world.learn(KindRequest(operation=DELETE, target_kind=POEM, target_id="p1"))
    await world.learn(poem("Sea", "foam", target_id="p2", operation=CREATE))
    refused = await world.gate.revert(gone.id, "wrong")
    assert (refused.status, refused.target_id) == (REFUSED, "p2")
    await world.learn(KindRequest(operation=DELETE, target_kind=POEM, target_id="p2"))
    assert (await world.gate.revert(gone.id, "wrong")).status == "applied"
    assert await world.says(POEM) == [SEA]


@pytest.mark.parametrize(
    ("request_", "after"),
    [
        # A model adds to what is known as the package says; a person writes the whole.
        (poem("Sea", "foam", target="p1"), ("waves", "foam")),
        (poem("Sea", "foam", target="p1", merge_mode=MergeMode.EXTEND), ("waves", "foam")),
        (poem("Sea", "foam", target="p1", merge_mode=MergeMode.REPLACE), ("foam",)),
        (written("title: Sea\nlines: [foam]", "p1"), ("foam",)),
    ],
)
async def test_a_package_merges_what_is_not_said_whole(
    request_: KindRequest, after: tuple[str, ...]
) -> None:
    world = Everything()
    await world.learn(poem("Sea", "waves", target_id="p1", operation=CREATE))
    prepared = await ballads(world.knowledge).prepare(request_, CONTEXT)
    assert prepared.after is not None
    lines = "".join(f"\n- {line}" for line in after)
    assert prepared.after.content == f"title: Sea\nlines:{lines}"
    assert (prepared.kind, prepared.operation, prepared.target_name) == (POEM, UPDATE, "Sea")


@pytest.mark.parametrize(
    ("request_", "told"),
    [
        (poem("Sea", "nothing"), "it is about nothing"),
        (poem("Sea", "burst", target="p1"), "RuntimeError: out of ink"),
        (poem("", "x"), "name"),
        (written("colour: blue"), "colour"),
        (written("title: [", "p1"), "line"),
    ],
)
async def test_what_a_package_does_not_take_is_refused_with_its_words(
    request_: KindRequest, told: str
) -> None:
    world = Everything()
    await world.learn(poem("Sea", "waves", target_id="p1", operation=CREATE))
    with pytest.raises((Refused, InvalidInput)) as raised:
        await ballads(world.knowledge).prepare(request_, CONTEXT)
    assert told in raised.value.message
    if "RuntimeError" in told:
        assert "ballads 2.1" in raised.value.message
        assert "POEM" in raised.value.message


async def test_what_a_package_reads_no_more_is_replaced_but_not_merged() -> None:
    world = Everything()
    old = item_change(POEM, "p1", "Sea", "verse of old")
    world.knowledge.write(old.model_copy(update={"tenant_id": "t", "agent_id": "a"}))
    committer = ballads(world.knowledge)
    with pytest.raises(Refused) as raised:
        await committer.prepare(poem("Sea", "x", target="p1"), CONTEXT)
    assert "p1" in raised.value.message
    assert raised.value.hint
    whole = poem("Sea", "x", target="p1", merge_mode=MergeMode.REPLACE)
    prepared = await committer.prepare(whole, CONTEXT)
    assert prepared.before is not None
    assert prepared.before.content == "verse of old"
    with pytest.raises(InvalidInput):
        await committer.vet(prepared.model_copy(update={"after": prepared.before}), CONTEXT)
    assert await committer.vet(prepared.model_copy(update={"after": None}), CONTEXT)


async def test_without_its_package_an_item_is_read_and_not_changed() -> None:
    world = Everything()
    made = await world.learn(poem("Sea", "waves", target_id="p1", operation=CREATE))
    missing = MissingKind(POEM, world.knowledge)
    found = await missing.current("t", "p1")
    assert found is not None
    assert found.content == SEA
    assert await missing.current("t", "p9") is None
    world.knowledge.brought[POEM] = "poems 1.0"
    prepared = await ballads(world.knowledge).prepare(poem("Hill", "grass"), CONTEXT)
    for refused in (
        missing.prepare(poem("Sea"), CONTEXT),
        missing.vet(prepared, CONTEXT),
        missing.apply(made),
    ):
        with pytest.raises(Refused) as raised:
            await refused
        assert "poems 1.0" in raised.value.message
        assert "poems" in str(raised.value.hint)
        assert "1.0" not in str(raised.value.hint)
    world.knowledge.brought.clear()
    with pytest.raises(Refused) as raised:
        await missing.prepare(poem("Sea"), CONTEXT)
    assert "POEM" in raised.value.message


async def test_a_run_asks_for_an_item_by_its_kind() -> None:
    gate = FakeGate()

    def deps(key: str) -> CommitDeps:
        return CommitDeps(gate, CONTEXT.model_copy(update={"agent_id": "nobody", "key": key}))

    given = {"title": "Sea"}
    await commit_to_kind(POEM, "a", given, CREATE, "p9", reason="why", deps=deps("1"))
    how = MergeMode.EXTEND, Relationship.EXTENDS
    await commit_to_kind(POEM, "a", given, UPDATE, "p9", *how, deps=deps("2"))
    (first, at), (second, _) = gate.submitted
    assert isinstance(first, KindRequest)
    assert isinstance(second, KindRequest)
    assert (first.target_kind, first.operation, first.target_id) == (POEM, CREATE, None)
    assert (first.content, first.reason, at.agent_id) == (given, "why", "a")
    assert (second.target_id, second.merge_mode) == ("p9", MergeMode.EXTEND)
    assert second.relationship is Relationship.EXTENDS
