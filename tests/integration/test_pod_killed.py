"""A worker killed between package and upload: after a restart it leaves one whole version."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict
from pydantic import SecretStr
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core.adapters.embedded.computer_use import run_computer_use
from core.adapters.embedded.http_server import run_server
from core.adapters.embedded.skill_server import create_app
from core.app.program import App, open_app
from core.app.settings import load_settings
from core.domain.models import (
    Agent,
    FeedbackStatus,
    HistoryFilter,
    HistoryRecord,
    HistoryStatus,
    NewFeedback,
)
from tests.support import commands
from tests.support.waiting import AT_LAST

TASK = "정기 구독 해지 (subscription cancellation)"
SAID = """정기 구독을 해지하는 절차를 알려 드립니다.
1. 남은 배송 횟수를 확인한다.
2. 이미 결제한 금액에서 발송한 만큼을 뺀다.
3. 다음 결제를 중지하고 기록을 남긴다.
"""


class Stuck:
    """A skill API whose first upload never answers: it stops `before` or after it is stored."""

    def __init__(self, inner: ASGIApp, *, before: bool) -> None:
        self.inner = inner
        self.before = before
        self.reached = asyncio.Event()
        self.gone = asyncio.Event()
        self.paths: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.paths.add(scope.get("path", ""))
        first = scope.get("path") == "/skills/upload" and not self.reached.is_set()
        if first and self.before:
            self.reached.set()
            await self.gone.wait()
            return
        await self.inner(scope, receive, self._kept(send) if first else send)

    def _kept(self, send: Send) -> Send:
        async def keep(message: Message) -> None:
            self.reached.set()
            await self.gone.wait()

        return keep


@asynccontextmanager
async def world(home: Path, *, before: bool) -> AsyncIterator[tuple[Stuck, dict[str, str]]]:
    """Run both servers; yields the failpoint, and the settings of a worker that uses them."""
    stuck = Stuck(create_app(home / "skills"), before=before)
    async with run_server(stuck) as skills, run_computer_use(token="s3cret") as pods:
        yield (
            stuck,
            {
                "USE_SKILL_CREATOR_WORKFLOW": "true",
                "COMPUTER_USE_MCP_URL": pods,
                "COMPUTER_USE_MCP_TOKEN": "s3cret",
                "MCP_SERVER_URL": f"{skills}/mcp",
                "HEARTBEAT_SECONDS": "0.2",
                "STALLED_AFTER_SECONDS": "1",
                "SWEEP_SECONDS": "0.3",
                "RETRY_BASE_SECONDS": "0.1",
            },
        )


def url_of(database: str) -> str:
    given = conninfo_to_dict(database)
    return f"postgresql:///{given['dbname']}?host={given['host']}&user={given.get('user', '')}"


async def history(app: App, feedback_id: str) -> Sequence[HistoryRecord]:
    rows, _ = await app.stores.reader.history(
        HistoryFilter(feedback_id=feedback_id), limit=10, cursor=None
    )
    return rows


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
async def test_a_killed_worker_leaves_one_whole_version(
    database: str, tmp_path: Path, before: bool
) -> None:
    async with world(tmp_path, before=before) as (stuck, given):
        settings = load_settings(
            {"skill_worker_home": tmp_path, "mcp_server_url": given["MCP_SERVER_URL"]},
            env_file=None,
        ).model_copy(update={"database_url": SecretStr(database)})
        async with open_app(settings) as app:
            await app.stores.agents.save(Agent(id="a", tenant_id="t", name="구독 담당"))
            piece = NewFeedback(tenant_id="t", agent_ids=("a",), task=TASK, content=SAID)
            ((feedback_id, _),) = await app.stores.inbox.add("cli", [piece])
            run = ("run", "--once", "--offline")
            victim = commands.start(tmp_path, *run, DATABASE_URL=url_of(database), **given)
            await asyncio.wait_for(stuck.reached.wait(), AT_LAST)
            os.killpg(victim.pid, signal.SIGKILL)
            await asyncio.to_thread(victim.communicate)
            stuck.gone.set()
            assert not await history(app, feedback_id)
            assert "/mcp" in stuck.paths  # the pod path had read its scripts

            code, _, said = await asyncio.to_thread(
                commands.finish, tmp_path, *run, DATABASE_URL=url_of(database), **given
            )
            assert code == 0, said
            assert (await app.stores.inbox.get(feedback_id)).status is FeedbackStatus.COMPLETED
            (skill,) = await app.stores.skills.list("t")
            (row,) = await history(app, feedback_id)
            stored = await app.stores.skills.read(skill.name, "t")
    assert row.status is HistoryStatus.APPLIED
    assert stored is not None
    assert row.new_content == stored.document
    assert set(row.new_files or {}) == set(stored.files)
