"""What a model call costs, by a table of prices (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated

from pydantic import Field

from core.models import Usage
from core.models.base import Model

MILLION = 1_000_000
_NOTHING = Decimal(0)

Amount = Annotated[Decimal, Field(ge=0, le=1_000_000_000, allow_inf_nan=False)]


class Price(Model):
    """Money for a million tokens; input that the provider had cached may cost less."""

    input: Amount
    output: Amount
    cached_input: Amount | None = None

    @property
    def is_free(self) -> bool:
        """True where no call can cost anything."""
        return not (self.input or self.output or self.cached_input)

    def of(self, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> Decimal:
        """Give what a call cost; the cached tokens are among those of the input."""
        cached = min(max(cached_tokens, 0), input_tokens)
        cheap = self.input if self.cached_input is None else self.cached_input
        total = (input_tokens - cached) * self.input + cached * cheap + output_tokens * self.output
        return total / MILLION


@dataclass(frozen=True)
class PriceTable:
    """Prices by the name of a model."""

    prices: Mapping[str, Price] = field(default_factory=dict)

    def of(self, model: str) -> Price | None:
        """Give the price of `LLM_MODEL`: by its whole name, else without its provider."""
        _, _, name = model.partition(":")
        return self.prices.get(model) or self.prices.get(name)


@dataclass(frozen=True)
class Billing:
    """Which model a process asks, and its price; None where the table does not know it."""

    model: str
    price: Price | None = None

    @property
    def can_cost(self) -> bool:
        """True where a call of this process may cost something."""
        return self.price is not None and not self.price.is_free

    def unpriced(self, usage: Usage) -> int:
        """Count the calls whose cost nobody knows: without a price, or without told tokens."""
        untold = usage.input_tokens + usage.output_tokens == 0
        return usage.model_calls if self.price is None or untold else 0


UNBILLED = Billing("unknown")
