"""Knowledge changes only through the gate, so that the policy sees every change."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.unit.test_house_rules import ROOT

# Calls that change what is known, and the modules that may make them.
WRITES = {
    r"changes\.unit_of_work\(": {"changes/gate/records.py"},
    r"\.write_item\(": {"learning_committers/base.py", "learning_committers/kind_committer.py"},
    r"\.update_agent_and_tenant_skills\(": {"learning_committers/skill_committer.py"},
    r"\.set_agent_skills\(": {"learning_committers/agent_skills_committer.py"},
    r"skills\.(upload|put_file|delete_file|delete)\(": {"learning_committers/skill_committer.py"},
    # The other one asks what stands in for a package that is missing, which refuses.
    r"committers\[.*\]\.(apply|record)\(": {"changes/gate/records.py", "changes/gate/decisions.py"},
    r"changes\.open\(": {"changes/gate/change_gate.py"},
    r"reviews\.approve\(": {"changes/gate/decisions.py"},
    r"\bfinish\(.*deps\)": {"changes/gate/change_gate.py", "changes/gate/decisions.py"},
}


@pytest.mark.parametrize("call", WRITES)
def test_only_the_gate_and_its_committers_write(call: str) -> None:
    callers = {
        str(path.relative_to(ROOT / "core"))
        for path in Path(ROOT / "core").rglob("*.py")
        if "testing" not in path.parts and re.search(call, path.read_text(encoding="utf-8"))
    }
    assert callers == WRITES[call]


# What the service does with the opened program that changes anything: what is known, through the
# gate alone; and besides it feedback, agents without their skills, and whether work is begun.
THROUGH_THE_GATE = {
    "gate.decisions.approve",
    "gate.decisions.edit",
    "gate.decisions.findings.allow",
    "gate.decisions.keep_both",
    "gate.decisions.prepare_again",
    "gate.decisions.reject",
    "proposals.accept",
    "restorer.restore",
    "retractor.retract",
    "revert",
    "skill_lists.delete_for_all",
    "skill_lists.edit",
}
BESIDES = {
    "agents.save",
    *("cases.add", "cases.disable", "cases.edit", "cases.run", "cases.run_these"),
    "delivery_log.replay",
    "inbox.add",
    "intake.cancel",
    "intake.pause",
    "intake.resume",
    "intake.revive",
    "presence.note",
    "proposals.dismiss",
    "search.refresh",
    "uses.left_out",
    "uses.note",
    "uses.report",
    "review_slots.decisions.taken",
    "review_slots.reads.taken",
}
READS = {
    *(
        "agents.get",
        "agents.having",
        "agents.list",
        "agents.of_id",
        "as_dry_run",
        "budgets.today",
        "budgets.used_up",
    ),
    "effects.proposal",
    *("delivery_log.get", "delivery_log.page", "delivery_log.said", "hooks"),
    *("cases.counts", "cases.coverage", "cases.coverage_of", "cases.get", "cases.page"),
    "gate.decisions.findings.masked",
    *("calls.page", "changes.get", "checks", "currency", "feed.after", "feedback_max_chars"),
    *(
        "gate.decisions.beside",
        "gate.decisions.findings.of",
        "gate.decisions.has_moved",
        "current_pause",
        "inbox.get",
        "inbox.masked",
        "intake.paused",
        "learning.breaker.current_pause",
    ),
    *("knowledge.find_named", "knowledge.list", "knowledge.taken", "past.last"),
    *("require_kind", "skills.read", "task_matches.find"),
    *("lineage.counts", "lineage.made", "lineage.taught", "presence.by_others", "pages.browse"),
    *("reader.changes", "reader.events", "reader.feedback", "reader.history"),
    *("reader.history_record", "review_queue.oldest", "review_queue.open", "runs.candidates"),
    *(
        "search.search",
        "skill_lists.of",
        "skills.list",
        "spending.of_change",
        "spending.of_days",
        "threads.read",
        "tokens.sessions",
    ),
}
# Ports that are handed on, or named before they are asked: what writes to them is told above.
HANDED_ON = {
    *(
        "agents",
        "case_figures",
        "changes",
        "effects",
        "feed",
        "figures",
        "inbox",
        "knowledge",
        "learning",
        "lineage",
        "past",
    ),
    *("gate.decisions", "new_id", "search", "skills", "spending", "tokens"),
}
# Where else the opened program is touched: to let a caller in, to know their keys.
SESSIONS = {
    "api/entry.py": {"access", "refused"},
    "api/guard.py": {"access", "lasting", "limiter", "refused"},
    "api/idempotency.py": {"()", "stores"},
    "api/mcp.py": {"()", "calls", "limiter"},
    "api/sessions.py": {"()"},
    "api/recorded.py": {"calls"},
    "api/serving.py": {"app", "calls", "close", "settled"},
    "console/site.py": {"()", "calls"},
}


def test_the_service_changes_what_is_known_through_the_gate_alone() -> None:
    used = {
        chain for _, tree in _trees("service") for chain in _used_of(tree, "app", "_app", "stores")
    }
    assert used - {"()", "stores"} == THROUGH_THE_GATE | BESIDES | READS | HANDED_ON


def test_the_api_and_the_console_reach_the_program_by_the_service_alone() -> None:
    """They only make sessions of it, and act through facets of the service."""
    used: dict[str, set[str]] = {}
    for name, tree in (*_trees("api"), *_trees("console")):
        # `app` of a framework's request, or of the module that wires the server, is another one.
        of_sessions = {chain for session in ("seat", "taken") for chain in _used_of(tree, session)}
        assert not {chain for chain in of_sessions if chain.split(".")[0] == "app"}, name
        touched = {chain.split(".")[0] for chain in _used_of(tree, "opened", "_opened")}
        if touched:
            used[name] = touched
    assert used == SESSIONS


def _trees(package: str) -> list[tuple[str, ast.Module]]:
    core = Path(ROOT / "core" / "entrypoints")
    files = sorted((core / package).rglob("*.py"))
    return [(str(path.relative_to(core)), ast.parse(path.read_text("utf-8"))) for path in files]


def _used_of(tree: ast.Module, *names: str) -> set[str]:
    """Return the attributes used on these names, as `port.method`; `()`: the name is called."""
    inner = {node.value for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _last(node.func) in names:
            found.add("()")
        if isinstance(node, ast.Attribute) and node not in inner:
            chain = _chain(node)
            places = [place for place, part in enumerate(chain[:-1]) if part in names]
            found |= {".".join(chain[place + 1 :]) for place in places[-1:]}
    return found


def _chain(node: ast.expr) -> list[str]:
    """Return the names of `a.b().c`; what precedes any other expression is left out."""
    if isinstance(node, ast.Call):
        return _chain(node.func)
    if isinstance(node, ast.Attribute):
        return [*_chain(node.value), node.attr]
    return [node.id] if isinstance(node, ast.Name) else []


def _last(node: ast.expr) -> str:
    return (_chain(node) or [""])[-1]
