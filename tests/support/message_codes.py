"""The messages of the program, extracted from its source: code -> English."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path

CORE = Path(__file__).parents[2] / "core"


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


def plain_refusals(kinds: Collection[str]) -> list[str]:
    """Return where an error of these kinds is made of plain text, or has a plain hint."""
    found = []
    for file in sorted(CORE.rglob("*.py")):
        if CORE / "testing" in file.parents:
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and _name(node.func) in kinds:
                hints = [word.value for word in node.keywords if word.arg == "hint"]
                if any(_is_plain(text) for text in [*node.args[:1], *hints]):
                    found.append(f"{file.relative_to(CORE.parent)}:{node.lineno}")
    return found


def _name(node: ast.expr) -> str:
    return str(getattr(node, "id", getattr(node, "attr", "")))


def _is_plain(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_plain(node.left) or _is_plain(node.right)
    if isinstance(node, ast.IfExp):
        return _is_plain(node.body) or _is_plain(node.orelse)
    text = isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value != ""
    return text or isinstance(node, ast.JoinedStr)


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Message":
            yield node
