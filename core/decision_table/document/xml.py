"""Decision tables to DMN 1.3 XML and back (OMG formal/21-02-01, clause 8 and DMN13.xsd)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence

from lxml import etree

from core.decision_table.cells import ANY, one_line, text_problem
from core.decision_table.columns import ANY_TYPE, duplicates, name_problems
from core.decision_table.document.markup import ANNOTATION, MODEL, Style, attribute
from core.decision_table.document.reading import (
    line_of,
    read_document,
    table_of,
    tag,
    text_of,
    the_table,
)
from core.decision_table.document.types import Types, declared_names
from core.decision_table.problems import INPUT, OUTPUT, listing, refuse
from core.domain.messages import Message
from core.domain.models import (
    Aggregation,
    DecisionRow,
    DecisionTable,
    HitPolicy,
    InputColumn,
    OutputColumn,
)

# NCName of Namespaces in XML 1.0: a Name without colons.
_START = (
    "A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d"
    "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_REST = _START + "0-9.\u00b7\u0300-\u036f\u203f-\u2040-"
_NCNAME = re.compile(f"[{_START}][{_REST}]*")
_FOREIGN = re.compile(f"[^{_REST}]")


def is_xml_id(text: str) -> bool:
    """Whether `text` can be an XML id (an NCName)."""
    return bool(_NCNAME.fullmatch(text))


def xml_id(text: str) -> str:
    """Return `text` as an XML id (an NCName): other characters become `_`."""
    tidy = _FOREIGN.sub("_", text)
    return tidy if is_xml_id(tidy) else f"_{tidy}"


def unused(wanted: str, taken: Collection[str]) -> str:
    """Return `wanted`, or `wanted` with the first number from 2 that makes it unique."""
    candidate, number = wanted, 1
    while candidate in taken:
        number += 1
        candidate = f"{wanted}_{number}"
    return candidate


def fresh_id(new_row_id: Callable[[], str], taken: set[str]) -> str:
    """Return a row id that no other row has, and add it to `taken`."""
    row_id = unused(xml_id(new_row_id()), taken)
    taken.add(row_id)
    return row_id


_DOCUMENT = """<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="{model}" id={definitions} name={name} namespace="urn:skill-worker:rules">
  <decision id={decision} name={name}>
    <decisionTable id={table} hitPolicy="{policy}"{aggregation}>{children}
    </decisionTable>
  </decision>
</definitions>
"""


def to_xml(table: DecisionTable, *, decision_id: str) -> str:
    """Return a table as a DMN 1.3 document of one decision, with deterministic formatting.

    Each row is a `rule` with the row's id. Raises RuleInvalid if an id is not an XML id or occurs
    twice, a row does not fit the columns, or a text cannot stand in XML.
    """
    refuse(_unwritable(table))
    style = Style()
    children = [
        *(style.input(column) for column in table.inputs),
        *(style.output(column) for column in table.outputs),
        f"<annotation name={attribute(ANNOTATION)}/>",
        *(style.rule(row) for row in table.rows),
    ]
    taken = {row.id for row in table.rows}
    decision = unused(xml_id(decision_id), taken)
    return _DOCUMENT.format(
        model=MODEL,
        definitions=attribute(unused(f"{decision}_definitions", taken)),
        name=attribute(table.name),
        decision=attribute(decision),
        table=attribute(unused(f"{decision}_table", taken)),
        policy=table.hit_policy.value,
        aggregation=f' aggregation="{table.aggregation}"' if table.aggregation else "",
        children="".join(style.lead + child for child in children),
    )


def parse_xml(text: str, *, decision: str | None = None) -> DecisionTable:
    """Read the table of `decision` (a name or id) from a DMN 1.3 document, or its only table.

    An empty input entry is `-`. A row's annotation is its first annotation entry, or else its
    description; a row without an id is known by its position, as `row_3`. Raises RuleInvalid,
    naming what is wrong and where.
    """
    root = read_document(text)
    return read_table(the_table(root) if decision is None else table_of(root, decision))


def read_table(table: etree._Element) -> DecisionTable:
    """Read a `decisionTable` element. Raises RuleInvalid."""
    name = decision_name(table)
    types = Types(table.getroottree().getroot())
    declared = declared_names(table, types)
    known = {column.name: column for column in declared}
    inputs = [_input(clause, types, known) for clause in table.findall(tag("input"))]
    outputs = _outputs(table.findall(tag("output")), name, types)
    policy = table.get("hitPolicy", HitPolicy.UNIQUE.value)
    aggregation = table.get("aggregation") if policy == HitPolicy.COLLECT else None
    problems = [*name_problems(name, Message("dmn.the_decision")), *_languages(table)]
    if policy not in set(HitPolicy):
        problems.append(Message("dmn.hit_policy", policy=policy, known=listing(list(HitPolicy))))
    if aggregation is not None and aggregation not in set(Aggregation):
        problems.append(
            Message("dmn.aggregation", aggregation=aggregation, known=listing(list(Aggregation)))
        )
    problems += _clause_problems(INPUT, [column["name"] for column in inputs])
    problems += _clause_problems(OUTPUT, [column["name"] for column in outputs])
    rows = _rows(table, len(inputs), len(outputs), problems)
    refuse(problems)
    return DecisionTable(
        name=name,
        hit_policy=HitPolicy(policy),
        aggregation=Aggregation(aggregation) if aggregation else None,
        inputs=tuple(InputColumn(**column) for column in inputs),
        outputs=tuple(OutputColumn(**column) for column in outputs),
        rows=tuple(rows),
        declared=declared,
    )


def row_ids(table: etree._Element) -> list[str]:
    """Return the ids of the rows in order; a row without one is known by its position."""
    given = [rule.get("id", "") for rule in table.findall(tag("rule"))]
    taken = {row_id for row_id in given if row_id}
    return [row_id or unused(f"row_{number}", taken) for number, row_id in enumerate(given, 1)]


def decision_name(table: etree._Element) -> str:
    """Return the name of the decision that contains a table, or its id."""
    decision = table.getparent()
    return "" if decision is None else one_line(decision.get("name") or decision.get("id") or "")


def _languages(table: etree._Element) -> list[str]:
    """Return the expressions of a table that are not FEEL, which each may name (DMN 1.3, 7.3.1)."""
    root = table.getroottree().getroot()
    named = [(at, at.get("expressionLanguage", "")) for at in (root, *table.iter("*"))]
    return [
        Message("dmn.language", line=line_of(at), language=language)
        for at, language in named
        if language and "feel" not in language.lower()
    ]


def _input(
    clause: etree._Element, types: Types, declared: Mapping[str, InputColumn]
) -> dict[str, str]:
    expression = clause.find(tag("inputExpression"))
    allowed = text_of(clause.find(tag("inputValues")))
    if expression is None:
        name = one_line(clause.get("label", ""))
        return {"name": name, "type": ANY_TYPE, "allowed": allowed}
    name = text_of(expression.find(tag("text"))) or clause.get("label", "")
    known = declared.get(one_line(name))
    ref = expression.get("typeRef") or (known.type if known else ANY_TYPE)
    kind, values = types.resolve(ref, expression)
    return {"name": one_line(name), "type": kind, "allowed": allowed or values}


def _outputs(
    clauses: Sequence[etree._Element], decision: str, types: Types
) -> list[dict[str, str]]:
    """Return the fields of the outputs; a single output may take the decision's name."""
    fallback = decision if len(clauses) == 1 else ""
    return [
        {
            "name": one_line(clause.get("name") or clause.get("label") or fallback),
            "type": kind,
            "allowed": text_of(clause.find(tag("outputValues"))) or values,
            "default": text_of(clause.find(tag("defaultOutputEntry"))),
        }
        for clause in clauses
        for kind, values in [types.resolve(clause.get("typeRef", ANY_TYPE), clause)]
    ]


def _clause_problems(what: str, names: Sequence[str]) -> list[str]:
    if not names:
        return [Message("dmn.no_column", what=what)]
    problems: list[str] = [
        Message("dmn.two_columns", what=what, name=name) for name in duplicates(names)
    ]
    for number, name in enumerate(names, 1):
        problems += name_problems(name, Message("dmn.column", what=what, n=number))
    return problems


def _rows(
    table: etree._Element, inputs: int, outputs: int, problems: list[str]
) -> list[DecisionRow]:
    ids = row_ids(table)
    problems += [Message("dmn.two_rows", row=row_id) for row_id in duplicates(ids)]
    rows = []
    for row_id, rule in zip(ids, table.findall(tag("rule")), strict=True):
        row = _row(row_id, rule)
        rows.append(row)
        for what, have, want in (
            (INPUT, len(row.inputs), inputs),
            (OUTPUT, len(row.outputs), outputs),
        ):
            if have != want:
                problems.append(
                    Message(
                        "dmn.row_entries",
                        row=row_id,
                        line=line_of(rule),
                        have=have,
                        what=what,
                        want=want,
                    )
                )
    return rows


def _row(row_id: str, rule: etree._Element) -> DecisionRow:
    notes = [text_of(entry) for entry in rule.findall(tag("annotationEntry"))]
    return DecisionRow(
        id=row_id,
        inputs=tuple(text_of(entry) or ANY for entry in rule.findall(tag("inputEntry"))),
        outputs=tuple(text_of(entry) for entry in rule.findall(tag("outputEntry"))),
        annotation=next((note for note in notes if note), text_of(rule.find(tag("description")))),
    )


def _unwritable(table: DecisionTable) -> list[str]:
    ids = [row.id for row in table.rows]
    problems: list[str] = [Message("dmn.two_rows", row=row_id) for row_id in duplicates(ids)]
    problems += [Message("dmn.row_id", row=row_id) for row_id in ids if not is_xml_id(row_id)]
    for row in table.rows:
        if (len(row.inputs), len(row.outputs)) != (len(table.inputs), len(table.outputs)):
            problems.append(Message("dmn.row_misfit", row=row.id))
    texts = [table.name]
    texts += [text for column in table.inputs for text in column.model_dump().values()]
    texts += [text for column in table.outputs for text in column.model_dump().values()]
    texts += [text for row in table.rows for text in (*row.inputs, *row.outputs, row.annotation)]
    problems += [
        Message("dmn.text", text=text[:40], why=problem)
        for text in texts
        if (problem := text_problem(text))
    ]
    return problems
