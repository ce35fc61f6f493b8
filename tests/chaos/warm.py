"""The process that the suite forks from: everything imported, and one run completed.

A worker forked from it takes a tenth of the CPU time of one started from the shell, so that
hundreds can be killed in a minute.
"""

from __future__ import annotations

import asyncio
import gc
import importlib

from core.testing.scripted_model import calls, says
from tests.chaos.model_client import chat
from tests.support.worker import MemoryWorker

_LATE = (
    "alembic.command",
    "anyio._backends._asyncio",
    "core.adapters.embedded.computer_use_tools",
    "core.adapters.embedded.skills_mcp",
    "core.polling_manager",
    "core.adapters.postgres.saver",
    "core.react_agent",
    "core.agent.skill_author",
    "h11",
    "httpcore",
    "langchain_mcp_adapters.client",
    "mcp.client.streamable_http",
    "mcp.server.fastmcp",
    "openai.lib.streaming.chat",
    "openai.resources.chat.completions",
    "procrastinate.builtin_tasks",
    "procrastinate.worker",
    "sqlalchemy.dialects.postgresql.psycopg",
    "tests.chaos.children",
    "uvicorn",
)


def warm() -> None:
    """Import what is imported late, and let a worker over memory learn something."""
    for name in _LATE:
        importlib.import_module(name)
    learns = calls(("commit_to_memory", {"content": "x", "operation": "CREATE", "reason": "x"}))
    asyncio.run(MemoryWorker([learns, says("x")]).tell("x"))
    chat("http://127.0.0.1:9/v1", 1.0)
    gc.collect()
    gc.freeze()


warm()
