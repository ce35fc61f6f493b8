"""`skill-worker knowledge list --archived`: what a person has put away, and how it comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.entrypoints.cli.knowledge.tenants import known_owner
from core.entrypoints.cli.output import print_json, print_table, talk
from core.entrypoints.cli.session import with_app

if TYPE_CHECKING:
    from core.app.program import App
    from core.domain.models import Kind
    from core.domain.models.views import Listed

_PAGE = 500


def show_archived(
    tenant: str | None, agent: str | None, kind: Kind | None, *, as_json: bool
) -> None:
    """Print what is archived, by tenant, kind and id."""
    items = with_app(lambda opened: _archived(opened, tenant, agent, kind))
    if as_json:
        print_json({"items": [item.model_dump(mode="json") for item in items], "next": None})
        return
    print_table(
        ("ID", "KIND", "TENANT", "AGENT", "NAME", "ARCHIVED", "CHANGE"),
        [
            (i.id, i.kind, i.tenant_id, i.agent_id, i.name, f"{i.archived_at:%F %T}", i.change_id)
            for i in items
        ],
        empty="nothing is archived",
    )
    if items:
        talk("to bring one back: skill-worker changes revert CHANGE")


async def _archived(
    opened: App, tenant: str | None, agent_id: str | None, kind: Kind | None
) -> list[Listed]:
    await opened.require_kind(kind)
    tenant = await known_owner(opened, tenant, agent_id)
    found: list[Listed] = []
    while True:
        last = found[-1] if found else None
        after = (last.tenant_id, last.kind.value, last.id) if last else None
        page = await opened.stores.pages.browse(
            tenant_id=tenant,
            agent_id=agent_id,
            kind=kind,
            after=after,
            limit=_PAGE,
            archived=True,
        )
        found += page
        if len(page) < _PAGE:
            return found
