"""A new skill that somebody else makes, word for word, while a change of it is prepared."""

from __future__ import annotations

from core.domain.models import Bundle, Change, ChangeStatus, ReceiptStatus
from tests.support.all_kinds import Everything, skill

BODY = "1. Check the amount.\n"


class MadeMeanwhile:
    """A policy that lets all pass, and has another make the skill while it is asked at first."""

    def __init__(self, world: Everything) -> None:
        self.world, self.asked = world, 0

    def __call__(self, change: Change) -> tuple[str, ...]:
        self.asked += 1
        if self.asked == 1:
            files = dict(skill("refund", BODY).folder or {})
            self.world.store.skills["t", "refund"] = Bundle(name="refund", files=files)
        del change
        return ()


async def test_what_another_made_word_for_word_is_not_created_again() -> None:
    world = Everything()
    world.policy = MadeMeanwhile(world)
    receipt = await world.submit(skill("refund", BODY))
    assert receipt.status is ReceiptStatus.REFUSED
    assert [hit.id for hit in receipt.hits] == ["refund"]
    assert [change.status for change in world.log.changes.values()] == [ChangeStatus.STALE]
