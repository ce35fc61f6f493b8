"""Contract of the store of steps: how targets came to their state."""

from __future__ import annotations

from core.changes.gate.records import applied
from core.domain.hashing import state_hash
from core.domain.models import Change, ChangeStatus, Kind, Operation, RunEvent, Snapshot
from core.domain.ports import ChangeLog, Steps
from tests.contracts.suites.change_log import remembered

HELD = RunEvent(name="change.held")


def taught(number: int, before: str | None, after: str | None, **given: object) -> Change:
    """Return an intent to change memory `m1` from one text to the next."""
    old = None if before is None else Snapshot(content=before, name="m1")
    new = None if after is None else Snapshot(content=after, name="m1")
    operation = Operation.DELETE if new is None else Operation.UPDATE
    update = {
        "id": f"c{number}",
        "key": f"k{number}",
        "feedback_id": f"f{number}",
        "before": old,
        "after": new,
        "base_hash": state_hash(old),
        "operation": operation if old else Operation.CREATE,
        **given,
    }
    return remembered("m1", "", None).model_copy(update=update)


class StepsContract:
    """Tests for any such store; a test class supplies `change_log` and its `steps`."""

    async def _apply(self, change_log: ChangeLog, change: Change) -> None:
        await change_log.open(change, {})
        async with change_log.unit_of_work(change) as unit:
            await unit.write_item(change)
            await unit.record_knowledge_history(applied(change, f"h-{change.id}"))
            await unit.close(change.id, ChangeStatus.APPLIED)
            await unit.take_back(change.undoes)

    async def test_the_chain_of_a_target_is_in_order_with_what_was_taken_back(
        self, change_log: ChangeLog, steps: Steps
    ) -> None:
        await self._apply(change_log, taught(1, None, "하나"))
        await self._apply(change_log, taught(2, "하나", "하나\n둘"))
        await self._apply(change_log, taught(3, "하나\n둘", "하나", retracts=("c2",)))
        chain = await steps.chain(Kind.MEMORY, "t", "m1")
        assert [change.id for change in chain] == ["c1", "c2", "c3"]
        assert [change.status for change in chain] == ["applied", "reverted", "applied"]
        assert chain[2].retracts == ("c2",)
        assert await steps.chain(Kind.MEMORY, "other", "m1") == []

    async def test_what_is_taken_back_comes_back_with_the_end_of_what_took_it_back(
        self, change_log: ChangeLog, steps: Steps
    ) -> None:
        await self._apply(change_log, taught(1, None, "하나"))
        await self._apply(change_log, taught(2, "하나", "둘"))
        statuses = []
        undoing: tuple[dict[str, object], ...] = (
            {"retracts": ("c1", "c2")},
            {"reverts": "c3"},
            {"reverts": "c4"},
        )
        for number, given in enumerate(undoing, start=3):
            before, after = ("둘", "하나") if number % 2 else ("하나", "둘")
            await self._apply(change_log, taught(number, before, after, **given))
            chain = await steps.chain(Kind.MEMORY, "t", "m1")
            statuses.append([change.status == "applied" for change in chain])
        assert statuses == [
            [False, False, True],
            [True, True, False, True],
            [False, False, True, False, True],
        ]

    async def test_what_a_piece_taught_or_would_is_given_without_what_took_it_back(
        self, change_log: ChangeLog, steps: Steps
    ) -> None:
        await self._apply(change_log, taught(1, None, "하나"))
        waiting = {"target_id": "m2", "status": ChangeStatus.HELD, "held": ("why",)}
        held = taught(2, None, "둘", feedback_id="f1", **waiting)
        await change_log.store(held, {}, HELD)
        assert [change.id for change in await steps.of_feedback("f1")] == ["c1", "c2"]
        await self._apply(change_log, taught(3, "하나", None, feedback_id="f1", retracts=("c1",)))
        assert [change.id for change in await steps.of_feedback("f1")] == ["c2"]

    async def test_what_is_taken_back_without_a_trace_is_remembered(
        self, change_log: ChangeLog, steps: Steps
    ) -> None:
        await self._apply(change_log, taught(1, None, "하나"))
        await steps.take_back(["c1"])
        await steps.take_back(["c1"])
        assert (await change_log.get("c1")).status is ChangeStatus.REVERTED
