"""`skill-worker costs`: what the calls of the model took, and what is left of the budgets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from core.entrypoints.cli.options import Json, Tenant
from core.entrypoints.cli.output import print_json, print_table, say
from core.entrypoints.cli.session import with_app

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from core.app.program import App
    from core.domain.models import ChangeCost, Costs, TenantBudget, Usage


def costs(
    tenant: Tenant = None,
    days: Annotated[
        int, typer.Option("--days", metavar="N", min=1, max=3660, help="Days in UTC, with today.")
    ] = 30,
    as_json: Json = False,
) -> None:
    """Show calls, tokens and money by tenant and day, and today's budgets."""
    found, budgets = with_app(lambda opened: _read(opened, tenant, days))
    if as_json:
        dumped = found.model_dump(mode="json")
        shown_costs: list[JsonValue] = [budget.model_dump(mode="json") for budget in budgets]
        print_json({"items": dumped.pop("days"), "next": None, **dumped, "budgets": shown_costs})
        return
    _show_days(found)
    _show_budgets([b for b in budgets if b.budget is not None], found.currency)


async def _read(opened: App, tenant: str | None, days: int) -> tuple[Costs, Sequence[TenantBudget]]:
    from core.domain.models import Costs
    from core.entrypoints.cli.knowledge.tenants import known_tenant

    found = tuple(await opened.stores.spending.of_days(tenant, days))
    if tenant is not None and not found:
        await known_tenant(opened, tenant)
    return Costs(currency=opened.currency, days=found), await opened.stores.budgets.today(tenant)


def _show_days(found: Costs) -> None:
    from core.domain.models.base import shown

    print_table(
        ("DAY", "TENANT", "MODEL", "CALLS", "IN", "OUT", found.currency, "UNPRICED"),
        [
            (
                bill.day,
                bill.tenant_id,
                bill.model,
                bill.usage.model_calls,
                bill.usage.input_tokens,
                bill.usage.output_tokens,
                shown(bill.usage.cost),
                bill.unpriced_calls or "",
            )
            for bill in found.days
        ],
        empty="no model calls in that time",
    )
    if found.days:
        say(f"\nin all: {spent_in_words(found.total, found.currency)}")
    if found.unpriced_calls:
        say(f"of {found.unpriced_calls} calls nobody knows the cost: MODEL_PRICES has no price")


def _show_budgets(budgets: Sequence[TenantBudget], currency: str) -> None:
    from core.domain.models.base import shown

    if not budgets:
        return
    say("")
    print_table(
        ("TENANT", "SPENT TODAY", "BUDGET", "USED UP", "WAITING"),
        [
            (
                budget.tenant_id,
                shown(budget.spent),
                shown(budget.budget or budget.spent, currency),
                "yes" if budget.is_used_up else "",
                budget.waiting or "",
            )
            for budget in budgets
        ],
    )


def spent_in_words(usage: Usage, currency: str) -> str:
    """Return calls, tokens and money in one line."""
    from core.domain.models.base import shown

    return (
        f"{usage.model_calls} model calls, {usage.input_tokens} tokens in,"
        f" {usage.output_tokens} out, {shown(usage.cost, currency)}"
    )


def change_cost_in_words(cost: ChangeCost, currency: str) -> dict[str, str]:
    """Return the cost of a change and its parts; nothing if no model was asked."""
    from core.domain.models.base import shown

    if not cost.author.model_calls and not cost.run.model_calls:
        return {}
    shown_costs = {"cost": shown(cost.cost, currency)}
    if cost.author.model_calls:
        shared = f", shared by {cost.authored_by} attempts" if cost.authored_by > 1 else ""
        shown_costs["of its author"] = spent_in_words(cost.author, currency) + shared
    if cost.run.model_calls:
        shared = f", shared by {cost.shared_by} changes" if cost.shared_by > 1 else ""
        shown_costs["of its run"] = spent_in_words(cost.run, currency) + shared
    return shown_costs
