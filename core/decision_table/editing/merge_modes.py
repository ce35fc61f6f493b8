"""What a merge mode allows an edit to do: EXTEND adds, REFINE changes what it names."""

from __future__ import annotations

from collections.abc import Mapping

from core.decision_table.problems import listing
from core.models import DecisionRow, DecisionTable, HitPolicy, MergeMode, RuleDraft

_REFINE = "call with merge_mode REFINE for that"
_NO_MODE = "leave merge_mode out for that"


def mode_problems(
    table: DecisionTable,
    draft: RuleDraft,
    merge_mode: MergeMode | None,
    *,
    name: str,
    hit_policy: HitPolicy,
    changed: Mapping[str, DecisionRow],
) -> list[str]:
    """Say where an edit does what its merge mode does not.

    `name` and `hit_policy` are those after the edit, `changed` the rows it names as they would
    be. EXTEND keeps all that the table has; a row that was there may only get values in columns
    that are new. REFINE names a row by its id, and may add others. REPLACE and None allow all.
    """
    if merge_mode is MergeMode.EXTEND:
        problems = _renewed(table, name, hit_policy)
        problems += [
            f"EXTEND keeps every row as it is, and row '{row.id}' would change; {_REFINE}"
            for row in table.rows
            if row.id in changed and not _grown(row, changed[row.id])
        ]
        if draft.remove_rows:
            problems.append(f"EXTEND removes no row ({listing(draft.remove_rows)}); {_REFINE}")
        return problems
    if merge_mode is MergeMode.REFINE and not (changed or draft.remove_rows):
        return [
            "REFINE changes rows that it names, and no row is named: give the ids of rows "
            f"(there are: {listing([row.id for row in table.rows])}), or add rows with EXTEND"
        ]
    return []


def _renewed(table: DecisionTable, name: str, hit_policy: HitPolicy) -> list[str]:
    problems = []
    if name != table.name:
        problems.append(f"EXTEND keeps the name '{table.name}'; {_NO_MODE}")
    if hit_policy is not table.hit_policy:
        problems.append(f"EXTEND keeps the hit policy {table.hit_policy}; {_NO_MODE}")
    return problems


def _grown(old: DecisionRow, new: DecisionRow) -> bool:
    """True where all that the old row says stands in the new one."""
    return (
        new.annotation == old.annotation
        and new.inputs[: len(old.inputs)] == old.inputs
        and new.outputs[: len(old.outputs)] == old.outputs
    )
