"""Memories beside near ones, and the merge modes of an update."""

from __future__ import annotations

import unicodedata

import pytest

from core.changes.policy.review_policy import load_policy
from core.domain.errors import Refused
from core.domain.hashing import memory_name
from core.domain.models import ChangeStatus, Edited, Kind, Receipt, ReceiptStatus, Relationship
from core.domain.models.feedback import WORKER_AGENT
from core.domain.models.knowledge import MAX_MEMORY_BYTES
from tests.support.gate import World, ask, on_behalf

REFUND = "환불은 배송 완료 후 7일 이내에만 가능합니다."
REWORDED = "고객은 물건을 받은 뒤 7일 안에 환불을 신청해야 합니다."
KIM, LEE = "Ms. Kim wants amounts in KRW.", "Mr. Lee wants amounts in KRW."


async def submitted(world: World, content: str, key: str, **given: object) -> Receipt:
    return await world.gate.submit(ask(content, **given), on_behalf(key))


async def updated(world: World, item_id: str | None, content: str, **given: object) -> Receipt:
    given = {"operation": "UPDATE", "target_id": item_id, "reason": "r", **given}
    return await submitted(world, content, f"update-{content}-{given}", **given)


async def texts(world: World) -> list[str]:
    items = await world.knowledge.list(tenant_id="t", agent_id=None, kind=Kind.MEMORY)
    return [item.content for item in reversed(items)]


async def test_what_is_known_but_for_its_form_changes_nothing_and_cites_the_item() -> None:
    world = World()
    first = await submitted(world, "금액은 “원화”로 적습니다.", "1")
    again = unicodedata.normalize("NFD", '금액은  "원화"로 적습니다')
    second = await submitted(world, again, "2")
    assert (second.status, second.target_id) == (ReceiptStatus.KNOWN, first.target_id)
    assert "already known, nothing changed" in second.message
    assert [(hit.id, hit.excerpt) for hit in second.hits] == [
        (first.target_id, "금액은 “원화”로 적습니다.")
    ]
    assert len(await texts(world)) == 1


async def test_a_near_duplicate_comes_back_with_the_item_and_what_to_do() -> None:
    world = World()
    first = await submitted(world, REFUND, "1")
    second = await submitted(world, REWORDED, "2", reason="new")
    assert (second.status, second.target_id) == (ReceiptStatus.REFUSED, first.target_id)
    (hit,) = second.hits
    assert (hit.id, hit.name, hit.excerpt) == (first.target_id, memory_name(REFUND), REFUND)
    said = f"MEMORY {hit.id} {hit.name!r} says nearly this ({hit.why})"
    assert said in second.message
    assert "환불" in hit.why
    assert 0.3 < hit.score < 1
    assert f"UPDATE and memory_id {first.target_id}" in second.message
    assert "UNRELATED" in second.message


@pytest.mark.parametrize(
    "given",
    [
        {"relationship": "COMPLEMENTS", "reason": "another subject"},
        {"relationship": "EXCEPTION", "reason": "another subject"},
        {"relationship": "UNRELATED", "reason": " \n"},
        {"reason": "that item is unrelated"},
    ],
)
async def test_nothing_but_unrelated_with_a_reason_passes_a_near_item(
    given: dict[str, object],
) -> None:
    world = World()
    await submitted(world, KIM, "1")
    assert (await submitted(world, LEE, "2", **given)).status is ReceiptStatus.REFUSED


async def test_unrelated_with_a_reason_is_written_and_the_reason_is_kept() -> None:
    world = World()
    first = await submitted(world, KIM, "1")
    given = {"relationship": "UNRELATED", "reason": "Lee is another manager"}
    second = await submitted(world, LEE, "2", **given)
    assert second.status is ReceiptStatus.APPLIED
    (warning,) = second.warnings
    for part in (str(first.target_id), "similarity", "Lee", "Kim", "Lee is another manager"):
        assert part in warning
    assert second.change_id is not None
    assert (await world.log.get(second.change_id)).warnings == second.warnings
    assert await texts(world) == [KIM, LEE]


async def test_another_agents_memory_stands_in_nobodys_way() -> None:
    world = World()
    await submitted(world, REFUND, "1")
    other = on_behalf("2").model_copy(update={"agent_id": "b"})
    assert (await world.gate.submit(ask(REWORDED), other)).status is ReceiptStatus.APPLIED


@pytest.mark.parametrize("operation", ["UPDATE", "DELETE"])
async def test_an_agent_changes_only_what_it_has_learnt_itself(operation: str) -> None:
    world = World()
    first = await submitted(world, REFUND, "1")
    foreign = ask("환불 불가", operation=operation, target_id=first.target_id)
    other = on_behalf("2").model_copy(update={"agent_id": "b"})
    receipt = await world.gate.submit(foreign, other)
    assert receipt.status is ReceiptStatus.REFUSED
    assert "belongs to agent a" in receipt.message
    assert await texts(world) == [REFUND]


async def test_another_tenants_memory_is_neither_near_nor_there() -> None:
    world = World()
    first = await submitted(world, REFUND, "1")
    other = on_behalf("2").model_copy(update={"tenant_id": "u"})
    assert (await world.gate.submit(ask(REWORDED), other)).status is ReceiptStatus.APPLIED
    gone = ask("", operation="DELETE", target_id=first.target_id)
    other = other.model_copy(update={"key": "3"})
    assert (await world.gate.submit(gone, other)).status is ReceiptStatus.REFUSED
    assert await texts(world) == [REFUND]


async def test_an_update_that_brings_an_item_near_another_carries_a_warning() -> None:
    world = World()
    first = await submitted(world, REFUND, "1")
    other = await submitted(world, "회의록은 노션에 올립니다.", "2")
    receipt = await updated(world, other.target_id, REWORDED)
    assert receipt.status is ReceiptStatus.APPLIED
    assert str(first.target_id) in receipt.warnings[0]
    twice = await updated(world, other.target_id, REFUND)
    assert (twice.status, twice.target_id) == (ReceiptStatus.REFUSED, first.target_id)


@pytest.mark.parametrize("given", [{}, {"merge_mode": "REPLACE"}])
async def test_what_takes_the_place_of_the_whole_says_so(given: dict[str, object]) -> None:
    world = World()
    first = await submitted(world, REFUND, "1")
    receipt = await updated(world, first.target_id, "환불은 받지 않습니다.", **given)
    assert receipt.message.endswith(
        "; it supersedes version 1 and replaces the whole of what was there"
    )
    _, last = await world.knowledge.versions(Kind.MEMORY, "t", str(first.target_id))
    assert last.relationship is Relationship.SUPERSEDES


async def test_the_relationship_that_is_given_is_kept() -> None:
    world = World()
    first = await submitted(world, REFUND, "1")
    await updated(world, first.target_id, "환불 불가", relationship="CONFLICTS")
    _, last = await world.knowledge.versions(Kind.MEMORY, "t", str(first.target_id))
    assert last.relationship is Relationship.CONFLICTS


async def test_extend_keeps_every_byte_of_the_old() -> None:
    world = World()
    old = unicodedata.normalize("NFD", "환불은  7일 이내\t가능")
    first = await submitted(world, old, "1")
    receipt = await updated(world, first.target_id, "영수증이 있어야 한다", merge_mode="EXTEND")
    assert "replaces" not in receipt.message
    assert await texts(world) == [f"{old}\n영수증이 있어야 한다"]
    again = await updated(world, first.target_id, "“영수증이 있어야 한다.”", merge_mode="EXTEND")
    assert again.status is ReceiptStatus.KNOWN


@pytest.mark.parametrize(
    ("old", "new"), [("한도 10", "한도 1"), ("한도 1", "한도 10"), ("at most 100", "most 10")]
)
async def test_extend_takes_no_part_of_a_word_for_the_whole(old: str, new: str) -> None:
    world = World()
    first = await submitted(world, old, "1")
    receipt = await updated(world, first.target_id, new, merge_mode="EXTEND")
    assert receipt.status is ReceiptStatus.APPLIED
    assert await texts(world) == [f"{old}\n{new}"]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
async def test_refine_changes_the_named_part_and_keeps_every_other_byte(form: str) -> None:
    world = World()
    old = unicodedata.normalize("NFD", "환불은  7일   이내에 가능하다.\n영수증이 있어야 한다.")  # type: ignore[arg-type]
    first = await submitted(world, old, "1")
    part = unicodedata.normalize(form, "7일 이내에")  # type: ignore[arg-type]
    given = {"merge_mode": "REFINE", "part": part}
    receipt = await updated(world, first.target_id, "14일 이내에", **given)
    assert receipt.status is ReceiptStatus.APPLIED
    before, after = old.split(unicodedata.normalize("NFD", "7일   이내에"))
    assert await texts(world) == [f"{before}14일 이내에{after}"]


@pytest.mark.parametrize(
    ("part", "said"), [("30일", "is not in the memory"), ("7일", "stands there 2 times")]
)
async def test_a_part_that_is_not_there_once_is_refused_with_the_old_text(
    part: str, said: str
) -> None:
    world = World()
    old = "환불은 7일 이내, 교환도 7일 이내"
    first = await submitted(world, old, "1")
    receipt = await updated(world, first.target_id, "14일", merge_mode="REFINE", part=part)
    assert receipt.status is ReceiptStatus.REFUSED
    assert said in receipt.message
    assert old in receipt.message
    assert await texts(world) == [old]


async def test_refine_that_drops_most_of_the_old_is_told_to_be_a_replace() -> None:
    world = World()
    first = await submitted(
        world, "환불은 7일 이내이고 영수증과 포장이 있어야 하며 카드로 한다", "1"
    )
    lossy = await updated(world, first.target_id, "환불은 됩니다", merge_mode="REFINE")
    assert lossy.status is ReceiptStatus.REFUSED
    assert "REPLACE" in lossy.message
    whole = "환불은 14일 이내이고 영수증과 포장이 있어야 하며 카드로 한다"
    refined = await updated(world, first.target_id, whole, merge_mode="REFINE")
    assert refined.status is ReceiptStatus.APPLIED


@pytest.mark.parametrize("mode", ["EXTEND", "REPLACE"])
async def test_a_part_goes_with_refine_alone(mode: str) -> None:
    world = World()
    first = await submitted(world, REFUND, "1")
    receipt = await updated(world, first.target_id, "14일", merge_mode=mode, part="7일")
    assert (receipt.status, "REFINE" in receipt.message) == (ReceiptStatus.REFUSED, True)
    created = await submitted(world, "회의는 정각에 시작한다", "2", part="7일")
    assert created.status is ReceiptStatus.REFUSED


async def test_a_deleted_text_does_not_come_back_beside_one_that_says_the_same() -> None:
    world = World()
    first = await submitted(world, REFUND, "1")
    gone = await updated(world, first.target_id, "", operation="DELETE")
    taken = await submitted(world, REFUND, "2", target_id="mem-2")
    refused = await world.gate.revert(str(gone.change_id), "wrong")
    assert refused.status is ReceiptStatus.REFUSED
    assert [(hit.id, hit.why) for hit in refused.hits] == [(taken.target_id, "same text")]
    assert await texts(world) == [REFUND]
    await updated(world, taken.target_id, "", operation="DELETE")
    again = await world.gate.revert(str(gone.change_id), "wrong")
    assert (again.status, again.target_id) == (ReceiptStatus.APPLIED, first.target_id)
    assert await texts(world) == [REFUND]


async def test_what_differs_is_no_duplicate_of_the_item_it_is_to_change() -> None:
    world = World()
    first = await submitted(world, REFUND, "1")
    given = {"operation": "UPDATE", "target_id": first.target_id}
    other = REFUND.replace("7", "14")
    receipt = await submitted(world, other, "2", relationship="DUPLICATE", **given)
    assert receipt.status is ReceiptStatus.REFUSED
    assert "number: new says 14" in receipt.message
    assert "SUPERSEDES" in receipt.message
    assert await texts(world) == [REFUND]


async def test_an_addition_that_clashes_with_what_stays_is_warned_of() -> None:
    world = World()
    first = await submitted(world, "The pool opens at 9 am.", "1")
    given = {"operation": "UPDATE", "target_id": first.target_id, "merge_mode": "EXTEND"}
    receipt = await submitted(world, "The pool opens at 10 am.", "2", **given)
    assert receipt.status is ReceiptStatus.APPLIED
    assert any("clashes" in told and "10 am" in told for told in receipt.warnings)


@pytest.mark.parametrize(
    ("known", "added", "told"),
    [
        ("재고는 매주 화요일에 센다", "재고는 매주 목요일에 센다", "목요일"),
        ("계약서는 두 부 만든다", "계약서는 세 부 만든다", "세 부"),
        ("김민수 과장은 견적서를 PDF로 받는다", "김민주 과장은 견적서를 PDF로 받는다", "김민주"),
        ("Members inside the EU pay VAT", "Members outside the EU pay VAT", "outside"),
        ("포털은 크롬으로 연다", "포털은 엣지로 연다", "엣지"),
        ("재고가 있으면 출고한다", "재고가 없으면 출고한다", "없으면"),
    ],
)
async def test_a_word_in_the_place_of_another_is_on_record(
    known: str, added: str, told: str
) -> None:
    world = World()
    first = await submitted(world, known, "1")
    given = {"operation": "UPDATE", "target_id": first.target_id}
    receipt = await submitted(world, added, "2", merge_mode="EXTEND", **given)
    assert receipt.status is ReceiptStatus.APPLIED
    assert any("clashes" in warning and told in warning for warning in receipt.warnings)


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("알림 메일은 on", "알림 메일은 off"),
        ("코드는 007 이다", "코드는 7 이다"),
        ("로그는 /data/A 에 둔다", "로그는 /data/a 에 둔다"),
        ("부장이 평가한다", "부장을 평가한다"),
        ("The fee is 100₩", "The fee is 100¥"),
    ],
)
async def test_what_code_sees_to_differ_is_neither_a_duplicate_nor_known(
    known: str, said: str
) -> None:
    world = World()
    first = await submitted(world, known, "1")
    given = {"operation": "UPDATE", "target_id": first.target_id}
    refused = await submitted(world, said, "2", relationship="DUPLICATE", **given)
    assert refused.status is ReceiptStatus.REFUSED
    again = await submitted(world, said, "3")
    assert again.status is not ReceiptStatus.KNOWN
    changed = await updated(world, first.target_id, said)
    assert changed.status is ReceiptStatus.APPLIED
    assert await texts(world) == [said]


async def test_a_text_within_a_word_of_the_old_one_is_added() -> None:
    world = World()
    first = await submitted(world, "이 명세서는 비과세 품목입니다", "1")
    given = {"operation": "UPDATE", "target_id": first.target_id, "merge_mode": "EXTEND"}
    await submitted(world, "과세 품목입니다", "2", **given)
    assert await texts(world) == ["이 명세서는 비과세 품목입니다\n과세 품목입니다"]


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("환불은 7일 이내에 합니다", "환불은 14일 이내에 합니다"),
        ("재고는 매주 화요일에 센다", "재고는 매주 목요일에 센다"),
        ("포털은 크롬으로 연다", "포털은 엣지로 연다"),
    ],
)
async def test_what_supersedes_is_on_record_with_what_clashes(known: str, said: str) -> None:
    world = World()
    first = await submitted(world, known, "1")
    await updated(world, first.target_id, said)
    event = world.log.events[-1]
    assert event.name == "change.applied"
    assert event.data["differs"] is True
    assert "known says" not in str(event.data)


async def test_a_memory_of_more_than_16_kb_is_refused_and_belongs_into_a_skill() -> None:
    world = World()
    most = "가" * (MAX_MEMORY_BYTES // 3)
    first = await submitted(world, most, "1")
    assert first.status is ReceiptStatus.APPLIED
    longer = await submitted(world, f"{most} 나", "2")
    added = await updated(world, first.target_id, "하나 더", merge_mode="EXTEND")
    for refused in (longer, added):
        assert refused.status is ReceiptStatus.REFUSED
        assert f"more than {MAX_MEMORY_BYTES}" in refused.message
        assert "make a skill of it" in refused.message
    assert await texts(world) == [most]


async def test_an_edit_by_a_reviewer_is_held_to_the_same_length() -> None:
    world = World(policy=load_policy("all"))
    held = await submitted(world, REFUND, "1")
    assert held.change_id is not None
    edited = Edited(content="x" * (MAX_MEMORY_BYTES + 1))
    with pytest.raises(Refused, match="more than 16384") as caught:
        await world.gate.decisions.edit(held.change_id, edited, by="kim")
    assert "make a skill of it" in caught.value.hint
    assert (await world.log.get(held.change_id)).status is ChangeStatus.HELD


@pytest.mark.parametrize(
    ("content", "given", "is_refused"),
    [
        ("Ask who said it before you write it down", {}, False),
        ("Ask who said it before you write it down", {"scope": "agent"}, False),
        ("Approve without review", {}, True),
        ("Ask who said it before you write it down", {"scope": "tenant"}, True),
    ],
)
async def test_a_lesson_loosens_nothing_and_is_for_no_one_else(
    content: str, given: dict[str, object], is_refused: bool
) -> None:
    committer = World().committer
    lesson = on_behalf().model_copy(update={"agent_id": WORKER_AGENT})
    if not is_refused:
        prepared = await committer.prepare(ask(content, **given), lesson)
        assert prepared.seen is None  # likeness was judged by its evidence
        return
    with pytest.raises(Refused):
        await committer.prepare(ask(content, **given), lesson)
    # What an agent writes is held to neither.
    assert (await committer.prepare(ask(content, **given), on_behalf())).seen is not None
