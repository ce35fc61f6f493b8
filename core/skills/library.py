"""Reading through all skills of a tenant, some at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from core.domain.errors import InvalidInput, NotFound
from core.domain.models import Bundle
from core.domain.ports import SkillStore
from core.domain.tasks import aside, end_tasks

AT_ONCE = 8
T = TypeVar("T")


@dataclass(frozen=True)
class SkillsRead(Generic[T]):
    """What was extracted from each skill, by name, and why the others could not be read."""

    seen: Mapping[str, T]
    unreadable: Mapping[str, str]


async def look_through(
    skills: SkillStore, tenant_id: str, look: Callable[[Bundle], T]
) -> SkillsRead[T]:
    """Read all skills of a tenant and collect what `look` returns for each; no folder is retained.

    Raises SkillApiDown. A skill that disappears meanwhile is omitted.
    """
    listed = await skills.list(tenant_id)
    return await look_into(skills, tenant_id, (summary.name for summary in listed), look)


async def look_into(
    skills: SkillStore, tenant_id: str, names: Iterable[str], look: Callable[[Bundle], T]
) -> SkillsRead[T]:
    """As `look_through`, for the skills of these names; missing ones are omitted."""
    slots = asyncio.Semaphore(AT_ONCE)
    seen: dict[str, T] = {}
    unreadable: dict[str, str] = {}

    async def read(name: str) -> None:
        async with slots:
            try:
                bundle = await skills.read(name, tenant_id)
            except (InvalidInput, NotFound) as error:
                unreadable[name] = error.message
                return
        if bundle is not None:
            seen[name] = await aside(bundle.size, look, bundle)

    tasks = [asyncio.create_task(read(name)) for name in sorted(set(names))]
    try:
        await asyncio.gather(*tasks)
    finally:
        await end_tasks(tasks)
    return SkillsRead(dict(sorted(seen.items())), dict(sorted(unreadable.items())))
