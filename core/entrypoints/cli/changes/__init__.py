"""`skill-worker changes`: what was asked to change, deciding about it, and taking it back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from core.entrypoints.cli.knowledge.tenants import see_tenant
from core.entrypoints.cli.options import Cursor, DryRun, Json, Limit, Tenant, who
from core.entrypoints.cli.output import print_list, print_model, print_table, say
from core.entrypoints.cli.receipts import has_failed, tell_receipt, tell_warnings
from core.entrypoints.cli.session import with_app

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from core.app.program import App
    from core.domain.models import Change, ChangeCost

app = typer.Typer(help="See changes of what is known, decide about them, and take them back.")
Status = Literal[
    "prepared", "held", "applying", "applied", "rejected", "stale", "failed", "reverted"
]
ChangeId = Annotated[str, typer.Argument(help="Id of the change.")]
Seen = Annotated[
    str | None,
    typer.Option(
        "--seen", metavar="HASH", help="Only as it was shown: the content hash of `changes show`."
    ),
]


@app.command("list")
def list_(
    status: Annotated[Status | None, typer.Option("--status", help="Only this status.")] = None,
    tenant: Tenant = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    as_json: Json = False,
) -> None:
    """List changes, newest first."""
    from core.domain.models import ChangeFilter, ChangeStatus

    statuses = (ChangeStatus(status),) if status else ()
    wanted = ChangeFilter(statuses=statuses, tenant_id=tenant)

    async def work(opened: App) -> tuple[Sequence[Change], str | None]:
        await see_tenant(opened, tenant)
        return await opened.stores.reader.changes(wanted, limit=limit, cursor=cursor)

    print_list(
        with_app(work),
        ("ID", "STATUS", "OPERATION", "KIND", "TARGET", "WARN", "FOUND", "REASON"),
        lambda c: (
            *(c.id, c.status, c.operation, c.kind, c.target_name),
            *(len(c.warnings) or "", len(c.findings) or "", c.reason),
        ),
        as_json=as_json,
        empty="no changes",
    )


@app.command("show")
def show(
    change_id: ChangeId,
    diff: Annotated[bool, typer.Option("--diff", help="Show before against after.")] = False,
    as_json: Json = False,
) -> None:
    """Show one change; with --diff what it does, file by file."""
    from core.entrypoints.cli.costs import change_cost_in_words
    from core.entrypoints.cli.render import show_change

    change, cost, currency, text, beside = with_app(lambda opened: _read(opened, change_id, diff))
    if as_json:
        extra = {"cost": {**cost.model_dump(mode="json"), "currency": currency}}
        others: list[JsonValue] = [{**one} for one in beside]
        print_model(change, extra | {"beside": others} | ({"diff": text} if diff else {}))
        return
    show_change(change, text, change_cost_in_words(cost, currency))
    if beside:
        heads = ("ALSO WAITS", "HOW", "TARGET", "FEEDBACK")
        print_table(heads, [(*one.values(),) for one in beside], empty="")


@app.command("approve")
def approve(
    change_id: ChangeId,
    seen: Seen = None,
    allow: Annotated[
        str,
        typer.Option("--allow", metavar="REASON", help="Allow all that was found in it: why."),
    ] = "",
    retire: Annotated[
        str,
        typer.Option("--retire-cases", metavar="REASON", help="Give up what it breaks: why."),
    ] = "",
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Apply a change that waits, exactly as `changes show` shows it.

    One that something was found in is applied only once that is allowed, one that breaks cases only
    if these are given up.
    """
    receipt = with_app(
        lambda opened: opened.gate.decisions.approve(
            change_id, by=who(), seen=seen, allow=allow, retire=retire
        ),
        dry_run,
        failed=has_failed,
    )
    tell_receipt(receipt, as_json=as_json)


@app.command("allow")
def allow(
    change_id: ChangeId,
    reason: Annotated[str, typer.Option("--reason", help="Why it does no harm.")],
    digest: Annotated[
        list[str] | None,
        typer.Option("--finding", metavar="DIGEST", help="Only this finding; may be repeated."),
    ] = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Allow what was found in a change; the change still waits to be approved or rejected.

    The same text is not held again for this tenant.
    """
    change = with_app(
        lambda opened: opened.gate.decisions.findings.allow(
            change_id, digest or (), by=who(), reason=reason
        ),
        dry_run,
    )
    if as_json:
        print_model(change)
        return
    for finding in change.findings:
        if finding.is_allowed:
            say(f"{'would be allowed' if dry_run else 'allowed'}: {finding.text}")


@app.command("reject")
def reject(
    change_id: ChangeId,
    reason: Annotated[str, typer.Option("--reason", help="Why it is not to be learnt.")],
    seen: Seen = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """End a change that waits; nothing is applied."""
    change = with_app(
        lambda opened: opened.gate.decisions.reject(change_id, by=who(), reason=reason, seen=seen),
        dry_run,
    )
    _tell_change(change, "would be rejected" if dry_run else "rejected", as_json)


@app.command("edit")
def edit(
    change_id: ChangeId,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file", metavar="FILE", help="Its new content: text, a .dmn file, a SKILL.md; or -."
        ),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--folder", metavar="DIR", help="A skill's whole new folder.")
    ] = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Put other content in the place of what waits; without a file your $EDITOR opens.

    It is checked like any other, and waits again.
    """
    from core.entrypoints.cli.changes import deciding

    change = with_app(lambda opened: deciding.edit(opened, change_id, file, folder), dry_run)
    _tell_change(change, "would wait" if dry_run else "waits", as_json)


@app.command("keep-both")
def keep_both(
    change_id: ChangeId, seen: Seen = None, dry_run: DryRun = False, as_json: Json = False
) -> None:
    """Of two that contradict each other keep both: apply this one as an item of its own."""
    receipt = with_app(
        lambda opened: opened.gate.decisions.keep_both(change_id, by=who(), seen=seen),
        dry_run,
        failed=has_failed,
    )
    tell_receipt(receipt, as_json=as_json)


@app.command("refresh")
def refresh(change_id: ChangeId, dry_run: DryRun = False, as_json: Json = False) -> None:
    """Prepare a change that waits anew, against what is there now; it waits again.

    Where code cannot tell what becomes of it the agent decides again, if LLM_MODEL is set.
    """
    change = with_app(
        lambda opened: opened.gate.decisions.prepare_again(change_id, by=who()), dry_run
    )
    waits = "would wait" if dry_run else "waits"
    _tell_change(change, waits if change.status == "held" else change.decision, as_json)


@app.command("revert")
def revert(
    change_id: ChangeId,
    reason: Annotated[str, typer.Option("--reason", help="Why, for the history.")] = "reverted",
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Bring the target of an applied change back to what it was before it."""
    receipt = with_app(lambda opened: opened.revert(change_id, reason), dry_run, failed=has_failed)
    tell_receipt(receipt, as_json=as_json)


def _tell_change(change: Change, what: str, as_json: bool) -> None:
    if as_json:
        print_model(change)
        return
    say(f"{change.operation} {change.kind} {change.target_name!r} {what}")
    tell_warnings(change.warnings)


async def _read(
    opened: App, change_id: str, wants_diff: bool
) -> tuple[Change, ChangeCost, str, str, list[dict[str, str]]]:
    from core.entrypoints.cli.diff import change_diff

    change = await opened.stores.changes.get(change_id)
    found = await opened.gate.decisions.findings.of(change)
    change = change.model_copy(update={"findings": found})
    cost = await opened.stores.spending.of_change(change)
    text = await change_diff(change, opened.stores.changes) if wants_diff else ""
    return change, cost, opened.currency, text, await _beside(opened, change)


async def _beside(opened: App, change: Change) -> list[dict[str, str]]:
    """Return what else waits and concerns a change."""
    if change.status not in {"held", "stale"}:
        return []
    return [
        {
            "id": found.change.id,
            "relation": found.relation.value,
            "target": found.change.target_name,
            "feedback": found.change.feedback_content,
        }
        for found in await opened.gate.decisions.beside(change)
    ]
