"""The timeline of a piece: which message stands at which event, and what is not there any more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import JsonValue

from core.domain.errors import NotFound, RunFailed
from core.domain.models import ChangeFilter, FeedbackStatus, RunEvent
from core.domain.models.access import Principal
from core.domain.models.views import Said, Speaker
from core.entrypoints.service.run import (
    GENERATIONS,
    MAX_CHANGES,
    MAX_STEPS,
    RunCandidate,
    RunLine,
    RunService,
)
from tests.support.react import CANDIDATE, FEEDBACK, item_change
from tests.support.sessions import Asked, principal, session_of

AT = datetime(2026, 11, 3, tzinfo=UTC)
KIM = principal(FEEDBACK.tenant_id)
START, MODEL, TOOL, NUDGE = Speaker


def said(ordinal: int, text: str, speaker: Speaker = MODEL, key: str = "") -> Said:
    return Said(speaker=speaker, ordinal=ordinal, text=text, key=key)


def event(name: str, seconds: float | None = 0, **data: JsonValue) -> RunEvent:
    at = None if seconds is None else AT + timedelta(seconds=seconds)
    return RunEvent(name=name, at=at, candidate_id="c1", change_id=None, data=data)


def turn(ordinal: int, generation: int = 1) -> RunEvent:
    return event("model.called", 0, generation=generation, ordinal=ordinal)


class World:
    """A piece with its events, its candidates and their threads."""

    def __init__(self, *events: RunEvent, **threads: Sequence[Said] | Exception) -> None:
        self.piece = FEEDBACK.model_copy(update={"status": FeedbackStatus.COMPLETED})
        self.events = events
        self.threads: Mapping[str, Sequence[Said] | Exception] = threads
        self.read_threads: list[str] = []
        self.candidates = [CANDIDATE.model_copy(update={"generation": 1})]
        self.reader = Asked(events=events, changes=((), None))

    async def read(self, thread: str) -> Sequence[Said] | None:
        self.read_threads.append(thread)
        found = self.threads.get(thread.replace(":", "_"))
        if isinstance(found, Exception):
            raise found
        return found

    async def line(self, who: Principal = KIM) -> RunLine:
        stores = {
            "inbox": Asked(get=self.piece),
            "reader": self.reader,
            "runs": Asked(candidates=self.candidates),
            "threads": self,
        }
        return await RunService(session_of(who, **stores)).timeline("f1")

    async def steps(self) -> list[tuple[str, list[str]]]:
        return [(step.name, [one.text for one in step.said]) for step in (await self.line()).steps]


async def test_each_message_stands_at_the_event_that_it_is_of() -> None:
    world = World(
        event("run.started", 0, generation=1),
        turn(1),
        event("tool.called", 0, key="c1:1:1:0"),
        event("feedback.claimed"),
        turn(2),
        event("run.finished", 0, generation=1),
        c1_1=[
            said(0, "begin", START),
            said(1, "asks"),
            said(1, "answer", TOOL, "c1:1:1:0"),
            said(1, "go on", NUDGE),
            said(1, "to no call", TOOL),
            said(2, "done"),
        ],
    )
    assert await world.steps() == [
        ("run.started", ["begin"]),
        ("model.called", ["asks", "go on", "to no call"]),
        ("tool.called", ["answer"]),
        ("feedback.claimed", []),
        ("model.called", ["done"]),
        ("run.finished", []),
    ]


async def test_of_a_turn_that_was_repeated_the_last_event_has_the_messages() -> None:
    world = World(
        event("run.started", 0, generation=1),
        turn(1),
        event("run.started", 0, generation=1, resumed=True),
        turn(1),
        c1_1=[said(0, "begin", START), said(1, "asks")],
    )
    assert await world.steps() == [
        ("run.started", ["begin"]), ("model.called", []), ("run.started", []),
        ("model.called", ["asks"]),
    ]  # fmt: skip


async def test_messages_without_an_event_are_told_last() -> None:
    world = World(
        event("tool.called", 0, key="elsewhere"),
        event("model.called", 0, ordinal=1),  # of an earlier release, without its generation
        c1_1=[
            said(0, "begin", START), said(1, "asks"), said(1, "answer", TOOL, "c1:1:1:0"),
            said(2, "go on", NUDGE),
        ],
    )  # fmt: skip
    found = (await world.line()).steps
    assert [(step.name, step.at, [one.text for one in step.said]) for step in found[2:]] == [
        ("run.started", None, ["begin"]),
        ("model.called", None, ["asks"]),
        ("tool.called", None, ["answer"]),
        ("model.called", None, ["go on"]),
    ]
    assert {step.candidate_id for step in found} == {"c1"}
    assert all(not step.said for step in found[:2])


async def test_seconds_between_steps_are_told() -> None:
    world = World(*(event("feedback.claimed", at) for at in (0, 2.5, None, 4, None)))
    steps = (await world.line()).steps
    assert [step.after_seconds for step in steps] == [None, 2.5, None, 1.5, None]
    assert [step.at and (step.at - AT).total_seconds() for step in steps] == [0, 2.5, None, 4, None]


async def test_an_event_keeps_its_data_and_what_it_is_about() -> None:
    held = event("change.held", 0, kind="MEMORY").model_copy(update={"change_id": "x1"})
    (step,) = (await World(held).line()).steps
    assert (step.candidate_id, step.change_id, step.data) == ("c1", "x1", {"kind": "MEMORY"})


async def test_of_many_retries_the_last_threads_are_read() -> None:
    world = World(turn(1, GENERATIONS + 2), turn(1, 3), turn(1, 2), c1_2=[said(1, "too old")],
                  c1_3=[said(1, "old")], c1_12=[said(1, "last")])  # fmt: skip
    world.candidates = [CANDIDATE.model_copy(update={"generation": GENERATIONS + 2})]
    assert await world.steps() == [
        ("model.called", ["last"]), ("model.called", ["old"]), ("model.called", []),
    ]  # fmt: skip
    assert world.read_threads == [f"c1:{n}" for n in range(3, GENERATIONS + 3)]
    once = World()
    await once.line()
    assert once.read_threads == ["c1:1"]


@pytest.mark.parametrize(
    ("epoch", "thread", "pruned", "problem"),
    [
        (1, [said(0, "x")], False, ""),
        (1, [], False, ""),
        (1, None, True, ""),
        (0, None, False, ""),  # which was never begun
        (1, RunFailed("cannot be read"), False, "cannot be read"),
    ],
)
async def test_a_thread_that_is_gone_or_unreadable_is_said(
    epoch: int, thread: Sequence[Said] | Exception | None, pruned: bool, problem: str
) -> None:
    world = World(**({} if thread is None else {"c1_1": thread}))
    world.candidates = [CANDIDATE.model_copy(update={"epoch": epoch, "generation": 1})]
    assert (await world.line()).candidates == (
        RunCandidate(candidate=world.candidates[0], pruned=pruned, problem=problem),
    )


async def test_a_thread_that_cannot_be_read_hides_no_later_one() -> None:
    world = World(turn(1, 2), c1_1=RunFailed("cannot be read"), c1_2=[said(1, "asks")])
    world.candidates = [CANDIDATE.model_copy(update={"generation": 2})]
    assert await world.steps() == [("model.called", ["asks"])]


async def test_of_many_steps_the_first_are_left_out_and_counted() -> None:
    world = World(*(event("feedback.claimed", n) for n in range(MAX_STEPS + 3)))
    line = await world.line()
    assert (len(line.steps), line.more) == (MAX_STEPS, 3)
    assert line.steps[-1].at == AT + timedelta(seconds=MAX_STEPS + 2)
    few = await World(*world.events[:MAX_STEPS]).line()
    assert (len(few.steps), few.more) == (MAX_STEPS, 0)


@pytest.mark.parametrize(
    ("status", "has_events", "pruned"),
    [
        (FeedbackStatus.COMPLETED, False, True),
        (FeedbackStatus.COMPLETED, True, False),
        (FeedbackStatus.QUEUED, False, False),
    ],
)
async def test_a_piece_that_ended_without_events_is_pruned(
    status: FeedbackStatus, has_events: bool, pruned: bool
) -> None:
    world = World(*([event("feedback.claimed")] if has_events else []))
    world.piece = world.piece.model_copy(update={"status": status, "events": ("an event",)})
    line = await world.line()
    assert line.pruned is pruned
    assert (line.feedback.id, line.feedback.events) == (world.piece.id, ())


async def test_changes_are_told_oldest_first_and_only_to_their_tenant() -> None:
    changes = [item_change("MEMORY", name, name, "x") for name in ("late", "early")]  # type: ignore[arg-type]
    world = World()
    world.reader.answers["changes"] = (changes, "more")
    assert [head.target_id for head in (await world.line()).changes] == ["early", "late"]
    (asked,) = [call for call in world.reader.calls if call[0] == "changes"]
    assert asked[1] == (ChangeFilter(feedback_id="f1"),)
    assert asked[2] == {"limit": MAX_CHANGES, "cursor": None}
    with pytest.raises(NotFound, match="feedback 'f1'"):
        await world.line(principal("another"))
