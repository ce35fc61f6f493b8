"""Mutants of Python: the operators of Cosmic Ray, and those of our own that drop something."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import parso
from cosmic_ray.ast import ast_nodes
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.operators.provider import OperatorProvider
from parso.tree import NodeOrLeaf

from tests.mutate.mutant import Mutant
from tests.mutate.python_operators import OWN
from tests.mutate.recording import bodies

# Of each family one: `+` by eleven other operators is one question asked eleven times, and
# what is a type (`str | None`) is no question at all.
_TAKEN = (
    "AddNot",
    "ExceptionReplacer",
    "NumberReplacer",
    "RemoveDecorator",
    "ReplaceAndWithOr",
    "ReplaceBinaryOperator_Add_Sub",
    "ReplaceBinaryOperator_BitAnd_BitOr",
    "ReplaceBinaryOperator_Div_Mul",
    "ReplaceBinaryOperator_FloorDiv_Mul",
    "ReplaceBinaryOperator_Mul_Div",
    "ReplaceBinaryOperator_Sub_Add",
    "ReplaceBreakWithContinue",
    "ReplaceComparisonOperator_Eq_NotEq",
    "ReplaceComparisonOperator_GtE_Gt",
    "ReplaceComparisonOperator_Gt_GtE",
    "ReplaceComparisonOperator_IsNot_Is",
    "ReplaceComparisonOperator_Is_IsNot",
    "ReplaceComparisonOperator_LtE_Lt",
    "ReplaceComparisonOperator_Lt_LtE",
    "ReplaceComparisonOperator_NotEq_Eq",
    "ReplaceContinueWithBreak",
    "ReplaceFalseWithTrue",
    "ReplaceOrWithAnd",
    "ReplaceTrueWithFalse",
    "ReplaceUnaryOperator_Delete_Not",
    "ZeroIterationForLoop",
)
# What has no promise: types, assertions, what is logged, caches, and the exact value of a tunable.
_UNPROMISED = re.compile(
    r"\s*(log\.|assert |@(lru_)?cache|from |import |__all__|_?[A-Z_0-9]+ *[=:])"
)


def operators() -> dict[str, Operator]:
    """Return the operators by name."""
    provider = OperatorProvider()
    taken = {name: provider[name]() for name in _TAKEN}
    return taken | {kind.__name__: kind() for kind in OWN}


def python_mutants(path: Path, source: str) -> Iterator[Mutant]:
    """Yield every mutant of a module; two that read the same are two."""
    tree = parso.parse(source)
    functions = bodies(source)
    lines = source.splitlines()
    for name, operator in operators().items():
        places = [
            (start[0], node)
            for node in ast_nodes(tree)
            for start, _ in operator.mutation_positions(node)
        ]
        for occurrence, (line, node) in enumerate(places):
            if _is_promised(lines, line, node):
                write = partial(_written, operator, occurrence)
                yield Mutant(str(path), name, line, _place(functions, line), write)


def _written(operator: Operator, occurrence: int, source: str) -> str:
    try:
        mutated = mutate_code(source, operator, occurrence)
    except AttributeError as error:  # of exceptions it replaces plain names, not `binascii.Error`
        raise SyntaxError("it cannot be written") from error
    return source if mutated is None else str(mutated)


def _is_promised(lines: list[str], line: int, node: NodeOrLeaf) -> bool:
    statement = node.search_ancestor("simple_stmt", "assert_stmt") or node
    first = lines[statement.start_pos[0] - 1]
    of_type = node.search_ancestor("annassign", "param") or _is_star(node)
    unpromised = _UNPROMISED.match(first) or _UNPROMISED.match(lines[line - 1])
    return not (unpromised or of_type or _is_asserted(node))


def _is_star(node: NodeOrLeaf) -> bool:
    """Whether this is the bare star before parameters that are passed by name."""
    return node.parent is not None and node.parent.type == "parameters"


def _is_asserted(node: NodeOrLeaf) -> bool:
    """Whether this is an argument that asserts and changes nothing.

    `strict` says that the parts of a `zip` are of one length, `frozen` and `slots` that nobody
    assigns to a dataclass, or what it does not have, which mypy checks.
    """
    argument = node if node.type == "argument" else node.search_ancestor("argument")
    if argument is None:
        return False
    return argument.children[0].get_code().strip() in {"strict", "frozen", "slots"}


def _place(functions: dict[str, range], line: int) -> str:
    """Return the innermost function around a line, empty at the level of the module."""
    around = [name for name, body in functions.items() if line in body]
    return min(around, key=lambda name: len(functions[name]), default="")
