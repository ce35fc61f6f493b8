"""The messages that the program makes, extracted from its source."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path

CORE = Path(__file__).parents[2] / "core"
Call = tuple[str, frozenset[str] | None]  # where it is; the parameters, None if some are unpacked


@cache
def made_messages() -> Mapping[str, Collection[Call]]:
    """Return the calls of production code that make a message, by its code."""
    found = defaultdict(list)
    for where, call in _calls():
        if getattr(call.func, "id", "") == "Message":
            (code,) = call.args
            assert isinstance(code, ast.Constant), f"{where}: a code is a plain string"
            names = [keyword.arg for keyword in call.keywords]
            given = None if None in names else frozenset(filter(None, names))
            found[str(code.value)].append((where, given))
    return dict(found)


def plain_refusals(kinds: Collection[str]) -> list[str]:
    """Return where an error of these kinds is made of plain text, or has a plain hint."""
    found = []
    for where, call in _calls():
        if _name(call.func) in kinds:
            hints = [word.value for word in call.keywords if word.arg == "hint"]
            if any(_is_plain(text) for text in [*call.args[:1], *hints]):
                found.append(where)
    return found


@cache
def _calls() -> Sequence[tuple[str, ast.Call]]:
    """Return all calls of production code, each with its place."""
    return [
        (f"{file.relative_to(CORE)}:{node.lineno}", node)
        for file in sorted(CORE.rglob("*.py"))
        if CORE / "testing" not in file.parents
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Call)
    ]


def _name(node: ast.expr) -> str:
    return str(getattr(node, "id", getattr(node, "attr", "")))


def _is_plain(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_plain(node.left) or _is_plain(node.right)
    if isinstance(node, ast.IfExp):
        return _is_plain(node.body) or _is_plain(node.orelse)
    text = isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value != ""
    return text or isinstance(node, ast.JoinedStr)
