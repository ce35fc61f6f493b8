"""The composition root: from settings to adapters to parts.

It may import everything below `entrypoints`; nothing outside it may import an adapter. Begin with
`stores.py` for the database and its stores, then `learning.py` for the worker.
"""

from core.app.bootstrap.files import folder, repository
from core.app.bootstrap.health import serve_health
from core.app.bootstrap.learning import chat_model, close_chat_model
from core.app.bootstrap.model import (
    in_the_workers_name,
    intake_pause,
    model_pause,
    open_meaning,
    tenant_wall,
    try_writing,
    vector_backlog,
)
from core.app.bootstrap.pods import (
    PodHost,
    computer_use,
    mcp_tools,
    sandbox_status,
    serve_computer_use,
)
from core.app.bootstrap.screens import open_screens, see_plugins
from core.app.bootstrap.sending import ask_platform
from core.app.bootstrap.sources import ask_source, ask_supabase
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
    tenant_tokens,
)

__all__ = [
    "IN_PROCESS",
    "PodHost",
    "Wrap",
    "ask_platform",
    "ask_source",
    "ask_supabase",
    "chat_model",
    "close_chat_model",
    "computer_use",
    "copy_database",
    "folder",
    "in_the_workers_name",
    "intake_pause",
    "mcp_tools",
    "migrate",
    "migration_status",
    "model_pause",
    "open_meaning",
    "open_screens",
    "refuse_newer",
    "repository",
    "sandbox_status",
    "see_plugins",
    "serve_computer_use",
    "serve_health",
    "serve_skills",
    "skill_server",
    "skill_store",
    "tenant_tokens",
    "tenant_wall",
    "try_writing",
    "vector_backlog",
]
