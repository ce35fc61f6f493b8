"""The processes of the chaos suite: workers and servers, forked from one that has all imports."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn
from pydantic import SecretStr
from starlette.types import ASGIApp

from core.adapters.embedded.computer_use import create_computer_use_app
from core.adapters.embedded.skill_server import create_app
from core.app.observability import configure_logging
from core.app.program import open_app
from core.app.settings import load_settings
from tests.chaos.failpoints import Failpoints, Plan
from tests.chaos.model_server import create_model_app
from tests.chaos.platform import create_platform_app
from tests.chaos.skill_faults import FaultySkills

LOOPBACK = "127.0.0.1"
MODEL = "openai:chaos"
POD_PLACES = 1000
FAST: Mapping[str, str | int | float] = {
    "heartbeat_seconds": 0.3,
    "stalled_after_seconds": 1.5,
    "sweep_seconds": 0.3,
    "reconcile_seconds": 1,
    "poll_interval_seconds": 1,
    "retry_base_seconds": 0.2,
    "retry_max_seconds": 1,
    "max_attempts": 100,
    "llm_timeout_seconds": 2,
    "llm_max_retries": 0,
    "llm_probe_seconds": 0.3,
    "skill_api_timeout_seconds": 2,
    "mcp_timeout_seconds": 10,
    "skill_refresh_seconds": 3600,
}


@dataclass(frozen=True)
class WorkerSpec:
    """What a worker needs to know; `plan` is the path of its failpoint plan."""

    database: str
    home: str
    skills: str
    model: str
    plan: str
    log: str
    concurrency: int = 1
    settings: Mapping[str, str | int | float] = field(default_factory=dict)


def work(spec: WorkerSpec) -> None:
    """Run a worker until SIGTERM, or until a failpoint ends it."""
    log = os.open(spec.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    configure_logging("info", "json")
    asyncio.run(_work(spec, Failpoints(Plan.load(Path(spec.plan)))))


async def _work(spec: WorkerSpec, points: Failpoints) -> None:
    from tests.chaos.model_client import chat  # its imports take a second of collecting the tests

    given = {
        **FAST,
        "skill_worker_home": Path(spec.home),
        "llm_model": MODEL,
        "skill_api_base_url": spec.skills,
        **spec.settings,
    }
    settings = load_settings(given, env_file=None)  # type: ignore[arg-type]
    settings = settings.model_copy(update={"database_url": SecretStr(spec.database)})
    model = chat(spec.model, settings.llm_timeout_seconds)
    model._points = points
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with open_app(settings, model=True, chat=model, wrap=points.wrap) as app:
        await app.run(False, spec.concurrency, stop, lambda _counts: None)


def serve_model(port: int) -> None:
    """Run the model."""
    _serve(create_model_app(), port)


def serve_skills(root: str, port: int) -> None:
    """Run the skill server."""
    _serve(FaultySkills(create_app(Path(root))), port)


def serve_platform(port: int) -> None:
    """Run the existing platform."""
    _serve(create_platform_app(), port)


def serve_pods(port: int) -> None:
    """Run the computer-use server; pods of killed workers live on there for minutes."""
    _serve(create_computer_use_app(most_sessions=POD_PLACES), port)


def _serve(app: ASGIApp, port: int) -> None:
    configure_logging("error", "console")
    # asyncio's loop, as the commands use: uvloop cannot start processes as another user.
    uvicorn.run(app, host=LOOPBACK, port=port, loop="asyncio", log_config=None, access_log=False)
