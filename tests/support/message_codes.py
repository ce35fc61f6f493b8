"""The messages of the program, extracted from its source: code -> English."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

CORE = Path(__file__).parents[2] / "core"


@cache
def made_messages() -> dict[str, set[str]]:
    """Return the templates of each code in production code; a code has one."""
    found = defaultdict(set)
    for file in CORE.rglob("*.py"):
        if CORE / "testing" in file.parents:
            continue
        for call in _calls(ast.parse(file.read_text("utf-8"))):
            code, english = call.args
            if isinstance(code, ast.Constant) and code.value:
                assert isinstance(english, ast.Constant), f"{file}:{call.lineno}: no plain text"
                found[str(code.value)].add(str(english.value))
    return dict(found)


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Message":
            yield node
