"""What a drafted edit does to a table, worked out and checked before any text is touched."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from core.decision_table.cells import one_line
from core.decision_table.columns import (
    Columns,
    by_column,
    column_types,
    duplicates,
    feel_type,
    name_problems,
)
from core.decision_table.document.xml import fresh_id
from core.decision_table.editing.rows import merge_row, place_problems
from core.decision_table.problems import listing, refuse
from core.domain.messages import Message
from core.domain.models import (
    DecisionRow,
    DecisionTable,
    HitPolicy,
    InputColumn,
    MergeMode,
    OutputColumn,
    RowEdit,
    RuleDraft,
)

_REFINE = Message("draft.use_refine")
_NO_MODE = Message("draft.no_mode")


def mode_problems(
    table: DecisionTable,
    draft: RuleDraft,
    merge_mode: MergeMode | None,
    *,
    name: str,
    hit_policy: HitPolicy,
    changed: Mapping[str, DecisionRow],
) -> list[str]:
    """Return where an edit does more than its merge mode allows.

    `name` and `hit_policy` are those after the edit, `changed` the rows it names as they would be.
    EXTEND preserves all that the table has; an existing row may only get values in new columns.
    REFINE names a row by its id, and may add others. REPLACE and None allow everything.
    """
    if merge_mode is MergeMode.EXTEND:
        problems = _renewed(table, name, hit_policy)
        problems += [
            Message("draft.row_changes", row=row.id, refine=_REFINE)
            for row in table.rows
            if row.id in changed and not _grown(row, changed[row.id])
        ]
        if draft.remove_rows:
            problems.append(
                Message("draft.row_removed", rows=listing(draft.remove_rows), refine=_REFINE)
            )
        return problems
    if merge_mode is MergeMode.REFINE and not (changed or draft.remove_rows):
        return [Message("draft.no_row_named", rows=listing([row.id for row in table.rows]))]
    return []


def _renewed(table: DecisionTable, name: str, hit_policy: HitPolicy) -> list[str]:
    problems: list[str] = []
    if name != table.name:
        problems.append(Message("draft.keeps_name", name=table.name, no_mode=_NO_MODE))
    if hit_policy is not table.hit_policy:
        problems.append(Message("draft.keeps_policy", policy=table.hit_policy, no_mode=_NO_MODE))
    return problems


def _grown(old: DecisionRow, new: DecisionRow) -> bool:
    """Whether everything that the old row says is still in the new one."""
    return (
        new.annotation == old.annotation
        and new.inputs[: len(old.inputs)] == old.inputs
        and new.outputs[: len(old.outputs)] == old.outputs
    )


@dataclass
class ColumnPlan:
    """The columns of one side after the edit: those that remain, and those that are new."""

    remaining: list[str]
    dropped: list[str]
    new: dict[str, str]
    drafted: Columns

    @property
    def names(self) -> list[str]:
        """All names in order."""
        return [*self.remaining, *self.new]


@dataclass
class Plan:
    """An edit in terms of the old table: `changed` rows by id, and rows to add.

    `inserted` are rows to add before an existing one, by its id; `added` those at the end.
    """

    name: str
    hit_policy: HitPolicy
    inputs: ColumnPlan
    outputs: ColumnPlan
    removed: Collection[str]
    changed: dict[str, DecisionRow] = field(default_factory=dict)
    added: list[DecisionRow] = field(default_factory=list)
    inserted: dict[str, list[DecisionRow]] = field(default_factory=dict)


def plan_edit(
    table: DecisionTable,
    draft: RuleDraft,
    merge_mode: MergeMode | None,
    *,
    taken_ids: Collection[str],
    new_row_id: Callable[[], str],
) -> Plan:
    """Work out an edit. Raises RuleInvalid listing all problems, naming what exists."""
    problems: list[str] = []
    whole = merge_mode is MergeMode.REPLACE
    conditions = [by_column(row.inputs) for row in draft.rows]
    results = [by_column(row.outputs) for row in draft.rows]
    plan = Plan(
        name=one_line(draft.name) or table.name,
        hit_policy=draft.hit_policy or table.hit_policy,
        inputs=_columns(table.inputs, draft.inputs, conditions, whole, problems),
        outputs=_columns(table.outputs, draft.outputs, results, whole, problems),
        removed={row.id for row in table.rows} if whole else set(draft.remove_rows),
    )
    problems += name_problems(plan.name, Message("draft.the_table"))
    known = {row.id: row for row in table.rows}
    problems += _id_problems(draft, known)
    problems += place_problems(draft.rows, known, draft.remove_rows, merge_mode)
    taken = set(taken_ids)
    for number, edit in enumerate(draft.rows, 1):
        base = None if whole else known.get(edit.id or "")
        row_id = edit.id or fresh_id(new_row_id, taken)
        row = _merge(plan, edit, number, row_id, base, problems)
        if base:
            plan.changed[row_id] = row
        elif edit.before:
            plan.inserted.setdefault(edit.before, []).append(row)
        else:
            plan.added.append(row)
    problems += _row_problems(table, plan)
    problems += mode_problems(
        table,
        draft,
        merge_mode,
        name=plan.name,
        hit_policy=plan.hit_policy,
        changed=plan.changed,
    )
    refuse(problems, hint=Message("draft.hint_read"))
    return plan


def _merge(
    plan: Plan,
    edit: RowEdit,
    number: int,
    row_id: str,
    base: DecisionRow | None,
    problems: list[str],
) -> DecisionRow:
    label = Message("table.row", row=edit.id) if edit.id else Message("draft.new_row", n=number)
    inputs, outputs = plan.inputs.names, plan.outputs.names
    return merge_row(edit, label, inputs, outputs, problems, row_id=row_id, base=base)


def _columns(
    old: Columns,
    drafted: Columns,
    rows: list[dict[str, str]],
    whole: bool,
    problems: list[str],
) -> ColumnPlan:
    known = {column.name: column.type for column in old}
    named = {one_line(column.name): column for column in drafted}
    fresh = [column for column in drafted if one_line(column.name) not in known]
    for name, column in named.items():
        kind = known.get(name, "")
        given = column.type if "type" in column.model_fields_set else kind
        if kind and kind not in {given, feel_type(given)}:
            problems.append(Message("draft.type_stands", name=name, type=kind))
    problems += _fixed_problems(old, named)
    dropped = [name for name in known if whole and named and name not in named]
    return ColumnPlan(
        remaining=[name for name in known if name not in dropped],
        dropped=dropped,
        new=column_types(fresh, rows, problems) if fresh else {},
        drafted=drafted,
    )


def _fixed_problems(old: Columns, named: Mapping[str, InputColumn | OutputColumn]) -> list[str]:
    return [
        Message("draft.values_stand", what=what, name=column.name)
        for column in old
        if (drafted := named.get(column.name))
        for field_name, what in (
            ("allowed", Message("draft.allowed_values")),
            ("default", Message("draft.default_values")),
        )
        if (text := getattr(drafted, field_name, "")) and text != getattr(column, field_name)
    ]


def _id_problems(draft: RuleDraft, known: Mapping[str, DecisionRow]) -> list[str]:
    edited = [edit.id for edit in draft.rows if edit.id]
    there_are = Message("draft.there_are", names=listing(list(known)))
    problems: list[str] = [
        Message("draft.no_row_of_id", row=row_id, there_are=there_are)
        for row_id in dict.fromkeys([*edited, *draft.remove_rows])
        if row_id not in known
    ]
    problems += [Message("draft.edited_twice", row=row_id) for row_id in duplicates(edited)]
    problems += [
        Message("draft.edited_and_removed", row=row_id)
        for row_id in dict.fromkeys(edited)
        if row_id in draft.remove_rows
    ]
    return problems


def _row_problems(table: DecisionTable, plan: Plan) -> list[str]:
    remaining = [row.id for row in table.rows if row.id not in plan.removed]
    if not remaining and not plan.added:
        return [Message("draft.none_left")]
    silent = [row_id for row_id in remaining if row_id not in plan.changed]
    if plan.outputs.new and silent:
        return [
            Message(
                "draft.output_without_value",
                outputs=listing(list(plan.outputs.new)),
                rows=listing(silent),
            )
        ]
    return []
