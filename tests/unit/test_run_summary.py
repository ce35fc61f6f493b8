"""A run reports the feedback it processed itself, and the outcome of each piece."""

from __future__ import annotations

from datetime import UTC, datetime

from core.app.run_summary import RunSummary
from core.domain.models import FeedbackStatus, Pause, PauseKind, RunEvent
from core.entrypoints.cli.worker import Awaited
from core.testing.scripted_model import calls
from tests.support.worker import MemoryWorker

NOTHING = calls(("no_action", {"reason": "thanks", "category": "noise"}))


def tallied(worker: MemoryWorker) -> RunSummary:
    summary = RunSummary()
    worker.observers.append(summary.note)
    return summary


async def test_what_this_run_ended_is_counted_and_nothing_else() -> None:
    worker = MemoryWorker([NOTHING, NOTHING])
    await worker.tell("an earlier run had this")
    summary = tallied(worker)
    await worker.tell("thanks")
    assert summary.counts() == {"no_action": 1}
    assert summary.unhappy() == []
    assert "feedback.finished" in worker.happened()


async def test_what_failed_is_named_with_its_reason() -> None:
    worker = MemoryWorker()
    summary = tallied(worker)
    piece = await worker.tell("x" * 5000)
    assert summary.counts() == {"failed": 1}
    (failed,) = summary.unhappy()
    assert (failed.id, failed.status) == (piece.id, FeedbackStatus.FAILED)
    assert "1000 are allowed" in str(failed.error)


def test_over_months_pieces_are_counted_and_not_kept() -> None:
    summary = RunSummary()
    for number in range(12_500):
        ended = {"status": "dead", "error": "it broke"}
        summary.note(RunEvent(name="feedback.claimed", feedback_id=f"f{number}"))
        summary.note(RunEvent(name="feedback.finished", feedback_id=f"f{number}", data=ended))
    assert summary.counts() == {"dead": 12_500}
    assert [piece.id for piece in summary.unhappy()][::9_999] == ["f2500", "f12499"]
    assert sum(len(kept) for kept in vars(summary).values() if isinstance(kept, dict)) < 12_010


async def test_a_piece_is_at_work_until_its_body_ends() -> None:
    summary = RunSummary()
    async with summary.at_work():
        assert summary.working == 1
    assert summary.working == 0


def test_what_is_waited_for_is_said_once_and_not_while_there_is_work() -> None:
    said: list[str] = []
    awaited = Awaited(30, said.append)
    for _ in range(20):
        awaited.update({"processing": 1}, working=1)
    assert said == []
    for _ in range(20):
        awaited.update({"processing": 1, "completed": 4}, working=0)
    assert len(said) == 1
    assert "30 s (STALLED_AFTER_SECONDS)" in said[0]


def test_feedback_that_is_due_later_is_said_to_be() -> None:
    said: list[str] = []
    awaited = Awaited(30, said.append)
    for _ in range(20):
        awaited.update({"queued": 2}, working=0)
    assert said == ["Waiting for feedback whose next attempt is due later (2)."]


def test_what_holds_work_back_is_told_and_again_when_it_changes() -> None:
    said: list[str] = []
    awaited = Awaited(30, said.append)
    since = datetime(2026, 1, 1, tzinfo=UTC)
    for kind, reason in ((PauseKind.MODEL, "it answered 500"), (PauseKind.PAUSED, "upgrade")):
        pause = Pause(kind=kind, reason=reason, since=since)
        for _ in range(20):
            awaited.update({"queued": 2}, working=0, pause=pause)
    assert [sentence.partition(". ")[0] for sentence in said] == [
        "Waiting for the model (2 wait): it answered 500",
        "Intake is paused: upgrade",
    ]


def test_nobody_waits_where_all_has_ended() -> None:
    said: list[str] = []
    awaited = Awaited(30, said.append)
    for _ in range(20):
        awaited.update({"completed": 2}, working=0)
    assert said == []
