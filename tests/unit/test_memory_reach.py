"""How long and for whom a memory holds: stated, left open, changed, refused, restored."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pydantic import JsonValue

from core.domain.hashing import request_digest, text_hash
from core.domain.models import Kind, KnowledgeItem, Receipt, ReceiptStatus, Scope, SubmitContext
from tests.support.gate import World, ask, on_behalf

TEXT = "금액은 달러로 적는다"
END = datetime(2999, 5, 31, 14, 59, 59, tzinfo=UTC)
LATER = datetime(2999, 8, 31, 14, 59, 59, tzinfo=UTC)
PAST = datetime(2020, 5, 31, tzinfo=UTC)
KEYS = iter(map(str, range(10_000)))


def said_by(author: str | None) -> SubmitContext:
    return on_behalf(next(KEYS)).model_copy(update={"author": author})


async def submitted(
    world: World, content: str = TEXT, *, author: str | None = "kim", **given: object
) -> Receipt:
    return await world.gate.submit(ask(content, **given), said_by(author))


async def updated(world: World, receipt: Receipt, content: str = "", **given: object) -> Receipt:
    target: dict[str, object] = {"operation": "UPDATE", "target_id": receipt.target_id}
    return await submitted(world, content, **{**target, **given})  # type: ignore[arg-type]


async def item(world: World, receipt: Receipt) -> KnowledgeItem:
    assert receipt.target_id is not None
    return await world.knowledge.get(Kind.MEMORY, "t", receipt.target_id)


async def reach(world: World, receipt: Receipt) -> tuple[datetime | None, str, str | None]:
    found = await item(world, receipt)
    return found.valid_until, found.scope, found.user


@pytest.mark.parametrize(
    ("given", "holds"),
    [
        ({}, (None, "agent", None)),
        ({"valid_until": END}, (END, "agent", None)),
        ({"scope": "tenant"}, (None, "tenant", None)),
        ({"scope": "user"}, (None, "user", "kim")),
        ({"scope": "user", "user": "lee", "valid_until": END}, (END, "user", "lee")),
    ],
)
async def test_a_memory_holds_as_long_and_for_whom_it_is_said(
    given: dict[str, object], holds: tuple[object, ...]
) -> None:
    world = World()
    receipt = await submitted(world, **given)  # type: ignore[arg-type]
    assert receipt.status is ReceiptStatus.APPLIED
    assert await reach(world, receipt) == holds


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"valid_until": PAST}, "valid_until 2020-05-31T00:00:00+00:00 had passed"),
        ({"user": "lee"}, "user is only given with scope user"),
        ({"scope": "user", "author": None}, "scope user needs to know which user"),
    ],
)
async def test_what_cannot_be_meant_is_refused_with_what_to_do(
    given: dict[str, object], why: str
) -> None:
    receipt = await submitted(World(), **given)  # type: ignore[arg-type]
    assert receipt.status is ReceiptStatus.REFUSED
    assert why in receipt.message


async def test_what_is_decided_late_ends_when_it_was_said_to() -> None:
    world = World()
    first = await submitted(world)
    late = said_by("kim").model_copy(update={"said_at": datetime(2020, 5, 1, tzinfo=UTC)})
    request = ask("", operation="UPDATE", target_id=first.target_id, valid_until=PAST)
    receipt = await world.gate.submit(request, late)
    assert receipt.status is ReceiptStatus.APPLIED
    assert await reach(world, first) == (PAST, "agent", None)


async def test_an_import_may_bring_in_what_is_over() -> None:
    world = World()
    receipt = await submitted(world, valid_until=PAST, is_import=True)
    assert await reach(world, receipt) == (PAST, "agent", None)
    assert await world.knowledge.list(tenant_id="t", agent_id=None, kind=None) == []
    (over,) = await world.knowledge.list(tenant_id="t", agent_id=None, kind=None, expired=True)
    assert over.content == TEXT


async def test_an_update_leaves_what_it_does_not_state() -> None:
    world = World()
    first = await submitted(world, valid_until=END, scope="user")
    await updated(world, first, "금액은 유로로 적는다")
    assert await reach(world, first) == (END, "user", "kim")
    await updated(world, first, "금액은 엔화로 적는다", endless=True, scope="agent")
    assert await reach(world, first) == (None, "agent", None)


async def test_an_update_may_state_how_long_and_nothing_else() -> None:
    world = World()
    first = await submitted(world)
    second = await updated(world, first, valid_until=END)
    assert second.status is ReceiptStatus.APPLIED
    found = await item(world, first)
    assert (found.content, found.valid_until, found.version) == (TEXT, END, 2)


async def test_what_is_said_again_after_its_end_holds_again() -> None:
    world = World()
    over = await submitted(world, valid_until=PAST, is_import=True)
    again = await submitted(world)
    assert (again.status, again.target_id) == (ReceiptStatus.APPLIED, over.target_id)
    assert await reach(world, over) == (None, "agent", None)


MORE = "견적에는 납기일과 휴일 안내도 적는다"


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ({}, {"merge_mode": "EXTEND", "valid_until": END}),
        ({}, {"merge_mode": "REPLACE", "valid_until": END}),
        ({}, {"merge_mode": "REFINE", "part": "달러로", "valid_until": END}),
        ({}, {"merge_mode": "REPLACE", "scope": "user"}),
        ({"valid_until": END}, {"merge_mode": "EXTEND"}),
        ({"valid_until": END}, {"merge_mode": "EXTEND", "valid_until": LATER}),
        ({"valid_until": END}, {"merge_mode": "EXTEND", "endless": True}),
        ({"scope": "user"}, {"merge_mode": "EXTEND", "scope": "agent"}),
    ],
)
async def test_no_words_take_their_end_or_user_from_other_words(
    known: dict[str, object], new: dict[str, object]
) -> None:
    world = World()
    first = await submitted(world, **known)  # type: ignore[arg-type]
    before = await item(world, first)
    receipt = await updated(world, first, MORE, **new)
    assert receipt.status is ReceiptStatus.REFUSED
    assert "EXCEPTION" in receipt.message
    assert [hit.id for hit in receipt.hits] == [first.target_id]
    assert await item(world, first) == before


@pytest.mark.parametrize(
    ("known", "new", "holds"),
    [
        ({"valid_until": END}, {"merge_mode": "EXTEND", "valid_until": END}, END),
        ({"valid_until": END}, {"merge_mode": "REPLACE", "valid_until": LATER}, LATER),
        ({"valid_until": END}, {"merge_mode": "REPLACE", "endless": True}, None),
        ({"valid_until": END}, {"merge_mode": "REPLACE"}, END),
    ],
)
async def test_words_of_one_end_are_put_together_and_an_end_may_move(
    known: dict[str, object], new: dict[str, object], holds: datetime | None
) -> None:
    world = World()
    first = await submitted(world, **known)  # type: ignore[arg-type]
    receipt = await updated(world, first, MORE, **new)
    assert receipt.status is ReceiptStatus.APPLIED, receipt
    assert (await item(world, first)).valid_until == holds


async def test_the_same_words_with_the_span_in_them_only_set_the_end() -> None:
    world = World()
    first = await submitted(world, "Quotes show the delivery date")
    said = "Until the end of the year quotes show the delivery date"
    receipt = await updated(world, first, said, merge_mode="REPLACE", valid_until=END)
    assert receipt.status is ReceiptStatus.APPLIED, receipt
    assert (await item(world, first)).valid_until == END


async def test_an_end_that_other_words_take_over_is_told() -> None:
    world = World()
    first = await submitted(world, valid_until=END)
    receipt = await updated(world, first, "금액은 유로로 적는다", merge_mode="REPLACE")
    assert any("keeps its end" in warning for warning in receipt.warnings)


async def test_what_holds_for_a_time_stands_beside_what_always_holds() -> None:
    world = World()
    first = await submitted(world)
    how = {"relationship": "EXCEPTION", "reason": f"{first.target_id} stays"}
    near = "올해 말까지 금액은 유로로 적는다"
    assert (await submitted(world, near, **how)).status is ReceiptStatus.REFUSED
    beside = await submitted(world, near, valid_until=END, **how)
    assert beside.status is ReceiptStatus.APPLIED, beside
    assert any("another time" in warning for warning in beside.warnings)
    assert await reach(world, first) == (None, "agent", None)
    assert await reach(world, beside) == (END, "agent", None)


async def test_the_same_words_with_an_end_give_the_known_memory_that_end() -> None:
    world = World()
    first = await submitted(world)
    second = await submitted(world, valid_until=END)
    assert (second.status, second.target_id) == (ReceiptStatus.APPLIED, first.target_id)
    assert await reach(world, first) == (END, "agent", None)
    again = await submitted(world)
    assert again.status is ReceiptStatus.KNOWN
    assert await reach(world, first) == (END, "agent", None)


async def test_each_end_user_may_have_said_the_same_or_nearly() -> None:
    world = World()
    receipts = [
        await submitted(world, content, scope="user", author=author)
        for content, author in ((TEXT, "kim"), (TEXT, "lee"), ("금액은 원화로 적는다", "park"))
    ]
    assert {receipt.status for receipt in receipts} == {ReceiptStatus.APPLIED}
    assert [(await reach(world, one))[2] for one in receipts] == ["kim", "lee", "park"]


async def test_one_end_user_changes_nothing_of_another() -> None:
    world = World()
    first = await submitted(world, scope="user", author="kim")
    for operation in ("UPDATE", "DELETE"):
        other = await updated(world, first, "유로로", author="lee", operation=operation)
        assert other.status is ReceiptStatus.REFUSED
        assert "is for another end user" in other.message
    assert (await item(world, first)).content == TEXT


async def test_an_undone_change_is_undone_with_how_long_and_for_whom() -> None:
    world = World()
    first = await submitted(world, valid_until=END)
    second = await updated(world, first, "금액은 유로로 적는다", endless=True, scope="tenant")
    assert second.change_id is not None
    await world.gate.revert(second.change_id, "no")
    found = await item(world, first)
    assert (found.content, found.valid_until, found.scope) == (TEXT, END, Scope.AGENT)


async def test_the_record_of_a_change_says_how_long_and_for_whom() -> None:
    world = World()
    first = await submitted(world, valid_until=END)
    await updated(world, first, "금액은 유로로 적는다", endless=True)
    created, changed = world.log.history
    assert (created.previous_reach, changed.new_reach) == (None, None)
    assert created.new_reach is not None
    assert changed.previous_reach == created.new_reach
    assert created.new_reach.valid_until == END


async def test_requests_without_a_reach_have_the_digest_that_they_always_had() -> None:
    request = ask()
    stated: dict[str, JsonValue] = request.model_dump(mode="json")
    added = {"valid_until", "endless", "scope", "user"}
    assert request_digest(request) == text_hash(request.model_dump_json(exclude=added))
    assert request_digest(ask(scope="tenant")) != request_digest(request)
    assert added < stated.keys()
