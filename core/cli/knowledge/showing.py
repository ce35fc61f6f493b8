"""`skill-worker knowledge show`: one item as it stands, or as it stood at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from core.cli.options import Json, KindName, KindOption, Tenant
from core.cli.output import print_block, print_model
from core.cli.session import with_app
from core.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from pydantic import JsonValue

    from core.app import App
    from core.models import Change, FileRef, Kind, KnowledgeItem, SkillFile

_TICK = timedelta(microseconds=1)
AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="TIME",
        help="As it stood then: 2026-11-20 (the end of that day), 2026-11-20T09:30, "
        "2026-11-20T09:30:00Z. Without a zone it is local time.",
    ),
]


def show(
    item_id: Annotated[
        str, typer.Argument(metavar="ID", help="Id, or a name that one item alone has.")
    ],
    as_of: AsOf = None,
    tenant: Tenant = None,
    kind: KindOption = None,
    as_json: Json = False,
) -> None:
    """Show one item whole, as it stands or stood: a memory, a table as a grid, a skill."""
    from core.cli.moments import read_moment

    at = read_moment(as_of) if as_of is not None else None
    found = with_app(lambda opened: _read(opened, item_id, tenant, _kind(kind), at))
    if as_json:
        print_model(found.item, found.extra())
        return
    _print(found)


@dataclass(frozen=True)
class Shown:
    """A version of an item, the files of a skill, and how it came about."""

    item: KnowledgeItem
    files: Mapping[str, SkillFile] = field(default_factory=dict)
    at: datetime | None = None
    versions: int = 1
    replaced: int | None = None
    change: Change | None = None

    def extra(self) -> dict[str, JsonValue]:
        """Give what JSON says besides the item."""
        extra: dict[str, JsonValue] = {"replaces": self.replaced}
        if self.at is not None:
            extra["as_of"] = self.at.isoformat()
        if self.files:
            extra["files"] = [
                {"path": path, "size": len(file.data), "executable": file.executable}
                for path, file in sorted(self.files.items())
            ]
        return extra

    def facts(self) -> dict[str, object]:
        """Give how it came about, for people."""
        item = self.item
        relationship = " ".join(filter(None, (item.relationship, self._replaced())))
        return {
            "as of": self.at,
            "version": f"{item.version} of {self.versions}",
            "valid from": item.valid_from,
            "valid until": item.valid_to or ("now" if item.valid_from else None),
            "relationship": relationship,
            "change": item.change_id,
            "reverts": self.change.reverts if self.change else None,
            "reason": self.change.reason if self.change else None,
            "feedback": item.feedback_id,
        }

    def _replaced(self) -> str:
        if self.replaced is None:
            return ""
        return f"{'' if self.item.relationship else 'replaces '}version {self.replaced}"


def _print(found: Shown) -> None:
    from core.cli.render import show_item

    show_item(found.item, found.files, found.facts())
    if found.change and found.change.feedback_content:
        print_block("feedback", found.change.feedback_content)


async def _read(
    opened: App, item_id: str, tenant: str | None, kind: Kind | None, at: datetime | None
) -> Shown:
    known = await _known(opened, item_id, tenant, kind)
    if at is not None:
        return await _stood(opened, known, at)
    current = [item for item in known if item.valid_to is None]
    if not current:
        raise _deleted(known)
    item = _only(current)
    return await _described(opened, *await _current(opened, item))


async def find_known(
    opened: App, item_id: str, tenant: str | None, kind: KindName | None
) -> KnowledgeItem:
    """Give the one item that has the id or the name, or had it; one that is there comes first.

    Raises NotFound, and InvalidInput where there are several.
    """
    found = await _known(opened, item_id, tenant, _kind(kind))
    return _only([item for item in found if item.valid_to is None] or found)


async def _known(
    opened: App, item_id: str, tenant: str | None, kind: Kind | None
) -> Sequence[KnowledgeItem]:
    """Give all that has the id, or had it; skills of others are looked for where none has it."""
    from core.cli.knowledge.tenants import follow_skills
    from core.models import Kind

    known = await opened.past.last(item_id, tenant_id=tenant, kind=kind)
    if all(item.valid_to for item in known) and kind in {None, Kind.SKILL}:
        await follow_skills(opened, tenant)
        known = await opened.past.last(item_id, tenant_id=tenant, kind=kind)
    if known:
        return known
    named = await _named(opened, item_id, tenant, kind)
    return await opened.past.last(named.id, tenant_id=named.tenant_id, kind=named.kind)


async def _named(opened: App, name: str, tenant: str | None, kind: Kind | None) -> KnowledgeItem:
    """Give the one item that has a name now. Raises NotFound, and InvalidInput with their ids."""
    from core.snapshots import name_key

    listed = await opened.knowledge.list(tenant_id=tenant, agent_id=None, kind=kind)
    found = [item for item in listed if name_key(item.name) == name_key(name)]
    if not found:
        raise NotFound(
            f"nothing known has the id or the name {name!r}",
            hint="see `skill-worker knowledge list`",
        )
    if len(found) > 1:
        ids = ", ".join(sorted(f"{item.id} ({item.kind} of {item.tenant_id!r})" for item in found))
        raise InvalidInput(f"several items are named {name!r}: {ids}", hint="give the id of one")
    return found[0]


async def _current(opened: App, item: KnowledgeItem) -> tuple[KnowledgeItem, dict[str, SkillFile]]:
    from core.models import Kind

    try:
        found = await opened.knowledge.get(item.kind, item.tenant_id, item.id)
    except NotFound as error:
        if item.valid_from is None:
            raise
        left = f"as it was left: --as-of {item.valid_from.isoformat()}"
        raise NotFound(error.message, hint=f"others took it away; {left}") from error
    if item.kind is not Kind.SKILL:
        return found, {}
    bundle = await opened.skills.read(item.id, item.tenant_id)
    return found, dict(bundle.files) if bundle else {}


async def _stood(opened: App, known: Sequence[KnowledgeItem], at: datetime) -> Shown:
    """Give the one that stood at a time. Raises NotFound, with the hint of the one that came."""
    found: list[tuple[KnowledgeItem, Mapping[str, FileRef]]] = []
    missing: list[NotFound] = []
    for item in known:
        try:
            found.append(await opened.knowledge.as_of(item.kind, item.tenant_id, item.id, at))
        except NotFound as error:
            missing.append(error)
    if not found:
        raise missing[0]
    item = _only([item for item, _ in found])
    return await _described(opened, item, await _files(opened, found[0][1]), at)


async def _files(opened: App, refs: Mapping[str, FileRef]) -> dict[str, SkillFile]:
    from core.models import SkillFile

    blobs = await opened.changes.blobs(list(refs.values()))
    return {
        path: SkillFile(data=blobs[ref.sha256], executable=ref.executable)
        for path, ref in refs.items()
    }


async def _described(
    opened: App,
    item: KnowledgeItem,
    files: Mapping[str, SkillFile],
    at: datetime | None = None,
) -> Shown:
    try:
        versions = await opened.knowledge.versions(item.kind, item.tenant_id, item.id)
    except NotFound:  # a skill that others wrote
        return Shown(item, files, at, item.version)
    before = next((one for one in versions if one.version == item.version - 1), None)
    replaced = before.version if before and before.valid_to == item.valid_from else None
    change = await opened.changes.get(item.change_id) if item.change_id else None
    return Shown(item, files, at, len(versions), replaced, change)


def _only(items: Sequence[KnowledgeItem]) -> KnowledgeItem:
    if len(items) > 1:
        places = ", ".join(f"{item.kind} of {item.tenant_id!r}" for item in items)
        raise InvalidInput(
            f"{items[0].id!r} is known in several places: {places}", hint="add --tenant or --kind"
        )
    return items[0]


def _deleted(known: Sequence[KnowledgeItem]) -> NotFound:
    last = max(known, key=lambda item: item.valid_to.timestamp() if item.valid_to else 0.0)
    assert last.valid_to is not None
    before = max(last.valid_to - _TICK, last.valid_from or last.valid_to)
    return NotFound(
        f"{last.kind} {last.id!r} was deleted at {last.valid_to.isoformat()}",
        hint=f"it stood until then as version {last.version}: --as-of {before.isoformat()}",
    )


def _kind(name: KindName | None) -> Kind | None:
    from core.models import Kind

    return Kind(name) if name else None
