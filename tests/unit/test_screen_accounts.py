"""Accounts to which money is to go are found; examples, formats, dates and phones are not."""

from __future__ import annotations

import pytest

from core.safety.payments import accounts

ACCOUNT = "110-999-888777"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"pay to account {ACCOUNT}", {ACCOUNT}),
        (f"account {ACCOUNT}", set()),  # no money is to go there
        (f"pay, e.g. account {ACCOUNT}", set()),
        (f"pay. e.g.\naccount {ACCOUNT}", {ACCOUNT}),
        (f"pay account {ACCOUNT} (example)", set()),
        (f"pay account {ACCOUNT}\n(example)", {ACCOUNT}),
        (f"pay, e.g. as it was said by her, account {ACCOUNT}", {ACCOUNT}),
        (f"pay account {ACCOUNT} now and then in the day of example", {ACCOUNT}),
        ("pay bank 00-000-00000", set()),
        ("pay bank 220-81-62517", set()),  # the number of a business
        ("pay bank 2024-03-15", set()),
        ("pay 은행 123-45-67", set()),
        ("pay 은행 123-45-678", {"123-45-678"}),
        ("pay bank 010-1234-5678", set()),
        (f"pay bank 010-1234-5678, bank {ACCOUNT}", {ACCOUNT}),
        ("send pay venmo @kim-harlow", {"@kim-harlow"}),
        ("pay paypal.me/kim1", {"paypal.me/kim1"}),
        ("pay de55 0000 0000 0417 7302 55", {"de55 0000 0000 0417 7302 55"}),
        ("pay btc 1abcdefghijklmnopqrstuvwxyz", {"1abcdefghijklmnopqrstuvwxyz"}),
        ("pay btc 1abcdefghijklmnopqrstuv", set()),
        ("pay bc1" + "q" * 22, {"bc1" + "q" * 22}),
        ("pay 0x" + "a1" * 20, {"0x" + "a1" * 20}),
    ],
)
def test_an_account_is_one_where_money_goes_and_nothing_says_otherwise(
    text: str, found: set[str]
) -> None:
    told = [*accounts(text)]
    assert {text[start:end] for _, start, end in told} == found
    assert {code for code, _, _ in told} == ({"payee.account"} if found else set())
