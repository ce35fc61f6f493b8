"""`skill-worker cases`: people add cases, run them, and see what fails."""

from __future__ import annotations

import json

import pytest

from tests.support.home import Home
from tests.support.rules import learnt, row

MEMORY = "고객에게 보내는 금액은 원화로 적는다"


@pytest.fixture
def home(home: Home) -> Home:
    home.bring(kind="MEMORY", id="m", content=MEMORY)
    return home


def add(home: Home, item: str, *given: str) -> str:
    """Add a case that holds, and return its id."""
    case = home.ask("cases", "add", item, *given)["case"]
    assert isinstance(case, dict)
    return str(case["id"])


def test_a_case_is_added_run_edited_and_disabled(home: Home) -> None:
    case = add(home, "m", "--check", "unsaid", "--text", "달러")
    assert [one["id"] for one in home.items("cases", "list", "--item", "m")] == [case]
    code, out, err = home.call("cases", "run", "--item", "m")
    assert (code, case in out, "1 passed" in err) == (0, True, True)
    code, out, err = home.call("cases", "edit", case, "--text", "원화")
    assert (code, out.split()[:2]) == (1, [case, "failed"])
    shown = home.ask("cases", "show", case)
    assert (shown["status"], shown["body"]) == ("red", {"check": "unsaid", "text": "원화"})
    code, out, _ = home.call("cases", "run", case, "--json")
    assert (code, json.loads(out)["results"][0]["passed"]) == (1, False)
    assert (
        home.ask("cases", "disable", case, "--reason", "이제 원화가 맞다")["status"] == "disabled"
    )
    code, _, err = home.call("cases", "run")
    assert (code, "not run" in err) == (0, True)
    assert home.items("cases", "list", "--status", "red") == []
    assert home.fails("cases", "edit", case, "--text", "x", code=1)["kind"] == "refused"


def test_what_is_known_is_listed_with_how_its_cases_stand(home: Home) -> None:
    for text, badge in (("", "unproved"), ("달러", "green"), ("원화", "red")):
        if text:
            home.call("cases", "add", "m", "--check", "unsaid", "--text", text)
        code, out, _ = home.call("knowledge", "list")
        assert (code, badge in out) == (0, True), out
    (known,) = home.items("knowledge", "list")
    assert known["cases"] == {"green": 1, "red": 1, "unproved": 0, "disabled": 0}


def test_cases_are_listed_by_agent_tenant_and_kind(home: Home) -> None:
    home.bring(
        kind="MEMORY", id="n", content="보고는 월요일에 한다", agent_id="b", tenant_id="other"
    )
    mine = add(home, "m", "--check", "unsaid", "--text", "달러")
    other = add(home, "n", "--check", "unsaid", "--text", "금요일")
    for given, found in (
        (("--agent", "a"), [mine]),
        (("--tenant", "other"), [other]),
        (("--kind", "memory"), [other, mine]),
        (("--kind", "skill"), []),
    ):
        assert [one["id"] for one in home.items("cases", "list", *given)] == found, given
    assert "nobody" in str(home.fails("cases", "list", "--agent", "nobody", code=5)["message"])


def test_rows_of_a_table_without_a_case_are_named(home: Home) -> None:
    file = home.path / "rule.dmn"
    file.write_text(learnt(row("> 10", "팀장"), row("<= 10", "없음")).xml, encoding="utf-8")
    home.ask("rule", "import", str(file), "--agent", "a", "--tenant", "t")
    (table,) = home.items("knowledge", "list", "--kind", "dmn_rule")
    item = str(table["id"])
    assert "decide by 0 of 2 rows; none by 1, 2" in home.call("cases", "list", "--item", item)[2]
    given = ("--inputs", '{"금액": 20}', "--outputs", '{"승인자": "팀장"}')
    add(home, item, "--check", "decision", *given)
    assert "decide by 1 of 2 rows; none by 2" in home.call("cases", "list")[2]
    (told,) = home.ask("cases", "list", "--item", item)["coverage"]  # type: ignore[misc]
    assert told["uncovered"] == [2]  # type: ignore[index, call-overload]


@pytest.mark.parametrize(
    ("given", "code", "why"),
    [
        ((), 2, "nothing is said"),
        (("--text", "x"), 2, "--check"),
        (("--check", "unsaid"), 1, "needs `text`"),
        (("--check", "decision", "--inputs", "{"), 2, "--inputs holds no JSON"),
        (("--check", "decision", "--inputs", "[1]"), 2, "inputs"),
        (("--check", "stands", "--text", "x"), 1, "not for MEMORY"),
        (("--file", "nothing.json"), 5, "nothing.json"),
    ],
)
def test_what_is_no_case_is_refused_with_the_reason(
    home: Home, given: tuple[str, ...], code: int, why: str
) -> None:
    assert why in str(home.fails("cases", "add", "m", *given, code=code)["message"])
    assert home.items("cases", "list") == []


def test_a_case_is_read_from_a_file(home: Home) -> None:
    file = home.path / "case.json"
    file.write_text('{"check": "unsaid", "text": "달러"}', encoding="utf-8")
    case = add(home, "m", "--file", str(file))
    assert home.ask("cases", "show", case)["body"] == {"check": "unsaid", "text": "달러"}
    both = ("--file", str(file), "--text", "x")
    assert home.fails("cases", "add", "m", *both, code=2)["kind"] == "usage"


def test_a_case_that_is_not_there_is_not_found(home: Home) -> None:
    for command in (("show", "c"), ("run", "c"), ("edit", "c", "--text", "x")):
        assert home.fails("cases", *command, code=5)["kind"] == "not_found"
    assert home.fails("cases", "disable", "c", "--reason", "x", code=5)["kind"] == "not_found"
