"""Who decides about what was prepared again: a person who has seen it, or a model once more."""

from __future__ import annotations

from datetime import datetime

import pytest

from core.domain.errors import Decided, NotFound, Refused, Stale
from core.domain.models import (
    ChangeStatus,
    Edited,
    SkillFile,
    SubmitContext,
)
from tests.support.all_kinds import (
    Asking,
    Everything,
    note,
    skill,
    table,
)
from tests.support.seeding import AT
from tests.unit.test_merging import table as xml
from tests.unit.test_prepared_again import (
    CREATE,
    FOURTEEN,
    LEAD,
    PLANTS,
    READ,
    THIRTY,
    UPDATE,
)


async def test_a_change_of_which_the_request_is_not_known_goes_stale() -> None:
    world = Everything()
    waits = await world.hold(note(THIRTY))
    world.log.changes[waits.id] = waits.model_copy(update={"request": None})
    with pytest.raises(Stale) as raised:
        await world.gate.decisions.prepare_again(waits.id, by="kim")
    assert waits.id in str(raised.value.hint)
    assert (await world.log.get(waits.id)).status is ChangeStatus.STALE


async def test_a_state_that_cannot_be_restored_by_now_goes_stale() -> None:
    world = Everything()
    made = await world.learn(note(THIRTY, target_id="m", operation=CREATE))
    before, world.policy = world.policy, lambda _: ("new",)
    receipt = await world.gate.revert(made.id, "wrong")
    world.policy = before
    await world.learn(note(FOURTEEN, "m"))
    with pytest.raises(Stale) as raised:
        await world.gate.decisions.prepare_again(receipt.change_id or "", by="kim")
    stale = await world.log.get(receipt.change_id or "")
    assert stale.status is ChangeStatus.STALE
    assert raised.value.hint
    assert world.told()[-1] == "change.went_stale"


async def test_a_model_decides_again_where_code_cannot_tell() -> None:
    asking = Asking(refuses={"f-busy"})
    world = Everything(ask_again=asking)
    waits = await world.hold(skill("refund", READ), feedback_id="f-1")
    twin = await world.submit_held(skill("refund", READ), feedback_id="f-2")
    assert twin.change_id == waits.id
    await world.submit_held(skill("refund", READ), feedback_id="f-busy")
    await world.learn(skill("refund", READ.replace("Read", "Burn")))
    ended = await world.again(waits)
    assert ended.status is ChangeStatus.REJECTED
    assert asking.asked == ["f-1", "f-2"]
    assert world.told()[-2:] == ["change.went_stale", "change.asked_again"]
    assert ended.decision.code == "review.asked_again"  # type: ignore[attr-defined]


@pytest.mark.parametrize("why", ["edited", "at work", "of a person", "without feedback"])
async def test_no_model_is_asked_about_what_a_person_said_or_is_at_work(why: str) -> None:
    asking = Asking(refuses={"f-1"} if why == "at work" else set())
    world = Everything(ask_again=asking)
    given: dict[str, object] = {"feedback_id": None if why == "without feedback" else "f-1"}
    if why == "of a person":
        given["origin"] = "PERSON"
    waits = await world.hold(skill("refund", READ), **given)
    if why == "edited":
        files = {"SKILL.md": SkillFile(data=_document("refund", "# Steps\n\n1. Bin it\n"))}
        await world.gate.decisions.edit(waits.id, Edited(files=files), by="kim")
    await world.learn(skill("refund", READ.replace("Read", "Burn")))
    choice = await world.again(waits)
    assert (choice.status, choice.contradicts) == (ChangeStatus.HELD, "")
    assert asking.asked == []


def _document(name: str, body: str) -> bytes:
    return f"---\nname: {name}\ndescription: How to {name}.\n---\n\n{body}".encode()


async def test_what_was_approved_is_told_to_what_waits_beside_it() -> None:
    asking = Asking()
    world = Everything(ask_again=asking)
    first = await world.hold(note(THIRTY), feedback_id="f-1")
    against = await world.hold(note(FOURTEEN))
    other = await world.hold(note(PLANTS))
    await world.gate.decisions.approve(first.id, by="kim")
    choice, same = await world.log.get(against.id), await world.log.get(other.id)
    assert choice.contradicts == first.id
    assert (choice.operation, choice.target_id) == (UPDATE, first.target_id)
    assert same == other
    assert asking.passed == ["f-1"]
    told = world.log.events[-1]
    assert (told.name, told.data["because_of"]) == ("change.prepared_again", first.id)
    assert "by" not in told.data


async def test_a_choice_is_approved_only_by_who_has_seen_it() -> None:
    world = Everything()
    waits = await world.hold(note(THIRTY))
    await world.learn(note(FOURTEEN))
    choice = await world.again(waits)
    with pytest.raises(Refused) as raised:
        await world.gate.decisions.approve(choice.id, by="kim")
    assert choice.content_hash in str(raised.value.hint)
    await world.gate.decisions.approve(choice.id, by="kim", seen=choice.content_hash)
    assert await world.says() == [THIRTY]


async def test_both_of_a_contradiction_can_be_kept_where_they_are_two_things() -> None:
    world = Everything()
    waits = await world.hold(note(THIRTY))
    with pytest.raises(Refused):  # nothing contradicts it
        await world.gate.decisions.keep_both(waits.id, by="kim")
    await world.learn(note(FOURTEEN))
    choice = await world.again(waits)
    dry = await world.dry().decisions.keep_both(choice.id, by="kim", seen=choice.content_hash)
    assert dry.status == "prepared"
    assert (await world.log.get(choice.id)) == choice
    done = await world.gate.decisions.keep_both(choice.id, by="kim", seen=choice.content_hash)
    assert await world.says() == sorted([THIRTY, FOURTEEN])
    kept = await world.log.get(choice.id)
    assert (kept.operation, kept.merge_mode, kept.relationship) == (CREATE, None, "UNRELATED")
    assert done.change_id == choice.id
    # Of two tables of one name there is one.
    waits = await world.hold(table(xml({"a": LEAD}), is_import=True))
    await world.learn(table(xml({"b": ("> 100", '"x"', "")}), is_import=True))
    choice = await world.again(waits)
    with pytest.raises(Refused):
        await world.gate.decisions.keep_both(choice.id, by="kim")


async def test_a_dry_run_prepares_nothing_again() -> None:
    world = Everything()
    waits = await world.hold(note(THIRTY))
    other = await world.learn(note(FOURTEEN))
    shown = await world.dry().decisions.prepare_again(waits.id, by="kim")
    assert (shown.target_id, shown.contradicts) == (other.target_id, "")
    assert await world.log.get(waits.id) == waits
    with pytest.raises(NotFound):
        await world.dry().decisions.prepare_again("nothing", by="kim")


@pytest.mark.parametrize(
    ("by", "at", "codes"),
    [
        ("kim", AT, "review.by_at"),
        ("kim", None, "review.by"),
        (None, AT, "review.at"),
        (None, None, ""),
    ],
)
async def test_who_comes_too_late_is_told_by_whom_and_when_it_was_decided(
    by: str | None, at: datetime | None, codes: str
) -> None:
    world = Everything()
    waits = await world.hold(note(THIRTY))
    ended = {"status": ChangeStatus.REJECTED, "decided_by": by, "decided_at": at}
    world.log.changes[waits.id] = waits.model_copy(update=ended)
    with pytest.raises(Decided) as raised:
        await world.gate.decisions.approve(waits.id, by="lee")
    message = raised.value.message
    assert message.code == "review.decided"  # type: ignore[attr-defined]
    how = message.parameters["how"]  # type: ignore[attr-defined]
    assert getattr(how, "code", "") == codes
    assert ("kim" in message) is (by is not None)
    assert (f"{AT:%Y-%m-%d}" in message) is (at is not None)
    assert waits.id in message


async def test_a_dry_run_waits_for_no_target_and_locks_none() -> None:
    world = Everything()
    await world.learn(note(PLANTS, target_id="m", operation=CREATE))
    waits = await world.hold(note(THIRTY, "m"))
    await world.log.acquire(
        waits.model_copy(update={"id": "other", "key": "other", "status": ChangeStatus.PREPARED})
    )
    context = SubmitContext(key="dry", tenant_id="t", agent_id="a")
    receipt = await world.dry().submit(note(FOURTEEN, "m"), context)
    assert receipt.status == "prepared"


async def test_what_contradicts_what_was_approved_waits_on_as_it_was_seen() -> None:
    world = Everything()
    await world.learn(note(PLANTS, target_id="m", operation=CREATE))
    first = await world.hold(note(THIRTY))
    edit = await world.hold(note(FOURTEEN, "m"))
    (beside,) = await world.gate.decisions.beside(first)
    assert (beside.change.id, beside.relation) == (edit.id, "contradicts")
    await world.gate.decisions.approve(first.id, by="kim")
    # Its own target is as it was: it says there what it said.
    assert await world.log.get(edit.id) == edit


async def test_only_what_was_applied_is_taken_back() -> None:
    world = Everything()
    waits = await world.hold(note(THIRTY))
    with pytest.raises(Refused) as raised:
        await world.gate.revert(waits.id, "wrong")
    message = raised.value.message
    assert message.code == "revert.not_applied"  # type: ignore[attr-defined]
    assert (waits.id in message, "held" in message) == (True, True)
    with pytest.raises(NotFound):
        await world.gate.revert("nothing", "wrong")
