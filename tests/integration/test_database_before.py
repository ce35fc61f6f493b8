"""A database made before the code moved into rooms opens, and what was under way in it ends.

`tests/data/before_rooms` was written by that code: three pieces had taught (a memory, a rule and a
skill), one change was held, one run was killed after its tool had answered, two pieces were queued.
The transactions of events count from 1, as in a server that had seen no others.
"""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from pathlib import Path
from unittest.mock import patch

import psycopg
import pytest
from alembic import command
from alembic.config import Config

from core.adapters.postgres.migrations import migrate
from tests.support.databases import url_of
from tests.support.home import Home

BEFORE = Path(__file__).parents[1] / "data" / "before_rooms"
CUT_OFF = "Mr. Choi wants reports as PDF"
# As the release before saves an agent: no row comes back where the id is another tenant's.
_SAVE_AGENT = """
INSERT INTO agents (id, tenant_id, name) VALUES (%s, %s, %s)
ON CONFLICT (id) DO UPDATE SET name = excluded.name
WHERE agents.tenant_id = excluded.tenant_id RETURNING id, xmax = 0
"""
_AGENTS = [
    ("clerk", "t", "Renamed"),
    ("clerk", "t3", "Their clerk"),
    ("shop", "t", "S"),
    ("shop", "t", "Shop"),
]
_TABLE = re.compile(r"^(COPY [^\n]+ FROM STDIN);\n(.*?)^\\\.$", re.MULTILINE | re.DOTALL)
_SEQUENCE = re.compile(r"^SELECT setval.+;$", re.MULTILINE)


@pytest.fixture
async def home(
    empty_database: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Home:
    await _as_it_was(empty_database)
    shutil.copytree(BEFORE / "skills", tmp_path / "skills")
    monkeypatch.setenv("DATABASE_URL", url_of(empty_database))
    monkeypatch.setenv("SKILL_WORKER_HOME", str(tmp_path))
    return Home(tmp_path, capsys, monkeypatch)


async def _as_it_was(conninfo: str) -> None:
    """Make the first schema and put the rows in, past triggers and foreign keys."""
    upgrade = command.upgrade

    def to_the_first(config: Config, _: str) -> None:
        upgrade(config, "0001")

    with patch.object(command, "upgrade", to_the_first):
        await migrate(conninfo)
    text = (BEFORE / "tables.sql").read_text(encoding="utf-8")
    with psycopg.connect(conninfo) as conn:
        conn.execute("SET session_replication_role = replica")
        for statement, rows in _TABLE.findall(text):
            with conn.cursor().copy(statement) as copy:
                copy.write(rows)
        for statement in _SEQUENCE.findall(text):
            conn.execute(statement)


def test_what_was_under_way_before_the_move_ends(home: Home) -> None:
    assert home.call("db", "migrate")[0] == 0
    code, out, err = home.call("run", "--once", "--offline")
    assert code == 0, out + err
    pieces = {str(piece["content"]): piece for piece in home.items("feedback", "list")}
    assert Counter(piece["status"] for piece in pieces.values()) == {
        "completed": 5,
        "no_action": 1,
        "held": 1,
    }
    _went_on_where_it_was_cut_off(home, str(pieces[CUT_OFF]["id"]))
    (held,) = home.held()
    assert "invoices in English" in home.call("changes", "show", held, "--diff")[1]
    assert home.ask("changes", "approve", held)["status"] == "applied"
    assert not home.held()
    applied = home.items("history", "list")
    assert Counter(record["knowledge_type"] for record in applied) == {
        "MEMORY": 4,
        "DMN_RULE": 1,
        "SKILL": 1,
    }
    verified = home.ask("history", "verify")  # what was there is chained, and what came since
    assert (verified["entries"], verified["problems"]) == (len(applied) + 1, [])


def test_agents_keep_their_lists_also_what_older_workers_add_to_them(home: Home) -> None:
    with psycopg.connect(os.environ["DATABASE_URL"]) as conn:
        conn.execute("INSERT INTO agents (id, tenant_id, name) VALUES ('shop', 't', 'Shop')")
    assert home.call("db", "migrate")[0] == 0
    (skill,) = home.items("agents", "skills", "clerk", "--tenant", "t")
    with psycopg.connect(os.environ["DATABASE_URL"]) as conn:  # a worker that began before does so
        conn.execute(
            "INSERT INTO agent_skills (agent_id, name) SELECT id, %s FROM agents WHERE id = 'shop'",
            (skill["name"],),
        )
    (shared,) = home.items("agents", "skills", "clerk", "--tenant", "t")
    assert shared == {"name": skill["name"], "shared_with": ["shop"]}
    twin = ("agents", "add", "--id", "clerk", "--tenant", "other", "--name", "Their clerk")
    assert home.ask(*twin)["items"] == [{"id": "clerk", "new": True}]


def test_workers_of_the_release_before_save_agents_and_take_up_nothing(home: Home) -> None:
    assert home.call("db", "migrate")[0] == 0
    assert home.call("agents", "add", "--id", "clerk", "--tenant", "t2", "--name", "Theirs")[0] == 0
    with psycopg.connect(os.environ["DATABASE_URL"]) as conn:
        saved = [conn.execute(_SAVE_AGENT, row).fetchall() for row in _AGENTS]
        queues = conn.execute(
            "INSERT INTO procrastinate_jobs (queue_name, task_name, args) VALUES"
            " ('feedback', 'process', '{}'), ('of another program', 'x', '{}') RETURNING queue_name"
        ).fetchall()
    assert saved == [[("clerk", False)], [], [("shop", True)], [("shop", False)]]
    assert queues == [("pieces",), ("of another program",)]
    assert [(a["id"], a["tenant_id"], a["name"]) for a in home.items("agents", "list")] == [
        ("clerk", "t", "Renamed"),
        ("clerk", "t2", "Theirs"),
        ("shop", "t", "Shop"),
    ]


def test_what_was_known_before_is_found_after_the_migration(home: Home) -> None:
    assert home.call("db", "migrate")[0] == 0
    hits = home.items("knowledge", "search", "Park, short answers")
    assert [hit["name"] for hit in hits] == ["Ms. Park wants short answers by mail"]
    (named, *_) = home.items("knowledge", "search", "settle-partial-refund-check is too slow")
    assert named["kind"] == "SKILL"


def _went_on_where_it_was_cut_off(home: Home, feedback_id: str) -> None:
    shown = home.ask("feedback", "show", feedback_id)
    events = shown["run_events"]
    assert isinstance(events, list)
    names = Counter(event["name"] for event in events if isinstance(event, dict))
    # Its first answer had been paid for, and its tool had been called.
    assert (names["model.called"], names["tool.called"], names["change.applied"]) == (2, 1, 1)
    assert (names["run.started"], names["run.finished"]) == (2, 1)
