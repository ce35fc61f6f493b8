"""`ls core` shows the architecture (docs/architecture.md): the spine, the rooms, nothing else."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "core"
SPINE = {
    "polling_manager.py",
    "feedback_matcher.py",
    "react_agent.py",
    "react_tools.py",
    "learning_committers",
    "skill_creator_committer.py",
    "skill_quick_validate.py",
    "skill_api_client.py",
    "mcp_client.py",
}
COMMITTERS = {"skill_committer.py", "memory_committer.py", "dmn_rule_committer.py"}
ROOMS = {
    "agent",
    "changes",
    "delivery",
    "knowledge",
    "safety",
    "decision_table",
    "skills",
    "domain",
    "adapters",
    "entrypoints",
    "app",
    "testing",
}
PACKAGE = {"__init__.py", "__main__.py", "py.typed"}


def test_core_holds_the_spine_and_the_rooms() -> None:
    entries = {entry.name for entry in CORE.iterdir() if entry.name != "__pycache__"}
    assert entries == SPINE | ROOMS | PACKAGE
    assert {file.name for file in (CORE / "learning_committers").iterdir()} >= COMMITTERS


@pytest.mark.parametrize("room", sorted({*ROOMS, "learning_committers"}))
def test_a_room_says_what_it_is_for_what_it_imports_and_where_to_begin(room: str) -> None:
    text = (CORE / room / "__init__.py").read_text(encoding="utf-8")
    said = [line for line in (ast.get_docstring(ast.parse(text)) or "").splitlines() if line]
    assert len(said) >= 3
    assert any("import" in line.lower() for line in said[1:])
    assert "begin" in said[-1].lower()
