"""`skill-worker knowledge effect`: what learnt items did, and what is proposed about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from core.domain.messages import Message
from core.entrypoints.cli.exits import WrongCall
from core.entrypoints.cli.knowledge.tenants import known_owner
from core.entrypoints.cli.options import AgentId, Cursor, Json, Limit, Tenant, who
from core.entrypoints.cli.output import print_json, print_model, print_table, say, talk
from core.entrypoints.cli.receipts import tell_receipt
from core.entrypoints.cli.session import with_app

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from core.app.program import App
    from core.domain.models import Receipt
    from core.domain.models.effect import EffectOverview, EffectPage, ItemEffect, Proposal

OnlyName = Literal["helps", "harms", "unreached", "back"]


def effect(
    agent: AgentId = None,
    tenant: Tenant = None,
    only: Annotated[
        OnlyName | None,
        typer.Option(
            "--only",
            help="Only what helps, harms, never reached anyone, or came back.",
        ),
    ] = None,
    accept: Annotated[
        str | None, typer.Option("--accept", metavar="PROPOSAL", help="Do what is proposed.")
    ] = None,
    dismiss: Annotated[
        str | None,
        typer.Option("--dismiss", metavar="PROPOSAL", help="Leave the item as it is."),
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    as_json: Json = False,
) -> None:
    """Show what each item did for each agent, and the proposals that wait for a person."""
    if accept and dismiss:
        raise WrongCall(Message("effect.both"))
    if accept or dismiss:
        done, receipt = with_app(lambda opened: _decide(opened, accept, dismiss))
        _tell_decided(done, receipt, as_json=as_json)
        return
    page, seen = with_app(lambda opened: _read(opened, agent, tenant, only, limit, cursor))
    if as_json:
        print_json({**page.model_dump(mode="json"), **_overview(seen)})
        return
    _print_items(page.items)
    _print_proposals(seen.proposals)
    if page.next:
        talk(f"more: --cursor {page.next}")


async def _read(
    opened: App,
    agent: str | None,
    tenant: str | None,
    only: OnlyName | None,
    limit: int,
    cursor: str | None,
) -> tuple[EffectPage, EffectOverview]:
    from core.app.bootstrap.stores import utc_now
    from core.domain.models.effect import EffectFilter, Only
    from core.knowledge.usage.reading import effect_overview, effect_page

    tenant = await known_owner(opened, tenant, agent)
    wanted = EffectFilter(tenant_id=tenant, agent_id=agent, only=Only(only) if only else None)
    effects = opened.stores.effects
    page = await effect_page(effects, wanted, limit=limit, cursor=cursor)
    return page, await effect_overview(effects, wanted, now=utc_now())


async def _decide(
    opened: App, accept: str | None, dismiss: str | None
) -> tuple[Proposal, Receipt | None]:
    proposal = await opened.stores.effects.proposal(str(accept or dismiss))
    if accept:
        return await opened.proposals.accept(proposal, who())
    return await opened.proposals.dismiss(proposal, who()), None


def _tell_decided(done: Proposal, receipt: Receipt | None, *, as_json: bool) -> None:
    if receipt is not None:
        tell_receipt(receipt, as_json=as_json)
    elif as_json:
        print_model(done)
    elif done.feedback_id:
        say(f"{done.id} {done.status}: asked for as feedback {done.feedback_id}")
    else:
        say(f"{done.id} {done.status}")


def _overview(seen: EffectOverview) -> dict[str, JsonValue]:
    dumped: dict[str, JsonValue] = seen.model_dump(mode="json", exclude={"tenant_id"})
    return dumped


def _print_items(items: Sequence[ItemEffect]) -> None:
    print_table(
        (
            *("ID", "KIND", "TENANT", "AGENT", "NAME", "SHOWN", "OPENED", "USED", "WELL", "BADLY"),
            *("CONTRADICTED", "LAST", "BEFORE", "BACK", "JUDGED"),
        ),
        [
            (
                *(one.item_id, one.kind, one.tenant_id, one.agent_id, one.name),
                *(one.shown, one.opened, one.used, one.ended.success, one.ended.failure),
                one.contradicted or "",
                f"{one.last_at:%F}" if one.last_at else "never",
                *(one.before or "", one.back or ""),
                _judged(one),
            )
            for one in items
        ],
        empty="nothing is known yet",
    )


def _judged(one: ItemEffect) -> str:
    """Return the judgement; where a holdout says so it is no coincidence."""
    trial = one.trial
    if trial.p is None:
        return trial.judgement
    return f"{trial.judgement} ({trial.basis}, p={trial.p:.2g})"


def _print_proposals(proposals: Sequence[Proposal]) -> None:
    if not proposals:
        return
    say("")
    print_table(
        ("ID", "PROPOSED", "KIND", "TENANT", "AGENT", "NAME", "LAST USED", "CAME BACK"),
        [
            (
                *(one.id, one.action, one.kind, one.tenant_id, one.agent_id, one.name),
                f"{one.unused_since:%F}" if one.unused_since else "never",
                one.back or "",
            )
            for one in proposals
        ],
    )
    talk("decide: `skill-worker knowledge effect --accept ID` or `--dismiss ID`")
