"""Under a policy that holds everything, no command changes what is known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup

from core.entrypoints.cli.app import app
from tests.support.home import Home
from tests.support.rules import learnt, row

# Commands that request a change, each tried below; decisions about held changes; and the rest,
# which do neither. `demo` works on a database of its own.
ASK = {
    *(
        "agents setup",
        "agents skills",
        "changes revert",
        "feedback add",
        "knowledge effect",
        "knowledge import",
        "knowledge promote",
        "knowledge restore",
    ),
    *("retract", "rule import", "run", "skill import"),
    *("skill install", "skill remove", "skill upgrade"),
}
DECIDE = {
    "changes allow",
    *("changes approve", "changes edit", "changes keep-both", "changes refresh", "changes reject"),
}
NEITHER = {
    "feedback erase",  # takes words out; what others taught it leaves
    *("history calls", "history export", "history verify"),
    *("new hook", "new kind", "new screen", "new source", "new store"),
    *("screen check", "screen scan", "tokens end", "tokens sessions", "tokens skills"),
    *("agents add", "agents import", "agents list", "changes list", "changes show"),
    *("config show", "costs", "db copy", "db migrate", "db status"),
    *("deliveries backfill", "deliveries list", "deliveries replay", "deliveries show"),
    *("cases add", "cases disable", "cases edit", "cases list", "cases run", "cases show"),
    *("demo", "doctor", "feedback cancel", "hooks enable", "hooks list", "hooks test"),
    *("feedback list", "feedback retry", "feedback show", "history list", "history show"),
    *("lessons list", "lessons propose"),  # whatever the policy says: test_lessons
    *("intake pause", "intake resume", "intake status", "knowledge export", "knowledge history"),
    *("knowledge context", "knowledge sync"),
    *("knowledge list", "knowledge search", "knowledge show", "rule check", "rule decide"),
    *("policy check", "policy explain"),
    *(
        "rule export",
        "serve computer-use",
        "serve knowledge",
        "serve skills",
        "skill graph",
        "skill inspect",
        "skill list",
    ),
    *(
        "skill export",
        "skill package",
        "skill validate",
        "tokens add",
        "tokens link",
        "tokens list",
    ),
    "tokens revoke",
    *("eval compare", "eval run"),
    *("runs fork", "runs list", "runs replay", "runs show", "runs tag"),
}
SKILL = "---\nname: refund\ndescription: How to refund. Use it for refunds.\n---\n# R\n"


@pytest.fixture
def home(home: Home, tmp_path: Path) -> Home:
    home.bring(kind="MEMORY", id="m", content="원화로 적는다")
    home.bring(kind="MEMORY", id="m", content="달러로 적는다")
    home.bring(kind="SKILL", name="refund", content=SKILL)
    policy = tmp_path / "nothing.yaml"
    policy.write_text("otherwise: hold\n", encoding="utf-8")
    home.policy(str(policy))
    return home


def commands(command: object, name: str = "") -> set[str]:
    """Return the names of all commands below one."""
    if not isinstance(command, TyperGroup):
        return {name.strip()}
    return {
        found
        for inner_name, inner in command.commands.items()
        for found in commands(inner, f"{name} {inner_name}")
    }


def test_of_each_command_it_is_told_whether_it_asks_for_a_change() -> None:
    assert commands(typer.main.get_command(app)) == ASK | DECIDE | NEITHER


def known(home: Home) -> list[dict[str, object]]:
    listed: list[dict[str, object]] = [*home.items("knowledge", "list")]
    return sorted(listed, key=lambda item: str(item["id"]))


def teach(home: Home, text: str) -> str:
    added = home.call("feedback", "add", "--text", text, "--agent", "a", "--tenant", "t", "--json")[
        1
    ]
    assert home.call("run", "--once", "--offline")[0] == 0
    feedback_id: str = json.loads(added)["items"][0]["id"]
    return feedback_id


def test_whatever_asks_for_a_change_it_waits(home: Home) -> None:
    before = known(home)
    (latest, *_) = [item["id"] for item in home.items("changes", "list", "--status", "applied")]
    rule = home.path / "rule.dmn"
    rule.write_text(learnt(row("> 10", "팀장"), row("<= 10", "없음")).xml, encoding="utf-8")
    (folder := home.path / "returns").mkdir()
    returns = SKILL.replace("refund", "returns")
    (folder / "SKILL.md").write_text(returns, encoding="utf-8")
    asks = {
        "import": lambda: home.bring(kind="MEMORY", content="회의록은 노션에 올린다"),
        "rule import": lambda: home.ask(
            "rule", "import", str(rule), "--agent", "a", "--tenant", "t"
        ),
        "skill import": lambda: home.call(
            "skill", "import", str(folder), "--agent", "a", "--tenant", "t"
        ),
        "agents skills": lambda: home.ask("agents", "skills", "a", "--remove", "refund"),
        "revert": lambda: home.ask("changes", "revert", str(latest)),
        "restore": lambda: home.ask("knowledge", "restore", "m", "--to", "1"),
        "feedback": lambda: teach(home, "모든 보고서의 첫 줄에는 날짜를 적어 주세요"),
        "setup": lambda: home.call("agents", "setup", "a"),
    }
    for name, ask in asks.items():
        count = len(home.held())
        ask()
        if name != "setup":
            assert len(home.held()) == count + 1, name
        assert known(home) == before, name


def test_a_retraction_waits_too(home: Home) -> None:
    home.policy("auto")
    feedback_id = teach(home, "모든 보고서의 첫 줄에는 날짜를 적어 주세요")
    before = known(home)
    home.policy(str(home.path / "nothing.yaml"))
    assert home.ask("retract", feedback_id)["effects"][0]["receipt"]["status"] == "held"
    assert known(home) == before
    (change_id,) = home.held()
    home.ask("changes", "approve", change_id)
    assert len(known(home)) == len(before) - 1
