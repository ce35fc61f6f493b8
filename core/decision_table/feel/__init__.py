"""FEEL, the expression language of DMN 1.3, as far as decision tables need it. Never `eval`."""

from core.decision_table.feel.evaluate import Scope, evaluate, holds
from core.decision_table.feel.node import Node
from core.decision_table.feel.parse import parse_expression, parse_tests
from core.decision_table.feel.values import Months, Range, Value
from core.decision_table.feel.write import to_json, to_text

__all__ = [
    "Months",
    "Node",
    "Range",
    "Scope",
    "Value",
    "evaluate",
    "holds",
    "parse_expression",
    "parse_tests",
    "to_json",
    "to_text",
]
