"""An edit changes what it names in a table's XML, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from core.decision_table import edit_xml, parse_xml
from core.decision_table.document.markup import MODEL
from core.domain.errors import RuleInvalid
from core.domain.models import HitPolicy, InputColumn, MergeMode, OutputColumn, RowEdit, RuleDraft

FOREIGN = f"""<?xml version='1.0' encoding='UTF-8'?>
<!-- made by hand -->
<dmn:definitions xmlns:dmn="{MODEL}" xmlns:x="urn:x" name="n" namespace="urn:n"
  xmlns:di="https://www.omg.org/spec/DMN/20191111/DMNDI/">
  <dmn:decision id='d1' label='a > b' name = 'Fee'>
    <dmn:variable name="Fee"/>
    <dmn:decisionTable id="t" hitPolicy="COLLECT" aggregation="SUM" x:note="name='z'">
      <dmn:extensionElements><x:rule id="r1"><x:text>kept</x:text></x:rule></dmn:extensionElements>
      <dmn:input id="i"><dmn:inputExpression typeRef="number"><dmn:text>amount</dmn:text>
        </dmn:inputExpression><dmn:inputValues><dmn:text>&gt; 0</dmn:text></dmn:inputValues>
      </dmn:input>
      <dmn:output id="o" name="fee" typeRef="number" />
      <!-- first -->
      <dmn:rule id="r1"  x:a="1"><dmn:description><![CDATA[old]]></dmn:description>
        <dmn:inputEntry id="c1"><dmn:text>&lt; 10</dmn:text></dmn:inputEntry>
        <dmn:outputEntry id="c2"><dmn:text>&#49;</dmn:text></dmn:outputEntry>
      </dmn:rule>
      <!-- second -->
      <dmn:rule id='r2'><dmn:inputEntry><dmn:text/></dmn:inputEntry><dmn:outputEntry/></dmn:rule >
      <dmn:rule><dmn:inputEntry><dmn:text>5</dmn:text></dmn:inputEntry
        ><dmn:outputEntry><dmn:text>9</dmn:text></dmn:outputEntry></dmn:rule>
    </dmn:decisionTable>
  </dmn:decision>
  <di:DMNDI><di:DMNDiagram name="Fee"/></di:DMNDI>
</dmn:definitions>
"""


@pytest.fixture
def ids() -> Iterator[str]:
    return (f"n{number}" for number in count(1))


def edit(
    ids: Iterator[str], draft: RuleDraft, mode: MergeMode | None = None, xml: str = FOREIGN
) -> str:
    return edit_xml(xml, draft, mode, new_row_id=lambda: next(ids))


def row(row_id: str | None = None, annotation: str = "", **cells: str) -> RowEdit:
    outputs = {name: cells.pop(name) for name in ("fee", "tax") if name in cells}
    return RowEdit(id=row_id, inputs=cells, outputs=outputs, annotation=annotation)


def test_a_draft_that_says_nothing_new_changes_no_byte(ids: Iterator[str]) -> None:
    same = RuleDraft(name="Fee", hit_policy=HitPolicy.COLLECT, rows=(row("r1", amount="< 10"),))
    assert edit(ids, same) == FOREIGN
    assert edit(ids, RuleDraft()) == FOREIGN


def test_changing_a_cell_replaces_its_text_only(ids: Iterator[str]) -> None:
    draft = RuleDraft(rows=(row("r1", amount="< 1000 & true", fee="2"),))
    assert edit(ids, draft) == FOREIGN.replace("&lt; 10<", "&lt; 1000 &amp; true<").replace(
        "&#49;", "2"
    )


def test_empty_cells_and_rows_without_id_can_be_changed(ids: Iterator[str]) -> None:
    draft = RuleDraft(rows=(row("r2", amount="7", fee="3"), row("row_3", fee="8")))
    assert edit(ids, draft) == (
        FOREIGN.replace("<dmn:text/>", "<dmn:text>7</dmn:text>")
        .replace("<dmn:outputEntry/>", "<dmn:outputEntry><dmn:text>3</dmn:text></dmn:outputEntry>")
        .replace("<dmn:rule><dmn:inputEntry>", '<dmn:rule id="row_3"><dmn:inputEntry>')
        .replace("<dmn:text>9<", "<dmn:text>8<")
    )


def test_a_row_is_added_behind_the_last_in_the_style_of_the_document(ids: Iterator[str]) -> None:
    draft = RuleDraft(rows=(row(amount="> 5", fee="6", annotation="큰 금액"),))
    edited = edit(ids, draft)
    head, tail = FOREIGN.split("\n    </dmn:decisionTable>")
    assert edited.startswith(head + '\n      <dmn:rule id="n1">\n        <dmn:description>큰 금액<')
    assert edited.endswith("</dmn:rule>\n    </dmn:decisionTable>" + tail)
    assert parse_xml(edited).rows[-1].annotation == "큰 금액"


def test_a_removed_row_takes_only_itself(ids: Iterator[str]) -> None:
    start = FOREIGN.index("\n      <dmn:rule id='r2'>")
    end = FOREIGN.index("</dmn:rule >") + len("</dmn:rule >")
    assert edit(ids, RuleDraft(remove_rows=("r2",))) == FOREIGN[:start] + FOREIGN[end:]


def test_several_edits_of_neighbouring_rows_go_together(ids: Iterator[str]) -> None:
    draft = RuleDraft(
        rows=(row("r1", fee="4"), row(amount="1", fee="1"), row(amount="2", fee="2")),
        remove_rows=("row_3", "r2"),
    )
    table = parse_xml(edit(ids, draft))
    assert [(found.id, found.outputs) for found in table.rows] == [
        ("r1", ("4",)),
        ("n1", ("1",)),
        ("n2", ("2",)),
    ]


def test_new_columns_leave_the_old_cells_alone(ids: Iterator[str]) -> None:
    draft = RuleDraft(
        inputs=(InputColumn(name="amount"), InputColumn(name="vip", type="bool")),
        outputs=(OutputColumn(name="tax"),),
        rows=(row("r1", tax="1", vip="true"), row("r2", tax="2"), row("row_3", tax='"3"')),
    )
    edited = edit(ids, draft)
    table = parse_xml(edited)
    assert [(column.name, column.type) for column in table.inputs] == [
        ("amount", "number"),
        ("vip", "boolean"),
    ]
    assert table.outputs[1] == OutputColumn(name="tax", type="Any")
    assert [found.inputs[1] for found in table.rows] == ["true", "-", "-"]
    assert [found.outputs for found in table.rows] == [("1", "1"), ("", "2"), ("9", '"3"')]
    assert all(line in edited for line in FOREIGN.splitlines() if "<!--" in line or "di:" in line)


def test_renaming_follows_the_decision_and_its_variable(ids: Iterator[str]) -> None:
    expected = FOREIGN.replace("name = 'Fee'", 'name="수수료 &quot;A&quot;"', 1)
    expected = expected.replace(" name = ", " name=").replace(
        '<dmn:variable name="Fee"/>', "<dmn:variable name='수수료 \"A\"'/>"
    )
    expected = expected.replace('name="수수료 &quot;A&quot;"', "name='수수료 \"A\"'")
    assert edit(ids, RuleDraft(name='  수수료   "A" ')) == expected


def test_the_hit_policy_is_set_and_takes_its_aggregation_along(ids: Iterator[str]) -> None:
    edited = edit(ids, RuleDraft(hit_policy=HitPolicy.FIRST))
    assert edited == FOREIGN.replace('"COLLECT" aggregation="SUM"', '"FIRST"')


def test_replace_supersedes_all_rows_and_the_columns_it_names(ids: Iterator[str]) -> None:
    draft = RuleDraft(
        inputs=(InputColumn(name="grade"),),
        rows=(row(grade='"VIP"', fee="0"), row("r1", fee="5")),
    )
    edited = edit(ids, draft, MergeMode.REPLACE)
    table = parse_xml(edited)
    assert table.inputs == (InputColumn(name="grade", type="string"),)
    assert [column.name for column in table.outputs] == ["fee"]
    assert [(found.id, found.inputs) for found in table.rows] == [
        ("n1", ('"VIP"',)),
        ("r1", ("-",)),
    ]
    assert "<x:text>kept</x:text>" in edited
    assert '<di:DMNDiagram name="Fee"/>' in edited


def test_a_new_id_differs_from_every_id_of_the_document(ids: Iterator[str]) -> None:
    draft = RuleDraft(rows=(row(amount="1", fee="1"), row(amount="2", fee="1")))
    edited = edit_xml(FOREIGN, draft, None, new_row_id=lambda: "c1")
    assert [found.id for found in parse_xml(edited).rows[-2:]] == ["c1_2", "c1_3"]


@pytest.mark.parametrize(
    ("draft", "said"),
    [
        (
            RuleDraft(rows=(row("r9", fee="1"),)),
            "there is no row 'r9' \\(there are: 'r1', 'r2', 'row_3'\\)",
        ),
        (RuleDraft(remove_rows=("r9",)), "there is no row 'r9'"),
        (RuleDraft(rows=(row("r1", fee="1"), row("r1", fee="2"))), "'r1' is edited twice"),
        (RuleDraft(rows=(row("r1"),), remove_rows=("r1",)), "'r1' is both edited and removed"),
        (RuleDraft(rows=(row(amount="1"),)), "new row 1 gives no value for 'fee'"),
        (
            RuleDraft(rows=(row("r1", amuont="1"),)),
            "row 'r1' names the unknown input column 'amuont' \\(there are: 'amount'\\)",
        ),
        (RuleDraft(rows=(row("r1", tax="1"),)), "unknown output column 'tax'"),
        (RuleDraft(rows=(row("r1", fee="(1"),)), "the cell 'fee' of row 'r1' has brackets"),
        (RuleDraft(rows=(row("r1", annotation="\0"),)), r"annotation of row 'r1' holds .* U\+0000"),
        (RuleDraft(remove_rows=("r1", "r2", "row_3")), "no row would be left"),
        (
            RuleDraft(outputs=(OutputColumn(name="tax"),)),
            "'tax' has no value in 'r1', 'r2', 'row_3'",
        ),
        (
            RuleDraft(outputs=(OutputColumn(name="tax"),), rows=(row("r1", fee="1"),)),
            "row 'r1' gives no value for 'tax'; .*no value in 'r2', 'row_3'",
        ),
        (
            RuleDraft(inputs=(InputColumn(name="amount", type="string"),)),
            "'amount' is of type number",
        ),
        (RuleDraft(inputs=(InputColumn(name="vip", type="colour"),)), "unknown type 'colour'"),
        (RuleDraft(name="x" * 201), "more than 200 characters"),
    ],
)
def test_an_edit_that_does_not_fit_is_refused_and_names_what_there_is(
    draft: RuleDraft, said: str, ids: Iterator[str]
) -> None:
    with pytest.raises(RuleInvalid, match=said):
        edit(ids, draft)


def test_replace_without_rows_is_refused(ids: Iterator[str]) -> None:
    with pytest.raises(RuleInvalid, match="no row would be left"):
        edit(ids, RuleDraft(name="Fees"), MergeMode.REPLACE)


def test_line_endings_of_the_document_are_kept(ids: Iterator[str]) -> None:
    windows = FOREIGN.replace("\n", "\r\n")
    edited = edit(ids, RuleDraft(rows=(row("r1", fee="2"), row(amount="1", fee="1"))), xml=windows)
    assert "\n" not in edited.replace("\r\n", "")


def test_a_table_of_ten_thousand_rows_is_edited_in_one_place(ids: Iterator[str]) -> None:
    head, tail = FOREIGN.split("\n    </dmn:decisionTable>")
    cell = "<dmn:text>{}</dmn:text>"
    many = "".join(
        f'<dmn:rule id="m{number}"><dmn:inputEntry>{cell.format(number)}</dmn:inputEntry>'
        f"<dmn:outputEntry>{cell.format(number)}</dmn:outputEntry></dmn:rule>"
        for number in range(10_000)
    )
    xml = head + many + "\n    </dmn:decisionTable>" + tail
    edited = edit(ids, RuleDraft(rows=(row("m7777", fee="0"),)), xml=xml)
    assert edited == xml.replace(
        "<dmn:outputEntry><dmn:text>7777<", "<dmn:outputEntry><dmn:text>0<"
    )
    assert len(parse_xml(edited).rows) == 10_003
