"""Lines before they are imported: their keys, what is known of them, what they stand beside."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from core.domain.hashing import new_item_id, same_key, text_hash
from core.domain.input_formats.knowledge import KnowledgeLine
from core.domain.models import (
    SKILL_MD,
    Bundle,
    Change,
    ChangeStatus,
    Compared,
    Kind,
    KnowledgeItem,
    KnownText,
    Scope,
    SkillFile,
)
from core.domain.models.base import Model, Text
from core.domain.ports import Knowledge
from core.knowledge.duplicates import Known
from core.knowledge.duplicates.texts_index import TextsIndex
from core.knowledge.transfer.owners import Owner
from core.skills.bundle import bundle_hash

DONE = {ChangeStatus.APPLIED, ChangeStatus.REVERTED}
COMPARED = 12
FEW = 16  # lines at once from which reading all of an agent's texts costs less than searching
MOST = 20_000  # texts held in memory to compare with; beyond, each line is searched for
_OVERLAP = timedelta(seconds=2)  # a transaction may commit after one that began later


class Imported(Model):
    """The outcome of a line, in a dry run the expected one."""

    line: int
    outcome: Literal["created", "updated", "known", "held"]
    kind: Kind
    id: str
    name: str
    warnings: tuple[Text, ...] = ()


@dataclass(frozen=True)
class Draft:
    """A line that is new, with its idempotency key, the id that its item gets, and its text."""

    line: KnowledgeLine
    key: str
    item_id: str
    text: str


def line_key(line: KnowledgeLine, owner: Owner) -> str:
    """Return the idempotency key, from owner and content, not from the line number."""
    entry = line.entry
    content = line.text
    if line.folder is not None:
        content = bundle_hash(_bundle(line.folder, entry.name or ""))
    elif entry.rule is not None:
        content = entry.rule.model_dump_json()
    parts = [owner.tenant_id, owner.agent_id, entry.kind, entry.id, entry.name, content]
    # Only where it is stated: the keys of earlier imports stay as they are stored.
    parts += [str(part) for part in (entry.valid_until, entry.scope, entry.user) if part]
    parts += [line.published.model_dump_json()] if line.published else []
    return f"import:{text_hash(json.dumps(parts))}"


def attach_key(name: str, tenant_id: str, agent_id: str) -> str:
    """Return the idempotency key of adding a skill to an agent's list."""
    return f"import:attach:{text_hash(json.dumps([tenant_id, agent_id, name]))}"


def _bundle(folder: Mapping[str, SkillFile], name: str) -> Bundle:
    assert SKILL_MD in folder
    return Bundle(name=name, files=folder)


class KnownLines:
    """What is known of lines: earlier imports by key, and the items with their ids and texts."""

    def __init__(self, earlier: Mapping[str, Change], items: Sequence[KnowledgeItem]) -> None:
        self._earlier = earlier
        self._items = {item.id: item for item in items}
        self._texts = {same_key(item.content) for item in items}

    def draft(self, line: KnowledgeLine, owner: Owner, text: str) -> Draft | None:
        """Return a line to write if it is new, and take its id and its text; else None."""
        key = line_key(line, owner)
        item_id = line.entry.id or new_item_id("mem", key)
        same = same_key(text)
        if key in self._earlier or item_id in self._items or same in self._texts:
            return None
        self._texts.add(same)
        self._items[item_id] = _taken(item_id, line, owner)
        return Draft(line, key, item_id, text)

    def came_before(self, line: KnowledgeLine, owner: Owner, *, replace: bool) -> Imported | None:
        """Return the outcome of a line that an earlier import has brought in, if it stands."""
        change = self._earlier.get(line_key(line, owner))
        item = self._items.get(change.target_id) if change is not None else None
        if change is None or change.status not in DONE or item is None:
            return None
        is_same = item.agent_id == owner.agent_id and item.content.strip() == line.text.strip()
        if replace and not is_same:
            return None
        kind = Kind.MEMORY
        return Imported(line=line.number, outcome="known", kind=kind, id=item.id, name=item.name)


def _taken(item_id: str, line: KnowledgeLine, owner: Owner) -> KnowledgeItem:
    return KnowledgeItem(
        id=item_id,
        kind=Kind.MEMORY,
        tenant_id=owner.tenant_id,
        agent_id=owner.agent_id,
        name="",
        content=line.text,
    )


@dataclass
class Texts:
    """The texts of an agent that lines stand beside: those of the file, and all if they are few.

    Then nothing else is searched for; `is_all` says so.
    """

    index: TextsIndex = field(default_factory=TextsIndex)
    is_all: bool = False
    _newest: datetime | None = None
    _told: dict[str, KnownText] = field(default_factory=dict)  # the same texts are near many

    async def read(self, knowledge: Knowledge, owner: Owner) -> None:
        """Read the agent's texts and the tenant's, then only newer ones; many are searched for."""
        since = self._newest - _OVERLAP if self._newest else None
        agent = (Kind.MEMORY, owner.tenant_id, owner.agent_id)
        items = await knowledge.some(*agent, since=since, limit=MOST + 1)
        self.is_all = len(items) + len(self.index) <= MOST
        for item in items if self.is_all else ():
            if item.id not in self.index:
                self.index.add(_known(item, owner))
        times = [item.valid_from for item in items if item.valid_from]
        self._newest = max([*times, *filter(None, [self._newest])], default=None)

    def add(self, item_id: str, name: str, text: str) -> None:
        """Add the text of a line; the first of very many are dropped, as a search finds them."""
        if len(self.index) >= MOST:
            self.index, self.is_all, self._told = TextsIndex(), False, {}
        self.index.add(Known(item_id, name, text, Kind.MEMORY))

    def drop(self, item_id: str) -> None:
        """Drop the text of a line that was not written."""
        self.index.drop(item_id)

    def beside(self, text: str, scope: Scope | None = None) -> Compared:
        """Return what a text stands beside; of one for the whole tenant that is never all."""
        found = self.index.nearest(text, COMPARED)
        is_all = self.is_all and scope is not Scope.TENANT
        return Compared(items=tuple(map(self._as_told, found)), is_all=is_all)

    def _as_told(self, known: Known) -> KnownText:
        told = self._told.get(known.id)
        if told is None or told.content != known.text:
            told = self._told[known.id] = KnownText(
                id=known.id,
                kind=Kind.MEMORY,
                name=known.name,
                agent_id=known.of,
                content=known.text,
                score=0.0,
                scope=Scope.TENANT if known.is_shared else Scope.AGENT,
            )
        return told


def _known(item: KnowledgeItem, owner: Owner) -> Known:
    of = item.agent_id if item.agent_id != owner.agent_id else ""
    is_shared = item.scope is Scope.TENANT
    return Known(item.id, item.name, item.content, Kind.MEMORY, of=of, is_shared=is_shared)
