"""Agents as users call them: one id in two tenants, and the skills on an agent's list."""

from __future__ import annotations

import pytest

from tests.support.home import Home

LEARNT = {"t": "보고서 금액은 원화로 표기해 주세요", "other": "Write amounts in dollars, always"}


def twins(home: Home) -> None:
    """Give both tenants an agent `twin`, and let each learn something of its own."""
    for tenant, text in LEARNT.items():
        add = ("agents", "add", "--id", "twin", "--tenant", tenant, "--name", tenant.upper())
        assert home.ask(*add)["items"] == [{"id": "twin", "new": True}]
        said = ("feedback", "add", "--text", text, "--agent", "twin", "--tenant", tenant)
        assert home.call(*said)[0] == 0
    code, out, err = home.call("run", "--once", "--offline")
    assert code == 0, out + err


def test_an_id_of_two_tenants_learns_for_each_of_them(home: Home) -> None:
    twins(home)
    assert {piece["status"] for piece in home.items("feedback", "list")} == {"completed"}
    for tenant, text in LEARNT.items():
        of_twin = ("--agent", "twin", "--tenant", tenant)
        for command in (("list",), ("search", text)):
            items = home.items("knowledge", *command, *of_twin)
            assert [item.get("content", text) for item in items] == [text]
    listed = [(item["id"], item["tenant_id"]) for item in home.items("agents", "list")]
    assert listed == [("a", "t"), ("b", "other"), ("twin", "other"), ("twin", "t")]


@pytest.mark.parametrize(
    "command",
    [
        ("knowledge", "list", "--agent", "twin"),
        ("knowledge", "search", "x", "--agent", "twin"),
        ("knowledge", "export", "--agent", "twin", "-o", "out.jsonl"),
        ("knowledge", "import", "--agent", "twin", "in.jsonl"),
        ("rule", "export", "approval", "--agent", "twin", "-o", "out.dmn"),
        ("rule", "decide", "approval", "--agent", "twin", "--input", "amount=1"),
        ("agents", "setup", "twin"),
    ],
)
def test_an_id_of_two_tenants_is_asked_back_without_the_tenant(
    home: Home, command: tuple[str, ...]
) -> None:
    (home.path / "in.jsonl").write_text("")
    home.monkeypatch.chdir(home.path)
    for tenant in ("t", "other"):
        home.ask("agents", "add", "--id", "twin", "--tenant", tenant, "--name", "T")
    error = home.fails(*command, code=2)
    assert error["message"] == "several tenants have an agent 'twin': 'other', 't'"
    assert error["hint"] == "say which tenant with --tenant"


def test_the_same_goal_sets_up_the_agent_of_either_tenant(home: Home) -> None:
    for tenant in ("t", "other"):
        home.ask(
            *("agents", "add", "--id", "twin", "--tenant", tenant, "--name", "T"),
            *("--goal", "Refunds over 500,000 KRW need a manager's approval."),
        )
    asked = [home.ask("agents", "setup", "twin", "--tenant", t) for t in ("t", "other")]
    assert [answer["new"] for answer in asked] == [True, True]
    assert home.ask("agents", "setup", "twin", "--tenant", "t") == {**asked[0], "new": False}
