"""`skill-worker rule check`: findings for people and programs, and files without tables."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from pydantic import JsonValue

from core.decision_table import decide, parse_xml, to_xml
from core.domain.models import DecisionRow, DecisionTable, InputColumn, OutputColumn
from core.entrypoints.cli.app import run
from tests.support.dmn_files import loans

APPROVAL = DecisionTable(
    name="주문 승인",
    inputs=(
        InputColumn(name="주문 금액", type="number"),
        InputColumn(name="등급", allowed='"VIP", "일반"'),
    ),
    outputs=(OutputColumn(name="승인자"),),
    rows=(
        DecisionRow(
            id="r1", inputs=("> 1000000", "-"), outputs=('"팀장"',), annotation="큰 주문은 팀장"
        ),
        DecisionRow(id="r2", inputs=("<= 1000000", "-"), outputs=('"없음"',)),
    ),
)
CLASH = DecisionRow(id="r3", inputs=("> 500000", '"VIP"'), outputs=('"사장"',), annotation="귀빈")
CLASHING = APPROVAL.model_copy(update={"rows": (*APPROVAL.rows, CLASH)})
GAPPED = APPROVAL.model_copy(update={"rows": APPROVAL.rows[:1]})
GOOD = to_xml(APPROVAL, decision_id="d")


def written(path: Path, *tables: DecisionTable) -> Path:
    """Write a file of several decisions."""
    texts = [to_xml(table, decision_id=f"d{n}") for n, table in enumerate(tables)]
    decisions = [text[text.index("<decision ") : text.index("</definitions>")] for text in texts]
    for number, text in enumerate(decisions):
        decisions[number] = text.replace('id="r', f'id="t{number}r')
    head = texts[0][: texts[0].index("<decision ")]
    path.write_text(head + "".join(decisions) + "</definitions>", encoding="utf-8")
    return path


def checked(
    capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, dict[str, JsonValue]]:
    code = run(["rule", "check", *arguments, "--json"])
    out, err = capsys.readouterr()
    assert err == ""
    return code, json.loads(out)


def test_a_sound_table_leaves_0(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["rule", "check", str(written(tmp_path / "a.dmn", APPROVAL))]) == 0
    assert capsys.readouterr().out == "주문 승인 (UNIQUE, 2 rows): nothing found\n"


def test_findings_name_rows_with_their_remarks_and_a_case(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(["rule", "check", str(written(tmp_path / "a.dmn", CLASHING))]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "주문 승인 (UNIQUE, 3 rows): 2 errors, 0 warnings"
    assert lines[1].startswith("  error [overlap] rows 't0r1' and 't0r3' both match where")
    assert lines[2:5] == [
        "      t0r1: 큰 주문은 팀장",
        "      t0r3: 귀빈",
        '      example: {"주문 금액": 1000001, "등급": "VIP"}',
    ]


def test_an_example_can_be_put_to_the_table(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, answer = checked(capsys, str(written(tmp_path / "a.dmn", GAPPED)))
    (item,) = answer["items"]
    assert code == 0
    assert (item["kind"], item["severity"], answer["next"]) == ("gap", "warning", None)
    assert decide(GAPPED, item["example"]).fired == ()
    assert answer["tables"][0]["valid"] is True


def test_all_tables_of_a_file_are_checked_unless_one_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    other = CLASHING.model_copy(update={"name": "환불"})
    file = str(written(tmp_path / "a.dmn", APPROVAL, other))
    code, answer = checked(capsys, file)
    assert code == 1
    assert [table["decision"] for table in answer["tables"]] == ["주문 승인", "환불"]
    assert {item["decision"] for item in answer["items"]} == {"환불"}
    assert checked(capsys, file, "--decision", "주문 승인")[0] == 0
    assert run(["rule", "check", file, "--decision", "없는 것"]) == 1
    assert "the document has: '주문 승인', '환불'" in capsys.readouterr().err


def test_a_table_that_cannot_be_read_hides_no_other(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = written(tmp_path / "a.dmn", APPROVAL, GAPPED.model_copy(update={"name": "환불"}))
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("<outputEntry>", "<outputEntry/><outputEntry>", 1), "utf-8")
    code, answer = checked(capsys, str(file))
    assert code == 1
    assert [(item["decision"], item["kind"]) for item in answer["items"]] == [
        ("주문 승인", "unreadable"),
        ("환불", "gap"),
    ]
    assert "row 't0r1' on line" in answer["items"][0]["message"]
    assert run(["rule", "check", str(file)]) == 1
    assert "주문 승인: cannot be read" in capsys.readouterr().out


def test_a_file_can_come_on_stdin(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(GOOD.encode())))
    assert run(["rule", "check", "-"]) == 0
    assert "nothing found" in capsys.readouterr().out


SECRET = "top-secret-한글"
ENTITY = "<!DOCTYPE d [<!ENTITY x {}>]>"
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "ha"}">' for n in range(12))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "not well-formed"),
        (b"\x00\x01\xff\xfe", "not UTF-8 text"),
        (GOOD.encode("utf-16"), "not UTF-8 text"),
        (b"\0" + GOOD.encode(), "not well-formed"),
        (GOOD[:200].encode(), "not well-formed"),
        (b"{}", "not well-formed"),
        (b"<html/>", "the root is <html>"),
        (GOOD.replace("20191111", "20180521").encode(), "the root is|DMN"),
        (GOOD.replace("?>", "?><?php system('id') ?>", 1).encode(), "processing instruction"),
        ((ENTITY.format('SYSTEM "file://{secret}"') + "<d>&x;</d>").encode(), "DOCTYPE"),
        ((ENTITY.format('"inner"') + "<d>&x;</d>").encode(), "DOCTYPE"),
        (b'<!DOCTYPE d SYSTEM "file://{secret}"><d/>', "DOCTYPE"),
        (b'<!DOCTYPE d [<!ENTITY % p SYSTEM "file://{secret}"> %p;]><d/>', "DOCTYPE|well-formed"),
        (f"<!DOCTYPE d [{LAUGHS}]><d>&l11;</d>".encode(), "DOCTYPE|not well-formed"),
        (b"<d>" * 100_000 + b"</d>" * 100_000, "not well-formed"),
        (
            GOOD.replace("<text>-</text>", f"<text>{'(' * 9_000}1{')' * 9_000}</text>", 1).encode(),
            "",
        ),
        (GOOD.replace("<text>-</text>", f"<text>{'9' * 30_000}</text>", 1).encode(), ""),
    ],
)
def test_a_file_that_is_no_sound_table_is_refused_in_words(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, data: bytes, said: str
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text(SECRET, encoding="utf-8")
    file = tmp_path / "a.dmn"
    file.write_bytes(data.replace(b"{secret}", str(secret).encode()))
    assert run(["rule", "check", str(file)]) == 1
    out, err = capsys.readouterr()
    assert SECRET not in out + err
    assert "Traceback" not in out + err
    assert len(out + err) < 3_000
    if said:
        assert any(part in err for part in said.split("|"))
    else:
        assert "error [unreadable] row 'r1'" in out


def test_what_is_included_from_elsewhere_stays_there(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text(SECRET, encoding="utf-8")
    include = f'<x:include xmlns:x="http://www.w3.org/2001/XInclude" href="{secret}" parse="text"/>'
    file = tmp_path / "a.dmn"
    file.write_text(GOOD.replace("큰 주문은 팀장", include), encoding="utf-8")
    assert run(["rule", "check", str(file)]) == 0
    out, err = capsys.readouterr()
    assert SECRET not in out + err


def test_what_is_no_readable_file_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(["rule", "check", str(tmp_path)]) == 1
    assert " is a folder\nhint: give a file, or `-` for stdin" in capsys.readouterr().err
    assert run(["rule", "check", str(tmp_path / "nothing.dmn")]) == 5
    assert "there is no file" in capsys.readouterr().err
    assert run(["rule", "check", "/dev/zero"]) == 1
    assert "larger than 64 MB" in capsys.readouterr().err


@pytest.mark.parametrize("count", [1_000, pytest.param(10_000, marks=pytest.mark.nightly)])
def test_a_large_table_gets_its_verdicts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, count: int
) -> None:
    rows = tuple(
        DecisionRow(id=f"n{n}", inputs=(f"[{n}..{n + 1})", "-"), outputs=('"x"',))
        for n in range(count)
    )
    clash = DecisionRow(id="clash", inputs=("77", '"VIP"'), outputs=('"y"',))
    many = APPROVAL.model_copy(update={"rows": (*rows, clash)})
    file = tmp_path / "a.dmn"
    file.write_text(to_xml(many, decision_id="d"), encoding="utf-8")
    assert parse_xml(file.read_text(encoding="utf-8")) == many
    code, answer = checked(capsys, str(file))
    assert code == 1
    assert [(item["kind"], item["rows"]) for item in answer["items"]] == [
        ("overlap", ["n77", "clash"]),
        ("gap", []),
    ]


def test_what_is_not_evaluated_and_texts_like_tests_are_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "loans.dmn"
    spoken = loans("1.5").replace('not("no")', 'not("over 5")')
    spoken = spoken.replace(
        '<dmn:text>"no"</dmn:text></dmn:inputEntry>',
        '<dmn:text>"over 5"</dmn:text></dmn:inputEntry>',
    )
    file.write_text(spoken, encoding="utf-8")
    assert run(["rule", "check", str(file)]) == 0
    out = capsys.readouterr().out
    assert "note: decision 'Total' is a literalExpression" in out
    assert "warning [spoken_test]" in out
    assert "> 5" in out
    assert run(["rule", "check", str(file), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert any("Rounding" in aside for aside in answer["not_evaluated"])
    assert [one["kind"] for one in answer["items"] if one["kind"] == "spoken_test"]
