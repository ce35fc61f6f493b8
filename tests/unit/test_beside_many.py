"""What UNRELATED excuses a new memory from, and what it does not."""

from __future__ import annotations

from core.domain.models import Kind, Receipt, ReceiptStatus
from tests.support.gate import World, ask, on_behalf

BOXES = tuple(
    f"Fragile goods travel in {box} boxes" for box in ("double", "padded", "wooden", "sealed")
)
SAID = {"relationship": "UNRELATED", "reason": "these are other goods"}


async def submitted(world: World, content: str, key: str, **given: object) -> Receipt:
    return await world.gate.submit(ask(content, **given), on_behalf(key))


async def known(world: World) -> list[str]:
    """Write four memories near each other, and return their ids."""
    receipts = [
        await world.gate.submit(ask(text, **SAID, is_import=True), on_behalf(text))
        for text in BOXES
    ]
    return [str(receipt.target_id) for receipt in receipts]


async def test_a_refusal_shows_up_to_three_items_each_with_its_own_evidence() -> None:
    world = World()
    ids = await known(world)
    receipt = await submitted(world, "Fragile goods travel in boxes", "1")
    assert receipt.status is ReceiptStatus.REFUSED
    assert len({hit.id for hit in receipt.hits} & {*ids}) == 3
    for hit in receipt.hits:
        assert "similarity" in hit.why
        assert hit.id in receipt.message
    assert "and 1 more" in receipt.message


async def test_unrelated_excuses_what_was_shown_and_what_its_reason_names_alone() -> None:
    world = World()
    ids = await known(world)
    text = "Fragile goods travel in boxes"
    shown = [hit.id for hit in (await submitted(world, text, "1")).hits]
    (hidden,) = {*ids} - {*shown}
    second = await submitted(world, text, "2", **SAID)
    assert (second.status, [hit.id for hit in second.hits]) == (ReceiptStatus.REFUSED, [hidden])
    named = {**SAID, "reason": f"{hidden} is of other goods"}
    third = await submitted(world, text, "3", **named)
    assert third.status is ReceiptStatus.APPLIED
    for item_id in ids:
        assert sum(item_id in warning for warning in third.warnings) >= 1


async def test_what_names_somebody_else_needs_no_mention() -> None:
    world = World()
    for name in ("Kim", "Lee", "Park", "Choi", "Jung"):
        receipt = await submitted(world, f"Ms. {name} wants amounts in KRW.", name, **SAID)
        assert receipt.status is ReceiptStatus.APPLIED


async def test_of_two_that_are_unrelated_to_a_third_at_once_the_later_is_told() -> None:
    world = World()
    await submitted(world, "Ms. Kim wants amounts in KRW.", "1")
    first = submitted(world, "Ms. Park wants amounts in KRW.", "2", **SAID)
    world.committer.meanwhile = lambda: first
    second = await submitted(world, "Ms. Park wants all amounts in KRW.", "3", **SAID)
    held = [
        item.content
        for item in await world.knowledge.list(tenant_id="t", agent_id=None, kind=Kind.MEMORY)
    ]
    assert held == ["Ms. Park wants amounts in KRW.", "Ms. Kim wants amounts in KRW."]
    assert second.status is ReceiptStatus.REFUSED
    named = {**SAID, "reason": f"{second.target_id} is of another Ms. Park"}
    again = await submitted(world, "Ms. Park wants all amounts in KRW.", "4", **named)
    assert again.status is ReceiptStatus.APPLIED


async def test_an_update_is_warned_of_what_was_written_meanwhile() -> None:
    world = World()
    first = await submitted(world, "The office has plants", "1")
    other = submitted(world, "Invoices are due in 30 days", "2")
    world.committer.meanwhile = lambda: other
    given = {"operation": "UPDATE", "target_id": first.target_id, "reason": "r"}
    receipt = await submitted(world, "Invoices are due in 14 days", "3", **given)
    assert receipt.status is ReceiptStatus.APPLIED
    assert len(receipt.warnings) == 1


async def test_an_import_tells_what_is_near_and_claims_nothing() -> None:
    world = World()
    first = await submitted(world, "Invoices are due in 30 days", "1")
    told = "brought in from mem.jsonl, line 11"
    given = {"relationship": "UNRELATED", "reason": told, "is_import": True}
    (warning,) = (await submitted(world, "Invoices are due in 14 days", "2", **given)).warnings
    assert warning.startswith(f"near MEMORY {first.target_id}")
    assert warning.endswith(f"; {told}")
    assert "unrelated" not in warning


async def test_lines_of_one_form_about_many_warn_of_nothing() -> None:
    world = World()
    for number in range(5):
        text = f"Customer A{number} pays within {10 + number} days"
        receipt = await submitted(world, text, text, **SAID, is_import=True)
        assert (receipt.status, receipt.warnings) == (ReceiptStatus.APPLIED, ())


async def test_two_names_for_one_subject_are_warned_of() -> None:
    world = World()
    for name in ("Kim", "Park"):
        text = f"Refunds over 5,000 won are signed by Ms. {name}."
        receipt = await submitted(world, text, name, **SAID, is_import=True)
    (warning,) = receipt.warnings
    assert "name: new says Park, known says Kim" in warning
