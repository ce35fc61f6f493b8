"""Pausing, cancelling, and an environment that is not as it should be, as users meet them."""

from __future__ import annotations

import json
from pathlib import Path

import psycopg
import pytest

from tests.support.commands import finish, start, wait_for
from tests.support.databases import alter, url_of

RULE = "금액은 항상 원화로 적어 주세요"


@pytest.fixture
def place(database: str, tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A home and settings with an agent `a` of tenant `t` in the database."""
    with psycopg.connect(database) as conn:
        conn.execute("INSERT INTO agents (id, tenant_id, name) VALUES ('a', 't', 'A')")
    return tmp_path, {"DATABASE_URL": url_of(database)}


def told(place: tuple[Path, dict[str, str]], *arguments: str, code: int = 0) -> dict[str, object]:
    home, settings = place
    exit_code, out, err = finish(home, *arguments, "--json", **settings)
    assert exit_code == code, err
    parsed: dict[str, object] = json.loads(out)
    return parsed


def add(place: tuple[Path, dict[str, str]]) -> str:
    arguments = ("feedback", "add", "--text", RULE, "--agent", "a", "--tenant", "t")
    (item,) = told(place, *arguments)["items"]  # type: ignore[misc]
    return str(item["id"])  # type: ignore[index]


def test_a_pause_keeps_feedback_waiting_and_once_says_so(
    place: tuple[Path, dict[str, str]],
) -> None:
    home, settings = place
    assert told(place, "intake", "status") == {"paused": False}
    first = told(place, "intake", "pause", "--reason", "점검")
    assert (first["paused"], first["reason"]) == (True, "점검")
    assert told(place, "intake", "status") == first
    feedback_id = add(place)
    with start(home, "run", "--once", "--offline", LOG_FORMAT="json", **settings) as worker:
        line = wait_for(worker, "work.held")
        assert '"paused"' in line
        assert "점검" not in line
        assert told(place, "feedback", "show", feedback_id)["status"] == "queued"
        assert told(place, "intake", "resume") == {"paused": False}
        assert worker.wait(60) == 0
    assert told(place, "feedback", "show", feedback_id)["status"] == "completed"


def test_a_piece_is_cancelled_once_and_can_be_tried_again(
    place: tuple[Path, dict[str, str]],
) -> None:
    feedback_id = add(place)
    assert told(place, "feedback", "cancel", feedback_id, "--reason", " ", code=2)
    cancelled = told(place, "feedback", "cancel", feedback_id, "--reason", "두 번 보냄")
    assert (cancelled["status"], cancelled["error"]) == ("cancelled", "두 번 보냄")
    shown = told(place, "feedback", "show", feedback_id)
    assert [event["name"] for event in shown["run_events"]] == [  # type: ignore[attr-defined]
        "feedback.cancelled"
    ]
    told(place, "feedback", "cancel", feedback_id, "--reason", "again", code=1)
    told(place, "feedback", "cancel", "nothing", "--reason", "why", code=5)
    assert told(place, "feedback", "retry", feedback_id)["status"] == "queued"


def test_a_worker_whose_schema_is_made_newer_goes_on_and_no_other_starts(
    place: tuple[Path, dict[str, str]], database: str
) -> None:
    home, settings = place
    with start(home, "run", "--offline", "--port", "0", **settings) as worker:
        wait_for(worker, "server.started")
        feedback_id = add(place)
        alter(database, "UPDATE alembic_version SET version_num = '9999'")
        wait_for(worker, "feedback.finished")
        worker.terminate()
        assert worker.wait(60) == 0
    code, _, err = finish(home, "run", "--once", "--offline", **settings)
    assert code == 4
    assert "newer" in err
    with psycopg.connect(database) as conn:
        row = conn.execute("SELECT status FROM feedback WHERE id = %s", (feedback_id,)).fetchone()
    assert row == ("completed",)


def test_without_the_schema_no_worker_starts(empty_database: str, tmp_path: Path) -> None:
    settings = {"DATABASE_URL": url_of(empty_database)}
    code, _, err = finish(tmp_path, "run", "--once", "--offline", **settings)
    assert code == 4
    assert "db migrate" in err


def test_no_pause_between_fetches_is_a_wrong_setting(tmp_path: Path) -> None:
    settings = {"POLL_INTERVAL_SECONDS": "0"}
    code, _, err = finish(tmp_path, "run", "--once", "--offline", **settings)
    assert code == 4
    assert "POLL_INTERVAL_SECONDS" in err
