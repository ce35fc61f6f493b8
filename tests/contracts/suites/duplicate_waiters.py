"""Contract of the store of duplicate waiters: feedback that repeats earlier feedback."""

from __future__ import annotations

from core.domain.hashing import state_hash
from core.domain.models import ChangeStatus, Kind
from core.domain.ports import ChangeLog, DuplicateWaiters
from tests.contracts.suites.steps import HELD, taught


class DuplicateWaitersContract:
    """Tests for any such store; a test class supplies `echoes` and their `change_log`."""

    async def test_who_said_the_same_is_remembered_once(
        self, duplicate_waiters: DuplicateWaiters
    ) -> None:
        same = taught(2, "하나", "하나")
        await duplicate_waiters.note(same)
        await duplicate_waiters.note(same)
        (waiter,) = await duplicate_waiters.at(Kind.MEMORY, "t", "m1")
        assert (waiter.feedback_id, waiter.hash) == ("f2", state_hash(same.after))
        assert await duplicate_waiters.at(Kind.MEMORY, "t", "m2") == []
        assert await duplicate_waiters.at(Kind.MEMORY, "other", "m1") == []

    async def test_what_a_piece_said_again_is_told_until_it_is_forgotten(
        self, duplicate_waiters: DuplicateWaiters
    ) -> None:
        await duplicate_waiters.note(taught(2, "하나", "하나"))
        await duplicate_waiters.note(taught(2, "둘", "둘", target_id="m2"))
        await duplicate_waiters.note(taught(3, "하나", "하나"))
        said = await duplicate_waiters.of_feedback("f2")
        assert [(waiter.kind, waiter.target_id) for waiter in said] == [
            ("MEMORY", "m1"),
            ("MEMORY", "m2"),
        ]
        await duplicate_waiters.forget("f2")
        assert await duplicate_waiters.of_feedback("f2") == []
        assert [
            waiter.feedback_id for waiter in await duplicate_waiters.at(Kind.MEMORY, "t", "m1")
        ] == ["f3"]

    async def test_what_says_what_waits_is_joined_to_it(
        self, change_log: ChangeLog, duplicate_waiters: DuplicateWaiters
    ) -> None:
        first = taught(1, None, "하나", status=ChangeStatus.HELD, held=("why",))
        await change_log.store(first, {}, HELD)
        same = taught(2, None, "하나", target_id="m2")
        joined = await duplicate_waiters.join(same)
        assert joined is not None
        assert joined.id == first.id
        (waiter,) = await duplicate_waiters.of_feedback("f2")
        assert (waiter.target_id, waiter.change_id) == ("m1", first.id)
        assert await duplicate_waiters.join(taught(1, None, "하나")) is not None
        assert await duplicate_waiters.of_feedback("f1") == []
        for other in (
            taught(3, None, "둘"),
            taught(3, None, "하나", agent_id="b"),
            taught(3, "영", "하나"),
            taught(3, "하나", None),
        ):
            assert await duplicate_waiters.join(other) is None

    async def test_what_says_the_same_elsewhere_is_joined_to_nothing(
        self, change_log: ChangeLog, duplicate_waiters: DuplicateWaiters
    ) -> None:
        await change_log.store(
            taught(1, "영", "하나", status=ChangeStatus.HELD, held=("why",)), {}, HELD
        )
        elsewhere: tuple[dict[str, object], ...] = (
            {"tenant_id": "u"},
            {"kind": Kind.DMN_RULE},
            {"agent_id": "b"},
            {"target_id": "m2"},
        )
        for other in elsewhere:
            assert await duplicate_waiters.join(taught(2, "영", "하나", **other)) is None
        assert await duplicate_waiters.of_feedback("f2") == []
        assert await duplicate_waiters.join(taught(2, "영", "하나")) is not None

    async def test_what_is_decided_or_stale_is_joined_by_nothing(
        self, change_log: ChangeLog, duplicate_waiters: DuplicateWaiters
    ) -> None:
        for number, status in enumerate((ChangeStatus.STALE, ChangeStatus.REJECTED), start=1):
            held = taught(number, None, "하나", status=status, held=("why",))
            await change_log.store(held, {}, HELD)
        undo = {"status": ChangeStatus.HELD, "held": ("why",), "reverts": "c0"}
        await change_log.store(taught(4, None, "하나", **undo), {}, HELD)
        taken_back = {"status": ChangeStatus.HELD, "held": ("why",), "retracts": ("c0",)}
        await change_log.store(taught(5, None, "하나", **taken_back), {}, HELD)
        assert await duplicate_waiters.join(taught(6, None, "하나")) is None
