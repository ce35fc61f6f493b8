"""An expression as a tree: one shape for all nodes, so that walks stay short."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from core.decision_table.feel.values import Value


@dataclass(frozen=True)
class Node:
    """An operation on parts. `value` is a literal, or the name that `op` needs.

    `at` is the offset of its first token in the text, counted from 0.
    """

    op: str
    parts: tuple[Node, ...] = ()
    value: Value = None
    at: int = 0

    def walk(self) -> Iterator[Node]:
        """Yield this node and all below it, without recursion."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(node.parts)

    def uses(self, op: str) -> bool:
        """Whether an operation occurs anywhere in the tree."""
        if not self.parts:
            return self.op == op
        return any(node.op == op for node in self.walk())

    def depth(self) -> int:
        """Return the number of levels of the tree, without recursion."""
        level, count = [self], 0
        while level:
            level, count = [part for node in level for part in node.parts], count + 1
        return count
