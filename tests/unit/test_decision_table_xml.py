"""Tables round-trip through DMN 1.3; other documents are refused with the reason."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from core.decision_table import parse_xml, same_table, to_xml
from core.decision_table.cells import one_line
from core.decision_table.document.markup import MODEL
from core.domain.errors import RuleInvalid
from core.domain.models import DecisionRow, DecisionTable, HitPolicy, InputColumn, OutputColumn

APPROVAL = DecisionTable(
    name="주문 승인",
    hit_policy=HitPolicy.FIRST,
    inputs=(InputColumn(name="주문 금액", type="number"), InputColumn(name="grade")),
    outputs=(OutputColumn(name="approver"), OutputColumn(name="days", type="number")),
    rows=(
        DecisionRow(
            id="r1",
            inputs=("> 1000000", "-"),
            outputs=('"팀장"', "2"),
            annotation="100만원을 넘으면 팀장 승인",
        ),
        DecisionRow(id="r2", inputs=("-", '"A & B < C"'), outputs=('"none"', "0")),
    ),
)

words = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Cn", "Co"]), min_size=1, max_size=12
).map(lambda text: one_line(text) or "x")
cells = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Cn", "Co"], include_characters="\r\n\t"),
    min_size=1,
    max_size=20,
).map(lambda text: text.strip() or "-")


@st.composite
def tables(draw: st.DrawFn) -> DecisionTable:
    inputs = draw(st.lists(words, min_size=1, max_size=3, unique=True))
    outputs = draw(st.lists(words, min_size=1, max_size=3, unique=True))
    count = draw(st.integers(0, 5))
    rows = [
        DecisionRow(
            id=f"row-{number}",
            inputs=tuple(draw(cells) for _ in inputs),
            outputs=tuple(draw(cells) for _ in outputs),
            annotation=draw(st.one_of(st.just(""), cells)),
        )
        for number in range(count)
    ]
    return DecisionTable(
        name=draw(words),
        hit_policy=draw(st.sampled_from(HitPolicy)),
        inputs=tuple(InputColumn(name=name, type=draw(words)) for name in inputs),
        outputs=tuple(OutputColumn(name=name, type=draw(words)) for name in outputs),
        rows=tuple(rows),
    )


@given(tables())
def test_a_table_written_and_read_is_the_same_table(table: DecisionTable) -> None:
    xml = to_xml(table, decision_id="d")
    assert parse_xml(xml) == table
    assert to_xml(parse_xml(xml), decision_id="d") == xml


def test_elements_stand_in_the_order_of_the_schema() -> None:
    root = etree.fromstring(to_xml(APPROVAL, decision_id="1 rule").encode())
    assert root.tag == f"{{{MODEL}}}definitions"
    assert {"name", "namespace"} <= set(root.attrib)
    (decision,) = root
    assert decision.attrib == {"id": "_1_rule", "name": "주문 승인"}
    (table,) = decision
    assert table.get("hitPolicy") == "FIRST"
    assert [etree.QName(child).localname for child in table] == [
        *["input"] * 2,
        *["output"] * 2,
        "annotation",
        *["rule"] * 2,
    ]
    (expression,) = table[0]
    assert (expression.get("typeRef"), expression[0].text) == ("number", "주문 금액")
    assert table[2].attrib == {"name": "approver", "typeRef": "string"}
    assert [etree.QName(child).localname for child in table[5]] == [
        *["inputEntry"] * 2,
        *["outputEntry"] * 2,
        "annotationEntry",
    ]
    assert all([etree.QName(text).localname for text in entry] == ["text"] for entry in table[5])


def test_ids_of_a_document_are_unique_even_where_a_row_has_the_decisions() -> None:
    row = DecisionRow(id="d_table", inputs=("-", "-"), outputs=("1", "2"))
    xml = to_xml(APPROVAL.model_copy(update={"rows": (row,)}), decision_id="d")
    ids = [found.get("id") for found in etree.fromstring(xml.encode()).iter() if found.get("id")]
    assert len(ids) == len(set(ids)) == 4


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([DecisionRow(id="1", inputs=("-", "-"), outputs=("1", "2"))], "'1' cannot be an id"),
        ([APPROVAL.rows[0], APPROVAL.rows[0]], "two rows have the id 'r1'"),
        ([DecisionRow(id="r", inputs=("-",), outputs=("1", "2"))], "'r' does not fit"),
        ([DecisionRow(id="r", inputs=("-", "\0"), outputs=("1", "2"))], r"U\+0000"),
    ],
)
def test_what_xml_cannot_hold_is_not_written(rows: list[DecisionRow], said: str) -> None:
    with pytest.raises(RuleInvalid, match=said):
        to_xml(APPROVAL.model_copy(update={"rows": tuple(rows)}), decision_id="d")


GOOD = to_xml(APPROVAL, decision_id="d")
LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "'
    + "&a;" * 1000
    + '"><!ENTITY c "'
    + "&b;" * 1000
    + '">]><definitions x="&c;">&c;</definitions>'
)
SECOND = GOOD[GOOD.index("  <decision ") : GOOD.index("</definitions>")]


@pytest.mark.parametrize(
    ("xml", "said"),
    [
        ("", "not well-formed"),
        ("<definitions>", "not well-formed"),
        ("\ud800", "no valid Unicode"),
        ("<a/>", "the root is <a>"),
        (LAUGHS, "DOCTYPE|not well-formed"),
        ('<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]><d>&x;</d>', "DOCTYPE"),
        ('<!DOCTYPE d SYSTEM "http://127.0.0.1:9/x.dtd"><d/>', "DOCTYPE"),
        ("<d>&x;</d>", "not well-formed"),
        (GOOD.replace("20191111", "20240513"), "DMN 1.6; DMN 1.1 to 1.5 are read"),
        (GOOD.replace("https://www.omg.org/spec/DMN/20191111", "urn:other"), "the root is"),
        (GOOD.replace("?>", "?><?xml-stylesheet href='a'?>", 1), "processing instruction"),
        (GOOD.replace("&gt;", "<?evil now?>", 1), "processing instruction on line"),
        (GOOD.replace("decisionTable", "invocation"), "0 decision tables"),
        (GOOD.replace("</definitions>", SECOND + "</definitions>"), "2 decision tables"),
        (
            GOOD.replace("<decision ", "<other ").replace("</decision>", "</other>"),
            "part of another expression [(]other[)]",
        ),
        (GOOD.replace('"FIRST"', '"BEST"'), "hit policy 'BEST' is none of"),
        (GOOD.replace("<input>", "<label>").replace("</input>", "</label>"), "no input column"),
        (GOOD.replace("<output ", "<label "), "no output column"),
        (GOOD.replace(">grade<", ">주문 금액<"), "two input columns are named '주문 금액'"),
        (GOOD.replace(">grade<", "> <"), "input column 2 has a blank name"),
        (
            GOOD.replace("<inputEntry><text>-</text></inputEntry>", "", 1),
            "row 'r1' on line 14 has 1",
        ),
        (GOOD.replace("<outputEntry>", "<outputEntry/><outputEntry>", 1), "has 3 output entries"),
        (GOOD.replace('"r2"', '"r1"'), "two rows have the id 'r1'"),
    ],
)
def test_what_is_no_decision_table_is_refused_with_its_reason(xml: str, said: str) -> None:
    with pytest.raises(RuleInvalid, match=said):
        parse_xml(xml)


def test_many_problems_are_cut_to_a_readable_message() -> None:
    broken = GOOD.replace("<inputEntry>", "<x>").replace("</inputEntry>", "</x>")
    rows = "".join(broken[broken.index("<rule") : broken.index("</decisionTable>")] * 50)
    with pytest.raises(RuleInvalid, match="more problems") as caught:
        parse_xml(broken.replace("</decisionTable>", rows + "</decisionTable>"))
    assert len(caught.value.message) < 2_000


def test_foreign_tables_are_read_for_what_they_mean() -> None:
    xml = f"""<d:definitions xmlns:d="{MODEL}" name="x" namespace="y"><d:decision id="dec">
      <d:decisionTable><d:input label="금액"><d:inputExpression/></d:input><d:output/>
      <d:rule><d:description>old style</d:description><d:inputEntry><d:text/></d:inputEntry>
        <d:outputEntry><d:text> "a"<!-- c -->&amp;b </d:text></d:outputEntry></d:rule>
      </d:decisionTable></d:decision></d:definitions>"""
    table = parse_xml(xml)
    assert (table.name, table.hit_policy) == ("dec", HitPolicy.UNIQUE)
    assert table.inputs == (InputColumn(name="금액", type="Any"),)
    assert table.outputs == (OutputColumn(name="dec", type="Any"),)
    assert table.rows == (
        DecisionRow(id="row_1", inputs=("-",), outputs=('"a"&b',), annotation="old style"),
    )


def test_an_encoding_that_the_declaration_names_does_not_matter_for_text() -> None:
    assert parse_xml("\ufeff" + GOOD.replace("UTF-8", "EUC-KR")) == APPROVAL


def test_two_spellings_of_one_table_are_the_same_and_two_tables_are_not() -> None:
    other = GOOD.replace("\n", "\n  ").replace('"r1"', '"zz"').replace("<rule", "<!-- c --><rule")
    assert same_table(GOOD, other)
    assert not same_table(GOOD, GOOD.replace("1000000", "1000001"))
    assert not same_table(GOOD, GOOD.replace('"FIRST"', '"ANY"'))
    assert not same_table(GOOD, GOOD.replace("<decisionTable", '<decisionTable aggregation="SUM"'))
