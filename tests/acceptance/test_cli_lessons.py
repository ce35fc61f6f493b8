"""Lessons of the worker on the command line, and who may not use its id."""

from __future__ import annotations

import json

import pytest

from core.domain.models.feedback import WORKER_AGENT
from tests.support.home import Home


def test_a_rejection_becomes_a_lesson_that_a_person_approves(home: Home) -> None:
    said = home.path / "said.jsonl"
    piece = {"agent_ids": ["a"], "tenant_id": "t", "content": "Reports must come as a PDF"}
    said.write_text(json.dumps({**piece, "author": "kim"}), encoding="utf-8")
    home.items("feedback", "add", str(said))
    home.policy("all")
    assert home.call("run", "--once", "--offline")[0] == 0
    (change_id,) = home.held()
    home.ask("changes", "reject", change_id, "--reason", "one report only, no rule for all")
    assert home.ask("lessons", "propose") == {"proposed": 1}
    (lesson,) = home.items("lessons", "list", "--tenant", "t")
    assert (lesson["kind"], lesson["pieces"], lesson["status"]) == ("rejected", 1, "held")
    assert home.held() == [lesson["change_id"]]
    assert home.items("knowledge", "list", "--agent", WORKER_AGENT) == []
    home.ask("changes", "approve", str(lesson["change_id"]))
    (item,) = home.items("knowledge", "list", "--agent", WORKER_AGENT)
    assert "one report only, no rule for all" in str(item["content"])
    code, out, _ = home.call("knowledge", "export")
    assert (code, out) == (0, "")
    (applied,) = home.items("lessons", "list")
    assert applied["status"] == "applied"


LINE = {"kind": "MEMORY", "content": "x", "agent_id": WORKER_AGENT, "tenant_id": "t"}
AGENT = {"id": WORKER_AGENT, "tenant_id": "t", "name": "X", "role": "", "goal": ""}


@pytest.mark.parametrize(
    "arguments",
    [
        ("agents", "add", "--id", WORKER_AGENT, "--tenant", "t", "--name", "X"),
        ("agents", "import", "agents.jsonl"),
        ("agents", "setup", WORKER_AGENT),
        ("agents", "skills", WORKER_AGENT),
        ("feedback", "add", "--text", "x", "--agent", WORKER_AGENT, "--tenant", "t"),
        ("feedback", "add", "feedback.jsonl"),
        ("knowledge", "import", "lines.jsonl"),
        ("knowledge", "context", "--agent", WORKER_AGENT, "--task", "x"),
        ("knowledge", "sync", "out", "--layout", "claude", "--agent", WORKER_AGENT),
        (
            "tokens",
            "add",
            "--name",
            "x",
            "--tenant",
            "t",
            "--role",
            "read",
            "--agent",
            WORKER_AGENT,
        ),
    ],
    ids=" ".join,
)
def test_no_command_takes_the_id_of_the_worker(home: Home, arguments: tuple[str, ...]) -> None:
    files = {
        "agents.jsonl": AGENT,
        "lines.jsonl": LINE,
        "feedback.jsonl": {"agent_ids": [WORKER_AGENT], "tenant_id": "t", "content": "x"},
    }
    for name, line in files.items():
        (home.path / name).write_text(json.dumps(line), encoding="utf-8")
    given = [str(home.path / one) if one in files or one == "out" else one for one in arguments]
    code, out, err = home.call(*given)
    assert code != 0
    assert "worker's own id" in out + err
