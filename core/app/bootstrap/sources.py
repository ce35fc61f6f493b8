"""The configured sources of feedback: the platform, and those of installed plug-ins."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from core.app.bootstrap.plugins import SOURCES, opened
from core.app.bootstrap.stores import Stores, Wrap, as_it_is
from core.app.config_file import load_config
from core.app.settings import Settings
from core.domain.errors import ConfigurationError
from core.domain.messages import Message
from core.domain.models import Feedback, FeedbackStatus
from core.domain.ports import FeedbackSource


@asynccontextmanager
async def feedback_sources(
    settings: Settings, stores: Stores, wrap: Wrap = as_it_is
) -> AsyncIterator[Mapping[str, FeedbackSource]]:
    """Open the sources, by name; each goes through `wrap`. Raises ConfigurationError."""
    access = supabase_access(settings)
    async with AsyncExitStack() as stack:
        sources: list[FeedbackSource] = []
        if access is not None:
            from core.adapters.sources.postgrest import PostgrestSource, open_platform

            platform = await stack.enter_async_context(open_platform(*access))
            sources.append(PostgrestSource(platform, stores.deliveries))
        for name, given in load_config(settings).sources.items():
            opening = opened(settings, SOURCES, name, given, stores.deliveries)
            sources.append(await stack.enter_async_context(opening))
        named = {source.name: wrap(source.name, source) for source in sources}
        if len(named) < len(sources):
            twice = Counter(source.name for source in sources).most_common(1)[0][0]
            raise ConfigurationError(Message("plugins.twice", name=twice))
        yield named


async def ask_source(settings: Settings, name: str) -> None:
    """Open the source of a plug-in and ask whether it answers; nothing is fetched.

    Raises ConfigurationError, DependencyDown.
    """
    options = load_config(settings).sources[name]
    async with opened(settings, SOURCES, name, options, _NothingKnown()) as source:
        await source.ping()


class _NothingKnown:
    """The port `Deliveries` where nothing is fetched."""

    async def known(
        self,
        source: str,  # noqa: ARG002
        source_ids: Sequence[str],  # noqa: ARG002
    ) -> Mapping[str, FeedbackStatus]:
        return {}

    async def unacknowledged(self, source: str, limit: int) -> Sequence[Feedback]:  # noqa: ARG002
        return ()

    async def acknowledged(self, ended: Feedback) -> None: ...


async def ask_supabase(settings: Settings) -> str:
    """Check that the platform lets us read, and has the function that claims rows.

    Raises ConfigurationError, SourceDown.
    """
    from core.adapters.sources.postgrest import open_platform

    access = supabase_access(settings)
    if access is None:
        raise ConfigurationError(Message("supabase.unset"))
    async with open_platform(*access) as platform:
        await platform.ping()
        await platform.claim(0)
    return f"{settings.supabase_url} answers, and has the function that claims feedback"


def supabase_access(settings: Settings) -> tuple[str, str] | None:
    """Return address and key; None if neither is set. Raises ConfigurationError for only one."""
    url, key = settings.supabase_url, settings.supabase_key
    if url is None and key is None:
        return None
    if url is None:
        raise ConfigurationError(Message("supabase.no_url"), hint=Message("supabase.hint_url"))
    if key is None:
        raise ConfigurationError(Message("supabase.no_key"), hint=Message("supabase.hint_key"))
    return url, key.get_secret_value()
