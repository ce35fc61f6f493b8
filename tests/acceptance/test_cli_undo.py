"""Retracting feedback and restoring versions, as users call it."""

from __future__ import annotations

import json

import psycopg

from tests.support.home import Home

SKILL = "---\nname: refund\ndescription: How to refund. Use it for refunds.\n---\n# R\n\n"


def teach(home: Home, text: str) -> str:
    """Have the stand-in learn from a piece of feedback; return its id."""
    added = home.call("feedback", "add", "--text", text, "--agent", "a", "--tenant", "t", "--json")[
        1
    ]
    assert home.call("run", "--once", "--offline")[0] == 0
    feedback_id: str = json.loads(added)["items"][0]["id"]
    return feedback_id


def known(home: Home) -> list[object]:
    return [item["content"] for item in home.items("knowledge", "list", "--kind", "MEMORY")]


def test_what_feedback_taught_is_taken_back(home: Home) -> None:
    first = teach(home, "환불 금액은 원화로 소수점 없이 표기해 주세요")
    teach(home, "회의록은 항상 노션에 올려 주세요")
    assert len(known(home)) == 2
    dry = home.ask("retract", first, "--dry-run")
    assert [effect["receipt"]["status"] for effect in dry["effects"]] == ["prepared"]
    assert len(known(home)) == 2
    code, said, _ = home.call("retract", first)
    assert (code, "deleted" in said) == (0, True)
    assert known(home) == ["회의록은 항상 노션에 올려 주세요"]
    assert home.fails("retract", first, code=5)["kind"] == "not_found"
    statuses = [row["status"] for row in home.items("history", "list", "--feedback", first)]
    assert sorted(map(str, statuses)) == ["applied", "reverted"]


def test_that_feedback_said_what_was_known_is_forgotten(home: Home, database: str) -> None:
    teach(home, "환불 금액은 원화로 소수점 없이 표기해 주세요")
    again = teach(home, "안녕하세요")
    with psycopg.connect(database) as conn:
        conn.execute(
            "INSERT INTO echoes (feedback_id, tenant_id, kind, target_id, hash) "
            "SELECT %s, tenant_id, kind, target_id, 'x' FROM changes",
            (again,),
        )
    code, said, _ = home.call("retract", again, "--dry-run")
    assert (code, said.count("would be forgotten")) == (0, 1)
    code, said, _ = home.call("retract", again)
    assert (code, said.count("is forgotten")) == (0, 1)
    assert len(known(home)) == 1
    assert home.fails("retract", again, "--dry-run", code=5)["kind"] == "not_found"


def test_what_cannot_be_kept_is_named_and_nothing_is_done(home: Home) -> None:
    first = teach(home, "주문 금액이 100만원을 넘으면 매니저 승인이 필요합니다")
    second = teach(home, "주문 금액이 500만원을 넘으면 이사 승인이 필요합니다")
    before = home.items("knowledge", "list", "--kind", "DMN_RULE")
    code, out, _ = home.call("retract", first, "--json")
    (stands,) = json.loads(out)["in_the_way"]
    assert (code, stands["feedback_id"]) == (1, second)
    assert home.items("knowledge", "list", "--kind", "DMN_RULE") == before
    said, told = home.call("retract", first)[1:]
    assert f"of feedback {second} is in the way" in said
    assert "nothing was changed" in told
    assert home.call("retract", second)[0] == 0
    assert home.call("retract", first)[0] == 0
    assert home.items("knowledge", "list", "--kind", "DMN_RULE") == []


def test_feedback_that_waits_is_not_retracted(home: Home) -> None:
    added = home.call(
        "feedback", "add", "--text", "원화로", "--agent", "a", "--tenant", "t", "--json"
    )[1]
    error = home.fails("retract", json.loads(added)["items"][0]["id"], code=1)
    assert "cancel it first" in str(error["hint"])
    assert home.fails("retract", "nothing", code=5)["kind"] == "not_found"


def test_versions_are_listed_and_restored(home: Home) -> None:
    for content in ("원화로 적는다", "달러로 적는다", "엔화로 적는다"):
        home.bring(kind="MEMORY", id="m", content=content)
    listed = home.items("knowledge", "history", "m")
    assert [(item["version"], bool(item["valid_to"])) for item in listed] == [
        (3, False),
        (2, True),
        (1, True),
    ]
    assert home.ask("knowledge", "restore", "m", "--to", "1", "--dry-run")["status"] == "prepared"
    assert home.ask("knowledge", "restore", "m", "--to", "1")["status"] == "applied"
    assert known(home) == ["원화로 적는다"]
    assert home.ask("knowledge", "restore", "m", "--to", "4")["status"] == "known"
    error = home.fails("knowledge", "restore", "m", "--to", "9", code=5)
    assert error["hint"] == "there are 1, 2, 3, 4"


def test_a_skill_is_restored_byte_for_byte_also_where_it_was_deleted(home: Home) -> None:
    files = {
        "assets/logo.bin": {"base64": "AP/+AA=="},
        "scripts/run.sh": {"text": "#!/bin/sh\r\necho 1\n", "executable": True},
    }
    home.bring(kind="SKILL", name="refund", content=SKILL + "하나\n", files=files)
    first = home.ask("knowledge", "show", "refund")
    home.bring(kind="SKILL", name="refund", content=SKILL + "둘\n", files={})
    assert home.ask("knowledge", "show", "refund")["files"] != first["files"]
    made = home.items("knowledge", "history", "refund")[-1]["change_id"]
    home.ask("knowledge", "restore", "refund", "--to", "1")
    restored = home.ask("knowledge", "show", "refund")
    assert (restored["content"], restored["files"]) == (first["content"], first["files"])
    latest = home.items("changes", "list")[0]["id"]
    home.ask("changes", "revert", str(latest))
    assert str(made)
    assert "둘" in str(home.ask("knowledge", "show", "refund")["content"])
