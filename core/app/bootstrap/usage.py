"""Where the uses of what was learnt are put on record."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from core.app.bootstrap.stores import Stores
from core.domain.ports import NoUses, Observer, Uses
from core.knowledge.usage.config import EffectRules
from core.knowledge.usage.recorder import Recorder


@asynccontextmanager
async def open_uses(stores: Stores, observe: Observer) -> AsyncIterator[Uses]:
    """Yield where uses are put on record; a dry run leaves no trace."""
    if stores.parts.dry_run:
        yield NoUses()
        return
    config = stores.parts.config
    holdout = (config.effect if config else EffectRules()).holdout
    async with Recorder(stores.use_log, observe, holdout).running() as recorder:
        yield recorder
