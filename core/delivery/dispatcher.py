"""Delivers what waits in the outbox: at least once, in order, ever more rarely to who fails."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

import structlog

from core.domain.errors import SkillWorkerError
from core.domain.messages import Message
from core.domain.models import RunEvent
from core.domain.models.deliveries import (
    Delivery,
    DeliveryStatus,
    Outcome,
    Sent,
    Settled,
)
from core.domain.ports import Journal, Outbox, Target
from core.domain.tasks import end_tasks

log = structlog.get_logger(__name__)

# 5 s, 20 s, 80 s … 5.7 h, 10 h, 10 h: ten attempts in 27 to 31 hours.
ATTEMPTS = 10
FIRST_SECONDS, FACTOR, LONGEST_SECONDS, JITTER = 5.0, 4.0, 36_000.0, 0.1


def delay(attempt: int, jitter: float) -> float:
    """Return the seconds to wait after an attempt, counted from 1; `jitter` is in [0, 1)."""
    usual = min(LONGEST_SECONDS, FIRST_SECONDS * FACTOR ** (attempt - 1))
    return usual * (1 + JITTER * jitter)


class Dispatcher:
    """Takes turns with the dispatchers of other workers; a slow target delays no other."""

    def __init__(
        self,
        outbox: Outbox,
        targets: Mapping[str, Target],
        journal: Journal,
        *,
        clock: Callable[[], datetime],
        jitter: Callable[[], float],
    ) -> None:
        self._outbox = outbox
        self._targets = targets
        self._journal = journal
        self._clock = clock
        self._jitter = jitter
        self._busy: dict[str, asyncio.Task[None]] = {}

    async def work(self) -> bool:
        """Begin to deliver what is due to targets that are not being served; whether any is."""
        idle = {name: one for name, one in self._targets.items() if name not in self._busy}
        if not idle:
            return False
        claimed = await self._outbox.claim(idle, self._clock())
        for name in dict.fromkeys(delivery.target for delivery in claimed):
            own = [delivery for delivery in claimed if delivery.target == name]
            self._busy[name] = asyncio.create_task(self._serve(name, own), name=f"to {name}")
        return bool(claimed)

    async def drain(self) -> None:
        """Deliver until nothing is due any more; what failed waits for its next attempt."""
        while await self.work() or self._busy:
            if self._busy:
                await asyncio.wait(self._busy.values(), return_when=asyncio.FIRST_COMPLETED)

    async def close(self) -> None:
        """Cut off what is on its way; it goes out again once its lease is over."""
        await end_tasks([*self._busy.values()])

    async def _serve(self, name: str, claimed: Sequence[Delivery]) -> None:
        """Deliver to one target until nothing is due to it."""
        try:
            while claimed:
                await asyncio.gather(*(self._deliver(one) for one in claimed))
                own = {name: self._targets[name]}
                claimed = await self._outbox.claim(own, self._clock())
        except SkillWorkerError as error:
            log.warning("delivery.unsettled", target=name, error=error.message)
        except Exception:  # a defect: the next round goes on
            log.exception("delivery.broke", target=name)
        finally:
            self._busy.pop(name, None)

    async def _deliver(self, delivery: Delivery) -> None:
        target = self._targets[delivery.target]
        began, started = self._clock(), time.monotonic()
        if delivery.attempts > ATTEMPTS:  # each of which its worker did not survive
            sent = Sent(outcome=Outcome.LATER, status="", error=Message("delivery.cut_off"))
        else:
            sent = await target.deliver(delivery)
        ended = self._settled(delivery, sent, began, time.monotonic() - started)
        failures = await self._outbox.settle(delivery, ended, target.digest)
        await self._tell(delivery, ended, failures)

    def _settled(self, delivery: Delivery, sent: Sent, began: datetime, seconds: float) -> Settled:
        now = self._clock()
        if sent.outcome is Outcome.DONE:
            return Settled(DeliveryStatus.DELIVERED, sent, began, seconds)
        if sent.outcome is Outcome.SKIPPED:
            return Settled(DeliveryStatus.SKIPPED, sent, began, seconds)
        if sent.outcome is Outcome.NEVER:
            return Settled(DeliveryStatus.FAILED, sent, began, seconds)
        if sent.outcome is Outcome.GONE:
            return Settled(DeliveryStatus.WAITING, sent, began, seconds, now)
        if delivery.attempts >= ATTEMPTS:
            return Settled(DeliveryStatus.DEAD, sent, began, seconds)
        wait = max(delay(delivery.attempts, self._jitter()), sent.retry_after or 0.0)
        rests = timedelta(seconds=sent.retry_after) if sent.retry_after else None
        due_at = now + timedelta(seconds=wait)
        return Settled(
            DeliveryStatus.WAITING, sent, began, seconds, due_at, now + rests if rests else None
        )

    async def _tell(self, delivery: Delivery, ended: Settled, failures: int) -> None:
        told = {"delivery_id": delivery.id, "target": delivery.target, "attempt": delivery.attempts}
        if ended.status is DeliveryStatus.DELIVERED:
            log.info("delivery.sent", **told, status=ended.sent.status)
        elif ended.status is DeliveryStatus.SKIPPED:
            log.info("delivery.skipped", **told, error=ended.sent.error or "")
        elif ended.status is DeliveryStatus.WAITING:
            log.warning(
                "delivery.failed", **told, status=ended.sent.status, error=ended.sent.error or "",
                failures=failures, next_at=ended.due_at and ended.due_at.isoformat(),
            )  # fmt: skip
        else:
            log.error(
                "delivery.given_up", **told, status=ended.sent.status, error=ended.sent.error or ""
            )
        if ended.sent.outcome is Outcome.GONE:
            data = {"hook": delivery.target, "error": str(ended.sent.error or "")}
            await self._journal.emit(RunEvent(name="hook.disabled", data={**data}))
