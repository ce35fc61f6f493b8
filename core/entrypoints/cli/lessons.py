"""`skill-worker lessons`: what the worker could learn from its own work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from core.entrypoints.cli.options import Json, Tenant
from core.entrypoints.cli.output import print_json, print_table, say
from core.entrypoints.cli.session import with_app

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.app.program import App
    from core.changes.lessons.proposing import Lessons
    from core.domain.models.lessons import LessonState

app = typer.Typer(help="What the worker could learn from its own work.")


@app.command("list")
def list_(tenant: Tenant = None, as_json: Json = False) -> None:
    """List lessons: what they rest on, and what became of the last proposal.

    Those that were learnt are items too: `knowledge list --agent skill-worker`.
    """

    async def read(opened: App) -> Sequence[LessonState]:
        from core.entrypoints.cli.knowledge.tenants import known_owner

        await known_owner(opened, tenant, None)
        return await opened.stores.lesson_log.states(tenant)

    found = with_app(read)
    if as_json:
        print_json({"items": [one.model_dump(mode="json") for one in found], "next": None})
        return
    print_table(
        ("TENANT", "FROM WHAT WAS", "ABOUT", "EVIDENCE", "PROPOSED", "STATUS", "CHANGE"),
        [
            (
                one.tenant_id,
                one.kind,
                f"{one.operation} {one.about}".strip(),
                one.pieces,
                one.proposals,
                one.status or (one.refused and "refused"),
                one.change_id,
            )
            for one in found
        ],
        empty="there is no evidence for a lesson yet",
    )


@app.command("propose")
def propose(tenant: Tenant = None, as_json: Json = False) -> None:
    """Propose the lessons that are due, as a running worker does once a minute; they wait."""

    async def work(opened: App) -> int:
        from core.entrypoints.cli.knowledge.tenants import known_owner

        await known_owner(opened, tenant, None)
        lessons = _lessons(opened)
        await lessons.collect()
        return await lessons.propose(tenant)

    proposed = with_app(work)
    if as_json:
        print_json({"proposed": proposed})
    else:
        say(f"{proposed} proposed: see `skill-worker changes list --status held`")


def _lessons(opened: App) -> Lessons:
    from core.app.bootstrap.learning import build_lessons

    return build_lessons(opened.stores, opened.gate)
