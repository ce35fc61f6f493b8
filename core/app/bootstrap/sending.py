"""What delivers: to hooks, and back to the platform where that is wanted."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

from core.app.bootstrap.hooks import HooksInUse, with_hooks
from core.app.bootstrap.sources import supabase_access
from core.app.bootstrap.stores import Parts, Stores, utc_now
from core.app.config_file import ConfigFile, load_config
from core.app.settings import Settings
from core.delivery.dispatcher import Dispatcher
from core.domain.errors import ConfigurationError, NoSuchTable
from core.domain.hashing import text_hash
from core.domain.messages import Message
from core.domain.models import RunEvent
from core.domain.models.deliveries import Route
from core.domain.ports import Gate, Routes, Target

SECONDS = 1.0  # interval of looks for what is due


def with_routes(parts: Parts) -> Parts:
    """Return the parts with the file of settings, and where events go out to."""
    parts = with_hooks(parts)
    parts = replace(parts, routes=own_only(parts.routes))
    if not parts.settings.writes_back or parts.dry_run:
        return parts
    from core.delivery.platform import NAME, routes

    if parts.settings.supabase_url is None:
        raise _nowhere()
    hooks, config = parts.routes, parts.config
    if config and any(hook.name == NAME for hook in config.hooks):
        raise ConfigurationError(Message("platform.hook", name=NAME))

    def both(event: RunEvent) -> list[Route]:
        return [*hooks(event), *routes(event)]

    return replace(parts, routes=own_only(both))


def own_only(routes: Routes) -> Routes:
    """Return routes that lead nowhere for events about lessons: they are the worker's own."""

    def inside(event: RunEvent) -> Sequence[Route]:
        return () if event.data.get("lesson") else routes(event)

    return inside


@asynccontextmanager
async def open_dispatcher(
    stores: Stores, gate: Gate, hooks: HooksInUse | None, *, works: bool
) -> AsyncIterator[Dispatcher | None]:
    """Yield what delivers to hooks and, in a process that `works`, to the platform.

    None if there is nothing to deliver to. Raises ConfigurationError.
    """
    async with AsyncExitStack() as stack:
        targets: dict[str, Target] = {**hooks.targets} if hooks else {}
        if works:
            targets |= await stack.enter_async_context(platform_target(stores, gate))
        if not targets:
            yield None
            return
        dispatcher = Dispatcher(
            stores.outbox, targets, stores.journal, clock=utc_now, jitter=random.random
        )
        stack.push_async_callback(dispatcher.close)
        yield dispatcher


@asynccontextmanager
async def platform_target(stores: Stores, gate: Gate) -> AsyncIterator[Mapping[str, Target]]:
    """Yield the platform as a target, by its name; nothing if nothing is written back.

    Raises ConfigurationError.
    """
    settings = stores.parts.settings
    if not settings.writes_back or stores.parts.dry_run:
        yield {}
        return
    from core.adapters.platform_rows import PostgrestRows
    from core.adapters.sources.transport import open_transport
    from core.delivery.platform import NAME, PlatformTarget, Skipped
    from core.delivery.platform_history import HistoryWriter
    from core.delivery.platform_lists import SkillListWriter
    from core.delivery.platform_rules import RuleWriter

    names = (stores.parts.config or ConfigFile()).platform
    url, key = _access(settings)
    async with open_transport(url, key) as transport:
        rows = PostgrestRows(transport, names)
        skip = Skipped()
        yield {
            NAME: PlatformTarget(
                text_hash(f"{url} {names!r}"),
                stores.changes,
                stores.write_back,
                HistoryWriter(rows, stores.changes, skip),
                SkillListWriter(rows, stores.write_back, stores.agents, gate, skip),
                RuleWriter(rows, stores.write_back, stores.knowledge),
            )
        }


def _access(settings: Settings) -> tuple[str, str]:
    access = supabase_access(settings)
    if access is None:
        raise _nowhere()
    return access


def _nowhere() -> ConfigurationError:
    return ConfigurationError(Message("platform.no_url"), hint=Message("platform.hint_url"))


async def ask_platform(settings: Settings) -> str:
    """Check that the tables that are written back to are there.

    Raises ConfigurationError, SourceDown.
    """
    from core.adapters.platform_rows import PostgrestRows
    from core.adapters.sources.transport import open_transport
    from core.delivery.platform_names import COLUMNS, TABLES

    there, missing = [], []
    async with open_transport(*_access(settings)) as transport:
        rows = PostgrestRows(transport, load_config(settings).platform)
        for table in TABLES:
            try:
                lacks = await rows.lacks(table, COLUMNS[table])
                there.append(f"{table} without {', '.join(lacks)}" if lacks else table)
            except NoSuchTable:
                missing.append(table)
    if not there:
        raise ConfigurationError(Message("platform.no_tables", names=", ".join(missing)))
    told = f"what was learnt is written back to {'; '.join(there)}"
    return told + (f"; not to {', '.join(missing)}" if missing else "")
