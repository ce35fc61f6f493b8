"""Rules drafted in one line, for tests of decision tables that learn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count

from pydantic import JsonValue

from core.decision_table import edit_xml
from core.decision_table.learning.learn import Learnt, learn_edit, learn_table
from core.domain.models import HitPolicy, MergeMode, RowEdit, RuleDraft

AMOUNT, APPROVER = "금액", "승인자"


def row(
    test: str,
    outcome: str = "",
    row_id: str | None = None,
    example: Mapping[str, JsonValue] | int | None = None,
    **more: str,
) -> RowEdit:
    """Return a row of one amount and one approver; a number as example is the amount."""
    case = {AMOUNT: example} if isinstance(example, int) else dict(example or {})
    return RowEdit(
        id=row_id,
        inputs={AMOUNT: test} if test else {},
        outputs={APPROVER: f'"{outcome}"'} if outcome else {},
        example=case,
        **more,
    )


def numbered(prefix: str = "r") -> Callable[[], str]:
    """Return a source of ids r1, r2, …"""
    numbers = count(1)
    return lambda: f"{prefix}{next(numbers)}"


def learnt(*rows: RowEdit, policy: HitPolicy | None = None, name: str = "승인") -> Learnt:
    """Return a new table, learnt from feedback `f1`."""
    draft = RuleDraft(name=name, rows=rows, hit_policy=policy)
    return learn_table(draft, rule_id="t", new_row_id=numbered(), feedback_id="f1")


def edited(xml: str, *rows: RowEdit, mode: MergeMode | None = None, **draft: object) -> Learnt:
    """Return an edit of a table, learnt from feedback `f2`."""
    asked = RuleDraft.model_validate({"rows": rows, **draft})
    return learn_edit(xml, asked, mode, new_row_id=numbered("n"), feedback_id="f2")


def plain(xml: str, *rows: RowEdit, mode: MergeMode | None = None, **draft: object) -> str:
    """Return the text that an edit makes, neither checked nor with cases."""
    asked = RuleDraft.model_validate({"rows": rows, **draft})
    return edit_xml(xml, asked, mode, new_row_id=numbered("n"))
