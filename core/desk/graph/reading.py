"""Reads the skills that a graph shows: each takes a call, so no more and no longer than told."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from core.errors import DependencyDown
from core.models import Bundle
from core.ports import SkillStore
from core.skill_graph import SkillGraph, SkillParts, skill_graph
from core.skill_library import look_into

MAX_SKILLS = 100
MAX_SKILL_BYTES = 2 * 2**20
SECONDS = 10.0
_NOT_READ = f"only {MAX_SKILLS} skills are read for a graph"
_TOO_SLOW = "the skill server was too slow"
_TOO_LARGE = "too large to look through for references"


async def read_skills(
    skills: SkillStore, tenant_id: str, wanted: Sequence[str], seconds: float = SECONDS
) -> SkillGraph:
    """Read some skills at a time; what was not read is told as unreadable, and may have any file.

    Where the server does not answer, or not in `seconds`, that is what was read until then.
    """
    seen: dict[str, SkillParts] = {}
    large: dict[str, str] = {}

    def look(bundle: Bundle) -> None:
        if sum(len(file.data) for file in bundle.files.values()) > MAX_SKILL_BYTES:
            large[bundle.name] = _TOO_LARGE
            seen[bundle.name] = SkillParts(tuple(sorted(bundle.files)), ())
        else:
            seen[bundle.name] = SkillParts.of(bundle)

    unread = dict.fromkeys(wanted[MAX_SKILLS:], _NOT_READ)
    asked, why = wanted[:MAX_SKILLS], ""
    try:
        async with asyncio.timeout(seconds):
            unread |= (await look_into(skills, tenant_id, asked, look)).unreadable
    except TimeoutError:
        why = _TOO_SLOW
    except DependencyDown as error:
        why = error.message
    if why:
        unread |= {name: why for name in asked if name not in seen}
    graph = skill_graph(seen, unread)
    return replace(graph, unreadable={**graph.unreadable, **large})
