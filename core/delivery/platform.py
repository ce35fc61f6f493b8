"""What was learnt goes back to the platform: which events do, and how each is delivered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import NamedTuple

import structlog

from core.delivery.platform_history import HistoryWriter, is_uuid
from core.delivery.platform_lists import SkillListWriter
from core.delivery.platform_rules import RuleWriter
from core.domain.errors import DependencyDown, InvalidInput, SkillWorkerError, Stale
from core.domain.messages import Message, joined
from core.domain.models import Change, HistoryRecord, HistoryStatus, Kind, RunEvent
from core.domain.models.deliveries import Delivery, Outcome, Route, Sent
from core.domain.ports import ChangeLog, Unsent, WriteBackRecords
from core.domain.retry_policy import may_pass
from core.domain.tasks import in_name_of

log = structlog.get_logger(__name__)

NAME = "platform"
_SECONDS = 570.0  # a skill that hundreds of agents list takes as many calls
_LEASE = 600.0
BACKFILL_PAGE = 500
_LISTED = {Kind.SKILL, Kind.AGENT_SKILLS}
_ERASED = "change.erased"
_ON_RECORD = {"change.applied", "change.failed", _ERASED}
_SKILL_ON_RECORD = "change.went_stale"  # something may have been written by then


def routes(event: RunEvent) -> Sequence[Route]:
    """Return where an event goes out to (`Routes`): here, if a record of history came with it.

    What concerns one table or memory arrives in order, and so does what concerns a tenant's skills.
    """
    kind = event.data.get("kind")
    is_wanted = event.name in _ON_RECORD or (event.name == _SKILL_ON_RECORD and kind == Kind.SKILL)
    if not is_wanted or event.change_id is None:
        return []
    item = "skills" if kind in _LISTED else f"{kind}:{event.data.get('target_id')}"
    return [Route(NAME, event.name, f"{event.tenant_id}:{item}")]


@dataclass
class Skipped:
    """Warns once about each agent that is not written."""

    known: set[str] = field(default_factory=set)

    def __call__(self, agent_id: str, why: str) -> None:
        if agent_id not in self.known:
            self.known.add(agent_id)
            log.warning("platform.skipped", agent_id=agent_id, error=why)


@dataclass(frozen=True)
class PlatformTarget:
    """The platform as a target of deliveries: each brings what a change is on record as."""

    digest: str
    changes: ChangeLog
    records: WriteBackRecords
    history: HistoryWriter
    lists: SkillListWriter
    rules: RuleWriter

    @property
    def lease(self) -> float:
        """The time of a delivery, and some to record how it ended."""
        return _LEASE

    async def deliver(self, delivery: Delivery) -> Sent:
        """Write what a change is on record as; whatever goes wrong is how it ended."""
        limit = asyncio.timeout(_SECONDS)
        try:
            async with limit:
                with in_name_of(delivery.tenant_id):
                    refused, left = await self._write(delivery)
        except TimeoutError:
            if not limit.expired():
                return Sent(outcome=Outcome.LATER, status="error", error=Message("hook.cut_off"))
            why = Message("hook.too_slow", seconds=_SECONDS)
            return Sent(outcome=Outcome.LATER, status="timeout", error=why)
        except SkillWorkerError as error:
            is_later = may_pass(error) or isinstance(error, Stale)
            after = error.retry_after if isinstance(error, DependencyDown) else None
            return Sent(
                outcome=Outcome.LATER if is_later else Outcome.NEVER,
                status=error.kind,
                error=error.advice,
                retry_after=after,
            )
        except Exception as error:  # a defect must not stop the deliveries behind it
            log.exception("platform.broke", delivery_id=delivery.id)
            why = Message("platform.broke", type=type(error).__name__)
            return Sent(outcome=Outcome.LATER, status="error", error=why)
        if refused:
            return Sent(outcome=Outcome.NEVER, status="refused", error=joined([*refused, *left]))
        if left:
            return Sent(outcome=Outcome.SKIPPED, status="skipped", error=joined(left))
        return Sent(outcome=Outcome.DONE, status="written")

    async def _write(self, delivery: Delivery) -> tuple[list[str], list[str]]:
        """Write all that a change did, or that its record is emptied.

        Return what of it the platform refuses for good, and what it has no place for.
        """
        change = await self.changes.get(delivery.change_id or "")
        records = await self.records.attempts(change.id)
        refused: list[str] = []
        left: list[str] = []
        is_erased = delivery.event == _ERASED
        works = self._erasing(change, records) if is_erased else self._works(change, records)
        for work in works:
            try:
                left += await work()
            except InvalidInput as error:
                refused.append(error.message)
        return refused, left

    def _works(
        self, change: Change, records: Sequence[HistoryRecord]
    ) -> list[Callable[[], Awaitable[Sequence[str]]]]:
        done = [record for record in records if record.status is not HistoryStatus.FAILED]
        works: list[Callable[[], Awaitable[Sequence[str]]]] = [partial(self.history.write, records)]
        if done and change.kind in _LISTED:
            works.append(partial(self.lists.write, change))
        elif done and change.kind is Kind.DMN_RULE:
            works.append(partial(self.rules.write, change, done[-1]))
        return works

    def _erasing(
        self, change: Change, records: Sequence[HistoryRecord]
    ) -> list[Callable[[], Awaitable[Sequence[str]]]]:
        works: list[Callable[[], Awaitable[Sequence[str]]]] = [partial(self.history.erase, records)]
        if change.kind is Kind.DMN_RULE:
            works.append(partial(self.rules.erase, change))
        return works


class Backfilled(NamedTuple):
    """How many changes are sent, and of how many the agent's id is none of the platform's."""

    changes: int
    without_uuid: int


async def backfill(
    unsent: Unsent, *, tenant_id: str | None, since: datetime | None, dry_run: bool
) -> Backfilled:
    """Send changes that never went out, oldest first; return how many. A dry run only counts."""
    sent, without, after = 0, 0, 0
    while True:
        events, following = await unsent.page(
            NAME, tenant_id=tenant_id, since=since, after=after, limit=BACKFILL_PAGE
        )
        without += sum(not is_uuid(str(event.data.get("agent_id"))) for event in events)
        sent += len(events) if dry_run else await unsent.send(events, routes)
        if following is None:
            return Backfilled(sent, without)
        after = following
