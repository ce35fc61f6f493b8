"""Held changes, as reviewers decide about them on the command line."""

from __future__ import annotations

import re
import stat

import pytest

from tests.support.home import Home

WON, DOLLAR = "금액은 원화로 적는다", "금액은 달러로 적는다"


@pytest.fixture
def home(home: Home) -> Home:
    home.policy("all")
    return home


def known(home: Home) -> list[object]:
    return [item["content"] for item in home.items("knowledge", "list", "--kind", "MEMORY")]


def test_a_change_is_shown_approved_and_signed(home: Home) -> None:
    home.bring(kind="MEMORY", id="m", content=WON)
    assert known(home) == []
    (change_id,) = home.held()
    said = home.call("changes", "show", change_id, "--diff")[1]
    assert "waits because: every change is reviewed" in said
    assert f"+{WON}" in said
    code, said, _ = home.call("changes", "approve", change_id, "--dry-run")
    assert (code, "dry run" in said) == (0, True)
    assert known(home) == []
    assert home.ask("changes", "approve", change_id)["status"] == "applied"
    assert known(home) == [WON]
    shown = home.ask("changes", "show", change_id)
    assert (shown["status"], bool(shown["decided_by"])) == ("applied", True)


def test_a_decision_is_about_what_was_shown_where_its_hash_is_given(home: Home) -> None:
    home.bring(kind="MEMORY", id="m", content=WON)
    (change_id,) = home.held()
    said = home.call("changes", "show", change_id)[1]
    (seen,) = re.findall(r"^content hash: +([0-9a-f]{64})$", said, re.MULTILINE)
    file = home.path / "new.txt"
    file.write_text("금액은 달러로 적는다", encoding="utf-8")
    home.ask("changes", "edit", change_id, "--file", str(file))
    for command in (("approve",), ("reject", "--reason", "x")):
        arguments = (command[0], change_id, *command[1:], "--seen", seen)
        assert home.fails("changes", *arguments, code=5)["kind"] == "stale"
    now = str(home.ask("changes", "show", change_id)["content_hash"])
    assert home.ask("changes", "approve", change_id, "--seen", now)["status"] == "applied"
    assert known(home) == ["금액은 달러로 적는다"]


def test_two_pieces_that_say_the_same_wait_as_one_change(home: Home) -> None:
    pieces = []
    for _ in range(2):
        given = ("--text", "금액은 원화로 적어 주세요", "--agent", "a", "--tenant", "t")
        added = home.items("feedback", "add", *given)
        pieces.append(str(added[0]["id"]))
        assert home.call("run", "--once", "--offline")[0] == 0
    assert len({*pieces}) == 2
    (change_id,) = home.held()
    assert [home.ask("feedback", "show", piece)["status"] for piece in pieces] == ["held"] * 2
    assert "waits on" in home.call("retract", pieces[0], "--dry-run")[1]
    home.ask("changes", "approve", change_id)
    assert [home.ask("feedback", "show", piece)["status"] for piece in pieces] == ["completed"] * 2
    assert len(known(home)) == 1


def test_a_decided_change_is_not_decided_again(home: Home) -> None:
    home.bring(kind="MEMORY", id="m", content=WON)
    (change_id,) = home.held()
    home.ask("changes", "reject", change_id, "--reason", "사실이 아니다")
    for command in (("approve",), ("reject", "--reason", "x"), ("refresh",)):
        error = home.fails("changes", command[0], change_id, *command[1:], code=5)
        assert error["kind"] == "decided"
    assert home.ask("changes", "show", change_id)["decision"] == "사실이 아니다"
    assert known(home) == []


def test_what_is_edited_from_a_file_is_what_is_applied(home: Home) -> None:
    home.bring(kind="MEMORY", id="m", content=WON)
    (change_id,) = home.held()
    file = home.path / "new.txt"
    file.write_text(DOLLAR, encoding="utf-8")
    home.ask("changes", "edit", change_id, "--file", str(file))
    home.ask("changes", "approve", change_id)
    assert known(home) == [DOLLAR]


def test_without_a_file_the_editor_opens(home: Home) -> None:
    home.bring(kind="MEMORY", id="m", content=WON)
    (change_id,) = home.held()
    editor = home.path / "editor"
    editor.write_text(f'#!/bin/sh\nprintf "%s\\n" "{DOLLAR}" > "$1"\n', encoding="utf-8")
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
    home.monkeypatch.setenv("VISUAL", str(editor))
    home.ask("changes", "edit", change_id)
    home.ask("changes", "approve", change_id)
    assert known(home) == [DOLLAR]


def test_an_editor_that_changes_nothing_or_fails_changes_nothing(home: Home) -> None:
    home.bring(kind="MEMORY", id="m", content=WON)
    (change_id,) = home.held()
    for editor, told, code in (("true", "nothing was edited", 1), ("false", "nothing was", 2)):
        home.monkeypatch.setenv("VISUAL", editor)
        assert told in str(home.fails("changes", "edit", change_id, code=code)["message"])


def test_a_change_whose_target_moved_is_prepared_again(home: Home) -> None:
    home.policy("auto")
    home.bring(kind="MEMORY", id="m", content=WON)
    home.policy("all")
    home.bring(kind="MEMORY", id="m", content=DOLLAR)
    home.policy("auto")
    home.bring(kind="MEMORY", id="m", content="금액은 엔화로 적는다")
    (change_id,) = home.held()
    error = home.fails("changes", "approve", change_id, code=5)
    assert (error["kind"], "prepared again" in str(error["message"])) == ("stale", True)
    seen = str(home.ask("changes", "show", change_id)["content_hash"])
    told = home.call("changes", "show", change_id)[1]
    assert "there is" in told
    assert "금액은 엔화로 적는다" in told
    home.fails("changes", "approve", change_id, code=1)  # of two it is said which
    home.ask("changes", "approve", change_id, "--seen", seen)
    assert known(home) == [DOLLAR]


def test_a_skill_waits_with_all_its_files(home: Home) -> None:
    document = "---\nname: refund\ndescription: How to refund. Use it for refunds.\n---\n# R\n"
    files = {"scripts/run.sh": {"text": "#!/bin/sh\necho 1\n", "executable": True}}
    home.bring(kind="SKILL", name="refund", content=document, files=files)
    assert home.items("knowledge", "list", "--kind", "SKILL") == []
    (change_id,) = home.held()
    assert "+echo 1" in home.call("changes", "show", change_id, "--diff")[1]
    home.ask("changes", "approve", change_id)
    shown = home.ask("knowledge", "show", "refund")
    assert shown["files"] == [
        {"path": "SKILL.md", "size": len(document), "executable": False},
        {"path": "scripts/run.sh", "size": 17, "executable": True},
    ]


def test_a_policy_that_is_not_understood_stops_the_command(home: Home) -> None:
    file = home.path / "policy.yaml"
    file.write_text("rules:\n  - when: {kind: SKILLS}\n    then: hold\n", encoding="utf-8")
    home.policy(str(file))
    error = home.fails("changes", "list", code=4)
    assert "SKILLS" in str(error["message"])


def test_what_is_not_there_is_said(home: Home) -> None:
    for command in (("approve",), ("reject", "--reason", "x"), ("edit", "--file", "-")):
        home.fails("changes", command[0], "nothing", *command[1:], code=5)


def test_of_two_that_wait_and_contradict_each_other_both_are_kept(home: Home) -> None:
    for customer in (1, 2):
        text = f"대한상사는 주문서 {customer}0부를 우편으로 받길 원합니다"
        home.ask("feedback", "add", "--agent", "a", "--tenant", "t", "--text", text)
    assert home.call("run", "--once", "--offline")[0] == 0
    second, first = home.held()
    assert "contradicts" in home.call("changes", "show", second)[1]
    assert home.ask("changes", "approve", first)["status"] == "applied"
    choice = home.ask("changes", "show", second)
    assert (choice["operation"], choice["contradicts"]) == ("UPDATE", first)
    assert home.ask("changes", "keep-both", second)["status"] == "applied"
    assert len(known(home)) == 2
