"""Metrics are counted from the events of a process, and from figures that are read."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from itertools import count
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage
from prometheus_client.parser import text_string_to_metric_families

from core.app.health.figures import Figures
from core.app.health.health import Metrics
from core.domain.models import (
    NO_USAGE,
    FeedbackStatus,
    PauseKind,
    RunEvent,
    Undecided,
    Usage,
    Waiting,
)
from core.domain.models.deliveries import DeliveryStatus
from core.testing.scripted_model import calls
from tests.support.metrics import samples
from tests.support.worker import CLERK, DESK, MemoryWorker

_READ = ("feedback{", "feedback_oldest", "held", "changes_waiting")
NOTHING = calls(("no_action", {"reason": "thanks", "category": "noise"}))


def counted(metrics: Metrics, figures: Figures | None = None) -> dict[str, float]:
    return samples(metrics.render(figures or Figures()))


def happen(metrics: Metrics, name: str, feedback_id: str = "f1", **data: str) -> None:
    metrics.observe(RunEvent(name=name, feedback_id=feedback_id, data={**data}), NO_USAGE)


@pytest.fixture
def clock() -> Callable[[], float]:
    seconds = count(step=3)
    return lambda: float(next(seconds))


@pytest.fixture
def metrics(clock: Callable[[], float]) -> Metrics:
    return Metrics(clock)


async def test_a_whole_run_is_counted_with_its_model_calls(metrics: Metrics) -> None:
    remember = calls(
        ("commit_to_memory", {"content": "원화", "operation": "CREATE", "reason": "said so"})
    )
    worker = MemoryWorker([remember, AIMessage("done")])
    worker.observers.append(metrics.observe)
    await worker.tell("금액은 원화로")
    found = counted(metrics)
    assert found["feedback_claimed_total"] == 1
    assert found['feedback_finished_total{status="completed"}'] == 1
    assert found['changes_total{kind="MEMORY",operation="CREATE",outcome="applied"}'] == 1
    assert found["model_calls_total"] == 2
    assert found["run_seconds_count"] == 1
    assert found["run_seconds_sum"] == 3


async def test_calls_of_the_matcher_are_counted_too(metrics: Metrics) -> None:
    worker = MemoryWorker([calls(("MatchAnswer", {"agents": [], "nothing_reason": "thanks"}))])
    worker.observers.append(metrics.observe)
    await worker.tell("thanks", CLERK.id, DESK.id)
    assert counted(metrics)["model_calls_total"] == 1
    assert counted(metrics)['feedback_finished_total{status="no_action"}'] == 1


def test_tokens_are_counted_by_direction(metrics: Metrics) -> None:
    event = RunEvent(name="model.called", feedback_id="f1")
    for _ in range(2):
        metrics.observe(event, Usage(model_calls=1, input_tokens=1000, output_tokens=20))
    found = counted(metrics)
    assert found['model_tokens_total{direction="input"}'] == 2000
    assert found['model_tokens_total{direction="output"}'] == 40


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("change.applied", "applied"),
        ("change.failed", "failed"),
        ("change.refused", "refused"),
        ("change.went_stale", "stale"),
    ],
)
def test_changes_are_counted_by_what_became_of_them(
    metrics: Metrics, name: str, outcome: str
) -> None:
    happen(metrics, name, kind="SKILL", operation="UPDATE")
    key = f'changes_total{{kind="SKILL",operation="UPDATE",outcome="{outcome}"}}'
    assert counted(metrics)[key] == 1


def test_an_attempt_that_is_given_up_has_no_duration(metrics: Metrics) -> None:
    happen(metrics, "run.started")
    happen(metrics, "feedback.retried")
    happen(metrics, "run.finished")
    assert counted(metrics)["run_seconds_count"] == 0
    assert counted(metrics)["feedback_retried_total"] == 1


def test_runs_side_by_side_are_timed_apart(metrics: Metrics) -> None:
    for name, feedback_id in (
        ("run.started", "f1"),
        ("run.started", "f2"),
        ("run.finished", "f1"),
        ("run.finished", "f2"),
    ):
        happen(metrics, name, feedback_id)
    assert counted(metrics)["run_seconds_sum"] == 6 + 6


def test_runs_that_others_took_over_are_forgotten(metrics: Metrics) -> None:
    for number in range(10_001):
        happen(metrics, "run.started", f"f{number}")
    happen(metrics, "run.finished", "f0")
    assert counted(metrics)["run_seconds_count"] == 0
    happen(metrics, "run.finished", "f10000")
    assert counted(metrics)["run_seconds_count"] == 1


def test_ends_that_did_not_happen_yet_are_zero(metrics: Metrics) -> None:
    found = counted(metrics)
    ends = [status for status in FeedbackStatus if status.is_end]
    assert [found[f'feedback_finished_total{{status="{end}"}}'] for end in ends] == [0] * len(ends)


def test_what_cannot_be_read_has_no_figure(metrics: Metrics) -> None:
    found = counted(metrics, Figures(running=2, up={"database": False}))
    assert found["running"] == 2
    assert found['dependency_up{dependency="database"}'] == 0
    assert not [key for key in found if key.startswith(_READ)]


def test_what_is_read_is_told_for_all_statuses(metrics: Metrics) -> None:
    figures = Figures(
        pauses={PauseKind.PAUSED},
        waiting=Waiting(queued=3, processing=1, oldest_seconds=90.5),
        ended={FeedbackStatus.DEAD: 2},
        undecided=Undecided(held=5, stale=1, oldest_seconds=3600),
        going_out={("platform", DeliveryStatus.SKIPPED): 4},
    )
    found = counted(metrics, figures)
    assert {key for key in found if key.startswith("feedback{")} == {
        f'feedback{{status="{status}"}}' for status in FeedbackStatus
    }
    assert (found['feedback{status="queued"}'], found['feedback{status="dead"}']) == (3, 2)
    assert found['feedback{status="completed"}'] == 0
    assert found["feedback_oldest_seconds"] == 90.5
    waiting = [found[f'changes_waiting{{status="{status}"}}'] for status in ("held", "stale")]
    out = {of: found[f'deliveries{{status="{of}",target="platform"}}'] for of in DeliveryStatus}
    assert (out["skipped"], sum(out.values())) == (4, 4)
    assert (waiting, found["changes_waiting_oldest_seconds"]) == ([5, 1], 3600)
    assert (found['held{kind="paused"}'], found['held{kind="model"}']) == (1, 0)


def test_two_workers_in_one_process_count_apart(clock: Callable[[], float]) -> None:
    one, other = Metrics(clock), Metrics(clock)
    happen(one, "feedback.claimed")
    assert counted(one)["feedback_claimed_total"] == 1
    assert counted(other)["feedback_claimed_total"] == 0


def test_money_is_counted_and_so_are_tenants_at_their_budget(metrics: Metrics) -> None:
    spent = Usage(model_calls=1, cost=Decimal("0.25"))
    metrics.observe(RunEvent(name="model.called"), spent)
    metrics.observe(RunEvent(name="reply.stored"), spent)
    found = counted(metrics, Figures(at_budget=2))
    assert (found["model_cost_total"], found["tenants_at_budget"]) == (0.5, 2)
    assert "tenants_at_budget" not in counted(metrics)


def test_the_page_on_metrics_names_those_there_are(metrics: Metrics) -> None:
    page = (Path(__file__).parents[2] / "docs/reference/metrics.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*?) \|", page, flags=re.MULTILINE)
    families = [
        (family.name + "_total" * (family.type == "counter"), family.type)
        for family in text_string_to_metric_families(metrics.render(Figures()).decode())
        if not family.name.startswith("process_")
    ]
    assert sorted((name, kind) for name, kind, _ in listed) == sorted(families)


def test_the_page_on_metrics_names_their_labels(metrics: Metrics) -> None:
    page = (Path(__file__).parents[2] / "docs/reference/metrics.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `skill_worker_(\w+)` \| \w+ \| (.*?) \|", page, re.MULTILINE))
    happen(metrics, "change.applied", kind="SKILL", operation="UPDATE")
    happen(metrics, "model.called")
    figures = Figures(
        pauses=(),
        waiting=Waiting(),
        ended={},
        undecided=Undecided(),
        going_out={("platform", DeliveryStatus.DEAD): 1},
        up={"database": True},
        at_budget=0,
    )
    told = {
        key.partition("{")[0]: set(re.findall(r'(\w+)="', key)) for key in counted(metrics, figures)
    }
    missing = {name for name in listed if name not in told and f"{name}_sum" not in told}
    assert missing == set()
    assert {name: set(re.findall(r"`(\w+)`", labels)) for name, labels in listed.items()} == {
        name: told.get(name, set()) for name in listed
    }
