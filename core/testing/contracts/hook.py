"""Contract of every hook of a plug-in; a test class supplies `world`: a system, and a hook to it.

class TestMyHook(HookContract):
    @pytest.fixture
    def world(self) -> HookWorld: ...
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Protocol

import pytest
from pydantic import JsonValue

from core.domain.errors import SkillWorkerError
from core.domain.models.deliveries import Decision, HookAnswer, Notice, Outcome, Sent
from core.domain.ports import Asker

AT = datetime(2026, 1, 31, 9, tzinfo=UTC)
_EVENTS = ("change.held", "change.failed", "feedback.finished", "before.change_applied")


class HookWorld(Protocol):
    """A system that is told, and how to break it."""

    def hook(self) -> Asker:
        """Return the hook as a worker has it: two of them are two workers and one system."""

    def told(self) -> Sequence[str]:
        """Return the ids of the notices that the system has, in the order in which they came."""

    def fail(self) -> None:
        """Have the system refuse or not answer, until it is mended."""

    def mend(self) -> None:
        """Have the system answer again."""


def notice(
    number: int, event: str = "change.held", data: Mapping[str, JsonValue] | None = None
) -> Notice:
    """Return a notice as a worker gives it."""
    usual: dict[str, JsonValue] = {"tenant_id": "acme", "change_id": "c1", "kind": "MEMORY"}
    return Notice(f"dlv_{number}", event, AT, "acme", {**usual, **(data or {})})


class HookContract:
    """Tests for any hook."""

    @pytest.mark.parametrize("event", _EVENTS)
    async def test_a_notice_of_each_event_arrives(self, world: HookWorld, event: str) -> None:
        _see_done(await world.hook().ask(notice(1, event)))
        assert [*world.told()] == ["dlv_1"]

    async def test_notices_arrive_in_order(self, world: HookWorld) -> None:
        hook = world.hook()
        for number in range(3):
            _see_done(await hook.ask(notice(number)))
        assert [*world.told()] == ["dlv_0", "dlv_1", "dlv_2"]

    async def test_a_notice_that_comes_again_can_be_told_from_a_new_one(
        self, world: HookWorld
    ) -> None:
        for hook in (world.hook(), world.hook()):
            _see_done(await hook.ask(notice(1)))
        assert {*world.told()} == {"dlv_1"}

    @pytest.mark.parametrize(
        "data",
        [
            {"target_name": "파랑새 👩‍💻 \"quoted\" \\ 'and' </script>\n\t\x00\ud800"},
            {"target_name": None, "because": [], "state": {"a": [1, 2.5, None, True]}},
            {"after": "가" * 100_000},
        ],
        ids=["odd", "empty", "long"],
    )
    async def test_no_content_is_too_odd(
        self, world: HookWorld, data: dict[str, JsonValue]
    ) -> None:
        _see_done(await world.hook().ask(notice(1, data=data)))
        assert [*world.told()] == ["dlv_1"]

    async def test_what_a_system_that_is_down_missed_arrives_later(self, world: HookWorld) -> None:
        hook = world.hook()
        world.fail()
        assert await _outcome(hook, notice(1)) is Outcome.LATER
        world.mend()
        assert await _outcome(hook, notice(1)) is Outcome.DONE
        assert [*world.told()] == ["dlv_1"]

    async def test_one_that_is_cut_off_does_not_spoil_the_next(self, world: HookWorld) -> None:
        hook = world.hook()
        task = asyncio.create_task(hook.ask(notice(1)))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        _see_done(await hook.ask(notice(2)))
        assert "dlv_2" in world.told()


async def _outcome(hook: Asker, given: Notice) -> Outcome:
    """Return how it ends, as a worker takes it: what may pass is tried again."""
    try:
        return (await hook.ask(given)).outcome
    except SkillWorkerError as error:
        return Outcome.LATER if error.retryable else Outcome.NEVER


def _see_done(sent: Sent) -> None:
    """See that it was taken, and that what it answers can be understood."""
    assert sent.outcome is Outcome.DONE, sent
    if sent.answer is not None:
        assert isinstance(sent.answer, HookAnswer)
        assert isinstance(sent.answer.decision, Decision)
