"""What goes wrong is reported with its cause, and the hint helps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import finish
from tests.support.used_home import served_home

AGENT = ("agents", "add", "--id", "a1", "--tenant", "t", "--name", "주문 담당")
NOWHERE = "http://127.0.0.1:1"


@pytest.fixture(scope="module")
def home(server: str, template: str) -> Iterator[Path]:
    with served_home(server, template) as here:
        assert finish(here, *AGENT)[0] == 0
        yield here


def check(home: Path, name: str, **settings: str) -> tuple[int, dict[str, str]]:
    """Return the doctor's exit code and its report of one part."""
    code, out, err = finish(home, "doctor", "--json", **settings)
    assert "Traceback" not in err
    found = [item for item in json.loads(out)["items"] if item["name"] == name]
    return code, found[0]


def test_a_model_that_cannot_be_reached_is_named_with_its_address(home: Path) -> None:
    settings = {"LLM_PROXY_URL": f"{NOWHERE}/v1", "LLM_MODEL": "m", "LLM_MAX_RETRIES": "0"}
    code, model = check(home, "model", **settings)
    assert code == 3
    assert NOWHERE in model["detail"]
    assert model["fix"] == f"start the proxy at LLM_PROXY_URL={NOWHERE}/v1, or mend that setting"


def test_a_database_that_is_down_is_mended_not_examined_again(home: Path) -> None:
    code, database = check(home, "database", DATABASE_URL="postgresql://127.0.0.1:1/x")
    assert code == 3
    assert "skill-worker doctor" not in database["fix"]
    assert "DATABASE_URL" in database["fix"]


def test_a_home_that_cannot_be_is_the_cause(home: Path) -> None:
    code, disk = check(home, "disk", SKILL_WORKER_HOME="/proc/nope")
    assert code == 4
    assert "/proc/nope" in disk["detail"]
    assert "SKILL_WORKER_HOME" in disk["fix"]


def test_an_unknown_provider_takes_one_line(home: Path) -> None:
    code, _, err = finish(home, "run", "--once", LLM_MODEL="openia:gpt-4o")
    assert code == 4
    assert err.splitlines()[0] == (
        "error: LLM_MODEL='openia:gpt-4o': there is no provider 'openia'"
    )
    assert len(err.splitlines()) == 2


@pytest.mark.parametrize("place", ["/dev/null", "/dev/null/x", "/proc/nope", "file"])
def test_a_demo_cannot_be_kept_just_anywhere(home: Path, place: str) -> None:
    (home / "file").touch()
    code, out, err = finish(home, "demo", "--keep", place)
    assert (code, out) == (1, "")
    assert err.startswith(f"error: --keep {place} ")
    assert "hint: give a" in err


def test_a_command_on_a_home_that_is_there_says_nothing_but_its_answer(home: Path) -> None:
    code, out, err = finish(home, "agents", "list", "--json")
    assert (code, err) == (0, "")
    assert [item["id"] for item in json.loads(out)["items"]] == ["a1"]


def test_a_misspelt_setting_is_told_in_plain_words(home: Path) -> None:
    settings = (home / ".env").read_text("utf-8")
    (home / ".env").write_text("LLM_MODLE=x\n" + settings, "utf-8")
    try:
        _, _, err = finish(home, "config", "show")
    finally:
        (home / ".env").write_text(settings, "utf-8")
    assert err == (
        "warning: setting ignored: "
        "reason=.env, line 1: there is no setting LLM_MODLE; is LLM_MODEL meant?\n"
    )


def test_with_the_skill_api_down_lists_say_that_skills_may_be_stale(home: Path) -> None:
    settings = {"SKILL_API_BASE_URL": NOWHERE, "SKILL_API_MAX_RETRIES": "0"}
    for command in (("list",), ("search", "환불", "--tenant", "t")):
        code, out, err = finish(home, "knowledge", *command, "--json", **settings)
        assert code == 0, err
        assert json.loads(out) == {"items": [], "next": None}
        assert err.startswith("warning: skills may be stale: ")


def test_events_of_the_run_do_not_hide_those_of_the_feedback(home: Path) -> None:
    line = {"tenant_id": "t", "agent_ids": ["a1"], "content": "고마워요", "events": [{"did": 1}]}
    (home / "f.jsonl").write_text(json.dumps(line), encoding="utf-8")
    _, out, _ = finish(home, "feedback", "add", "f.jsonl", "--json")
    feedback_id = json.loads(out)["items"][0]["id"]
    assert finish(home, "run", "--once", "--offline")[0] == 0
    shown = json.loads(finish(home, "feedback", "show", feedback_id, "--json")[1])
    assert shown["events"] == [{"did": 1}]
    assert [e["name"] for e in shown["run_events"]][-1] == "feedback.finished"


def test_a_piece_that_failed_makes_the_run_fail_and_is_named(home: Path) -> None:
    _, out, _ = finish(
        home, "feedback", "add", "--agent", "a1", "--tenant", "t", "--text", "x" * 50, "--json"
    )
    feedback_id = json.loads(out)["items"][0]["id"]
    code, _, err = finish(home, "run", "--once", "--offline", FEEDBACK_MAX_CHARS="10")
    assert code == 1
    assert f"failed: {feedback_id}: " in err
    assert "skill-worker feedback show ID" in err
    code, out, _ = finish(home, "run", "--once", "--offline", "--json")
    assert (code, json.loads(out)) == (
        0,
        {"counts": {}, "unhappy": [], "partly": [], "warned": 0, "screened": 0, "resting": []},
    )
    code, out, _ = finish(home, "feedback", "retry", "--all-failed", "--json")
    assert [item["id"] for item in json.loads(out)["items"]] == [feedback_id]
    assert finish(home, "run", "--once", "--offline")[0] == 0
