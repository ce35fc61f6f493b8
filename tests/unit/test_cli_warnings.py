"""Warnings of applied changes are shown where reviewers look."""

from __future__ import annotations

import json

import pytest

from core.app.run_summary import RunSummary
from core.domain.models import (
    Candidate,
    Feedback,
    Kind,
    Operation,
    Receipt,
    ReceiptStatus,
    RunEvent,
    Verdict,
    VerdictStatus,
)
from core.entrypoints.cli.render import FeedbackFile, show_change, show_feedback
from core.entrypoints.cli.worker import show_summary
from tests.support.react import item_change

WARNINGS = ("no row matches where 금액 = 0", "금액=50 의 결과가\n바뀐다 \x1b[31m")


def test_feedback_shows_the_warnings_under_the_receipts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    receipt = Receipt(
        status=ReceiptStatus.APPLIED,
        message="done",
        change_id="change-1",
        kind=Kind.DMN_RULE,
        operation=Operation.UPDATE,
        warnings=WARNINGS,
    )
    verdict = Verdict(status=VerdictStatus.COMPLETED, receipts=(receipt,))
    feedback = Feedback(
        id="f", source="s", source_id="1", tenant_id="t", agent_ids=("a",), content="고쳐라"
    )
    candidate = Candidate(
        id="c",
        feedback_id="f",
        agent_id="a",
        agent_name="A",
        position=0,
        content="고쳐라",
        verdict=verdict,
    )
    show_feedback(
        FeedbackFile(
            feedback=feedback,
            currency="USD",
            budget=(),
            candidates=(candidate,),
            history=(),
            run_events=(),
        )
    )
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("change-1")]
    assert [line.split(maxsplit=1)[1] for line in lines] == [
        "no row matches where 금액 = 0",
        r"금액=50 의 결과가 바뀐다 \x1b[31m",
    ]


def test_a_change_shows_one_warning_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    change = item_change(Kind.DMN_RULE, "r1", "승인", "<x/>")
    show_change(change.model_copy(update={"warnings": WARNINGS}), "", {})
    block = capsys.readouterr().out.split("── warnings\n")[1]
    assert block.splitlines() == [
        "no row matches where 금액 = 0",
        r"금액=50 의 결과가 바뀐다 \x1b[31m",
    ]


@pytest.mark.parametrize(
    ("warned", "told"),
    [(0, "1 completed\n"), (1, "1 change with warnings"), (2, "2 changes with warnings")],
)
def test_a_run_ends_with_how_many_changes_carry_warnings(
    capsys: pytest.CaptureFixture[str], warned: int, told: str
) -> None:
    summary = RunSummary()
    ended = {"status": "completed", "error": None}
    summary.note(RunEvent(name="feedback.finished", feedback_id="f", data=ended))
    for number in range(3):
        data = {"warnings": 2} if number < warned else {}
        summary.note(RunEvent(name="change.applied", feedback_id="f", data={**data}))
    show_summary(summary, once=True, as_json=False)
    said = capsys.readouterr().err
    assert told in said
    assert ("changes list" in said) is bool(warned)
    show_summary(summary, once=True, as_json=True)
    assert json.loads(capsys.readouterr().out)["warned"] == warned
