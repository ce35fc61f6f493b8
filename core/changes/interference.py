"""A look of the gate: whether a change takes away what other items rely on."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from core.decision_table import parse_tables
from core.domain.errors import RuleInvalid, SkillWorkerError
from core.domain.hashing import text_hash
from core.domain.messages import Message
from core.domain.models import (
    Change,
    Finding,
    Kind,
    KnownText,
    Operation,
    Origin,
    ScreenSeverity,
    SkillRequest,
)
from core.domain.ports import Search, SkillStore
from core.domain.tasks import aside
from core.domain.text import decoded, shorten
from core.knowledge.interference import (
    Broken,
    Item,
    Reliance,
    find_reliance,
    read_known,
    read_skill,
    read_table,
)
from core.safety.config import FindingClass, ScreenConfig
from core.safety.findings import severity_of

# How many others are looked at, by kind: the nearest. Of skills the whole folders are read.
LIMITS = {Kind.SKILL: 8, Kind.DMN_RULE: 12, Kind.MEMORY: 20}
_QUERY_CHARS = 300
_QUOTE_CHARS = 200
_MOST_TOLD = 5


class Interference:
    """Looks for what other items rely on in skills and decision tables that a change revises.

    Imports are not looked at, but for upgrades of installed skills: with a search for each of 1,000
    lines they would take several times as long.
    Memories are not either: no figures say how many safe edits of them it would stop.
    """

    def __init__(self, search: Search, skills: SkillStore, config: ScreenConfig) -> None:
        self._search = search
        self._skills = skills
        self._config = config

    async def __call__(
        self, change: Change, added: Mapping[str, tuple[str, str]]
    ) -> Sequence[Finding]:
        """Return what others rely on, with both places quoted: at most five findings."""
        severity = severity_of(FindingClass.INTERFERENCE, self._config)
        if severity is None or not _is_revised(change):
            return ()
        states = await self._states(change, added)
        if states is None:
            return ()
        before, after = states
        others = await self._others(change, _query(before, after))
        size = sum(len(one.text) for one in others)
        found = await aside(size, find_reliance, before, after, others)
        return [_finding(one, severity, added) for one in found[:_MOST_TOLD]]

    async def _states(
        self, change: Change, added: Mapping[str, tuple[str, str]]
    ) -> tuple[Item, Item] | None:
        """Return the item as it stands and as it would stand; None if it cannot be read."""
        if change.kind is Kind.DMN_RULE:
            return _tables(change)
        bundle = await self._skills.read(change.target_id, change.tenant_id)
        if bundle is None or change.after is None:
            return None
        before = {path: decoded(file.data) for path, file in bundle.files.items()}
        kept = change.after.files or {}
        after = {path: text for path, text in before.items() if path in kept}
        after |= {path: new for path, (_, new) in added.items() if path in kept}
        name = change.target_name
        return read_skill(name, name, before), read_skill(name, name, after)

    async def _others(self, change: Change, query: str) -> list[Item]:
        """Return the nearest other items, those of the agent and of its tenant."""
        asks = (self._near(change, query, kind) for kind in LIMITS)
        near = [one for found in await asyncio.gather(*asks) for one in found]
        read = await asyncio.gather(*(self._read(one, change) for one in near))
        return [item for item in read if item is not None]

    async def _near(self, change: Change, query: str, kind: Kind) -> Sequence[KnownText]:
        nearby = await self._search.near(
            query,
            tenant_id=change.tenant_id,
            agent_id=change.agent_id,
            kind=kind,
            limit=LIMITS[kind] + 1,
        )
        return [
            one for one in nearby.items if (one.kind, one.id) != (change.kind, change.target_id)
        ]

    async def _read(self, known: KnownText, change: Change) -> Item | None:
        if known.kind is not Kind.SKILL:
            return read_known(known.kind, known.id, known.name, known.content)
        try:
            bundle = await self._skills.read(known.id, change.tenant_id)
        except SkillWorkerError:  # the store is down, or that skill broken: the index has SKILL.md
            return read_known(known.kind, known.id, known.name, known.content)
        if bundle is None:  # deleted since the search
            return None
        texts = {path: decoded(file.data) for path, file in bundle.files.items()}
        return read_skill(known.id, known.name, texts)


def _is_revised(change: Change) -> bool:
    asked = change.request
    is_upgrade = isinstance(asked, SkillRequest) and asked.upgrades is not None
    if change.operation is not Operation.UPDATE:
        return False
    if change.origin is Origin.IMPORT and not is_upgrade:
        return False
    has_states = change.before is not None and change.after is not None
    return has_states and change.kind in {Kind.SKILL, Kind.DMN_RULE}


def _tables(change: Change) -> tuple[Item, Item] | None:
    """Return the first table of a document that changes, as it stands and as it would stand."""
    assert change.before is not None
    assert change.after is not None
    try:
        before, after = (parse_tables(state.content) for state in (change.before, change.after))
    except RuleInvalid:
        return None
    for old, new in zip(before, after, strict=False):
        if old.table is not None and new.table is not None and old.table != new.table:
            return read_table(change.target_id, old.table), read_table(change.target_id, new.table)
    return None


def _query(before: Item, after: Item) -> str:
    """Return what to search for: the item's name, and the lines that change."""
    old, new = ({one.text for one in item.statements} for item in (before, after))
    lines = [one.text for one in (*before.statements, *after.statements)]
    changed = dict.fromkeys(line for line in lines if (line in old) != (line in new))
    return shorten("\n".join([before.name, *changed]), _QUERY_CHARS)


def _finding(
    found: Reliance, severity: ScreenSeverity, added: Mapping[str, tuple[str, str]]
) -> Finding:
    """Return a finding; where a line went there is no place in the new text to point at."""
    other, place = found.item, found.changed.place
    quote, relies = (shorten(one.text, _QUOTE_CHARS) for one in (found.changed, found.relies))
    at = place if place in added else ""
    start = max(0, added.get(at, ("", ""))[1].find(found.changed.text))
    is_there = found.changed.text in added.get(at, ("", ""))[1]
    return Finding(
        code=f"interference.{found.kind}",
        text=_said(found.kind, other, quote, relies),
        severity=severity,
        place=at,
        start=start,
        end=start + len(found.changed.text) if is_there else start,
        quote=quote,
        digest=text_hash(f"interference\0{found.kind}\0{other.id}\0{quote}\0{relies}"),
    )


def _said(broken: Broken, other: Item, changed: str, relies: str) -> Message:
    name = other.id if other.kind is Kind.MEMORY else other.name
    told = {"kind": other.kind, "name": name, "changed": changed, "relies": relies}
    match broken:
        case Broken.PRECONDITION:
            return Message("interference.precondition", **told)
        case Broken.STEP_ADDED:
            return Message("interference.step_added", **told)
        case Broken.STEP_REMOVED:
            return Message("interference.step_removed", **told)
        case Broken.REORDERED:
            return Message("interference.reordered", **told)
        case Broken.VALUE_CHANGED:
            return Message("interference.value_changed", **told)
