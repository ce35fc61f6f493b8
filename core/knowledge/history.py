"""Find an item by id or name, as it is or was: for the commands and the service."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from core.domain.errors import InvalidInput, NotFound
from core.domain.hashing import name_key
from core.domain.messages import Message, joined
from core.domain.models import FileRef, Kind, KnowledgeItem, SkillFile
from core.domain.models.views import Cause
from core.domain.ports import ChangeLog, Knowledge, KnowledgePast, Lineage, SkillStore


def stood(versions: Sequence[KnowledgeItem], at: datetime) -> KnowledgeItem | None:
    """Return the version valid at `at`, of an item's versions, oldest first, or None.

    A span includes its start and excludes its end. Of two with one start the later one counts.
    """
    begun = (item for item in reversed(versions) if _since(item) <= at)
    found = next(begun, None)
    return found if found and (found.valid_to is None or at < found.valid_to) else None


def absent(
    kind: Kind, item_id: str, at: datetime, versions: Sequence[KnowledgeItem] = ()
) -> NotFound:
    """Return the error for an item absent at `at`; it names the nearest version."""
    problem = Message("history.absent", kind=kind, id=item_id, time=at.isoformat())
    lasting = [item for item in versions if item.valid_to is None or _since(item) < item.valid_to]
    if not lasting:
        return NotFound(problem, hint=Message("history.only_own"))
    near = min(lasting, key=lambda item: _distance(item, at))
    if at < _since(near):
        return NotFound(
            problem,
            hint=Message("history.began", version=_named(near), option=_option(_since(near))),
        )
    last = (near.valid_to or at) - timedelta(microseconds=1)
    return NotFound(
        problem,
        hint=Message("history.ended", version=_named(near), option=_option(last)),
    )


def span_words(item: KnowledgeItem) -> str:
    """Return the span of validity of a version, in words."""
    since = item.valid_from.isoformat() if item.valid_from else Message("history.unknown_time")
    return Message(
        "history.span",
        since=since,
        until=item.valid_to.isoformat() if item.valid_to else Message("history.now"),
    )


def _since(item: KnowledgeItem) -> datetime:
    if item.valid_from is None:
        raise ValueError(f"version {item.version} of {item.id} has no start")
    return item.valid_from


def _distance(item: KnowledgeItem, at: datetime) -> timedelta:
    return _since(item) - at if at < _since(item) else at - (item.valid_to or at)


def _named(item: KnowledgeItem) -> str:
    return Message("history.version", version=item.version, span=span_words(item))


def _option(at: datetime) -> str:
    return f"--as-of {at.isoformat()}"


MAX_VERSIONS = 200
_TICK = timedelta(microseconds=1)
Follow = Callable[[str | None], Awaitable[object]]


@dataclass(frozen=True)
class Shown:
    """A version of an item and the files of a skill.

    `versions` is their number, `replaced` the version before it, `by` the cause of this one (None
    if it was changed outside the worker), and `at` the time asked for.
    """

    item: KnowledgeItem
    files: Mapping[str, SkillFile] = field(default_factory=dict)
    at: datetime | None = None
    versions: int = 1
    replaced: int | None = None
    by: Cause | None = None


@dataclass(frozen=True, kw_only=True)
class KnownItems:
    """Look up items; `follow` indexes skills written elsewhere, in one tenant or in all (None)."""

    knowledge: Knowledge
    past: KnowledgePast
    lineage: Lineage
    changes: ChangeLog
    skills: SkillStore
    follow: Follow

    async def find(self, item_id: str, tenant: str | None, kind: Kind | None) -> KnowledgeItem:
        """Return the one item that has, or else had, the id or name.

        Raises NotFound, and InvalidInput if there are several.
        """
        found = await self._known(item_id, tenant, kind)
        return _only([item for item in found if item.valid_to is None] or found)

    async def current(self, item_id: str, tenant: str | None, kind: Kind | None) -> Shown:
        """Return the current item. Raises NotFound, with a hint on how to see a deleted one."""
        known = await self._known(item_id, tenant, kind)
        standing = [item for item in known if item.valid_to is None]
        if not standing:
            raise _deleted(known)
        return await self._described(*await self._current(_only(standing)))

    async def as_of(
        self, item_id: str, tenant: str | None, kind: Kind | None, at: datetime
    ) -> Shown:
        """Return the item as of a time. Raises NotFound, with a hint at the nearest version."""
        found: list[tuple[KnowledgeItem, Mapping[str, FileRef]]] = []
        missing: list[NotFound] = []
        for item in await self._known(item_id, tenant, kind):
            try:
                found.append(await self.knowledge.as_of(item.kind, item.tenant_id, item.id, at))
            except NotFound as error:
                missing.append(error)
        if not found:
            raise missing[0]
        item = _only([item for item, _ in found])
        return await self._described(item, await self._files(found[0][1]), at)

    async def version(
        self, item_id: str, tenant: str | None, kind: Kind | None, version: int
    ) -> Shown:
        """Return one version of an item. Raises NotFound."""
        item = await self.find(item_id, tenant, kind)
        found, files = await self.past.version(item.kind, item.tenant_id, item.id, version)
        return await self._described(found, await self._files(files))

    async def _known(
        self, item_id: str, tenant: str | None, kind: Kind | None
    ) -> Sequence[KnowledgeItem]:
        """Return the items that have or had the id, after indexing outside skills if none has."""
        known = await self.past.last(item_id, tenant_id=tenant, kind=kind)
        if all(item.valid_to for item in known) and kind in {None, Kind.SKILL}:
            await self.follow(tenant)
            known = await self.past.last(item_id, tenant_id=tenant, kind=kind)
        if known:
            return known
        named = await self._named(item_id, tenant, kind)
        return await self.past.last(named.id, tenant_id=named.tenant_id, kind=named.kind)

    async def _named(self, name: str, tenant: str | None, kind: Kind | None) -> KnowledgeItem:
        """Return the one item of that name. Raises NotFound, or InvalidInput with their ids."""
        listed = await self.knowledge.list(tenant_id=tenant, agent_id=None, kind=kind)
        found = [item for item in listed if name_key(item.name) == name_key(name)]
        if not found:
            raise NotFound(Message("history.nothing", name=name), hint=Message("see.knowledge"))
        if len(found) > 1:
            ids = ", ".join(sorted(f"{i.id} ({i.kind} of {i.tenant_id!r})" for i in found))
            raise InvalidInput(
                Message("history.several_named", name=name, ids=ids),
                hint=Message("history.give_id"),
            )
        return found[0]

    async def _current(self, item: KnowledgeItem) -> tuple[KnowledgeItem, Mapping[str, SkillFile]]:
        try:
            found = await self.knowledge.get(item.kind, item.tenant_id, item.id)
        except NotFound as error:
            if item.valid_from is None:
                raise
            left = Message("history.left", time=item.valid_from.isoformat())
            raise NotFound(error.message, hint=Message("history.taken_away", left=left)) from error
        if item.kind is not Kind.SKILL:
            return found, {}
        bundle = await self.skills.read(item.id, item.tenant_id)
        return found, bundle.files if bundle else {}

    async def _files(self, refs: Mapping[str, FileRef]) -> dict[str, SkillFile]:
        blobs = await self.changes.blobs(list(refs.values()))
        return {
            path: SkillFile(data=blobs[ref.sha256], executable=ref.executable)
            for path, ref in refs.items()
        }

    async def _described(
        self, item: KnowledgeItem, files: Mapping[str, SkillFile], at: datetime | None = None
    ) -> Shown:
        made = await self.lineage.made(
            item.kind, item.tenant_id, item.id, limit=MAX_VERSIONS, max_bytes=0
        )
        numbered = {one.version: one for one in made if one.version is not None}
        before = numbered.get(item.version - 1)
        continues = before is not None and before.valid_to == item.valid_from
        return Shown(
            item=item,
            files=files,
            at=at,
            versions=max(numbered, default=item.version),
            replaced=item.version - 1 if continues else None,
            by=_cause(item, numbered[item.version].by if item.version in numbered else None),
        )


def _cause(item: KnowledgeItem, found: Cause | None) -> Cause | None:
    """Return the cause of a version, with the ids alone if it is older than the lineage read."""
    if item.change_id is None:
        return None
    return found or Cause(change_id=item.change_id, feedback_id=item.feedback_id)


def _only(items: Sequence[KnowledgeItem]) -> KnowledgeItem:
    if len(items) > 1:
        places = joined(
            (Message("history.place", kind=item.kind, tenant=item.tenant_id) for item in items),
            ", ",
        )
        raise InvalidInput(
            Message("history.several_places", id=items[0].id, places=places),
            hint=Message("history.hint_narrow"),
        )
    return items[0]


def _deleted(known: Sequence[KnowledgeItem]) -> NotFound:
    last = max(known, key=lambda item: item.valid_to.timestamp() if item.valid_to else 0.0)
    assert last.valid_to is not None
    before = max(last.valid_to - _TICK, last.valid_from or last.valid_to)
    return NotFound(
        Message("history.deleted", kind=last.kind, id=last.id, time=last.valid_to.isoformat()),
        hint=Message("history.stood", version=last.version, time=before.isoformat()),
    )
