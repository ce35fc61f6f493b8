"""The composition root: from settings to adapters to parts.

It may import everything below `entrypoints`; nothing outside it may import an adapter. Begin with
`stores.py` for the database and its stores, then `learning.py` for the worker.
"""

from core.app.bootstrap.health import serve_health
from core.app.bootstrap.learning import chat_model, close_chat_model
from core.app.bootstrap.model import (
    intake_pause,
    model_pause,
    open_meaning,
    try_writing,
    vector_backlog,
)
from core.app.bootstrap.pods import computer_use, mcp_tools, sandbox_status, serve_computer_use
from core.app.bootstrap.sources import ask_supabase
from core.app.bootstrap.stores import (
    IN_PROCESS,
    Wrap,
    copy_database,
    migrate,
    migration_status,
    refuse_newer,
    serve_skills,
    skill_server,
    skill_store,
)

__all__ = [
    "IN_PROCESS",
    "Wrap",
    "ask_supabase",
    "chat_model",
    "close_chat_model",
    "computer_use",
    "copy_database",
    "intake_pause",
    "mcp_tools",
    "migrate",
    "migration_status",
    "model_pause",
    "open_meaning",
    "refuse_newer",
    "sandbox_status",
    "serve_computer_use",
    "serve_health",
    "serve_skills",
    "skill_server",
    "skill_store",
    "try_writing",
    "vector_backlog",
]
