"""`skill-worker knowledge show`: one item as it stands, or as it stood at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from core.entrypoints.cli.options import Json, KindName, KindOption, Tenant
from core.entrypoints.cli.output import print_block, print_model, reach_in_words
from core.entrypoints.cli.session import with_app

if TYPE_CHECKING:
    from datetime import datetime

    from pydantic import JsonValue

    from core.app.program import App
    from core.domain.models import Kind, KnowledgeItem
    from core.knowledge.history import KnownItems, Shown

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
    from core.entrypoints.cli.moments import read_moment

    at = read_moment(as_of) if as_of is not None else None
    found = with_app(lambda opened: _read(opened, item_id, tenant, _kind(kind), at))
    if as_json:
        print_model(found.item, _extra(found))
    else:
        _print(found)


def _extra(found: Shown) -> dict[str, JsonValue]:
    """Return what JSON says besides the item."""
    extra: dict[str, JsonValue] = {"replaces": found.replaced}
    if found.at is not None:
        extra["as_of"] = found.at.isoformat()
    if found.files:
        extra["files"] = [
            {"path": path, "size": len(file.data), "executable": file.executable}
            for path, file in sorted(found.files.items())
        ]
    return extra


def _facts(found: Shown) -> dict[str, object]:
    """Return how the item came about, for people."""
    item, by = found.item, found.by
    return {
        "as of": found.at,
        "version": f"{item.version} of {found.versions}",
        "valid from": item.valid_from,
        "valid until": item.valid_to or ("now" if item.valid_from else None),
        "holds": reach_in_words(item.reach),
        "relationship": " ".join(filter(None, (item.relationship, _replaced(found)))),
        "change": item.change_id,
        "reverts": by.reverts if by else None,
        "reason": by.reason if by else None,
        "feedback": item.feedback_id,
    }


def _replaced(found: Shown) -> str:
    if found.replaced is None:
        return ""
    return f"{'' if found.item.relationship else 'replaces '}version {found.replaced}"


def _print(found: Shown) -> None:
    from core.entrypoints.cli.render import show_item

    show_item(found.item, found.files, _facts(found))
    if found.by and found.by.feedback:
        print_block("feedback", found.by.feedback)


async def _read(
    opened: App, item_id: str, tenant: str | None, kind: Kind | None, at: datetime | None
) -> Shown:
    items = _items(opened)
    if at is None:
        return await items.current(item_id, tenant, kind)
    return await items.as_of(item_id, tenant, kind, at)


async def find_known(
    opened: App, item_id: str, tenant: str | None, kind: KindName | None
) -> KnowledgeItem:
    """Return the one item that has, or had, the id or the name; a current one is preferred.

    Raises NotFound, and InvalidInput if there are several.
    """
    return await _items(opened).find(item_id, tenant, _kind(kind))


def _items(opened: App) -> KnownItems:
    from core.entrypoints.cli.knowledge.tenants import follow_skills
    from core.knowledge.history import KnownItems

    return KnownItems(
        knowledge=opened.stores.knowledge,
        past=opened.stores.past,
        lineage=opened.stores.lineage,
        changes=opened.stores.changes,
        skills=opened.stores.skills,
        follow=lambda tenant: follow_skills(opened, tenant),
    )


def _kind(name: KindName | None) -> Kind | None:
    from core.domain.models import Kind

    return Kind(name) if name else None
