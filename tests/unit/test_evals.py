"""Labelled feedback: what is right, what is lost, and which of two variants does better."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from core.domain.errors import InvalidInput
from core.entrypoints.evals.cases import Known, RoutingCase, read_set
from core.entrypoints.evals.judging import CaseResult, Decided, Made, Report, judge
from core.entrypoints.evals.paired import Pair, compare, sign_test
from core.entrypoints.evals.report import junit, pairs

CREATE = {"kind": "MEMORY", "operation": "CREATE"}
UPDATE = {"kind": "DMN_RULE", "operation": "UPDATE", "target": "t1"}


def case(*expect: dict[str, str], **more: object) -> RoutingCase:
    given = {"id": "c", "feedback": "f", "agent": {"id": "a"}, "expect": expect, "known": []}
    return RoutingCase.model_validate({**given, **more})


def made(kind: str, operation: str, target: str | None = None, text: str = "") -> Made:
    return Made(kind=kind, operation=operation, target=target, text=text)


@pytest.mark.parametrize(
    ("decided", "is_right"),
    [
        ((made("MEMORY", "CREATE"),), True),
        ((made("MEMORY", "CREATE", "m1"),), False),
        ((made("MEMORY", "UPDATE"),), False),
        ((made("MEMORY", "CREATE"), made("MEMORY", "CREATE")), False),
        ((made("DMN_RULE", "UPDATE", "t1"),), True),
        ((made("DMN_RULE", "UPDATE", "t2"),), False),
        ((), False),
    ],
)
def test_right_is_the_same_change_of_the_same_item(
    decided: tuple[Made, ...], is_right: bool
) -> None:
    found = judge(case(CREATE, acceptable=[[UPDATE]]), Decided(made=decided))
    assert found.is_right is is_right


def test_nothing_is_right_where_nothing_is_to_be_learnt() -> None:
    nothing = case({"kind": "NONE"})
    assert judge(nothing, Decided()).is_right
    assert not judge(nothing, Decided(made=(made("MEMORY", "CREATE"),))).is_right
    failed = judge(nothing, Decided(failed="the model is down"))
    assert (failed.is_right, failed.decided) == (False, "FAILED")


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("up to 1,000,000 KRW, Legal reads it", ()),
        ("up to 1000000 won, LEGAL reads it", ()),
        ("up to 11000000 won, legal reads it", ("1,000,000",)),
        ("up to 1000000.5 won, legal reads it", ("1,000,000",)),
        ("up to 1000000 won", ("legal",)),
        ("&lt; 1000000 &quot;legal&quot;", ()),
    ],
)
def test_what_must_be_kept_is_looked_for_in_all_spellings(text: str, lost: tuple[str, ...]) -> None:
    asked = case(CREATE, must_keep=[["1,000,000", "1백만"], "legal"])
    found = judge(asked, Decided(made=(made("MEMORY", "CREATE", text=text),)))
    assert (found.lost, found.is_kept) == (lost, not lost)


def test_of_a_wrong_change_nothing_is_said_about_what_it_keeps() -> None:
    found = judge(case(UPDATE, must_keep=["x"]), Decided(made=(made("MEMORY", "CREATE"),)))
    assert (found.is_kept, found.lost) == (None, ())


def result(name: str, **more: object) -> CaseResult:
    given = {"id": name, "lang": "ko", "author": "", "expected": "NONE", "decided": "NONE"}
    return CaseResult.model_validate({**given, "is_right": True, **more})


def report(*results: CaseResult) -> Report:
    return Report(set="own", model="m", results=results)


def test_a_report_counts_what_was_decided_as_what() -> None:
    wrong = result("b", decided="MEMORY CREATE", is_right=False, lang="en")
    lost = result("c", is_kept=False, lost=("14",))
    found = report(result("a"), wrong, lost)
    table = {name: str(one) for name, one in found.confusion()["NONE"].items()}
    assert table == {"NONE": "2/2 100%", "MEMORY CREATE": "0/1 0%"}
    assert {lang: str(one) for lang, one in found.by_language().items()} == {
        "en": "0/1 0%",
        "ko": "2/2 100%",
    }
    assert str(found.kept) == "0/1 0%"


def test_junit_names_each_case_and_why_it_is_not_good() -> None:
    bad = result("b", decided="MEMORY CREATE", is_right=False)
    lost = result("c", is_kept=False, lost=("14", "\x01&<"))
    broken = result("d", failed="down", decided="FAILED", is_right=False)
    suite = ElementTree.fromstring(junit(report(result("a"), bad, lost, broken)))
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("4", "2", "1")
    told = {one.get("name"): [part.get("message") for part in one] for one in suite}
    assert told == {
        "a": [],
        "b": ["expected NONE, decided MEMORY CREATE"],
        "c": ["lost: 14, &<"],
        "d": ["down"],
    }


@pytest.mark.parametrize(
    ("won", "lost", "p_value"),
    [(0, 0, 1.0), (5, 0, 0.0625), (6, 0, 0.03125), (3, 3, 1.0), (9, 1, 0.021484375)],
)
def test_the_sign_test_is_exact(won: int, lost: int, p_value: float) -> None:
    assert sign_test(won, lost) == sign_test(lost, won) == pytest.approx(p_value)


def test_cases_of_one_author_count_once() -> None:
    alone = {f"c{n}": Pair(id=f"c{n}", first=True, second=False) for n in range(6)}
    assert compare(alone).better == "first"
    together = {name: pair.model_copy(update={"author": "kim"}) for name, pair in alone.items()}
    found = compare(together)
    assert (found.only_first, found.clusters, found.clusters_for_first) == (6, 1, 1)
    assert (found.better, found.p_value) == ("undecided", 1.0)


def test_two_results_of_other_cases_are_not_compared() -> None:
    with pytest.raises(InvalidInput, match="2 cases are in one of the results only, as 'b'"):
        [*pairs(report(result("a"), result("b")), report(result("a"), result("c")))]


def test_the_set_that_ships_can_be_read() -> None:
    cases = read_set("routing")
    assert {one.lang for one in cases} == {"ko", "en"}
    assert all(item.request() for one in cases for item in one.known or ())


LINE = {"id": "c", "feedback": "f", "agent": {"id": "a"}, "expect": [CREATE]}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "has no cases"),
        ("{", "line 1"),
        (json.dumps(LINE) + "\n\n" + json.dumps({**LINE, "expect": []}), "line 3.*expect"),
        (json.dumps(LINE) + "\n" + json.dumps(LINE), "line 2: a case before has the id 'c'"),
        (json.dumps({**LINE, "unknown": 1}), "line 1.*unknown"),
    ],
)
def test_a_file_that_is_no_set_is_refused_with_its_line(
    tmp_path: Path, text: str, told: str
) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match=told):
        read_set(str(path))


def test_a_text_outcome_of_a_table_may_do_without_its_quotes() -> None:
    table = Known.model_validate(
        {
            "kind": "DMN_RULE",
            "id": "t",
            "name": "T",
            "inputs": {"amount": "number"},
            "outputs": {"who": "string", "fee": "number"},
            "rows": [["> 5", 'team "lead"', 3], [7, '"me"', "4"]],
        }
    )
    rows = table.request().rule.rows  # type: ignore[union-attr]
    assert [row.outputs["who"] for row in rows] == ['"team \\"lead\\""', '"me"']
    assert [(row.inputs["amount"], row.outputs["fee"]) for row in rows] == [
        ("> 5", "3"),
        ("7", "4"),
    ]
