"""`knowledge search` as people and scripts use it."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import JsonValue

from tests.acceptance.test_cli import answer, items
from tests.support.commands import call, start
from tests.support.used_home import served_home

KNOWN = (
    "환불은 결제 후 7일 안에 팀장 승인을 받는다",
    "배송이 늦으면 고객에게 먼저 알린다",
    "Invoices over 1,000,000 KRW need two approvals",
)


@pytest.fixture(scope="module")
def home(server: str, template: str) -> Iterator[Path]:
    with served_home(server, template) as here:
        for agent in ("a1", "a2"):
            agents = ("--id", agent, "--tenant", "t", "--name", "A", "--role", "r", "--goal", "g")
            assert call(here, "agents", "add", *agents).returncode == 0
        lines: list[JsonValue] = [
            {"kind": "MEMORY", "agent_id": "a1", "tenant_id": "t", "content": text}
            for text in KNOWN
        ]
        (here / "known.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
        assert call(here, "knowledge", "import", "known.jsonl").returncode == 0
        yield here


def searched(home: Path, stdin: bytes, *options: str) -> tuple[int, list[dict[str, JsonValue]]]:
    """Ask on stdin; return the exit code and the answers."""
    done = call(home, "knowledge", "search", "-", *options, stdin=stdin)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def names(given: dict[str, JsonValue]) -> list[str]:
    listed = given["items"]
    assert isinstance(listed, list)
    return [str(item["name"]) for item in listed if isinstance(item, dict)]


def test_a_hit_has_its_kind_its_score_and_why(home: Path) -> None:
    (hit,) = items(answer(home, "knowledge", "search", "환불 7일"))
    assert (hit["kind"], hit["name"], hit["why"]) == ("MEMORY", KNOWN[0], "matches 환불, 7일")
    score = hit["score"]
    assert isinstance(score, float)
    assert 0 < score <= 1


def test_each_line_of_stdin_is_answered_in_order(home: Path) -> None:
    nfd = unicodedata.normalize("NFD", "환불 7일")
    code, answers = searched(home, f"\ufeff환불 7일\r\n\r\n \n{nfd}\ninvioce\n환경".encode())
    assert code == 0
    assert [given["line"] for given in answers] == [1, 4, 5, 6]
    assert [names(given) for given in answers] == [[KNOWN[0]], [KNOWN[0]], [KNOWN[2]], []]
    assert answers[0]["items"] == answers[1]["items"]


def test_a_bad_line_is_answered_with_its_error_and_the_others_all_the_same(home: Path) -> None:
    code, answers = searched(home, b"!?\n\xff\xfe\n" + b"x" * 5_000_000 + b"\nKRW\n")
    assert code == 1
    errors = [given.get("error") for given in answers]
    assert [error["message"] if isinstance(error, dict) else None for error in errors] == [
        "the query holds no words to look for",
        "the line is not UTF-8 text",
        "the line is longer than 4 MB",
        None,
    ]
    assert names(answers[3]) == [KNOWN[2]]


def test_a_query_of_100_kb_is_answered(home: Path) -> None:
    code, answers = searched(home, ("환불 승인 절차를 알려 주세요. " * 2_500).encode())
    assert (code, names(answers[0])[0]) == (0, KNOWN[0])


def test_kind_agent_and_limit_hold_for_each_line(home: Path) -> None:
    asked = "배송\n환불\n".encode()
    assert [len(names(given)) for given in searched(home, asked)[1]] == [1, 1]
    for options in (("--kind", "SKILL"), ("--agent", "a2")):
        assert [names(given) for given in searched(home, asked, *options)[1]] == [[], []]
    both = "환불 승인 고객 배송".encode()
    assert len(names(searched(home, both, "--limit", "1")[1][0])) == 1


@pytest.mark.parametrize("option", ["--agent", "--tenant"])
@pytest.mark.parametrize("query", ["-", "환불"])
def test_whose_knowledge_is_unknown_is_told_before_anything_is_read(
    home: Path, option: str, query: str
) -> None:
    done = call(home, "knowledge", "search", query, option, "nobody", stdin="환불\n".encode())
    assert (done.returncode, done.stdout) == (5, b"")
    assert b"agents list" in done.stderr


def test_that_nothing_was_found_is_said_and_is_no_failure(home: Path) -> None:
    done = call(home, "knowledge", "search", "바둑")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"nothing found\n")
    assert items(answer(home, "knowledge", "search", "바둑")) == []


def test_a_memory_is_shown_once(home: Path) -> None:
    shown = call(home, "knowledge", "search", "환불 승인").stdout.decode()
    assert shown.count(KNOWN[0]) == 1


@pytest.mark.parametrize("query", ["?!", "…", "🙂"])
def test_a_query_without_words_is_refused(home: Path, query: str) -> None:
    given = answer(home, "knowledge", "search", query, code=1)["error"]
    assert isinstance(given, dict)
    assert given["message"] == "the query holds no words to look for"


def test_each_line_is_answered_before_the_next_is_asked(home: Path) -> None:
    with start(home, "knowledge", "search", "-") as process:
        assert process.stdin
        assert process.stdout
        for query, found in (("환불", KNOWN[0]), ("배송", KNOWN[1])):
            process.stdin.write(f"{query}\n")
            process.stdin.flush()
            assert names(json.loads(process.stdout.readline())) == [found]
        process.stdin.close()
        assert process.wait(60) == 0


def test_a_signal_ends_it_while_it_waits_for_a_line(home: Path) -> None:
    with start(home, "knowledge", "search", "-") as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write("KRW\n")
        process.stdin.flush()
        assert process.stdout.readline()
        process.terminate()
        assert process.wait(60) == 143
        assert process.stderr
        assert "Traceback" not in process.stderr.read()
