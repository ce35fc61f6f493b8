"""The messages that the program makes, read off its source: code -> English."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

CORE = Path(__file__).parents[2] / "core"


def made_messages() -> dict[str, set[str]]:
    """Return the templates of each code that is written out; one code should have one."""
    found = defaultdict(set)
    for file in CORE.rglob("*.py"):
        for call in _calls(ast.parse(file.read_text("utf-8"))):
            code, english = call.args[0], call.args[1]
            if isinstance(code, ast.Constant) and code.value:
                assert isinstance(english, ast.Constant), f"{file}:{call.lineno}: no plain text"
                found[str(code.value)].add(str(english.value))
    return dict(found)


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "Message" and len(node.args) == 2:
                yield node
