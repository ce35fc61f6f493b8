"""The settings of money: what model calls cost, and what a tenant may spend in a day."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import Field
from pydantic_settings import BaseSettings

Text = Annotated[str, Field(min_length=1)]


class CostSettings(BaseSettings):
    """Prices and budgets."""

    model_prices: Text | None = Field(
        default=None,
        description="Money for a million tokens by model: a YAML file, or YAML or JSON itself.",
        examples=["{gpt-4o: {input: 2.50, output: 10, cached_input: 1.25}}"],
    )
    price_currency: Annotated[str, Field(pattern=r"^\S{1,12}$")] = Field(
        default="USD",
        description="Currency of MODEL_PRICES and of the budgets.",
        examples=["USD"],
    )
    daily_budget: Annotated[Decimal, Field(ge=0, allow_inf_nan=False)] | None = Field(
        default=None,
        description="Money that each tenant may spend on model calls in a day (UTC)."
        " Unset: without limit.",
        examples=["20"],
    )
    daily_budgets: Text | None = Field(
        default=None,
        description="The same by tenant, which wins over DAILY_BUDGET; `none` is without limit."
        " A YAML file, or YAML or JSON itself.",
        examples=["{acme: 50, lab: none}"],
    )
