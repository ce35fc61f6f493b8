"""What callers did, put on record in parts: no call waits for it, and a clean stop loses none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING

import structlog

from core.domain.errors import SkillWorkerError
from core.domain.models.audit import Call
from core.domain.tasks import end_tasks, over_all_tenants, repeat
from core.entrypoints.auth import utc_now

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from core.domain.ports import Calls

log = structlog.get_logger(__name__)

FLUSH_SECONDS = 1.0
MOST_WAITING = 10_000
MOST_AT_ONCE = 1000
_SAME = {"tenant_id", "via", "caller", "token_id", "method", "route", "outcome", "status"}
REFUSED = frozenset({"unauthorized", "forbidden", "limited"})


class CallRecord:
    """Calls of this process that are not stored yet.

    Equal refusals become one row: whoever tries out tokens fills neither memory nor disk.
    """

    def __init__(self, now: Callable[[], datetime] = utc_now) -> None:
        self.now = now
        self._waiting: dict[object, Call] = {}

    def note(self, call: Call) -> None:
        """Put a call on record, with the next flush."""
        is_refused = call.outcome in REFUSED
        key = call.model_dump_json(include=_SAME) if is_refused else object()
        known = self._waiting.get(key)
        if known is not None:
            self._waiting[key] = known.model_copy(update={"times": known.times + 1})
        elif len(self._waiting) < MOST_WAITING:
            self._waiting[key] = call
        else:
            log.error("calls.lost", count=1, error="too many wait to be stored")

    async def flush(self, calls: Calls) -> None:
        """Store what waits; if that fails it waits again."""
        while self._waiting:
            taken = dict(list(self._waiting.items())[:MOST_AT_ONCE])
            for key in taken:
                del self._waiting[key]
            try:
                with over_all_tenants():
                    await calls.add([*taken.values()])
            except BaseException:
                self._waiting = {**taken, **self._waiting}
                raise

    @asynccontextmanager
    async def stored_in(self, calls: Calls) -> AsyncIterator[None]:
        """Store calls while the block runs, and at its end what is left."""
        running = asyncio.ensure_future(repeat(FLUSH_SECONDS, "calls", lambda: self.flush(calls)))
        try:
            yield
        finally:
            await end_tasks([running])
            try:
                await self.flush(calls)
            except SkillWorkerError as error:
                log.error(  # noqa: TRY400 - the database is away: no trace says more
                    "calls.lost", count=len(self._waiting), error=error.message
                )
