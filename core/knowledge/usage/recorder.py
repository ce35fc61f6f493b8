"""The record of uses in this process: counted in memory, stored in batches, lost by no stop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import SystemRandom
from typing import NamedTuple

import structlog

from core.domain.errors import SkillWorkerError
from core.domain.models.events import RunEvent
from core.domain.models.feedback import NO_USAGE
from core.domain.models.knowledge import Kind
from core.domain.models.uses import Arm, OutcomeReport, Use, UseCount, Way
from core.domain.ports import Observer, UseLog
from core.domain.tasks import end_tasks, over_all_tenants
from core.knowledge.usage.config import HoldoutRules

FLUSH_SECONDS = 1.0
ENOUGH = 500  # counters that wait, at which they are stored at once
MOST_WAITING = 10_000  # counters, beyond which items are not told apart any more
# An outcome ends the task that its agent began at most so long before it.
TASK_SECONDS = 3600.0

log = structlog.get_logger(__name__)


class _Key(NamedTuple):
    """What is counted together."""

    tenant_id: str
    agent_id: str
    kind: Kind
    item_id: str
    version: int
    digest: str
    way: Way
    day: int  # ordinal


@dataclass(slots=True)
class _Count:
    times: int
    first_at: datetime
    last_at: datetime

    def add(self, times: int, first_at: datetime, last_at: datetime) -> None:
        self.times += times
        self.first_at = min(self.first_at, first_at)
        self.last_at = max(self.last_at, last_at)


_Counts = dict[_Key, _Count]


def _lot() -> float:
    return SystemRandom().random()


class Recorder:
    """The port `Uses`. Only an outcome, and a task that an item on trial matches, await the log.

    `lot` returns a number from 0 to below 1.
    """

    def __init__(
        self,
        stored: UseLog,
        observe: Observer,
        holdout: HoldoutRules,
        lot: Callable[[], float] = _lot,
    ) -> None:
        self._log = stored
        self._observe = observe
        self._holdout = holdout
        self._on_trial = frozenset(holdout.items)
        self._lot = lot
        self._waiting: _Counts = {}
        self._is_any, self._is_enough = asyncio.Event(), asyncio.Event()
        self._flushing = asyncio.Lock()

    def note(self, uses: Sequence[Use]) -> None:
        """Count uses, to be stored with the next flush."""
        try:
            for use in uses:
                day = use.at.astimezone(UTC).toordinal()
                key = _Key(
                    use.tenant_id,
                    use.agent_id,
                    use.kind,
                    use.item_id,
                    use.version,
                    use.digest,
                    use.way,
                    day,
                )
                self._count(key, 1, use.at, use.at)
            self._wake()
        except Exception:  # what is answered must not depend on what is recorded
            log.exception("uses.broke")

    async def left_out(
        self, tenant_id: str, agent_id: str, matched: Sequence[str], at: datetime
    ) -> Collection[str]:
        """Return which items on trial the agent's task does without.

        It is drawn once a task: a task is what an agent asks until it reports an outcome, for an
        hour at most. The draw is kept in the log, so that all ways and processes agree.
        """
        if self._on_trial.isdisjoint(matched):
            return frozenset()
        arms = [
            Arm(
                tenant_id=tenant_id,
                agent_id=agent_id,
                item_id=item_id,
                at=at,
                left_out=self._lot() < self._holdout.share,
            )
            for item_id in sorted(self._on_trial.intersection(matched))
        ]
        try:
            return frozenset(await self._log.draw(arms, at - timedelta(seconds=TASK_SECONDS)))
        except SkillWorkerError as error:
            log.warning("uses.undrawn", count=len(arms), error=error.message)
            return frozenset()

    async def report(self, outcome: OutcomeReport) -> Sequence[str]:
        """Store an outcome."""
        since = outcome.at - timedelta(seconds=TASK_SECONDS)
        return await self._log.add_outcome(outcome, since)

    async def flush(self) -> None:
        """Store what waits; if the database is away it waits on."""
        async with self._flushing:
            taken = self._take()
            if not taken:
                return
            try:
                with over_all_tenants():  # it is of whoever used something
                    await self._store(taken)
            except BaseException:
                self._put_back(taken)
                raise

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Recorder]:
        """Store in batches while the block runs, and at its end what is left."""
        task = asyncio.ensure_future(self._flush_on())
        try:
            yield self
        finally:
            async with self._flushing:  # cut off, what it stores would be stored again
                await end_tasks([task])
            try:
                await self.flush()
            except SkillWorkerError as error:
                log.error(  # noqa: TRY400 - the database is away: no trace says more
                    "uses.lost", count=len(self._waiting), error=error.message
                )

    async def _flush_on(self) -> None:
        """Flush a second after something was noted, sooner if there is much; idle costs nothing."""
        while True:
            await self._is_any.wait()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._is_enough.wait(), FLUSH_SECONDS)
            try:
                await self.flush()
            except SkillWorkerError as error:
                log.warning("uses.delayed", count=len(self._waiting), error=error.message)
                await asyncio.sleep(FLUSH_SECONDS)

    async def _store(self, counts: _Counts) -> None:
        try:
            await self._log.add([_use_count(key, count) for key, count in counts.items()])
        except SkillWorkerError as error:
            if error.retryable:
                raise
            await self._store_each(counts)

    async def _store_each(self, counts: _Counts) -> None:
        """Store what can be stored of a batch with something in it that the database refuses."""
        for key, count in counts.items():
            try:
                await self._log.add([_use_count(key, count)])
            except SkillWorkerError as error:
                if error.retryable:
                    raise
                log.error("uses.lost", count=1, error=error.message)  # noqa: TRY400 - as above

    def _count(self, key: _Key, times: int, first_at: datetime, last_at: datetime) -> None:
        counts = self._waiting
        known = counts.get(key)
        if known is None and len(counts) >= MOST_WAITING:
            key = key._replace(item_id="", version=0, digest="")
            known = counts.get(key)
            self._observe(RunEvent(name="uses.folded", data={"times": times}), NO_USAGE)
        if known is None:
            counts[key] = _Count(times, first_at, last_at)
        else:
            known.add(times, first_at, last_at)

    def _wake(self) -> None:
        self._is_any.set()
        if len(self._waiting) >= ENOUGH:
            self._is_enough.set()

    def _take(self) -> _Counts:
        taken, self._waiting = self._waiting, {}
        self._is_any.clear()
        self._is_enough.clear()
        return taken

    def _put_back(self, taken: _Counts) -> None:
        for key, count in taken.items():
            self._count(key, count.times, count.first_at, count.last_at)
        self._is_any.set()


def _use_count(key: _Key, count: _Count) -> UseCount:
    return UseCount(
        **{**key._asdict(), "day": datetime.fromordinal(key.day).date()},
        times=count.times,
        first_at=count.first_at,
        last_at=count.last_at,
    )
