"""What is known changes in the gate and nowhere else, so that the policy sees every change."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.unit.test_house_rules import ROOT

# Calls that change what is known, and the modules that may make them.
WRITES = {
    r"\.settle\(": {"gate/applying.py"},
    r"\.write_item\(": {"learning_committers/base.py"},
    r"\.update_agent_and_tenant_skills\(": {"learning_committers/skill_committer.py"},
    r"\.set_agent_skills\(": {"learning_committers/agent_skills_committer.py"},
    r"skills\.(upload|put_file|delete_file|delete)\(": {"learning_committers/skill_steps.py"},
    r"committers\[.*\]\.(apply|record)\(": {"gate/applying.py"},
    r"changes\.open\(": {"change_gate.py"},
    r"reviews\.approve\(": {"gate/decisions.py"},
    r"\bfinish\(.*deps\)": {"change_gate.py", "gate/decisions.py"},
}


@pytest.mark.parametrize("call", WRITES)
def test_only_the_gate_and_its_committers_write(call: str) -> None:
    callers = {
        str(path.relative_to(ROOT / "core"))
        for path in Path(ROOT / "core").rglob("*.py")
        if "testing" not in path.parts and re.search(call, path.read_text(encoding="utf-8"))
    }
    assert callers == WRITES[call]
