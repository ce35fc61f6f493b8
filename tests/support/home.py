"""Commands as users call them, in this process, with their own database."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextvars import Context
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from pydantic import JsonValue

from core.entrypoints.cli.app import run
from tests.support.databases import url_of

Data = Mapping[str, JsonValue]


@dataclass
class Home:
    """A home in which commands run; it has agents `a` (of tenant `t`) and `b` (of `other`)."""

    path: Path
    capsys: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch
    database: str = ""

    def policy(self, name: str) -> None:
        """Run what follows under a review policy."""
        self.monkeypatch.setenv("REVIEW_POLICY", name)

    def call(self, *arguments: str) -> tuple[int, str, str]:
        """Run one command; return its exit code, stdout and stderr."""
        code = Context().run(run, [*arguments])  # a process of its own knows no tenant either
        out, err = self.capsys.readouterr()
        return code, out, err

    def ask(self, *arguments: str) -> Data:
        """Run one command with --json, and return its answer."""
        code, out, err = self.call(*arguments, "--json")
        assert code == 0, out + err
        answer: Data = json.loads(out)
        return answer

    def fails(self, *arguments: str, code: int) -> Data:
        """Run one command with --json, and return its failure."""
        done, out, err = self.call(*arguments, "--json")
        assert done == code, out + err
        error: Data = json.loads(out)["error"]
        return error

    def items(self, *arguments: str) -> list[dict[str, JsonValue]]:
        """Run a list command, and return its items."""
        listed = self.ask(*arguments)["items"]
        assert isinstance(listed, list)
        return [item for item in listed if isinstance(item, dict)]

    def bring(self, **line: JsonValue) -> None:
        """Import one item, replacing the one with its id."""
        file = self.path / "given" / "in.jsonl"
        file.parent.mkdir(exist_ok=True)
        given = {"agent_id": "a", "tenant_id": "t", **line}
        file.write_text(json.dumps(given, ensure_ascii=False), encoding="utf-8")
        code, out, err = self.call("knowledge", "import", "--replace", str(file))
        assert code == 0, out + err

    def held(self) -> list[str]:
        """Return the ids of held changes, newest first."""
        return [str(item["id"]) for item in self.items("changes", "list", "--status", "held")]


def open_home(
    database: str,
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Home:
    """Create the home of a test."""
    with psycopg.connect(database) as conn:
        for agent, tenant in (("a", "t"), ("b", "other")):
            insert = "INSERT INTO agents (id, tenant_id, name) VALUES (%s, %s, 'A')"
            conn.execute(insert, (agent, tenant))
    monkeypatch.setenv("DATABASE_URL", url_of(database))
    monkeypatch.setenv("SKILL_WORKER_HOME", str(path))
    return Home(path, capsys, monkeypatch, database)
