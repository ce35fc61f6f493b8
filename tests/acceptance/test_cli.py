"""The commands as users call them: real processes, real PostgreSQL, the offline stand-in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import JsonValue

from core.entrypoints.demo.scenario import load_scenario
from tests.support.commands import call
from tests.support.used_home import served_home

ORDER = "주문 금액이 100만원을 넘으면 팀장 승인을 받아야 합니다"
Answer = dict[str, JsonValue]


@pytest.fixture(scope="module")
def home(server: str, template: str) -> Iterator[Path]:
    with served_home(server, template) as path:
        yield path


def answer(
    home: Path, *arguments: str, code: int = 0, stdin: bytes = b"", **settings: str
) -> Answer:
    """Run one command with --json and return its answer."""
    done = call(home, *arguments, "--json", stdin=stdin, **settings)
    assert done.returncode == code, done.stderr.decode()
    parsed: Answer = json.loads(done.stdout)
    return parsed


def items(given: Answer) -> list[Answer]:
    """Return the items of a list."""
    assert set(given) >= {"items", "next"}
    listed = given["items"]
    assert isinstance(listed, list)
    return [item for item in listed if isinstance(item, dict)]


@pytest.fixture(scope="module")
def _agents(home: Path) -> None:
    agents = b"- {id: a1, tenant_id: t, name: Orders}\n- {id: b1, tenant_id: other, name: Others}\n"
    assert len(items(answer(home, "agents", "import", "-", stdin=agents))) == 2


@pytest.mark.usefixtures("_agents")
def test_one_text_becomes_knowledge_with_a_history(home: Path) -> None:
    added = items(
        answer(home, "feedback", "add", "--agent", "a1", "--tenant", "t", "--text", ORDER)
    )
    done = call(home, "run", "--once", "--offline")
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout == b""
    feedback = answer(home, "feedback", "show", str(added[0]["id"]))
    assert feedback["status"] == "completed"
    assert feedback["candidates"]
    assert "승인" in str(items(answer(home, "knowledge", "list")))
    (record,) = items(answer(home, "history", "list", "--feedback", str(added[0]["id"])))
    assert record["feedback_content"] == ORDER
    assert answer(home, "history", "show", str(record["id"])) == record
    change = answer(home, "changes", "show", str(record["change_id"]), "--diff")
    assert "1000000" in str(change["diff"])
    assert items(answer(home, "knowledge", "search", "주문 승인", "--agent", "a1"))
    knowledge = answer(home, "knowledge", "show", str(record["knowledge_id"]))
    assert knowledge["id"] == record["knowledge_id"]
    case = ("--agent", "a1", "--input", "주문 금액=1000001")
    decided = answer(home, "rule", "decide", str(knowledge["name"]), *case)
    assert "팀장" in str(decided["outputs"])


@pytest.mark.usefixtures("_agents")
def test_a_piece_is_added_with_its_time_and_what_it_is_about(home: Path) -> None:
    said = ("feedback", "add", "--agent", "a1", "--tenant", "t", "--text", "아니 달러로요")
    about = ("--in-reply-to", "s-1", "--thread", "견적 7", "--output", "3,500,000원")
    (added,) = items(answer(home, *said, *about, "--said-at", "2026-05-01T09:04:00+09:00"))
    shown = call(home, "feedback", "show", str(added["id"])).stdout.decode()
    for text in ("2026-05-01", "s-1", "견적 7", "3,500,000원"):
        assert text in shown
    wrong = answer(home, *said, "--said-at", "tomorrow", code=2)
    assert "tomorrow" in str(wrong["error"])


@pytest.mark.usefixtures("_agents")
def test_a_follow_up_changes_what_the_first_piece_taught_and_sets_its_end(home: Path) -> None:
    add = ("feedback", "add", "--agent", "b1", "--tenant", "other", "--thread", "견적")
    for minute, said in enumerate(
        ("견적 금액은 항상 원화로 적어 주세요", "아니 그건 말고 달러로요")
    ):
        items(answer(home, *add, "--said-at", f"2026-05-01T09:0{minute}:00+09:00", "--text", said))
        assert call(home, "run", "--once", "--offline").returncode == 0
    (known,) = items(answer(home, "knowledge", "list", "--agent", "b1"))
    assert known["content"] == "견적 금액은 항상 달러로 적어 주세요"
    assert known["version"] == 2
    until = ("--text", "이번 달 말까지만요", "--said-at", "2026-05-02T09:00:00+09:00")
    items(answer(home, *add, *until))
    assert call(home, "run", "--once", "--offline", TIME_ZONE="Asia/Seoul").returncode == 0
    assert items(answer(home, "knowledge", "list", "--agent", "b1")) == []
    (over,) = items(answer(home, "knowledge", "list", "--agent", "b1", "--expired"))
    assert (over["id"], over["valid_until"]) == (known["id"], "2026-05-31T14:59:59.999999Z")
    assert items(answer(home, "knowledge", "search", "견적 금액", "--agent", "b1")) == []
    assert len(items(answer(home, "knowledge", "history", str(over["id"])))) == 3


@pytest.mark.usefixtures("_agents")
def test_a_reverted_change_is_gone_and_on_record(home: Path) -> None:
    answer(
        home, "feedback", "add", "--agent", "a1", "--tenant", "t", "--text", "Reports are in PDF."
    )
    assert call(home, "run", "--once", "--offline").returncode == 0
    change = next(c for c in items(answer(home, "changes", "list")) if "PDF" in str(c["after"]))
    receipt = answer(home, "changes", "revert", str(change["id"]), "--reason", "wrong")
    assert receipt["status"] == "applied"
    assert "PDF" not in str(items(answer(home, "knowledge", "list")))
    assert answer(home, "changes", "show", str(change["id"]))["status"] == "reverted"


@pytest.mark.usefixtures("_agents")
def test_good_lines_go_in_and_bad_ones_are_named(home: Path) -> None:
    good = {"id": "1", "tenant_id": "t", "agent_ids": ["a1"], "task": "x", "content": "감사합니다"}
    lines = [
        "\ufeff" + json.dumps(good, ensure_ascii=False),
        "{oops",
        json.dumps({**good, "id": "2", "content": " "}),
        json.dumps({**good, "id": "3", "agent_ids": ["nobody"]}),
        json.dumps({**good, "id": "4", "agent_ids": ["b1"]}),
        json.dumps({**good, "content": "다른 내용"}),
        json.dumps(good),
        json.dumps({**good, "id": "5", "content": "a\0b"}),
        json.dumps({**good, "id": "6", "content": "x" * 1_000_000}),
        json.dumps({**good, "id": "7", "content": "\u200fשלום\u200f 고마워요"}),
    ]
    report = answer(home, "feedback", "add", "-", stdin="\r\n".join(lines).encode(), code=1)
    assert [(item["line"], item["new"]) for item in items(report)] == [
        (1, True),
        (7, False),
        (10, True),
    ]
    problems = report["problems"]
    assert isinstance(problems, list)
    assert [problem["line"] for problem in problems if isinstance(problem, dict)] == [
        2,
        3,
        4,
        5,
        6,
        8,
        9,
    ]
    kept = items(answer(home, "feedback", "list", "--tenant", "t", "--limit", "1000"))
    assert "\u200fשלום\u200f 고마워요" in [item["content"] for item in kept]


@pytest.mark.usefixtures("_agents")
def test_a_list_goes_on_where_the_page_ended(home: Path) -> None:
    lines = b"".join(
        b'{"tenant_id": "t", "agent_ids": ["a1"], "content": "thanks %d"}\n' % n for n in range(3)
    )
    assert call(home, "feedback", "add", "-", stdin=lines).returncode == 0
    first = answer(home, "feedback", "list", "--limit", "2")
    assert first["next"]
    second = answer(home, "feedback", "list", "--limit", "2", "--cursor", str(first["next"]))
    assert not {item["id"] for item in items(first)} & {item["id"] for item in items(second)}
    for other in (("feedback", "list", "--status", "dead"), ("changes", "list")):
        refused = call(home, *other, "--cursor", str(first["next"]), "--json")
        assert refused.returncode == 1
        assert b"the cursor is of another list, or of other filters" in refused.stdout


@pytest.mark.usefixtures("_agents")
def test_a_dry_run_decides_and_changes_nothing(home: Path) -> None:
    assert call(home, "run", "--once", "--offline").returncode == 0
    text = "Ms. Lee prefers short answers."
    added = items(answer(home, "feedback", "add", "--agent", "a1", "--tenant", "t", "--text", text))
    decided = items(answer(home, "run", "--dry-run", "--offline"))
    assert [d["feedback"]["id"] for d in decided if isinstance(d["feedback"], dict)] == [
        added[0]["id"]
    ]
    assert answer(home, "feedback", "show", str(added[0]["id"]))["status"] == "queued"
    assert text not in str(items(answer(home, "knowledge", "list")))


@pytest.mark.parametrize(
    ("arguments", "settings", "code", "kind"),
    [
        (["run", "--once"], {}, 4, "configuration"),
        (["run", "--once"], {"LLM_MODEL": "offline"}, 4, "configuration"),
        (["feedback", "list"], {"SEARCH_LIMIT": "many"}, 4, "configuration"),
        (["feedback", "list"], {"DATABASE_URL": "postgresql://127.0.0.1:1/x"}, 3, "database"),
        (["feedback", "show", "nothing"], {}, 5, "not_found"),
        (["feedback", "retry", "nothing"], {}, 5, "not_found"),
        (["changes", "show", "nothing"], {}, 5, "not_found"),
        (["changes", "revert", "nothing"], {}, 5, "not_found"),
        (["history", "show", "nothing"], {}, 5, "not_found"),
        (["knowledge", "show", "nothing"], {}, 5, "not_found"),
        (["feedback", "add", "nothing.jsonl"], {}, 5, "not_found"),
        (["knowledge", "search", " ", "--tenant", "t"], {}, 1, "invalid"),
        (["agents", "add", "--id", " ", "--tenant", "t", "--name", "x"], {}, 2, "usage"),
        (["feedback", "add", "--text", "x", "--tenant", "t"], {}, 2, "usage"),
        (["feedback", "add", "--text", " ", "--agent", "a", "--tenant", "t"], {}, 2, "usage"),
        (["feedback", "add", "--text", "x", "--agent", "no", "--tenant", "t"], {}, 1, "invalid"),
    ],
)
def test_each_failure_has_its_code_its_kind_and_a_hint(
    home: Path, arguments: list[str], settings: dict[str, str], code: int, kind: str
) -> None:
    error = answer(home, *arguments, code=code, **settings)["error"]
    assert isinstance(error, dict)
    assert error["kind"] == kind
    assert error["message"]
    assert kind in {"invalid"} or error["hint"]


def test_the_doctor_says_what_is_well_and_what_is_not(home: Path) -> None:
    checks = items(answer(home, "doctor", "--offline"))
    assert {check["status"] for check in checks} == {"OK"}
    assert {check["name"] for check in checks} >= {"config", "disk", "database", "model"}
    without_model = items(answer(home, "doctor", code=4))
    assert [c["name"] for c in without_model if c["status"] == "FAIL"] == ["model"]
    broken = items(answer(home, "doctor", code=4, MAX_ATTEMPTS="0"))
    assert "MAX_ATTEMPTS" in str(broken[0]["detail"])


def test_the_schemas_are_reported(home: Path) -> None:
    assert answer(home, "db", "migrate")["up_to_date"] is True
    assert answer(home, "db", "status")["up_to_date"] is True


@pytest.mark.usefixtures("_agents")
def test_without_an_address_for_pods_skills_go_out_over_http(home: Path) -> None:
    text = (
        "정기 구독을 해지하는 절차를 알려 드립니다.\n1. 횟수를 센다.\n2. 금액을 뺀다.\n3. 기록한다."
    )
    answer(home, "feedback", "add", "--agent", "a1", "--tenant", "t", "--text", text)
    done = call(home, "run", "--once", "--offline", USE_SKILL_CREATOR_WORKFLOW="True")
    assert done.returncode == 0, done.stderr.decode()
    assert "COMPUTER_USE_MCP_URL 없음 → 기존 HTTP 사용" in done.stderr.decode()
    assert items(answer(home, "knowledge", "list", "--kind", "SKILL", "--tenant", "t"))


def test_the_demo_shows_every_kind_operation_and_category(tmp_path: Path) -> None:
    settings = {"MCP_SERVER_URL": "http://127.0.0.1:1/mcp", "USE_SKILL_CREATOR_WORKFLOW": "false"}
    done = call(tmp_path, "demo", "--skill-creator", "--json", **settings)
    assert done.returncode == 0, done.stderr.decode()
    told = json.loads(done.stdout)
    expected = [list(piece.expected) for piece in load_scenario().feedback]
    assert [[_short(part) for part in item["became"]] for item in told["items"]] == expected
    for kind in ("MEMORY", "DMN_RULE", "SKILL"):
        assert set(told["counts"][kind]) == {"CREATE", "UPDATE", "DELETE"}
    assert told["counts"]["AGENT_SKILLS"] == {"ATTACH": 1}
    assert set(told["no_action"]) == {"noise", "duplicate", "one_off", "unclear"}
    assert told["model_calls"] == sum(item["model_calls"] for item in told["items"])
    assert told["input_tokens"] > told["output_tokens"] > 0
    single = [item for item in told["items"] if len(item["agents"]) == 1]
    assert max(item["model_calls"] for item in single) <= 3
    skills = told["counts"]["SKILL"]
    assert told["skill_creator"]["skills_built"] == skills["CREATE"] + skills["UPDATE"] > 2
    sandbox = told["skill_creator"]["sandbox"]
    assert sandbox["is_boundary"] or "sandbox.weakened" in done.stderr.decode()


def _short(part: dict[str, str]) -> str:
    if part["category"]:
        return part["category"]
    return "attached" if part["status"] == "attached" else f"{part['kind']} {part['operation']}"


def test_the_demo_prints_its_exhibits_and_leaves_its_home_where_told(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    done = call(tmp_path, "demo", "--keep", str(kept))
    out = done.stdout.decode()
    assert done.returncode == 0, done.stderr.decode()
    for title in ("a new skill", "an edited skill", "a decision table", "where to look next"):
        assert f"── {title}" in out
    assert "+- 쿠폰을 쓴 주문은" in out
    assert len(items(answer(kept, "knowledge", "list"))) > 5
    assert call(tmp_path, "demo", "--keep", str(kept)).returncode == 1
