"""Allowed values, defaults and aggregation are read, written, drafted, and untouched by edits."""

from __future__ import annotations

import pytest

from core.decision_table import draft_to_table, edit_xml, parse_xml, render_table, to_xml
from core.domain.errors import RuleInvalid
from core.domain.models import (
    Aggregation,
    DecisionRow,
    DecisionTable,
    HitPolicy,
    InputColumn,
    OutputColumn,
    RowEdit,
    RuleDraft,
)

FEES = DecisionTable(
    name="수수료",
    hit_policy=HitPolicy.COLLECT,
    aggregation=Aggregation.SUM,
    inputs=(
        InputColumn(name="등급", type="string", allowed='"VIP", "일반"'),
        InputColumn(name="n", type="number"),
    ),
    outputs=(OutputColumn(name="fee", type="number", allowed="[0..100]", default="0"),),
    rows=(DecisionRow(id="r1", inputs=('"VIP"', "> 5"), outputs=("1",)),),
)


def edited(draft: RuleDraft) -> str:
    return edit_xml(to_xml(FEES, decision_id="d"), draft, None, new_row_id=lambda: "new")


def test_clauses_are_written_and_read_back() -> None:
    xml = to_xml(FEES, decision_id="d")
    assert parse_xml(xml) == FEES
    assert to_xml(parse_xml(xml), decision_id="d") == xml
    assert xml.index("inputExpression") < xml.index("inputValues") < xml.index("outputValues")
    assert xml.index("</outputValues>") < xml.index("<defaultOutputEntry>")
    assert render_table(FEES)[0][0] == "C+"


def test_an_unknown_aggregation_is_refused_and_one_without_collect_unused() -> None:
    xml = to_xml(FEES, decision_id="d")
    with pytest.raises(RuleInvalid, match="the aggregation 'AVG' is none of 'SUM'"):
        parse_xml(xml.replace('"SUM"', '"AVG"'))
    assert parse_xml(xml.replace('"COLLECT"', '"FIRST"')).aggregation is None


def test_a_row_edit_leaves_the_clauses_their_bytes() -> None:
    before = to_xml(FEES, decision_id="d")
    after = edited(RuleDraft(rows=(RowEdit(id="r1", inputs={}, outputs={"fee": "2"}),)))
    assert after == before.replace("<text>1</text>", "<text>2</text>")


def test_new_columns_bring_their_clauses() -> None:
    xml = edited(
        RuleDraft(
            inputs=(InputColumn(name="x", type="number", allowed=" [1..9] "),),
            outputs=(OutputColumn(name="y", type="number", allowed="1,2", default="2"),),
            rows=(RowEdit(id="r1", inputs={"x": "5"}, outputs={"y": "1"}),),
        )
    )
    table = parse_xml(xml)
    assert table.inputs[-1] == InputColumn(name="x", type="number", allowed="[1..9]")
    assert table.outputs[-1] == OutputColumn(name="y", type="number", allowed="1,2", default="2")
    assert table.outputs[0] == FEES.outputs[0]


def test_a_drafted_table_has_the_clauses_of_its_columns() -> None:
    draft = RuleDraft(
        name="n",
        inputs=FEES.inputs,
        outputs=FEES.outputs,
        rows=(RowEdit(inputs={"n": "5"}, outputs={"fee": "1"}),),
    )
    table = draft_to_table(draft, new_row_id=lambda: "r")
    assert (table.inputs, table.outputs) == (FEES.inputs, FEES.outputs)


def test_an_edit_does_not_change_the_clauses_of_a_column_in_silence() -> None:
    drafted = OutputColumn(name="fee", type="number", allowed="[0..9]", default="1")
    with pytest.raises(RuleInvalid) as caught:
        edited(RuleDraft(outputs=(drafted,)))
    assert "the allowed values of column 'fee' stand in the table" in str(caught.value)
    assert "the default values of column 'fee' stand in the table" in str(caught.value)
