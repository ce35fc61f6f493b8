"""Prices and budgets of model calls, from the settings."""

from __future__ import annotations

import asyncio

from core.adapters.postgres.budgets import PostgresBudgets
from core.adapters.postgres.queries import Pool
from core.agent.budgets import DailyBudgets
from core.agent.prices import Billing, load_budgets, load_prices
from core.app.settings import OFFLINE_MODEL, Settings
from core.domain.errors import ConfigurationError
from core.domain.messages import Message
from core.domain.ports import Budgets


def billing(settings: Settings, *, offline: bool = False, asks: bool = True) -> Billing:
    """Return the model that calls are billed under, and its price.

    Raises ConfigurationError for an unreadable table, and if this process `asks` the model but no
    budget could be enforced because its price is unknown.
    """
    model = OFFLINE_MODEL if offline or settings.llm_model is None else settings.llm_model
    billed = Billing(model, load_prices(settings.model_prices).of(model))
    if asks:
        _require_price(settings, billed)
    return billed


def daily_budgets(settings: Settings) -> DailyBudgets:
    """Return the daily budgets of tenants. Raises ConfigurationError."""
    return DailyBudgets(
        settings.daily_budget, load_budgets(settings.daily_budgets), settings.price_currency
    )


def budgets(settings: Settings, pool: Pool, billed: Billing) -> Budgets:
    """Return the adapter that enforces budgets over all workers. Raises ConfigurationError."""
    return PostgresBudgets(
        pool,
        daily_budgets(settings),
        billed,
        sleep=asyncio.sleep,
        longest_wait=settings.llm_timeout_seconds,
    )


def _require_price(settings: Settings, billed: Billing) -> None:
    if daily_budgets(settings).has_any and billed.price is None and billed.model != OFFLINE_MODEL:
        raise ConfigurationError(
            Message("budget.no_price", model=billed.model),
            hint=Message("budget.hint_price", model=billed.model),
        )
