"""Conditions that are true or false by themselves, where the input is neither."""

from __future__ import annotations

from core.decision_table.columns import ANY_TYPE
from core.decision_table.evaluation.given import value_type
from core.decision_table.feel import Node
from core.decision_table.feel.values import NoValue
from core.domain.messages import Message

_TRUTHS = {"comparison", "between", "membership", "conjunction", "disjunction"}
_TRUTH_FUNCTIONS = {
    "contains", "starts with", "ends with", "matches", "list contains", "all", "any", "is", "odd",
    "even",
}  # fmt: skip


def blind(cell: str) -> Message:
    """Return the problem of a cell for which `never_looks` holds."""
    return Message("table.never_looks", cell=cell)


def never_looks(tests: Node, column_type: str) -> bool:
    """Whether one of a cell's tests comes to true or false without using the input.

    It would be compared with the input (DMN 1.3, 7.3.3), which has another type, and never pass.
    """
    return not _may_be_truth(column_type) and any(map(_blind, tests.parts))


def _may_be_truth(column_type: str) -> bool:
    try:
        return value_type(column_type) in (ANY_TYPE, "boolean")
    except NoValue:
        return True


def _blind(test: Node) -> bool:
    if test.op == "negated":
        return any(map(_blind, test.parts))
    truth = test.op in _TRUTHS or (test.op == "call" and test.value in _TRUTH_FUNCTIONS)
    return truth and not test.uses("subject")
