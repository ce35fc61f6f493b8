"""The configured sources of feedback; new kinds of sources are added here."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from core.app.bootstrap.stores import Stores, Wrap, as_it_is
from core.app.settings import Settings
from core.domain.errors import ConfigurationError
from core.domain.messages import Message
from core.domain.ports import FeedbackSource


@asynccontextmanager
async def feedback_sources(
    settings: Settings, stores: Stores, wrap: Wrap = as_it_is
) -> AsyncIterator[Mapping[str, FeedbackSource]]:
    """Open the sources, by name; each goes through `wrap`. Raises ConfigurationError."""
    access = _supabase_access(settings)
    if access is None:
        yield {}
        return
    from core.adapters.sources.postgrest import PostgrestSource, open_platform

    async with open_platform(*access) as platform:
        source = PostgrestSource(platform, stores.deliveries)
        yield {source.name: wrap(source.name, source)}


async def ask_supabase(settings: Settings) -> str:
    """Check that the platform lets us read, and has the function that claims rows.

    Raises ConfigurationError, SourceDown.
    """
    from core.adapters.sources.postgrest import open_platform

    access = _supabase_access(settings)
    if access is None:
        raise ConfigurationError(Message("supabase.unset"))
    async with open_platform(*access) as platform:
        await platform.ping()
        await platform.claim(0)
    return f"{settings.supabase_url} answers, and has the function that claims feedback"


def _supabase_access(settings: Settings) -> tuple[str, str] | None:
    """Return address and key; None if neither is set. Raises ConfigurationError for only one."""
    url, key = settings.supabase_url, settings.supabase_key
    if url is None and key is None:
        return None
    if url is None:
        raise ConfigurationError(Message("supabase.no_url"), hint=Message("supabase.hint_url"))
    if key is None:
        raise ConfigurationError(Message("supabase.no_key"), hint=Message("supabase.hint_key"))
    return url, key.get_secret_value()
