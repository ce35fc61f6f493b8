"""Keeps the index in step with skills that others write to the store, tenant by tenant."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping

import structlog

from core.adapters.postgres.queries import Pool, connection, execute, fetch_all, transaction
from core.adapters.postgres.search_index import drop_document, index_document
from core.domain.errors import InvalidInput, NotFound, SkillApiDown
from core.domain.messages import Message
from core.domain.models import Bundle, Kind, SkillSummary
from core.domain.ports import SkillStore
from core.knowledge.search.documents import indexed_version, skill_search_document, skill_version
from core.skills.library import look_into

log = structlog.get_logger(__name__)

LONGEST_SECONDS = 5.0
COMPARED_PER_SCAN = 8


class SkillFollower:
    """Scans a tenant's skills at most every `every` seconds of `clock`.

    A skill that looks unchanged in the store's list may still differ: each scan reads and compares
    a few of those, in turn. A failed scan counts as one. Callers wait for a scan at most `longest`
    seconds; a scan that is cut off keeps what it has indexed, and the next continues from there.
    """

    def __init__(
        self,
        pool: Pool,
        skills: SkillStore,
        *,
        every: float,
        clock: Callable[[], float],
        longest: float = LONGEST_SECONDS,
    ) -> None:
        self._pool = pool
        self._skills = skills
        self._every = every
        self._clock = clock
        self._longest = longest
        self._scanned_at: dict[str, float] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._unreadable: dict[tuple[str, str], str] = {}
        self._compared: dict[tuple[str, str], int] = {}
        self._scans = 0

    async def follow(self, tenant_id: str) -> None:
        """Bring the index up to date with the store. Raises SkillApiDown, also if it is slow.

        A skill that cannot be read is skipped, and tried again once it has changed.
        """
        try:
            async with asyncio.timeout(self._longest), self._locks[tenant_id]:
                now = self._clock()
                if now - self._scanned_at.get(tenant_id, float("-inf")) >= self._every:
                    # Before, so that a failed scan counts; after, since progress clears it.
                    self._scanned_at[tenant_id] = now
                    await self._scan(tenant_id)
                    self._scanned_at[tenant_id] = now
        except TimeoutError:
            raise SkillApiDown(
                Message(
                    "dependency.skills_too_slow",
                    "looking through the skills took longer than {seconds:g} s",
                    seconds=self._longest,
                )
            ) from None

    async def _scan(self, tenant_id: str) -> None:
        # The index first: a skill that is committed in between is in the store by then.
        rows = await fetch_all(self._pool, "search.skills", tenant_id=tenant_id)
        indexed: dict[str, str] = {row["item_id"]: row["version"] for row in rows}
        listed = {summary.name: summary for summary in await self._skills.list(tenant_id)}
        alike: list[SkillSummary] = []
        for name, summary in listed.items():
            version, known = skill_version(summary), indexed.get(name)
            if known == "":  # indexed by its own commit
                key = {"tenant_id": tenant_id, "item_id": name, "version": version}
                await execute(self._pool, "search.adopt_skill", **key)
            elif known is not None and known.partition(":")[0] == version:
                alike.append(summary)
            elif version != self._unreadable.get((tenant_id, name)):
                await self._index(tenant_id, summary)
        async with connection(self._pool) as conn:
            for name in indexed.keys() - listed.keys():
                await drop_document(conn, tenant_id, Kind.SKILL, name)
        await self._compare(tenant_id, alike, indexed)

    async def _compare(
        self, tenant_id: str, alike: list[SkillSummary], indexed: Mapping[str, str]
    ) -> None:
        """Read the few that were compared longest ago, and index those that have changed."""
        self._scans += 1
        alike.sort(key=lambda summary: self._compared.get((tenant_id, summary.name), 0))
        chosen = {summary.name: summary for summary in alike[:COMPARED_PER_SCAN]}
        self._compared.update(dict.fromkeys(((tenant_id, name) for name in chosen), self._scans))
        looked = await look_into(self._skills, tenant_id, chosen, lambda bundle: bundle)
        for name, bundle in looked.seen.items():
            if indexed[name] != indexed_version(chosen[name], bundle):
                await self._put(tenant_id, chosen[name], bundle)

    async def _index(self, tenant_id: str, summary: SkillSummary) -> None:
        try:
            bundle = await self._skills.read(summary.name, tenant_id)
        except (InvalidInput, NotFound) as error:
            log.warning(
                "skill.unreadable", tenant_id=tenant_id, skill=summary.name, error=error.message
            )
            self._unreadable[tenant_id, summary.name] = skill_version(summary)
            return
        if bundle is not None:
            await self._put(tenant_id, summary, bundle)

    async def _put(self, tenant_id: str, summary: SkillSummary, bundle: Bundle) -> None:
        document = skill_search_document(bundle, summary, tenant_id)
        async with transaction(self._pool) as conn:
            await index_document(conn, document)
        # The scan made progress: if it was cut off here, it continues at once.
        self._scanned_at.pop(tenant_id, None)
