"""Hooks and deliveries as operators see and try them on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import JsonValue

from tests.support.home import Home

HOOKS = f"""
hooks:
- name: hears
  event: change.applied
  if: kind = "MEMORY"
  python: {__name__}:hears
- name: secret
  event: change.applied
  if: kind = "SKILL"
  http: {{url: "https://$NOT_SET/x", secrets: [$NOT_SET]}}
- name: no-dollars
  event: before.change_applied
  python: {__name__}:no_dollars
"""


def hears(given: dict[str, JsonValue]) -> str:
    return f"heard {given['type']}"


def no_dollars(given: dict[str, JsonValue]) -> JsonValue:
    data = given["data"]
    assert isinstance(data, dict)
    return {"decision": "deny" if "달러" in str(data["after"]) else "allow"}


@pytest.fixture
def home(home: Home, tmp_path: Path) -> Home:
    file = tmp_path / "hooks.yaml"
    file.write_text(HOOKS, encoding="utf-8")
    home.monkeypatch.setenv("SKILL_WORKER_CONFIG", str(file))
    return home


def test_without_hooks_it_is_said_how_one_is_added(
    home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("SKILL_WORKER_CONFIG")
    monkeypatch.chdir(tmp_path)
    for command in (("hooks", "list"), ("hooks", "test", "change.held")):
        code, out, err = home.call(*command)
        assert (code, out, "- name: tell-us\n  event: change.held" in err) == (0, "", True)


def test_hooks_are_tried_and_the_one_that_fails_says_why(home: Home) -> None:
    assert [hook["name"] for hook in home.items("hooks", "list")] == [
        "hears",
        "secret",
        "no-dollars",
    ]
    states = [str(hook["state"]) for hook in home.items("hooks", "list")]
    assert (states[0], states[2]) == ("ok", "ok")
    assert "variable NOT_SET" in states[1]
    home.monkeypatch.setenv("NOT_SET", "whsec_" + 40 * "A")
    assert [hook["state"] for hook in home.items("hooks", "list")] == ["ok"] * 3
    home.monkeypatch.delenv("NOT_SET")
    heard, skipped = home.items("hooks", "test", "change.applied")
    assert (heard["outcome"], heard["status"]) == ("done", "returned")
    assert (skipped["hook"], skipped["outcome"]) == ("secret", "skipped")
    file = home.path / "hooks.yaml"
    file.write_text(HOOKS.replace('kind = "SKILL"', 'operation = "CREATE"'), encoding="utf-8")
    code, out, _ = home.call("hooks", "test", "change.applied")
    assert (code, "NOT_SET" in out, "later" in out) == (1, True, False)
    assert "never configuration" in out
    assert "change.hold" in str(home.fails("hooks", "test", "change.hold", code=2)["message"])
    assert home.fails("hooks", "enable", "nobody", code=5)["kind"] == "not_found"
    assert home.ask("hooks", "enable", "hears")["was_off"] is False


def test_what_a_command_causes_waits_for_a_worker_and_is_seen(home: Home) -> None:
    home.bring(kind="MEMORY", id="m", content="원화로 적는다")
    file = home.path / "in.jsonl"
    file.write_text(
        '{"kind": "MEMORY", "agent_id": "a", "tenant_id": "t", "id": "d", "content": "달러로"}',
        encoding="utf-8",
    )
    code, out, err = home.call("knowledge", "import", str(file))
    assert code != 0
    assert "no-dollars" in out + err
    (waiting,) = home.items("deliveries", "list", "--status", "waiting")
    assert (waiting["target"], waiting["event"]) == ("hears", "change.applied")
    asked = home.items("deliveries", "list", "--to", "no-dollars")
    assert [one["status"] for one in asked] == ["delivered", "delivered"]
    code, out, _ = home.call("deliveries", "show", str(asked[0]["id"]))
    assert (code, "it said:" in out, "deny" in out) == (0, True, True)
    again = home.fails("deliveries", "replay", str(asked[0]["id"]), code=1)
    assert again["kind"] == "refused"
    assert home.ask("deliveries", "replay", str(waiting["id"]))["status"] == "waiting"
