"""`skill-worker rule import` and `rule export`, as users call them: a round trip loses nothing."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from core.decision_table.document.tables import CutOut, cut_each, cut_out
from core.domain.models import HitPolicy
from core.entrypoints.cli.app import run
from tests.acceptance.test_cli import Answer, items
from tests.support.databases import url_of
from tests.support.dmn_files import loans
from tests.support.rules import learnt, row

APPROVAL = learnt(row("> 10", "팀장"), row("<= 10", "없음")).xml.replace("\n", "\r\n")
_OPEN, _CLOSE = "<decision ", "</decision>"
_ONE = APPROVAL[APPROVAL.index(_OPEN) : APPROVAL.index(_CLOSE) + len(_CLOSE)]
_SECOND = _ONE.replace('"승인"', '"환불"').replace('"t', '"u').replace('"r', '"s')
_SECOND = _SECOND.replace("<text>금액<", "<text>환불액<").replace("금액", "환불액")
TWO = "\ufeff" + APPROVAL.replace(_ONE, _ONE + _SECOND.replace("환불환불액", "환불액"))


@dataclass
class Home:
    """Commands with a database of their own, and files in a folder of their own."""

    path: Path
    capsys: pytest.CaptureFixture[bytes]

    def call(self, *arguments: str) -> tuple[int, bytes, str]:
        """Run one command; return its exit code, stdout and stderr."""
        code = run([*arguments])
        out, err = self.capsys.readouterr()
        return code, out, err.decode()

    def answer(self, *arguments: str, code: int = 0) -> Answer:
        """Run one command with --json and return its answer."""
        exit_code, out, err = self.call(*arguments, "--json")
        assert exit_code == code, err
        parsed: Answer = json.loads(out)
        return parsed

    def write(self, name: str, xml: str) -> None:
        """Write a file."""
        (self.path / name).write_bytes(xml.encode())


@pytest.fixture
def home(
    database: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> Home:
    with psycopg.connect(database) as conn:
        conn.execute("INSERT INTO agents (id, tenant_id, name) VALUES ('a1', 't', 'A')")
    monkeypatch.setenv("DATABASE_URL", url_of(database))
    monkeypatch.setenv("SKILL_WORKER_HOME", str(tmp_path))
    monkeypatch.setenv("MCP_SERVER_URL", "http://127.0.0.1:1/mcp")
    monkeypatch.chdir(tmp_path)
    made = Home(tmp_path, capsysbinary)
    made.write("승인.dmn", APPROVAL)
    return made


def take(home: Home, *arguments: str, code: int = 0) -> Answer:
    return home.answer("rule", "import", *arguments, "--agent", "a1", code=code)


def reasons(given: Answer) -> list[str]:
    problems = given["problems"]
    assert isinstance(problems, list)
    return [str(problem["reason"]) for problem in problems if isinstance(problem, dict)]


def test_a_dry_run_checks_and_stores_nothing(home: Home) -> None:
    home.write("clash.dmn", APPROVAL.replace("&lt;=", "&gt;"))
    (item,) = items(take(home, "승인.dmn", "--dry-run"))
    assert (item["status"], item["operation"], item["change_id"]) == ("prepared", "CREATE", None)
    (problem,) = take(home, "clash.dmn", "--dry-run", code=1)["problems"]  # type: ignore[misc]
    assert "UNIQUE allows one" in str(problem)
    assert home.call("rule", "export", "승인")[0] == 5


def test_a_file_goes_in_once_and_comes_out_as_it_was(home: Home) -> None:
    (first,) = items(take(home, "승인.dmn"))
    (again,) = items(take(home, "승인.dmn", "--tenant", "t"))
    assert (first["status"], again["status"]) == ("applied", "known")
    assert "already known" in str(again["message"])
    assert home.call("rule", "export", "승인")[1] == APPROVAL.encode()
    arguments = ("-o", "out.dmn", "--agent", "a1", "--tenant", "t")
    assert home.call("rule", "export", "승인", *arguments)[:2] == (0, b"")
    told = home.answer("rule", "export", "승인", *arguments)
    assert (told["name"], told["size"]) == ("승인", len(APPROVAL.encode()))
    assert (home.path / "out.dmn").read_bytes() == APPROVAL.encode()


def test_a_table_of_that_name_gives_way_only_to_replace(home: Home) -> None:
    take(home, "승인.dmn")
    changed = APPROVAL.replace("팀장", "부장")
    home.write("changed.dmn", changed)
    (reason,) = reasons(take(home, "changed.dmn", code=1))
    assert "another decision table named '승인'" in reason
    assert "--replace" in reason
    (item,) = items(take(home, "changed.dmn", "--replace"))
    assert "부장" in str(item["warnings"])
    assert home.call("rule", "export", "승인")[1] == changed.encode()
    change = home.answer("changes", "show", str(item["change_id"]))
    assert (change["merge_mode"], change["reason"]) == ("REPLACE", "imported from changed.dmn")
    home.answer("changes", "revert", str(item["change_id"]))
    assert home.call("rule", "export", "승인")[1] == APPROVAL.encode()
    (item,) = items(take(home, "changed.dmn", "--replace"))
    assert item["status"] == "applied"
    assert home.call("rule", "export", "승인")[1] == changed.encode()
    take(home, "승인.dmn", "--replace")


@pytest.mark.parametrize(("how", "code"), [((), 1), (("--replace",), 0)])
def test_a_dry_run_knows_of_the_files_before(home: Home, how: tuple[str, ...], code: int) -> None:
    home.write("changed.dmn", APPROVAL.replace("팀장", "부장"))
    asked = ("승인.dmn", "changed.dmn", "승인.dmn", *how)
    dry, real = take(home, *asked, "--dry-run", code=code), take(home, *asked, code=code)
    for one, other in zip(items(dry), items(real), strict=True):
        assert one["operation"] == other["operation"]
        assert (one["status"] == "known") == (other["status"] == "known")
    assert [re.sub("\\(.*", "", one) for one in reasons(dry)] == [
        re.sub("\\(.*", "", one) for one in reasons(real)
    ]


def test_one_decision_of_several_is_cut_out_and_the_rest_is_told(home: Home) -> None:
    home.write("two.dmn", TWO)
    (item,) = items(take(home, "two.dmn", "--decision", "환불"))
    assert (item["target_name"], item["left_out"]) == ("환불", ["승인"])
    assert home.call("rule", "export", "환불")[1] == cut_out(TWO, "환불").xml.encode()
    assert (
        "no decision table is named 'x'"
        in reasons(take(home, "two.dmn", "--decision", "x", code=1))[0]
    )


def test_all_tables_of_a_file_go_in_each_as_a_rule_of_its_own(home: Home) -> None:
    home.write("two.dmn", TWO)
    taken = items(take(home, "two.dmn"))
    assert [(one["target_name"], one["left_out"]) for one in taken] == [("승인", []), ("환불", [])]
    assert home.call("rule", "export", "환불")[1] == cut_out(TWO, "환불").xml.encode()
    assert {one["status"] for one in items(take(home, "two.dmn"))} == {"known"}


def test_a_file_of_dmn_1_5_goes_in_decides_and_comes_out(home: Home) -> None:
    home.write("loans.dmn", loans("1.5"))
    eligible, fee = items(take(home, "loans.dmn"))
    assert (eligible["target_name"], fee["target_name"]) == ("Eligibility", "Fee")
    assert "literalExpression" in str(eligible["not_evaluated"])
    exported = home.call("rule", "export", "Eligibility")[1].decode()
    (cut, _) = cut_each(loans("1.5"))
    assert isinstance(cut, CutOut)
    assert exported == cut.xml
    case = ("--input", 'applicant={"age": 17}', "--input", "score=700")
    assert home.answer("rule", "decide", "Eligibility", *case, code=1)
    whole = '{"age": 17, "joined": "2020-01-01", "job": {"title": "baker"}}'
    decided = home.answer(
        "rule", "decide", "Eligibility", "--input", f"applicant={whole}", "--input", "score=700"
    )
    assert decided["outputs"] == {"answer": "no"}


def test_a_broken_table_of_a_file_is_named_and_the_others_go_in(home: Home) -> None:
    broken = loans("1.4").replace("<dmn:outputEntry><dmn:text>25</dmn:text></dmn:outputEntry>", "")
    home.write("loans.dmn", broken.replace("<dmn:output name", "<dmn:output label"))
    told = take(home, "loans.dmn", code=1)
    assert [one["target_name"] for one in items(told)] == ["Eligibility"]
    assert "the table of 'Fee'" in reasons(told)[0]


def test_two_tables_of_one_name_in_a_file_are_named(home: Home) -> None:
    home.write("loans.dmn", loans("1.3").replace('id="d_fee" name="Fee"', 'name="eligibility"'))
    (reason,) = set(reasons(take(home, "loans.dmn", code=1))[:1])
    assert "rename all but one" in reason


def test_a_table_beside_one_of_the_same_columns_needs_a_reason(home: Home) -> None:
    take(home, "승인.dmn")
    other = APPROVAL.replace('"승인"', '"해외 승인"').replace("팀장", "지사장")
    home.write("other.dmn", other)
    (reason,) = reasons(take(home, "other.dmn", code=1))
    assert all(told in reason for told in ("'승인'", "same columns", "--unrelated"))
    (item,) = items(take(home, "other.dmn", "--unrelated", "해외 지사"))
    assert "해외 지사" in str(item["warnings"])


def test_bad_files_are_named_and_good_ones_go_in(home: Home) -> None:
    good = APPROVAL.replace('"승인"', '"좋은 표"').replace("금액", "무게")
    home.write("good.dmn", good)
    (home.path / "euc-kr.dmn").write_bytes(APPROVAL.encode("euc-kr"))
    files = ("none.dmn", "euc-kr.dmn", "good.dmn")
    code, out, told = home.call("rule", "import", *files, "--agent", "a1")
    assert (code, out.decode()) == (1, "good.dmn: applied: DMN_RULE '좋은 표' created\n")
    assert "none.dmn: there is no file" in told
    assert "euc-kr.dmn: it is not UTF-8 text" in told
    assert home.call("rule", "export", "좋은 표")[1] == good.encode()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("import", "승인.dmn", "--agent", "nobody"), 5),
        (("import", "승인.dmn", "--agent", "a1", "--tenant", "other"), 5),
        (("import", "승인.dmn"), 2),
        (("import", "승인.dmn", "two.dmn", "--decision", "승인", "--agent", "a1"), 2),
        (("export", "없는 표"), 5),
    ],
)
def test_a_wrong_call_is_told(home: Home, arguments: tuple[str, ...], code: int) -> None:
    exit_code, _, err = home.call("rule", *arguments)
    assert exit_code == code
    assert err.startswith("error: ")


def test_a_file_that_cannot_be_written_is_told(home: Home) -> None:
    take(home, "승인.dmn")
    code, _, err = home.call("rule", "export", "승인", "-o", "/nowhere/out.dmn")
    assert (code, err.splitlines()[0]) == (
        1,
        "error: /nowhere/out.dmn cannot be written: No such file or directory",
    )


def test_a_file_with_errors_is_refused_with_a_line_for_each(home: Home) -> None:
    rows = [row(f"> {number}", "팀장") for number in range(4)]
    apart = learnt(*rows, policy=HitPolicy.COLLECT, name="겹침").xml
    home.write("겹침.dmn", apart.replace("COLLECT", "UNIQUE"))
    code, out, err = home.call("rule", "import", "겹침.dmn", "--agent", "a1")
    assert (code, out) == (1, b"")
    first, *findings = err.splitlines()
    assert first.startswith("겹침.dmn: the table has 6 errors: correct the file")
    assert "`skill-worker rule check 겹침.dmn`" in first
    assert [line.startswith("  [overlap] rows 'r") for line in findings] == [True] * 6
    assert "call again" not in err
    (problem,) = take(home, "겹침.dmn", code=1)["problems"]  # type: ignore[misc]
    assert isinstance(problem, dict)
    assert len(problem["findings"]) == 6  # type: ignore[arg-type]


def test_how_many_warnings_a_change_carries_is_listed(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    home.write("틈.dmn", learnt(row("> 10", "팀장"), name="틈").xml)
    (item,) = items(take(home, "틈.dmn"))
    head, *lines = home.call("changes", "list")[1].decode().splitlines()
    assert "WARN" in head
    (line,) = (line for line in lines if line.startswith(str(item["change_id"])))
    assert f"  {len(item['warnings'])}  " in line  # type: ignore[arg-type]
    shown = home.call("changes", "show", str(item["change_id"]))[1].decode()
    assert "── warnings\nno row matches" in shown
