"""`knowledge sync` as users call it: what an agent knows, in files, and edits that come back."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.acceptance.test_cli_undo import teach
from tests.support.commands import start, wait_for
from tests.support.databases import url_of
from tests.support.file_sync import git, repository
from tests.support.home import Home
from tests.support.waiting import AT_LAST, wait_until

SKILL = (
    "---\nname: refund\ndescription: How to refund. Use it for refunds.\npaths:\n  - src/**\n"
    "arguments: [order]\ncontext: fork\nmodel: opus\nallowed-tools: Read\nhooks:\n  Stop:\n"
    "    - hooks:\n        - type: command\n          command: ./check.sh\n---\n# R\n"
)


@pytest.fixture
def shop(home: Home) -> Path:
    """A folder to sync to; there is one agent alone."""
    home.bring(kind="MEMORY", id="m1", content="환불 금액은 원화로 적는다")
    home.bring(kind="SKILL", name="refund", content=SKILL)
    return home.path / "shop"


def of_a(home: Home, shop: Path, *more: str) -> tuple[int, str, str]:
    return home.call("knowledge", "sync", str(shop), "--layout", "claude", "--agent", "a", *more)


def test_what_an_agent_knows_is_in_files_and_leaves_them(home: Home, shop: Path) -> None:
    feedback = teach(home, "회의록은 항상 노션에 올려 주세요")
    code, out, err = of_a(home, shop)
    assert (code, err) == (0, "")
    assert out.splitlines() == ["wrote .claude/skills/refund/SKILL.md", "wrote CLAUDE.md"]
    assert (shop / ".claude/skills/refund/SKILL.md").read_text("utf-8") == SKILL
    text = (shop / "CLAUDE.md").read_text("utf-8")
    assert "- [m1 v1] 환불 금액은 원화로 적는다\n" in text
    assert "노션" in text
    assert of_a(home, shop)[2] == "nothing to write: the files say what is known\n"
    assert home.call("retract", feedback)[0] == 0
    home.call("agents", "skills", "a", "--tenant", "t", "--remove", "refund")
    code, out, _ = of_a(home, shop, "--json")
    said = json.loads(out)
    assert (code, said["written"]) == (0, ["CLAUDE.md"])
    assert said["removed"] == [".claude/skills/refund/SKILL.md"]
    assert "노션" not in (shop / "CLAUDE.md").read_text("utf-8")


def test_only_what_an_agent_may_see_is_in_its_files(home: Home, shop: Path) -> None:
    assert home.call("agents", "add", "--id", "c", "--name", "C", "--tenant", "t")[0] == 0
    home.bring(kind="MEMORY", id="m2", content="For kim alone", scope="user", user="kim")
    home.bring(kind="MEMORY", id="m3", content="Long over", valid_until="2020-01-01T00:00:00Z")
    home.bring(kind="MEMORY", id="m4", content="For all of us", scope="tenant", agent_id="c")
    home.bring(kind="MEMORY", id="m5", content="Of another agent", agent_id="c")
    home.policy("all")
    teach(home, "회의록은 항상 노션에 올려 주세요")
    assert home.held()
    assert of_a(home, shop)[0] == 0
    text = (shop / "CLAUDE.md").read_text("utf-8")
    assert [name for name in ("m1", "m2", "m3", "m4", "m5") if f"[{name} v" in text] == ["m1", "m4"]
    assert "노션" not in text
    assert of_a(home, shop, "--user", "kim")[0] == 0
    assert "- [m2 v1] For kim alone\n" in (shop / "CLAUDE.md").read_text("utf-8")


def test_edits_by_hand_are_told_and_come_in_as_feedback(home: Home, shop: Path) -> None:
    assert of_a(home, shop)[0] == 0
    main = shop / "CLAUDE.md"
    sound = main.read_text("utf-8")
    edited = sound.replace("원화로", "달러로")
    main.write_text(edited, "utf-8")
    code, out, err = of_a(home, shop)
    assert (code, "+- [m1 v1] 환불 금액은 달러로 적는다" in out) == (6, True)
    assert "CLAUDE.md was changed by hand" in err
    assert "--take-edits" in err
    assert main.read_text("utf-8") == edited
    assert home.items("feedback", "list") == []
    said = json.loads(of_a(home, shop, "--take-edits", "--json")[1])
    (edit,) = said["edits"]
    (piece,) = home.items("feedback", "list")
    assert edit["feedback_ids"] == [piece["id"]]
    assert str(piece["content"]).startswith(
        "환불 금액은 달러로 적는다\n\n(Edited by hand in CLAUDE.md"
    )
    assert main.read_text("utf-8") == sound
    main.write_text(edited, "utf-8")
    assert "where it was already" in of_a(home, shop, "--take-edits")[2]
    assert len(home.items("feedback", "list")) == 1
    main.write_text("# No block\n", "utf-8")
    assert of_a(home, shop, "--take-edits")[0] == 6
    assert len(home.items("feedback", "list")) == 1
    main.write_text(edited, "utf-8")
    code, out, _ = of_a(home, shop, "--overwrite")
    assert (code, out.splitlines()[-1]) == (0, "wrote CLAUDE.md")
    assert "+- [m1 v1] 환불 금액은 달러로 적는다" in out
    assert main.read_text("utf-8") == sound


def test_commits_name_the_feedback_behind_a_change(home: Home, shop: Path) -> None:
    repository(shop)
    feedback = teach(home, "회의록은 항상 노션에 올려 주세요")
    code, out, err = of_a(home, shop, "--commit")
    assert (code, err) == (0, "")
    assert out.count("committed ") == 3
    trailers = "--format=%(trailers:key=Feedback-Id,valueonly,separator=%x2c)"
    assert git(shop, "log", trailers).split() == [feedback]
    changes = "--format=%(trailers:key=Change-Id,valueonly,separator=%x2c)"
    known = {str(change["id"]) for change in home.items("changes", "list")}
    assert {*git(shop, "log", "-3", changes).split()} <= known
    assert home.call("retract", feedback)[0] == 0
    home.call("agents", "skills", "a", "--tenant", "t", "--remove", "refund")
    assert of_a(home, shop, "--commit")[0] == 0
    ends = git(shop, "log", "-2", changes).split()
    assert len({*ends}) == 2
    assert git(shop, "status", "--porcelain") == ""


def test_whose_knowledge_it_is_has_to_be_clear(home: Home, shop: Path) -> None:
    sync = ("knowledge", "sync", str(shop), "--layout", "claude")
    several = home.fails(*sync, code=2)
    assert several["message"] == "there are several agents: a (t), b (other)"
    assert several["hint"] == "say which agent with --agent"
    assert home.fails(*sync, "--agent", "nobody", code=5)["kind"] == "not_found"
    assert home.ask(*sync, "--tenant", "t")["agent_id"] == "a"
    assert home.fails(*sync, "--tenant", "t", "--path", "../x", code=1)["kind"] == "invalid"
    assert home.fails(*sync, "--tenant", "t", "--prefix", "A B", code=1)["kind"] == "invalid"
    assert home.call("knowledge", "sync", str(shop), "--tenant", "t")[0] == 2


def test_what_is_learnt_while_it_watches_is_written(home: Home, shop: Path, database: str) -> None:
    assert home.call("agents", "add", "--id", "c", "--name", "C", "--tenant", "t")[0] == 0
    sync = ("knowledge", "sync", str(shop), "--layout", "agents-md", "--agent", "a", "--watch")
    watching = start(home.path, *sync, DATABASE_URL=url_of(database))
    try:
        wait_for(watching, "watching what a learns")
        main = shop / "AGENTS.md"
        home.bring(kind="MEMORY", id="m2", content="Ship on Fridays")
        wait_until(lambda: "[m2 v1] Ship on Fridays" in main.read_text("utf-8"))
        home.bring(kind="MEMORY", id="m4", content="For all", scope="tenant", agent_id="c")
        wait_until(lambda: "[m4 v1] For all" in main.read_text("utf-8"))
        home.call("agents", "skills", "a", "--tenant", "t", "--remove", "refund")
        wait_until(lambda: not (shop / ".agents").exists())
        main.write_text(main.read_text("utf-8").replace("Fridays", "Mondays"), "utf-8")
        home.bring(kind="MEMORY", id="m3", content="Be kind")
        wait_for(watching, "AGENTS.md was changed by hand")
        main.write_text(main.read_text("utf-8").replace("Mondays", "Fridays"), "utf-8")
        wait_until(lambda: "Be kind" in main.read_text("utf-8"))
        watching.send_signal(signal.SIGTERM)
        assert watching.wait(timeout=AT_LAST) == 0
    finally:
        if watching.poll() is None:
            watching.kill()
        watching.communicate()
