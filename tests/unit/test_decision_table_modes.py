"""EXTEND adds and keeps, REFINE changes what it names, REPLACE supersedes the whole."""

from __future__ import annotations

import pytest

from core.decision_table import parse_xml
from core.domain.errors import RuleInvalid
from core.domain.models import HitPolicy, InputColumn, MergeMode, OutputColumn, RowEdit
from tests.support.rules import AMOUNT, APPROVER, learnt, plain, row

EXTEND, REFINE, REPLACE = MergeMode.EXTEND, MergeMode.REFINE, MergeMode.REPLACE
XML = learnt(row("> 10", "팀장"), row("<= 10", "없음")).xml


def test_extend_keeps_every_byte_of_the_old_rows() -> None:
    edited = plain(XML, row("null", "사장"), mode=EXTEND)
    head, tail = XML.split("\n    </decisionTable>")
    assert edited.startswith(head)
    assert edited.endswith("\n    </decisionTable>" + tail)


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        ({"rows": [row("> 20", row_id="r1")]}, "row 'r1' would change"),
        ({"rows": [row("", "사장", row_id="r1")]}, "row 'r1' would change"),
        ({"rows": [row("> 10", row_id="r1", annotation="새 설명")]}, "row 'r1' would change"),
        ({"remove_rows": ["r2"]}, "EXTEND removes no row ('r2')"),
        ({"name": "다른 이름"}, "EXTEND keeps the name '승인'"),
        ({"hit_policy": "FIRST"}, "EXTEND keeps the hit policy UNIQUE"),
    ],
)
def test_extend_refuses_to_change_what_stands(edit: dict[str, object], told: str) -> None:
    with pytest.raises(RuleInvalid) as refused:
        plain(XML, mode=EXTEND, **edit)
    assert told in refused.value.message


def test_extend_may_repeat_what_stands() -> None:
    assert plain(XML, row("> 10", "팀장", "r1"), name="승인", mode=EXTEND) == XML


def test_extend_gives_old_rows_values_in_new_columns_only() -> None:
    rows = [RowEdit(id=r, inputs={}, outputs={"기한": "1"}) for r in ("r1", "r2")]
    columns = {
        "inputs": [InputColumn(name="등급")],
        "outputs": [OutputColumn(name="기한", type="number")],
    }
    table = parse_xml(plain(XML, *rows, mode=EXTEND, **columns))
    assert [(one.inputs, one.outputs) for one in table.rows] == [
        (("> 10", "-"), ('"팀장"', "1")),
        (("<= 10", "-"), ('"없음"', "1")),
    ]
    rows[0] = rows[0].model_copy(update={"inputs": {AMOUNT: "> 5"}})
    with pytest.raises(RuleInvalid, match="'r1' would change"):
        plain(XML, *rows, mode=EXTEND, **columns)


def test_refine_names_a_row_and_may_add_others() -> None:
    with pytest.raises(RuleInvalid, match="no row is named"):
        plain(XML, row("null", "사장"), mode=REFINE)
    with pytest.raises(RuleInvalid, match="no row is named"):
        plain(XML, mode=REFINE, hit_policy=HitPolicy.FIRST)
    table = parse_xml(plain(XML, row("> 20", row_id="r1"), row("null", "사장"), mode=REFINE))
    assert [one.inputs[0] for one in table.rows] == ["> 20", "<= 10", "null"]
    assert len(parse_xml(plain(XML, mode=REFINE, remove_rows=["r2"])).rows) == 1


def test_replace_supersedes_all_rows() -> None:
    table = parse_xml(plain(XML, row("> 99", "사장"), mode=REPLACE))
    assert [(one.inputs, one.outputs) for one in table.rows] == [(("> 99",), ('"사장"',))]
    assert [column.name for column in table.outputs] == [APPROVER]


def test_without_a_mode_an_edit_may_do_all_of_it() -> None:
    table = parse_xml(plain(XML, row("> 20", row_id="r1"), name="새 승인", remove_rows=["r2"]))
    assert (table.name, len(table.rows)) == ("새 승인", 1)
