"""One change to one file that some test should notice."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Mutant:
    """`place` is what tests are chosen by: a function, a block of SQL, or a prompt.

    `write` makes the mutated text of the file out of the text as it stands.
    """

    path: str
    operator: str
    line: int
    place: str
    write: Callable[[str], str] = field(compare=False)

    def difference(self, source: str) -> str:
        """Return the lines that differ, as a diff has them, without its head."""
        lines = difflib.unified_diff(
            source.splitlines(), self.write(source).splitlines(), lineterm="", n=0
        )
        return "\n".join([*lines][3:])

    def is_program(self, source: str) -> bool:
        """Whether what is written can be run at all: else Python notices it, and no test."""
        if not self.path.endswith(".py"):
            return True
        try:
            ast.parse(self.write(source))
        except SyntaxError:
            return False
        return True
