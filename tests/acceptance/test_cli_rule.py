"""`skill-worker rule decide` on files: one case or many, and what is wrong with a call."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import pytest
from pydantic import JsonValue

from core.decision_table import to_xml
from core.domain.models import DecisionRow, DecisionTable, HitPolicy, InputColumn, OutputColumn
from core.entrypoints.cli.app import run

HEAVY = ("alembic", "httpx", "langchain", "langchain_core", "langgraph", "mcp", "psycopg")
APPROVAL = DecisionTable(
    name="주문 승인",
    inputs=(InputColumn(name="주문 금액", type="number"), InputColumn(name="등급")),
    outputs=(OutputColumn(name="승인자"),),
    rows=(
        DecisionRow(id="r1", inputs=("> 1000000", "-"), outputs=('"팀장"',)),
        DecisionRow(id="r2", inputs=("<= 1000000", '"VIP"'), outputs=('"없음"',)),
    ),
)
BIG = ("--input", "주문 금액=1500000", "--input", "등급=VIP")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "승인.dmn"
    path.write_text(to_xml(APPROVAL, decision_id="approval"), encoding="utf-8")
    return path


@pytest.fixture
def two(file: Path) -> Path:
    xml = file.read_text(encoding="utf-8")
    start, end = xml.index("<decision "), xml.index("</decision>") + len("</decision>")
    decision = xml[start:end]
    other = decision.replace("approval", "other").replace("주문 승인", "환불")
    other = other.replace("팀장", "사장").replace('"r1"', '"s1"').replace('"r2"', '"s2"')
    file.write_text(xml[:end] + other + xml[end:], encoding="utf-8")
    return file


def decided(
    capsys: pytest.CaptureFixture[str], file: Path, *arguments: str
) -> tuple[int, dict[str, JsonValue]]:
    code = run(["rule", "decide", "--file", str(file), *arguments, "--json"])
    out, err = capsys.readouterr()
    assert err == ""
    return code, json.loads(out)


def refused(
    capsys: pytest.CaptureFixture[str], file: Path, *arguments: str
) -> tuple[int, dict[str, str]]:
    code, answer = decided(capsys, file, *arguments)
    assert isinstance(answer["error"], dict)
    return code, {key: str(value) for key, value in answer["error"].items()}


def lines(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    data: bytes,
    arguments: Sequence[str],
) -> tuple[int, list[dict[str, JsonValue]], str]:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    code = run(["rule", "decide", *arguments])
    out, err = capsys.readouterr()
    return code, [json.loads(line) for line in out.splitlines()], err


def test_people_see_outputs_rows_and_reasons(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["rule", "decide", "--file", str(file), *BIG]) == 0
    shown = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert shown == [
        "주문 승인 (UNIQUE)",
        '승인자 = "팀장"',
        "fired: r1",
        "",
        "ROW FIRED INPUT VALUE TEST PASSES WHY",
        "r1 yes 주문 금액 1500000 > 1000000 yes",
        'r1 yes 등급 "VIP" - yes',
        "r2 no 주문 금액 1500000 <= 1000000 no",
        'r2 no 등급 "VIP" "VIP" yes',
    ]


def test_of_a_long_table_people_see_what_fired_and_the_nearest_misses(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    far, near = ("> 2000000", '"없음"'), ("> 2000000", "-")
    cells = [far] * 500 + [near] * 30 + [("> 1000000", "-")] + [far] * 500
    rows = tuple(
        DecisionRow(id=f"r{place}", inputs=inputs, outputs=('"팀장"',))
        for place, inputs in enumerate(cells)
    )
    long = APPROVAL.model_copy(update={"rows": rows})
    file.write_text(to_xml(long, decision_id="approval"), encoding="utf-8")
    assert run(["rule", "decide", "--file", str(file), *BIG]) == 0
    shown = capsys.readouterr().out.splitlines()
    names = dict.fromkeys(line.split()[0] for line in shown[5:-1])
    assert list(names) == [*(f"r{place}" for place in range(500, 519)), "r530"]
    assert shown[-1] == "… 1,011 more rows did not match (--json shows all)"


def test_of_many_rows_that_fire_the_first_are_named(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = DecisionRow(id="r", inputs=("-", "-"), outputs=('"팀장"',))
    rows = tuple(row.model_copy(update={"id": f"r{place}"}) for place in range(50))
    every = APPROVAL.model_copy(update={"rows": rows, "hit_policy": HitPolicy.RULE_ORDER})
    file.write_text(to_xml(every, decision_id="approval"), encoding="utf-8")
    assert run(["rule", "decide", "--file", str(file), *BIG]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) == 1 + 20 + 1 + 1 + 1 + 1 + 40 + 1
    assert shown[21] == "… 30 more (--json shows all)"
    assert shown[22].endswith(", r19, …")
    assert shown[-1] == "… 30 more rows matched (--json shows all)"


def test_programs_get_the_same_as_data(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, answer = decided(capsys, file, "--input", "주문 금액=5e5", "--input", "등급=null")
    assert code == 0
    assert (answer["outputs"], answer["fired"], answer["hit_policy"]) == (None, [], "UNIQUE")
    rows = answer["rows"]
    assert isinstance(rows, list)
    last = rows[1]
    assert isinstance(last, dict)
    assert (last["id"], last["matches"], last["fired"]) == ("r2", False, False)
    cells = last["cells"]
    assert isinstance(cells, list)
    first = cells[0]
    assert first == {
        "column": "주문 금액", "test": "<= 1000000", "value": "500000", "holds": True, "why": "",
    }  # fmt: skip


def test_names_and_values_may_come_decomposed(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [unicodedata.normalize("NFD", option) for option in BIG]
    assert decided(capsys, file, *options)[1]["outputs"] == {"승인자": "팀장"}


@pytest.mark.parametrize("name", ["환불", "other"])
def test_a_decision_is_chosen_by_name_or_id(
    two: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert decided(capsys, two, "--decision", name, *BIG)[1]["outputs"] == {"승인자": "사장"}


def test_one_of_several_decisions_has_to_be_named(
    two: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, error = refused(capsys, two, *BIG)
    assert (code, error["kind"]) == (1, "invalid")
    assert "holds 2 decision tables" in error["message"]
    assert "'주문 승인', '환불'" in error["message"]
    code, error = refused(capsys, two, "--decision", "반품", *BIG)
    assert code == 1
    assert "no decision table is named '반품'" in error["message"]


def test_all_that_is_wrong_with_the_inputs_is_named_at_once(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, error = refused(capsys, file, "--input", "주문 금액=많음", "--input", "나이=3")
    assert (code, error["kind"]) == (1, "invalid")
    assert all(name in error["message"] for name in ("'주문 금액'", "'나이'", "'등급'"))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("hello", "not well-formed"),
        ('<!DOCTYPE d [<!ENTITY e SYSTEM "file:///etc/passwd">]><d>&e;</d>', "DOCTYPE"),
        ("<html/>", "not <definitions> of DMN 1.1 to 1.5"),
    ],
)
def test_a_file_that_is_no_safe_dmn_is_refused(
    file: Path, capsys: pytest.CaptureFixture[str], content: str, reason: str
) -> None:
    file.write_text(content, encoding="utf-8")
    code, error = refused(capsys, file, *BIG)
    assert code == 1
    assert reason in error["message"]


def test_a_file_that_is_not_there_is_not_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(capsys, tmp_path / "없음.dmn", *BIG)[0] == 5


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["one", "two"],
        ["one", "--file", "x.dmn"],
        ["one", "--decision", "x"],
        ["--file", "x.dmn", "--agent", "a"],
        ["--file", "-", "--stdin"],
        ["one", "-", "--input", "n=1"],
        ["one", "--input", "n"],
        ["one", "--input", "n=1", "--input", "n=2"],
    ],
)
def test_a_wrong_call_is_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rule", "decide", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "--help`" in err


@pytest.mark.parametrize("how", ["-", "--stdin"])
def test_each_line_has_an_answer_and_bad_ones_are_named(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    data = '{"주문 금액": 1500000, "등급": "일반"}\n\n{\n[1]\n{"등급": "VIP"}\n'.encode()
    data += b"\xff\n" + '{"주문 금액": 1, "등급": "VIP"}'.encode()
    code, answers, err = lines(capsys, monkeypatch, data, ["--file", str(file), how])
    assert code == 1
    assert [answer["line"] for answer in answers] == [1, 3, 4, 5, 6, 7]
    assert [answer.get("outputs") for answer in answers if "error" not in answer] == [
        {"승인자": "팀장"}, {"승인자": "없음"},
    ]  # fmt: skip
    assert [line.partition(":")[0] for line in err.splitlines()] == [
        "line 3", "line 4", "line 5", "line 6",
    ]  # fmt: skip


def test_good_lines_alone_leave_with_0(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = b"\xef\xbb\xbf" + '{"주문 금액": 1, "등급": "VIP"}\n'.encode() * 3
    code, answers, err = lines(capsys, monkeypatch, data, ["--file", str(file), "-", "--json"])
    assert (code, len(answers), err) == (0, 3, "")


def test_a_file_needs_nothing_heavy(file: Path) -> None:
    code = (
        "import sys\nfrom core.entrypoints.cli.app import run\n"
        f"assert run({['rule', 'decide', '--file', str(file), *BIG]!r}) == 0\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
