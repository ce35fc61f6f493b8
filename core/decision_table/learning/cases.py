"""Cases that rows were learnt from, stored in the XML of their row, so that they go where it goes.

DMN13.xsd gives an element's `extensionElements` the place after its `description`; in there
stand, in a namespace of our own::

    <sw:case xmlns:sw="urn:skill-worker:cases" origin="feedback" feedback="fb-1">
      <sw:inputs>{"amount": 1500000}</sw:inputs>
      <sw:outcome>{"approver": "manager"}</sw:outcome>
    </sw:case>
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lxml import etree
from pydantic import JsonValue

from core.decision_table.cells import text_problem
from core.decision_table.document.markup import Style, attribute, text
from core.decision_table.document.reading import read_document, tag, text_of, the_table
from core.decision_table.document.source import Source, Splice
from core.decision_table.document.xml import row_ids

NAMESPACE = "urn:skill-worker:cases"
FROM_FEEDBACK = "feedback"
FROM_CONDITIONS = "conditions"


@dataclass(frozen=True)
class Case:
    """Inputs (column -> JSON value) and what the table returned for them when they were learnt.

    `origin` is `feedback` if the feedback mentions the case, `conditions` if it was constructed to
    meet the row's conditions. `outcome` is an object, a list of objects, or null.
    """

    inputs: Mapping[str, JsonValue]
    outcome: JsonValue
    origin: str
    feedback_id: str | None = None


def cases_of(xml: str) -> dict[str, tuple[Case, ...]]:
    """Return row id -> its cases, for rows that have any. Raises RuleInvalid."""
    table = the_table(read_document(xml))
    rules = zip(row_ids(table), table.findall(tag("rule")), strict=True)
    found = {row_id: tuple(case for _, case in _stored(rule)) for row_id, rule in rules}
    return {row_id: cases for row_id, cases in found.items() if cases}


def case_data(xml: str) -> dict[str, JsonValue]:
    """Return row id -> `[{"inputs", "outcome", "origin"}]` for JSON. Raises RuleInvalid."""
    return {
        row_id: [
            {"inputs": {**case.inputs}, "outcome": case.outcome, "origin": case.origin}
            for case in cases
        ]
        for row_id, cases in cases_of(xml).items()
    }


def put_cases(xml: str, wanted: Mapping[str, Sequence[Case]]) -> str:
    """Return the document with exactly these cases in the rows named by their ids.

    Every other byte stays, including other extensions of the same rows. Raises RuleInvalid.
    """
    source = Source(xml)
    table = the_table(source.root)
    splices: list[Splice] = []
    for row_id, rule in zip(row_ids(table), table.findall(tag("rule")), strict=True):
        if row_id in wanted:
            splices += _in_row(source, rule, wanted[row_id])
    return source.apply(splices)


def _stored(rule: etree._Element) -> Iterator[tuple[etree._Element, Case]]:
    """Yield the cases of a row with their elements; an unreadable one is not a case of ours."""
    for element in rule.iterfind(f"{tag('extensionElements')}/{{{NAMESPACE}}}case"):
        try:
            inputs = json.loads(text_of(element.find(f"{{{NAMESPACE}}}inputs")))
            outcome = json.loads(text_of(element.find(f"{{{NAMESPACE}}}outcome")))
        except (ValueError, RecursionError):
            continue
        if isinstance(inputs, dict):
            origin = element.get("origin", FROM_CONDITIONS)
            yield element, Case(inputs, outcome, origin, element.get("feedback"))


def _in_row(source: Source, rule: etree._Element, wanted: Sequence[Case]) -> Iterator[Splice]:
    present = list(_stored(rule))
    gone = [element for element, case in present if case not in wanted]
    had = [case for _, case in present]
    new = [case for case in wanted if case not in had]
    holder = rule.find(tag("extensionElements"))
    if holder is None:
        yield from _first_extensions(source, rule, new)
    elif gone and not new and _holds_only(holder, gone):
        yield source.remove(holder)
    else:
        yield from (source.remove(element) for element in gone)
        yield from _added(source, holder, new)


def _first_extensions(
    source: Source, rule: etree._Element, new: Sequence[Case]
) -> Iterator[Splice]:
    """Yield the splice that adds a row's first extensions, after its description."""
    if not new:
        return
    prefix = f"{rule.prefix}:" if rule.prefix else ""
    style = Style(prefix, source.lead(next(rule.iterchildren("*"))))
    markup = style.block("extensionElements", [_markup(case, style.inner) for case in new])
    description = rule.find(tag("description"))
    if description is None:
        yield source.fill(rule, style.lead + markup)
    else:
        yield source.insert_after(description, style.lead + markup)


def _added(source: Source, holder: etree._Element, new: Sequence[Case]) -> Iterator[Splice]:
    if not new:
        return
    children = list(holder.iterchildren("*"))
    if children:
        style = Style("", source.lead(children[-1]))
        markup = "".join(style.lead + _markup(case, style) for case in new)
        yield source.insert_after(children[-1], markup)
    else:
        style = Style("", source.lead(holder)).inner
        yield source.fill(holder, "".join(style.lead + _markup(case, style) for case in new))


def _holds_only(holder: etree._Element, elements: Sequence[etree._Element]) -> bool:
    texts = [holder.text, *(child.tail for child in holder)]
    return len(holder) == len(elements) and not any((text or "").strip() for text in texts)


def _markup(case: Case, style: Style) -> str:
    own = Style("sw:", style.lead)
    attributes = f" xmlns:sw={attribute(NAMESPACE)} origin={attribute(case.origin)}"
    if case.feedback_id and not text_problem(case.feedback_id):
        attributes += f" feedback={attribute(case.feedback_id)}"
    contents = (("inputs", {**case.inputs}), ("outcome", case.outcome))
    return own.block(
        "case", [own.element(name, _json(value)) for name, value in contents], attributes
    )


def _json(value: JsonValue) -> str:
    """Return JSON as XML text; characters that XML does not allow are escaped as in JSON."""
    plain = json.dumps(value, ensure_ascii=False)
    return text(json.dumps(value) if text_problem(plain) else plain)
