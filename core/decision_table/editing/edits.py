"""Edits of a table's XML as splices: what an edit does not name keeps its bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from lxml import etree

from core.decision_table.cells import ANY, one_line
from core.decision_table.columns import input_columns, output_columns
from core.decision_table.document.markup import Style, text
from core.decision_table.document.reading import line_of, tag, text_of, the_table
from core.decision_table.document.source import Source, Splice
from core.decision_table.document.xml import parse_xml, read_table, row_ids
from core.decision_table.editing.plan import Plan, plan_edit
from core.domain.errors import RuleInvalid
from core.domain.messages import Message
from core.domain.models import DecisionRow, DecisionTable, HitPolicy, MergeMode, RuleDraft


def edit_xml(
    xml: str,
    draft: RuleDraft,
    merge_mode: MergeMode | None,
    *,
    new_row_id: Callable[[], str],
) -> str:
    """Apply a draft to a DMN 1.3 document and return the new text.

    A row with an id changes that row, cell by cell: omitted cells stay. A row without an id is
    appended, or inserted before the row that it names; `remove_rows` are removed. Columns that the
    table lacks are added; a row that is not edited gets `-` for a new input, and a new output needs
    a value from every row. A name that differs renames the decision. With EXTEND nothing existing
    changes, with REFINE a row has to be named. With REPLACE the draft's rows replace all rows, and
    the columns it names, if any, replace all columns.

    All other bytes stay: other rows, comments, extensions, diagrams. Raises RuleInvalid listing all
    problems.
    """
    source = Source(xml)
    element = the_table(source.root)
    table = read_table(element)
    taken = {str(found.get("id")) for found in source.root.iter("*") if found.get("id")}
    plan = plan_edit(
        table, draft, merge_mode, taken_ids=taken | set(row_ids(element)), new_row_id=new_row_id
    )
    edited = source.apply(list(_Writer(source, element, table, plan).splices()))
    parse_xml(edited)
    return edited


class _Writer:
    """The splices that carry out a plan."""

    def __init__(
        self, source: Source, element: etree._Element, table: DecisionTable, plan: Plan
    ) -> None:
        self._source = source
        self._element = element
        self._table = table
        self._plan = plan
        self._rules = dict(zip(row_ids(element), element.findall(tag("rule")), strict=True))
        self._annotations = len(element.findall(tag("annotation")))

    def splices(self) -> Iterator[Splice]:
        """Yield all splices, in no particular order."""
        yield from self._rename()
        yield from self._hit_policy()
        yield from self._clauses()
        for row_id, rule in self._rules.items():
            if row_id in self._plan.inserted:
                yield self._insert(rule, self._plan.inserted[row_id])
            yield from self._row(row_id, rule)
        if self._plan.added:
            yield self._append()

    def _rename(self) -> Iterator[Splice]:
        if self._plan.name == self._table.name:
            return
        decision = self._element.getparent()
        for element in (self._source.root, decision, *self._source.root.iter(tag("variable"))):
            if element is None or element.getparent() not in (None, self._source.root, decision):
                continue
            if element is decision or one_line(element.get("name", "")) == self._table.name:
                yield self._source.set_attribute(element, "name", self._plan.name)

    def _hit_policy(self) -> Iterator[Splice]:
        policy = self._plan.hit_policy
        if policy is self._table.hit_policy:
            return
        yield self._source.set_attribute(self._element, "hitPolicy", policy.value)
        if policy is not HitPolicy.COLLECT and self._element.get("aggregation"):
            yield self._source.set_attribute(self._element, "aggregation", None)

    def _clauses(self) -> Iterator[Splice]:
        inputs = self._element.findall(tag("input"))
        outputs = self._element.findall(tag("output"))
        named = [column.name for column in self._table.inputs]
        for name, clause in zip(named, inputs, strict=True):
            if name in self._plan.inputs.dropped:
                yield self._source.remove(clause)
        named = [column.name for column in self._table.outputs]
        for name, clause in zip(named, outputs, strict=True):
            if name in self._plan.outputs.dropped:
                yield self._source.remove(clause)
        for new_input in input_columns(self._plan.inputs.new, self._plan.inputs.drafted):
            style = self._style(inputs[-1])
            yield self._after(inputs[-1], style.input(new_input))
        for new_output in output_columns(self._plan.outputs.new, self._plan.outputs.drafted):
            style = self._style(outputs[-1])
            yield self._after(outputs[-1], style.output(new_output))

    def _row(self, row_id: str, rule: etree._Element) -> Iterator[Splice]:
        if row_id in self._plan.removed:
            yield self._source.remove(rule)
            return
        changed = self._plan.changed.get(row_id)
        if changed is not None:
            yield from self._change(rule, changed)
        last = rule.findall(tag("inputEntry"))[-1]
        cells = changed.inputs if changed else [ANY] * len(self._plan.inputs.names)
        for cell in cells[len(self._table.inputs) :]:
            yield self._after(last, self._style(last).cell("inputEntry", cell))

    def _change(self, rule: etree._Element, row: DecisionRow) -> Iterator[Splice]:
        old = next(known for known in self._table.rows if known.id == row.id)
        if rule.get("id") is None:
            yield self._source.set_attribute(rule, "id", row.id)
        inputs, outputs = rule.findall(tag("inputEntry")), rule.findall(tag("outputEntry"))
        for entry, before, after in (
            *zip(inputs, old.inputs, row.inputs, strict=False),
            *zip(outputs, old.outputs, row.outputs, strict=False),
        ):
            if before != after:
                yield self._cell(entry, after)
        for cell in row.outputs[len(outputs) :]:
            yield self._after(outputs[-1], self._style(outputs[-1]).cell("outputEntry", cell))
        if row.annotation != old.annotation:
            yield self._annotate(rule, row.annotation)

    def _cell(self, entry: etree._Element, value: str) -> Splice:
        existing = entry.find(tag("text"))
        markup = self._style(entry).element("text", text(value))
        if existing is not None:
            return self._source.replace(existing, markup)
        if len(entry):
            raise RuleInvalid(Message("edit.no_cell_text", line=line_of(entry)))
        return self._source.fill(entry, markup)

    def _annotate(self, rule: etree._Element, annotation: str) -> Splice:
        entries = rule.findall(tag("annotationEntry"))
        if entries:
            shown = next((entry for entry in entries if text_of(entry)), entries[0])
            return self._cell(shown, annotation)
        style = self._style(next(rule.iterchildren("*")))
        markup = style.element("description", text(annotation))
        description = rule.find(tag("description"))
        if description is not None:
            return self._source.replace(description, markup)
        return self._source.fill(rule, style.lead + markup)

    def _insert(self, rule: etree._Element, rows: Sequence[DecisionRow]) -> Splice:
        style = self._style(rule)
        rules = [style.rule(row, self._annotations) + style.lead for row in rows]
        return self._source.insert_before(rule, "".join(rules))

    def _append(self) -> Splice:
        names = [tag(name) for name in ("input", "output", "annotation", "rule")]
        last = [child for child in self._element if child.tag in names][-1]
        style = self._style(last)
        rules = [style.lead + style.rule(row, self._annotations) for row in self._plan.added]
        return self._source.insert_after(last, "".join(rules))

    def _after(self, element: etree._Element, markup: str) -> Splice:
        return self._source.insert_after(element, self._source.lead(element) + markup)

    def _style(self, near: etree._Element) -> Style:
        prefix = f"{self._element.prefix}:" if self._element.prefix else ""
        return Style(prefix, self._source.lead(near))
