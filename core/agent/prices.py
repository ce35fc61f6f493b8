"""Cost of model calls from a price table, and the settings that configure it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, TypeAlias

import yaml
from pydantic import Field, ValidationError

from core.domain.errors import ConfigurationError
from core.domain.messages import Message, joined
from core.domain.models import Usage
from core.domain.models.base import Model

MILLION = 1_000_000
MOST_TOKENS = 10_000_000  # of one call: more than any model reads or writes
_NOTHING = Decimal(0)

Amount = Annotated[Decimal, Field(ge=0, le=1_000_000_000, allow_inf_nan=False)]


class Price(Model):
    """Price of a million tokens; cached input may cost less."""

    input: Amount
    output: Amount
    cached_input: Amount | None = None

    @property
    def is_free(self) -> bool:
        """Whether every call is free."""
        return not (self.input or self.output or self.cached_input)

    def of(self, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> Decimal:
        """Return the cost of a call; `input_tokens` includes the cached ones."""
        cached = min(max(cached_tokens, 0), input_tokens)
        cheap = self.input if self.cached_input is None else self.cached_input
        total = (input_tokens - cached) * self.input + cached * cheap + output_tokens * self.output
        return total / MILLION


def tokens_in(count: object) -> int:
    """Return a count as a provider sends it, rounded up, as a number from 0 to `MOST_TOKENS`."""
    try:
        number = float(count) if isinstance(count, str | int | float) else 0.0
    except ValueError:
        return 0
    except OverflowError:  # an integer of more than 308 digits
        return MOST_TOKENS
    return 0 if math.isnan(number) else math.ceil(min(max(number, 0.0), MOST_TOKENS))


@dataclass(frozen=True)
class PriceTable:
    """Prices by model name."""

    prices: Mapping[str, Price] = field(default_factory=dict)

    def of(self, model: str) -> Price | None:
        """Return the price of `LLM_MODEL`, by its full name or else without the provider."""
        _, _, name = model.partition(":")
        return self.prices.get(model) or self.prices.get(name)


@dataclass(frozen=True)
class Billing:
    """The model of a process and its price; None if the table has none."""

    model: str
    price: Price | None = None

    @property
    def can_cost(self) -> bool:
        """Whether a call of this process can cost anything."""
        return self.price is not None and not self.price.is_free

    def unpriced(self, usage: Usage) -> int:
        """Count the calls of unknown cost: without a price, or without reported tokens."""
        unreported = usage.input_tokens + usage.output_tokens == 0
        return usage.model_calls if self.price is None or unreported else 0


UNBILLED = Billing("unknown")

MAX_BYTES = 1_000_000
MODEL_PRICES, DAILY_BUDGETS = "MODEL_PRICES", "DAILY_BUDGETS"
UNLIMITED = "none"

_HINTS = {
    MODEL_PRICES: Message("prices.hint"),
    DAILY_BUDGETS: Message("budgets.hint"),
}
Pairs: TypeAlias = list[tuple[str, yaml.Node]]


def load_prices(given: str | None) -> PriceTable:
    """Read `MODEL_PRICES`. Raises ConfigurationError."""
    pairs = _pairs(MODEL_PRICES, given)
    return PriceTable({model: _price(model, node) for model, node in pairs})


def load_budgets(given: str | None) -> Mapping[str, Decimal | None]:
    """Read `DAILY_BUDGETS`: the limit by tenant, None for no limit.

    Raises ConfigurationError.
    """
    return {tenant: _budget(tenant, node) for tenant, node in _pairs(DAILY_BUDGETS, given)}


def _price(model: str, node: yaml.Node) -> Price:
    fields = dict(_entries(MODEL_PRICES, node, Message("prices.no_mapping", model=model)))
    texts = {name: _text(value) for name, value in fields.items()}
    try:
        return Price.model_validate(texts)
    except ValidationError as error:
        told = [
            Message(
                "prices.field",
                model=model,
                field=".".join(map(str, problem["loc"])),
                why=problem["msg"],
            )
            for problem in error.errors(include_url=False)
        ]
        raise _wrong(MODEL_PRICES, joined(told)) from None


def _budget(tenant: str, node: yaml.Node) -> Decimal | None:
    text = _text(node)
    if text is not None and text.strip().lower() == UNLIMITED:
        return None
    try:
        amount = Decimal(text or "")
    except InvalidOperation:
        amount = Decimal("nan")
    if not amount.is_finite() or amount < 0:
        raise _wrong(DAILY_BUDGETS, Message("budgets.no_money", tenant=tenant, text=repr(text)))
    return amount


def _pairs(setting: str, given: str | None) -> Pairs:
    if given is None:
        return []
    text = given if _is_inline(given) else _read(setting, Path(given.strip()).expanduser())
    try:
        # Nodes, not values: as floats the amounts would lose their decimals, and a duplicate key
        # would silently replace the first.
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise _wrong(setting, Message("yaml.wrong", why=" ".join(str(error).split()))) from None
    no_mapping = Message("yaml.no_mapping")
    return [] if node is None else list(_entries(setting, node, no_mapping))


def _entries(setting: str, node: yaml.Node, problem: str) -> Iterator[tuple[str, yaml.Node]]:
    if not isinstance(node, yaml.MappingNode):
        raise _wrong(setting, problem)
    seen: set[str] = set()
    for key, value in node.value:
        name = _text(key)
        if not name:
            raise _wrong(setting, Message("yaml.no_key", n=key.start_mark.line + 1))
        if name in seen:
            raise _wrong(setting, Message("yaml.twice", name=name))
        seen.add(name)
        yield name, value


def _text(node: yaml.Node) -> str | None:
    return str(node.value) if isinstance(node, yaml.ScalarNode) else None


def _is_inline(given: str) -> bool:
    return given.lstrip().startswith("{") or ": " in given or "\n" in given.strip()


def _read(setting: str, path: Path) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise _wrong(setting, Message("file.has_bytes", path=path, most=MAX_BYTES))
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise _wrong(setting, Message("file.not_utf8", path=path)) from None
    except (OSError, ValueError) as error:
        raise _wrong(setting, Message("file.unreadable", path=path, why=error)) from None


def _wrong(setting: str, problem: str) -> ConfigurationError:
    return ConfigurationError(
        Message("setting.wrong", setting=setting, why=problem),
        hint=_HINTS[setting],
    )
