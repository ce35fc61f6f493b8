"""Operators beside those of Cosmic Ray: each drops something that a promise may rest on."""

from __future__ import annotations

from collections.abc import Iterator

from cosmic_ray.operators.operator import Operator
from parso.python.tree import Keyword, Name
from parso.tree import BaseNode, NodeOrLeaf

Position = tuple[tuple[int, int], tuple[int, int]]


class Dropping(Operator):
    """An operator that replaces parts of a node by a text of its own."""

    text = "None"

    def parts(self, node: BaseNode) -> list[tuple[BaseNode, int]]:
        """Return what is replaced: a node and the index of its child."""
        raise NotImplementedError

    def mutation_positions(self, node: NodeOrLeaf) -> Iterator[Position]:
        """Yield the place of each part."""
        if isinstance(node, BaseNode):
            for parent, index in self.parts(node):
                part = parent.children[index]
                yield part.start_pos, part.end_pos

    def mutate(self, node: BaseNode, index: int) -> BaseNode:
        """Replace one part, and keep the blanks before it."""
        parent, place = self.parts(node)[index]
        leaf = parent.children[place].get_first_leaf()
        parent.children[place] = Name(self.text, leaf.start_pos, leaf.prefix)
        return node

    @classmethod
    def examples(cls) -> tuple[()]:
        """Return none."""
        return ()


class NeverTrue(Dropping):
    """A branch that is never taken: `if x:` becomes `if False:`, a filter lets nothing through."""

    text = "False"

    def parts(self, node: BaseNode) -> list[tuple[BaseNode, int]]:
        """Return the conditions."""
        if node.type in {"if_stmt", "while_stmt"}:
            words = enumerate(node.children)
            return [(node, n + 1) for n, word in words if _is(word, "if", "elif", "while")]
        return [(node, 2)] if node.type == "ternary" else _filter(node)


class AlwaysTrue(NeverTrue):
    """A branch that is always taken: a guard of what follows, or a filter, that is gone."""

    text = "True"

    def parts(self, node: BaseNode) -> list[tuple[BaseNode, int]]:
        """Return the conditions, less those that would loop for ever."""
        return [] if node.type == "while_stmt" else super().parts(node)


class DropCall(Dropping):
    """A statement that calls something, left out."""

    text = "pass"

    def parts(self, node: BaseNode) -> list[tuple[BaseNode, int]]:
        """Return the statements of a block that are calls, but for those that only log."""
        if node.type not in {"simple_stmt"}:
            return []
        first = node.children[0]
        code = first.get_code(include_prefix=False)
        is_call = first.type in {"atom_expr", "power", "await", "await_expr"} and code.endswith(")")
        return [(node, 0)] if is_call and not code.startswith("log.") else []


class DropArgument(Dropping):
    """A keyword argument that is None."""

    def parts(self, node: BaseNode) -> list[tuple[BaseNode, int]]:
        """Return the value, where the argument is not None as it stands."""
        if node.type != "argument" or len(node.children) != 3 or node.children[1].value != "=":
            return []
        is_none = _is(node.children[2], "None") or node.children[0].value in {"hint", "exc_info"}
        return [] if is_none else [(node, 2)]


class ReturnNothing(Dropping):
    """A function that returns None."""

    def parts(self, node: BaseNode) -> list[tuple[BaseNode, int]]:
        """Return what is returned, where it is not as false as None."""
        if node.type != "return_stmt" or _is_false(node.children[1]):
            return []
        return [(node, 1)]


class DropOperand(Dropping):
    """A condition of several that is left out."""

    def __init__(self) -> None:
        self.text = "True"

    def parts(self, node: BaseNode) -> list[tuple[BaseNode, int]]:
        """Return the operands of `and`, and those of `or` that are not false as they stand."""
        if node.type not in {"and_test", "or_test"}:
            return []
        self.text = "True" if node.type == "and_test" else "False"
        operands = range(0, len(node.children), 2)
        return [(node, n) for n in operands if not _is_false(node.children[n])]


OWN = (NeverTrue, AlwaysTrue, DropCall, DropArgument, ReturnNothing, DropOperand)


def _filter(node: BaseNode) -> list[tuple[BaseNode, int]]:
    return [(node, 1)] if node.type == "comp_if" else []


def _is_false(node: NodeOrLeaf) -> bool:
    return node.get_code(include_prefix=False) in {"None", "False", "0", '""'}


def _is(node: NodeOrLeaf, *words: str) -> bool:
    return isinstance(node, Keyword) and node.value in words
