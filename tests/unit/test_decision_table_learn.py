"""A learnt row is checked against the feedback's example, an edit against older cases."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.decision_table import parse_xml
from core.decision_table.learning.cases import Case, cases_of, put_cases
from core.decision_table.learning.learn import Learnt, learn_document
from core.domain.errors import RuleInvalid
from core.domain.models import HitPolicy, InputColumn, MergeMode, OutputColumn, RowEdit
from tests.support.rules import AMOUNT, APPROVER, edited, learnt, row

BIG, SMALL = row("> 1000000", "팀장", example=1500000), row("<= 1000000", "없음", example=10)
START = learnt(BIG, SMALL).xml


def refused(make: Callable[[], Learnt]) -> RuleInvalid:
    with pytest.raises(RuleInvalid) as error:
        make()
    return error.value


def cases(xml: str) -> dict[str, list[tuple[object, object, str, str | None]]]:
    return {
        row_id: [(case.inputs.get(AMOUNT), case.outcome, case.origin, case.feedback_id)
                 for case in held]
        for row_id, held in cases_of(xml).items()
    }  # fmt: skip


def test_a_row_keeps_the_example_with_what_the_table_gave() -> None:
    assert cases(START) == {
        "r1": [(1500000, {APPROVER: "팀장"}, "feedback", "f1")],
        "r2": [(10, {APPROVER: "없음"}, "feedback", "f1")],
    }


def test_without_an_example_one_is_made_of_the_conditions() -> None:
    held = cases_of(learnt(row("[5..7]", "a")).xml)
    assert held == {"r1": (Case({AMOUNT: 5}, {APPROVER: "a"}, "conditions"),)}


def test_inputs_that_a_row_does_not_ask_for_are_null_or_allowed() -> None:
    grade = InputColumn(name="등급", allowed='"VIP", "일반"')
    vip = RowEdit(inputs={"등급": '"VIP"', AMOUNT: "<= 1000000"}, outputs={APPROVER: '"x"'})
    table = edited(learnt(row("> 1000000", "팀장")).xml, vip, inputs=[grade]).xml
    again = edited(table, row("", "부장", "r1", 2000000)).xml
    assert [case.inputs for case in cases_of(again)["r1"]] == [{AMOUNT: 2000000, "등급": "VIP"}]
    plain = edited(learnt(BIG).xml, vip, inputs=[InputColumn(name="등급")]).xml
    again = edited(plain, row("", "부장", "r1", 3000000)).xml
    assert cases_of(again)["r1"][-1].inputs == {AMOUNT: 3000000, "등급": None}


@pytest.mark.parametrize(
    ("example", "told"),
    [
        ({AMOUNT: 900000}, "'금액' is 900000 and the condition says > 1000000"),
        ({"amount": 1500000}, "the input 'amount' is not known"),
        ({AMOUNT: "많이"}, "'많이' is no number"),
        ({AMOUNT: None}, "'금액' is null and the condition says > 1000000"),
        ({AMOUNT: {"a": 1}}, "not supported"),
    ],
)
def test_an_example_that_does_not_meet_its_row_is_refused(
    example: dict[str, object], told: str
) -> None:
    error = refused(
        lambda: learnt(RowEdit.model_validate({**BIG.model_dump(), "example": example}))
    )
    assert told in error.message
    assert "the feedback says otherwise" in error.hint


def test_an_example_that_another_row_decides_is_refused_with_that_row() -> None:
    rows = (row("[10..20]", "팀장", annotation="십부터"), row("> 15", "사장", example=18))
    error = refused(lambda: learnt(*rows, policy=HitPolicy.FIRST))
    assert "is decided by row 'r1' (십부터) first, which gives 승인자=\"팀장\"" in error.message


def test_rows_that_ask_for_the_clock_keep_the_example_without_an_outcome() -> None:
    due = RowEdit(
        inputs={"due": "< today()"}, outputs={"late": "true"}, example={"due": "2024-01-01"}
    )
    draft = learnt(due.model_copy(update={"inputs": {"due": "< today()"}}))
    assert [case.outcome for case in cases_of(draft.xml)["r1"]] == [None]


@pytest.mark.parametrize(
    "rows",
    [
        (row("-", "조심"),),
        (row("", "조심"), row("-", "천천히")),
        (row("> 1").model_copy(update={"outputs": {APPROVER: "null"}}),),
    ],
)
def test_a_rule_about_nothing_is_refused(rows: tuple[RowEdit, ...]) -> None:
    refused(lambda: learnt(*rows, policy=HitPolicy.COLLECT))


@pytest.mark.parametrize("cell", [">> 3", "금액 >", '"a', "frob(1)", "없는것"])
def test_a_cell_that_is_no_feel_is_refused_with_its_place(cell: str) -> None:
    error = refused(lambda: edited(START, row(cell, "사장"), mode=MergeMode.EXTEND))
    assert AMOUNT in error.message


def test_clashing_rows_are_refused_with_both_named_and_what_to_do() -> None:
    error = refused(lambda: edited(START, row("> 5000000", "사장", annotation="오백만 초과")))
    assert all(told in error.message for told in ("r1", "n1", "오백만 초과"))
    assert all(told in error.hint for told in ("FIRST", "REFINE", "exclude each other"))
    assert edited(START, row("> 5000000", "사장"), hit_policy="COLLECT")


@pytest.mark.parametrize("rule_ids", [True, False])
def test_an_exception_is_added_before_the_row_that_takes_its_cases(*, rule_ids: bool) -> None:
    first = learnt(BIG, SMALL, policy=HitPolicy.FIRST).xml
    xml = first if rule_ids else first.replace('<rule id="r1">', "<rule>")
    row_id = parse_xml(xml).rows[0].id
    special = row("> 5000000", "사장", example=6000000)
    told = refused(lambda: edited(xml, special, mode=MergeMode.EXTEND))
    assert "'n1' never counts" in told.message
    assert "`before`" in told.hint
    placed = special.model_copy(update={"before": row_id})
    after = edited(xml, placed, row("null", "무"), mode=MergeMode.EXTEND)
    assert [one.inputs[0] for one in after.table.rows] == [
        "> 5000000", "> 1000000", "<= 1000000", "null",
    ]  # fmt: skip
    assert cases(after.xml)["n1"] == [(6000000, {APPROVER: "사장"}, "feedback", "f2")]
    start, end = xml.split("<rule", 1)
    assert after.xml.startswith(start)
    assert after.xml.count("<rule" + end[: end.rindex("</rule>")]) == 1
    assert parse_xml(edited(after.xml, remove_rows=["n1", "n2"]).xml) == parse_xml(xml)


@pytest.mark.parametrize(
    ("placed", "draft", "told"),
    [
        (row("> 9", "a", before="r9"), {}, "no row 'r9' to stand before (only 'r1', 'r2')"),
        (row("> 9", "a", before="r1"), {"remove_rows": ["r1"]}, "(only 'r2')"),
        (row("> 9", "a", "r1", before="r2"), {}, "merge_mode REPLACE and all rows in order"),
        (row("> 9", "a", before="r1"), {"mode": MergeMode.REPLACE}, "leave 'before' out"),
    ],
)
def test_a_row_that_cannot_stand_where_it_asks_is_refused(
    placed: RowEdit, draft: dict[str, object], told: str
) -> None:
    assert told in refused(lambda: edited(START, placed, **draft)).message  # type: ignore[arg-type]
    assert "leave 'before' out" in refused(lambda: learnt(placed)).message


def test_an_error_that_stood_before_does_not_stop_another_edit() -> None:
    broken = START.replace("&lt;= 1000000", "&gt; 5")
    assert edited(broken, row("", "사장", "r2"), mode=MergeMode.REFINE).table.rows[1].outputs
    refused(lambda: edited(broken, row("> 9", "또")))


def test_only_the_gaps_that_an_edit_opens_are_told() -> None:
    assert learnt(BIG).warnings
    assert edited(START, row("<= 100", row_id="r2")).warnings[0].startswith("no row matches")
    gap = edited(START, row("<= 100", row_id="r2")).xml
    assert not edited(gap, row("[200..300]", "사장")).warnings


def test_an_older_case_that_comes_out_otherwise_is_told_with_both() -> None:
    first = learnt(row("> 10", "팀장", example=50), policy=HitPolicy.FIRST).xml
    both = edited(first, row("> 40", "사장"), hit_policy="COLLECT")
    (warning,) = [told for told in both.warnings if "older case" in told]
    assert "금액=50 of row 'r1' (금액 > 10 → 승인자 \"팀장\"), which is not edited" in warning
    assert 'gave 승인자="팀장", will give 승인자="팀장" and 승인자="사장"' in warning
    assert cases(both.xml)["r1"] == cases(first)["r1"]


def test_cases_of_rows_edited_on_purpose_are_told_as_such_and_give_way() -> None:
    moved = edited(START, row("> 2000000", row_id="r1"), row("<= 2000000", row_id="r2"))
    (warning,) = [told for told in moved.warnings if "comes out otherwise" in told]
    assert warning.startswith("as row 'r1'")
    assert "is changed, its case 금액=1500000" in warning
    assert "will give 승인자=\"없음\" by row 'r2'" in warning
    assert [case[2] for case in cases(moved.xml)["r1"]] == ["conditions"]
    assert cases(moved.xml)["r2"] == cases(START)["r2"]
    (warning,) = [t for t in edited(START, remove_rows=["r2"]).warnings if "comes out" in t]
    assert "is removed" in warning
    assert "will give nothing" in warning


def test_a_changed_row_keeps_cases_that_still_hold_and_gains_the_new() -> None:
    again = edited(START, row("> 1200000", "팀장", "r1", 1300000), row("<= 1200000", row_id="r2"))
    assert [case[0] for case in cases(again.xml)["r1"]] == [1500000, 1300000]
    assert [case[3] for case in cases(again.xml)["r1"]] == ["f1", "f2"]


def test_replace_hands_cases_that_still_hold_to_the_rows_that_decide_them() -> None:
    renewed = edited(START, row("> 500000", "팀장"), row("<= 500000", "무"), mode=MergeMode.REPLACE)
    assert cases(renewed.xml) == {
        "n1": [(1500000, {APPROVER: "팀장"}, "feedback", "f1")],
        "n2": [(500000, {APPROVER: "무"}, "conditions", None)],
    }
    assert "is removed, its case 금액=10" in renewed.warnings[-1]


def test_a_case_that_cannot_be_decided_any_more_is_told() -> None:
    columns = [InputColumn(name="등급")]
    vip = RowEdit(inputs={"등급": '"VIP"'}, outputs={APPROVER: '"무"'})
    renewed = edited(START, vip, mode=MergeMode.REPLACE, inputs=columns)
    told = [warning for warning in renewed.warnings if "cannot be decided any more" in warning]
    assert ["'금액' is not known" in warning for warning in told] == [True, True]


def test_words_that_change_while_a_row_decides_as_before_are_told() -> None:
    told = edited(START, row("", "", "r1", annotation="사장 승인"), mode=MergeMode.REFINE).warnings
    (warning,) = told
    assert "only the words of row 'r1' change" in warning
    assert "(금액 > 1000000 → 승인자 \"팀장\"): it said nothing, will say '사장 승인'" in warning
    both = edited(START, row("", "사장", "r1", annotation="사장 승인"), mode=MergeMode.REFINE)
    assert not [warning for warning in both.warnings if "only the words" in warning]
    again = START.replace('<rule id="r1">', '<rule id="r1"><description>팀장</description>')
    assert any("only the words" in warning for warning in learn_document(again, START).warnings)
    worded = [row("", "", f"r{n}", annotation="말") for n in range(1, 11)]
    many = learnt(*(row(f"{n}", "a") for n in range(10)))
    assert "5 more rows are only worded otherwise" in edited(many.xml, *worded).warnings


def test_new_columns_alone_move_no_case() -> None:
    rows = [RowEdit(id=r, inputs={}, outputs={"기한": "1"}) for r in ("r1", "r2")]
    columns = {
        "inputs": [InputColumn(name="등급")],
        "outputs": [OutputColumn(name="기한", type="number")],
    }
    assert not edited(START, *rows, mode=MergeMode.EXTEND, **columns).warnings


def test_an_edit_that_says_nothing_new_changes_no_byte() -> None:
    assert edited(START, row("> 1000000", "팀장", "r1")).xml == START


def test_many_moved_cases_are_counted_and_a_large_table_is_skipped() -> None:
    rows = [row(f"= {number}".replace("= ", ""), "a", example=number) for number in range(40)]
    start = learnt(*rows).xml
    told = edited(start, remove_rows=[f"r{n}" for n in range(1, 31)]).warnings
    assert "20 more older cases come out otherwise" in told
    assert max(map(len, told)) < 700
    held = [Case({AMOUNT: number}, None, "feedback") for number in range(2000)]
    full = put_cases(start, {"r1": held})
    told = edited(full, hit_policy="FIRST").warnings
    assert any("cases were not decided anew" in warning for warning in told)


def test_a_document_is_taken_byte_for_byte_with_warnings_but_no_error() -> None:
    document = START.replace("\n", "\r\n")
    assert learn_document(document, None).xml == document
    assert learn_document(document, START).warnings == ()
    refused(lambda: learn_document(document.replace("&lt;= 1", "&lt;= 9"), None))
    assert learn_document(document.replace("&lt;= 1", "&lt; 1"), None).warnings
    always = document.replace("&gt; 1000000", "-").replace("&lt;= 1000000", "-")
    told = learn_document(always.replace('"UNIQUE"', '"COLLECT"'), None).warnings
    assert any("MEMORY" in warning for warning in told)


def test_a_document_in_place_of_a_table_tells_of_its_cases() -> None:
    bare = put_cases(START, {"r1": [], "r2": []}).replace('"팀장"', '"부장"')
    told = learn_document(bare, START).warnings
    assert any("금액=1500000" in warning and "부장" in warning for warning in told)
    assert "2 cases of the table before are not in the document" in told
    assert parse_xml(bare).rows[0].outputs == ('"부장"',)
