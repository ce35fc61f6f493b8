"""Cost of a call: parsing of prices and budgets, and formatting of amounts."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage
from langchain_core.messages.ai import InputTokenDetails, UsageMetadata

from core.agent.model.chat_model import billed, usage_of
from core.agent.prices import Billing, Price, load_budgets, load_prices
from core.app.bootstrap.costs import billing
from core.app.settings import load_settings
from core.domain.errors import ConfigurationError
from core.domain.models import Usage
from core.domain.models.base import plain, shown

PRICE = Price(input=Decimal("2.50"), output=Decimal(10), cached_input=Decimal("1.25"))


def answered(input_tokens: int, output_tokens: int, cached: int | None = None) -> AIMessage:
    details = InputTokenDetails() if cached is None else InputTokenDetails(cache_read=cached)
    told = UsageMetadata(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        total_tokens=input_tokens + output_tokens,
        input_token_details=details,
    )
    return AIMessage("x", usage_metadata=told)


def test_a_call_costs_its_tokens_to_the_last_digit() -> None:
    usage = usage_of(billed(answered(1_003, 7), PRICE))
    assert usage == Usage(
        model_calls=1, input_tokens=1_003, output_tokens=7, cost=Decimal("0.0025775")
    )


def test_what_was_cached_costs_its_own_price_or_that_of_input() -> None:
    message = answered(1_000, 0, cached=400)
    assert usage_of(billed(message, PRICE)).cost == Decimal("0.002")
    same = PRICE.model_copy(update={"cached_input": None})
    assert usage_of(billed(message, same)).cost == Decimal("0.0025")
    assert PRICE.of(10, 0, cached_tokens=99) == PRICE.of(10, 0, cached_tokens=10)


def test_a_call_keeps_the_price_at_which_it_was_made() -> None:
    message = billed(answered(1_000_000, 0), PRICE)
    assert usage_of(message).cost == Decimal("2.5")
    assert usage_of(billed(AIMessage("x"), PRICE)) == Usage(model_calls=1)
    assert usage_of(billed(answered(5, 5), None)).cost == 0


def test_a_model_is_found_by_its_name_and_then_without_its_provider() -> None:
    table = load_prices("{gpt-4o: {input: 1, output: 1}, 'openai:gpt-4o': {input: 2, output: 2}}")
    found = [table.of(model) for model in ("openai:gpt-4o", "azure:gpt-4o", "gpt-4o", "other")]
    assert [price and price.input for price in found] == [2, 1, 1, None]
    assert load_prices(None).of("gpt-4o") is None


@pytest.mark.parametrize(
    "text",
    ["gpt-4o: {input: 2.50, output: 10}\n", '\ufeff{"gpt-4o": {"input": "2.50", "output": 10.0}}'],
)
def test_prices_are_read_from_a_file_as_they_are_written(text: str, tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(text, encoding="utf-8")
    price = load_prices(str(path)).of("gpt-4o")
    assert price is not None
    assert (str(price.input), price.output) == ("2.50", 10)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("{gpt-4o: 1}", "'gpt-4o' needs a mapping with input and output"),
        ("{gpt-4o: {input: 1}}", "'gpt-4o', output: Field required"),
        ("{gpt-4o: {input: cheap, output: 1}}", "'gpt-4o', input: Input should be a valid decimal"),
        ("{gpt-4o: {input: -1, output: 1}}", "greater than or equal to 0"),
        ("{gpt-4o: {input: .nan, output: 1}}", "'gpt-4o', input"),
        ("{gpt-4o: {input: 1, output: 1, price: 3}}", "'gpt-4o', price: Extra inputs"),
        ("{a: {input: 1, output: 1}, a: {input: 2, output: 2}}", "'a' stands there twice"),
        ("{? [1] : {input: 1, output: 1}}", "line 1 has a key that is no name"),
        ("{a: ", "it is no YAML"),
        ("- a: 1\n- b: 2", "it is no mapping"),
        ("/nowhere/prices.yaml", "/nowhere/prices.yaml cannot be read: No such file"),
        ("/", "/ cannot be read"),
    ],
)
def test_a_bad_table_says_what_is_wrong_and_how_to_write_it(given: str, problem: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_prices(given)
    assert caught.value.message.startswith("MODEL_PRICES: ")
    assert problem in caught.value.message
    assert "docs/how-to/cost.md" in caught.value.hint


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigurationError, match="not UTF-8"):
        load_prices(str(path))
    path.write_bytes(b" " * 1_000_001)
    with pytest.raises(ConfigurationError, match="more than 1000000 bytes"):
        load_prices(str(path))


def test_budgets_are_money_or_none() -> None:
    assert load_budgets("{acme: 0.30, lab: none, '7': 0}") == {
        "acme": Decimal("0.30"),
        "lab": None,
        "7": Decimal(0),
    }
    for bad in ("{acme: -1}", "{acme: much}", "{acme: .inf}", "{acme: {a: 1}}"):
        with pytest.raises(ConfigurationError, match="DAILY_BUDGETS: the budget of 'acme' is"):
            load_budgets(bad)


@pytest.mark.parametrize("setting", ["daily_budget", "daily_budgets"])
def test_a_budget_needs_the_price_of_the_model(setting: str) -> None:
    value = {"daily_budget": "5", "daily_budgets": "{t: 5}"}[setting]
    given = {setting: value, "llm_model": "openai:gpt-4o"}
    settings = load_settings(given, env_file=None)
    with pytest.raises(ConfigurationError, match="no price for 'openai:gpt-4o'"):
        billing(settings)
    assert billing(settings, asks=False).price is None
    assert billing(settings, offline=True).model == "offline"
    priced = load_settings(
        given | {"model_prices": "{gpt-4o: {input: 1, output: 1}}"}, env_file=None
    )
    assert billing(priced).can_cost


def test_a_setting_that_is_no_money_is_named() -> None:
    for bad in ("-1", "much", "nan"):
        with pytest.raises(ConfigurationError, match="DAILY_BUDGET: "):
            load_settings({"daily_budget": bad}, env_file=None)


def test_calls_are_unpriced_without_a_price_or_told_tokens() -> None:
    spent = Usage(model_calls=2, input_tokens=5)
    assert Billing("m", PRICE).unpriced(spent) == 0
    assert Billing("m", PRICE).unpriced(Usage(model_calls=1)) == 1
    assert Billing("m").unpriced(spent) == 2
    free = Billing("m", Price(input=Decimal(0), output=Decimal(0)))
    assert (free.unpriced(spent), free.can_cost, Billing("m", PRICE).can_cost) == (0, False, True)


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("5", "5.00 USD"),
        ("0", "0.00 USD"),
        ("1.5", "1.50 USD"),
        ("0.0025775", "0.002578 USD"),
        ("0.000000123", "<0.000001 USD"),
        ("1E+3", "1000.00 USD"),
    ],
)
def test_money_is_shown_with_two_to_six_places(amount: str, text: str) -> None:
    assert shown(Decimal(amount), "USD") == text


def test_money_in_events_is_plain_digits() -> None:
    assert [plain(Decimal(text)) for text in ("1E+3", "0E-6", "0.10", "100")] == [
        "1000",
        "0",
        "0.1",
        "100",
    ]
    assert Usage(cost=Decimal("1E-7")).model_dump(mode="json")["cost"] == "0.0000001"
