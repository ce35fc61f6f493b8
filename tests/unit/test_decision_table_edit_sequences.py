"""Documents in any formatting keep every byte that an edit does not name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from core.decision_table import edit_xml, parse_xml
from core.decision_table.document.markup import MODEL
from core.domain.models import RowEdit, RuleDraft

DOCUMENT = """<?xml version="1.0" encoding="UTF-8"?>
<!-- 손으로 쓴 표 -->
<{p}definitions xmlns{c}="{model}" xmlns:camunda="http://camunda.org/schema/1.0/dmn"
  xmlns:dmndi="https://www.omg.org/spec/DMN/20191111/DMNDI/" id='defs' name="표" namespace="urn:n">
  <{p}inputData id="data" name="금액"><{p}variable name="금액" typeRef="number"/></{p}inputData>
  <{p}decision id="d" name="수수료" camunda:versionTag="1 &gt; 0">
    <{p}extensionElements><camunda:rule id="r0">&#xac00; <![CDATA[<rule>]]></camunda:rule></{p}extensionElements>
    <{p}decisionTable id="t" hitPolicy='FIRST'>
      <{p}input id="i"><{p}inputExpression typeRef="number"><{p}text>금액</{p}text></{p}inputExpression></{p}input>
      <{p}output id="o" name="수수료" typeRef="number"/>
      <{p}annotation name="비고"/>{rules}
      <!-- the end of the rules -->
    </{p}decisionTable>
  </{p}decision>
  <dmndi:DMNDI><dmndi:DMNDiagram id="g"><dmndi:DMNShape dmnElementRef="d"/></dmndi:DMNDiagram></dmndi:DMNDI>
</{p}definitions>
"""  # noqa: E501
# A rule as tools and people write it: `{id}`, `{n}`, and what stands in its cells.
RULES = (
    """
      <{p}rule id="{id}">
        <{p}inputEntry id="{id}_i"><{p}text>{cell}</{p}text></{p}inputEntry>
        <{p}outputEntry id="{id}_o"><{p}text>{n}</{p}text></{p}outputEntry>
        <{p}annotationEntry><{p}text>줄 {n}</{p}text></{p}annotationEntry>
      </{p}rule>""",
    """<!-- row {n} --><{p}rule  id = '{id}' camunda:x="a > b"><{p}inputEntry
        expressionLanguage="feel" ><{p}text><![CDATA[{n} ]]></{p}text></{p}inputEntry
        ><{p}outputEntry><{p}text>&#49;{n}</{p}text ></{p}outputEntry></{p}rule >""",
    """
	<{p}rule id="{id}"><{p}description>old &amp; kept</{p}description><{p}extensionElements
	><camunda:rule><camunda:text> </camunda:text></camunda:rule></{p}extensionElements>
	<{p}inputEntry/><{p}outputEntry><{p}text/></{p}outputEntry><{p}annotationEntry/></{p}rule>""",
)
CELLS = ("&lt; 10", "&gt;= 5", "[1..9]", "-", "")

fresh = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Cn", "Co"], exclude_characters="\"'()[]{}“”„,"),
    min_size=1,
    max_size=8,
).map(lambda text: text.strip() or "-")


@st.composite
def documents(draw: st.DrawFn) -> str:
    prefix = draw(st.sampled_from(["", "dmn:", "규칙:"]))
    shapes = draw(st.lists(st.sampled_from(RULES), min_size=1, max_size=6))
    rules = "".join(
        shape.format(p=prefix, id=f"r{n}", n=n, cell=draw(st.sampled_from(CELLS)))
        for n, shape in enumerate(shapes)
    )
    colon = f":{prefix[:-1]}" if prefix else ""
    text = DOCUMENT.format(p=prefix, c=colon, model=MODEL, rules=rules)
    layout = draw(st.sampled_from(["as is", "crlf", "one line", "tabs"]))
    if layout == "crlf":
        return text.replace("\n", "\r\n")
    if layout == "one line":
        return re.sub(r">\s+<", "><", text)
    return text.replace("    ", "\t") if layout == "tabs" else text


steps = st.lists(
    st.tuples(
        st.sampled_from(["cell", "output", "note", "row", "add", "remove"]),
        st.lists(st.integers(0, 20), min_size=1, max_size=3),
        fresh,
    ),
    min_size=1,
    max_size=6,
)


def rules_of(xml: str) -> dict[str, str]:
    """Return the text of each rule by id; rules of extensions have another prefix."""
    prefix = re.search(r"<([^\s<>]*:)?definitions\b", xml)
    name = f"{(prefix and prefix[1]) or ''}rule"
    found = re.findall(rf"<{name}\s.*?</{name}\s*>", xml, re.DOTALL)
    return {
        match[1]: text for text in found if (match := re.search(r"""id\s*=\s*["']([^"']+)""", text))
    }


def drafted(what: str, ids: Sequence[str], value: str) -> RuleDraft:
    edits: dict[str, RowEdit] = {
        "cell": RowEdit(inputs={"금액": value}, outputs={}),
        "output": RowEdit(inputs={}, outputs={"수수료": value}),
        "note": RowEdit(inputs={}, outputs={}, annotation=value),
        "row": RowEdit(inputs={"금액": value}, outputs={"수수료": value}, annotation=value),
    }
    if what == "remove":
        return RuleDraft(remove_rows=tuple(ids))
    if what == "add":
        return RuleDraft(rows=(edits["row"], edits["row"]))
    return RuleDraft(rows=tuple(edits[what].model_copy(update={"id": row}) for row in ids))


def without(xml: str, rules: Sequence[str]) -> str:
    """Return the text without some rules and the white space before them."""
    for rule in rules:
        head, tail = xml.split(rule)
        xml = head.rstrip() + tail
    return xml


@given(documents(), steps)
def test_all_that_an_edit_does_not_name_keeps_its_bytes(
    xml: str, sequence: list[tuple[str, list[int], str]]
) -> None:
    ids = count(1)
    for what, places, value in sequence:
        before = rules_of(xml)
        named = list(dict.fromkeys(list(before)[place % len(before)] for place in places))
        if what == "remove" and len(named) == len(before):
            continue
        edited = edit_xml(
            xml, drafted(what, named, value), None, new_row_id=lambda: f"n{next(ids)}"
        )
        after = rules_of(edited)
        assert [row.id for row in parse_xml(edited).rows] == list(after)
        if what == "add":
            assert without(edited, [after[row] for row in after if row not in before]) == xml
        elif what == "remove":
            assert edited == without(xml, [before[row] for row in named])
        else:
            expected = xml
            for row in named:
                expected = expected.replace(before[row], after[row])
            assert edited == expected
            assert {row: text for row, text in after.items() if row not in named} == {
                row: text for row, text in before.items() if row not in named
            }
        xml = edited


@given(documents(), fresh)
def test_a_row_that_is_added_and_removed_leaves_the_first_bytes(xml: str, value: str) -> None:
    added = edit_xml(xml, drafted("add", [], value), None, new_row_id=iter("xyz").__next__)
    removed = edit_xml(added, drafted("remove", ["x", "y"], ""), None, new_row_id=lambda: "z")
    assert removed == xml
