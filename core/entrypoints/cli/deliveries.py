"""`skill-worker deliveries`: what goes out to hooks, what failed, and sending it again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from core.domain.errors import ConfigurationError, NotFound
from core.domain.messages import Message
from core.entrypoints.cli.knowledge.tenants import see_feedback, see_tenant
from core.entrypoints.cli.options import Cursor, DryRun, Json, Limit, Tenant
from core.entrypoints.cli.output import (
    print_fields,
    print_json,
    print_list,
    print_model,
    print_table,
    say,
)
from core.entrypoints.cli.session import with_app

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.app.program import App
    from core.delivery.platform import Backfilled
    from core.domain.models.deliveries import Delivered, Delivery

app = typer.Typer(help="See what goes out to hooks and the platform, and send it again.")
StatusName = Literal["waiting", "delivered", "skipped", "failed", "dead"]
DeliveryId = Annotated[str, typer.Argument(metavar="ID", help="Id of the delivery.")]


@app.command("list")
def list_(
    status: Annotated[StatusName | None, typer.Option("--status", help="Only this status.")] = None,
    to: Annotated[
        str | None, typer.Option("--to", metavar="NAME", help="Only to this hook.")
    ] = None,
    feedback: Annotated[
        str | None, typer.Option("--feedback", help="Only about this feedback.")
    ] = None,
    tenant: Tenant = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    as_json: Json = False,
) -> None:
    """List deliveries, newest first."""
    from core.domain.models.deliveries import DeliveryFilter, DeliveryStatus

    wanted = DeliveryFilter(
        statuses=(DeliveryStatus(status),) if status else (),
        tenant_id=tenant,
        target=to,
        feedback_id=feedback,
    )

    async def work(opened: App) -> tuple[Sequence[Delivery], str | None]:
        await see_tenant(opened, tenant)
        await see_feedback(opened, feedback)
        page = await opened.stores.delivery_log.page(wanted, limit=limit, cursor=cursor)
        if to is not None and not page[0]:
            _see_target(opened, to)
        return page

    print_list(
        with_app(work),
        ("ID", "STATUS", "TO", "EVENT", "TRIES", "MADE", "ERROR"),
        lambda d: (d.id, d.status, d.target, d.event, d.attempts, f"{d.created_at:%F %T}", d.error),
        as_json=as_json,
        empty="no deliveries",
    )


@app.command("show")
def show(delivery_id: DeliveryId, as_json: Json = False) -> None:
    """Show one delivery: what it says, and how each attempt ended."""
    found = with_app(lambda opened: opened.stores.delivery_log.get(delivery_id))
    if as_json:
        print_model(found)
        return
    _print(found)


@app.command("replay")
def replay(delivery_id: DeliveryId, as_json: Json = False) -> None:
    """Let one go out once more: the next worker that looks sends it."""
    found = with_app(lambda opened: opened.stores.delivery_log.replay(delivery_id))
    if as_json:
        print_model(found)
        return
    say(f"{found.id} goes out again to {found.target}")


@app.command("backfill")
def backfill_(
    tenant: Tenant = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Only changes from this time on.")
    ] = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Write back to the platform what was learnt before that was switched on."""
    from core.entrypoints.cli.moments import read_moment

    begin = read_moment(since) if since is not None else None

    async def work(opened: App) -> Backfilled:
        from core.delivery.platform import backfill

        if not opened.stores.parts.settings.writes_back:
            raise ConfigurationError(Message("platform.off"), hint=Message("platform.hint_url"))
        return await backfill(opened.stores.unsent, tenant_id=tenant, since=begin, dry_run=dry_run)

    found = with_app(work)
    if as_json:
        print_json({**found._asdict(), "dry_run": dry_run})
        return
    say(f"{found.changes} changes {'would go' if dry_run else 'go'} out to the platform")
    if found.without_uuid:
        say(
            f"{found.without_uuid} of them will be skipped, but for their decision tables and lists"
            " of tenants: the ids of their agents are no UUIDs"
        )


def _see_target(opened: App, name: str) -> None:
    """Raise NotFound if nothing of that name is delivered to."""
    from core.app.config_file import ConfigFile
    from core.delivery.platform import NAME

    config = opened.stores.parts.config or ConfigFile()
    if name not in {NAME, *(hook.name for hook in config.hooks)}:
        raise NotFound(Message("hooks.unknown", name=name))


def _print(found: Delivered) -> None:
    from core.domain.text import compact

    one = found.delivery
    answer = one.answer
    print_fields(
        {
            "id": one.id,
            "to": one.target,
            "event": one.event,
            "status": one.status,
            "tenant": one.tenant_id,
            "feedback": one.feedback_id,
            "change": one.change_id,
            "made": one.created_at,
            "next attempt": one.due_at,
            "ended": one.ended_at,
            "error": one.error,
            "it said": f"{answer.decision} {answer.note}".strip() if answer else "",
            "data": compact(one.payload.data),
        }
    )
    if found.attempts:
        say("")
        print_table(
            ("TRY", "AT", "STATUS", "SECONDS", "ERROR"),
            [(a.ordinal, f"{a.at:%F %T}", a.status, a.seconds, a.error) for a in found.attempts],
        )
