"""How search by meaning is: off, or whether its model answers, and what waits for a vector."""

from __future__ import annotations

from core.doctor.checks import Check, CheckStatus
from core.errors import ConfigurationError, DatabaseDown
from core.settings import Settings


async def ask_embeddings(settings: Settings) -> str | Check:
    """Ask the embedding model for one vector. Raises ModelDown, ConfigurationError."""
    from core import bootstrap

    name = settings.embedding_model
    if name is None:
        return "off: EMBEDDING_MODEL is not set, search goes by words"
    async with bootstrap.open_meaning(settings) as meaning:
        assert meaning is not None
        vector = await meaning.model().embed_query("ready")
    answers = f"{name} answers, with vectors of {len(vector)} numbers"
    try:
        backlog = await bootstrap.vector_backlog(settings)
    except (DatabaseDown, ConfigurationError):
        return answers  # the check of the database says why
    if not backlog.waiting:
        return f"{answers}; all {backlog.documents} documents have theirs"
    waiting = f"{answers}; {backlog.waiting} of {backlog.documents} documents wait for theirs"
    if backlog.error:
        waiting += f", and the last call of a worker failed: {backlog.error}"
    return Check(
        name="embeddings",
        status=CheckStatus.WARN,
        detail=waiting,
        fix="a running worker makes them: `skill-worker run`",
    )
