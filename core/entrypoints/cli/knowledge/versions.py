"""`skill-worker knowledge history` and `restore`: the versions of an item, and back to one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from core.entrypoints.cli.knowledge.showing import find_known
from core.entrypoints.cli.options import DryRun, Json, KindName, KindOption, Tenant
from core.entrypoints.cli.output import print_json, print_table
from core.entrypoints.cli.receipts import has_failed, tell_receipt
from core.entrypoints.cli.session import with_app

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic import JsonValue

    from core.app.program import App
    from core.domain.models import KnowledgeItem, Receipt

ItemId = Annotated[str, typer.Argument(metavar="ID", help="Id, or a name that one item alone has.")]


def history(
    item_id: ItemId, tenant: Tenant = None, kind: KindOption = None, as_json: Json = False
) -> None:
    """List the versions of an item, newest first: from when to when, and what made each."""
    items, reasons = with_app(lambda opened: _versions(opened, item_id, tenant, kind))
    if as_json:
        told: list[JsonValue] = [
            {**item.model_dump(mode="json"), "reason": reasons.get(item.change_id, "")}
            for item in items
        ]
        print_json({"items": told, "next": None})
        return
    print_table(
        ("VERSION", "FROM", "UNTIL", "RELATIONSHIP", "NAME", "CHANGE", "FEEDBACK", "REASON"),
        [
            (
                i.version,
                i.valid_from,
                i.valid_to or "now",
                i.relationship,
                i.name,
                i.change_id,
                i.feedback_id,
                reasons.get(i.change_id, ""),
            )
            for i in items
        ],
    )


def restore(
    item_id: ItemId,
    to: Annotated[int, typer.Option("--to", metavar="VERSION", min=1, help="Which version.")],
    tenant: Tenant = None,
    kind: KindOption = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Bring an item back to a version, byte for byte; what came since stays in its history."""
    receipt = with_app(
        lambda opened: _restore(opened, item_id, tenant, kind, to), dry_run, failed=has_failed
    )
    tell_receipt(receipt, as_json=as_json)


async def _versions(
    opened: App, item_id: str, tenant: str | None, kind: KindName | None
) -> tuple[Sequence[KnowledgeItem], Mapping[str | None, str]]:
    """Return the versions, newest first, and the reasons of the changes that made them."""
    from core.knowledge.history import MAX_VERSIONS

    item = await find_known(opened, item_id, tenant, kind)
    whose = (item.kind, item.tenant_id, item.id)
    found = await opened.stores.knowledge.versions(*whose)
    made = await opened.stores.lineage.made(*whose, limit=MAX_VERSIONS, max_bytes=0)
    return [*reversed(found)], {one.by.change_id: one.by.reason for one in made}


async def _restore(
    opened: App, item_id: str, tenant: str | None, kind: KindName | None, version: int
) -> Receipt:
    item = await find_known(opened, item_id, tenant, kind)
    return await opened.restorer.restore(item, version)
