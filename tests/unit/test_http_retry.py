"""Transient HTTP statuses and `Retry-After`: one rule for all HTTP clients."""

from __future__ import annotations

import pytest

from core.domain.http_retry import LONGEST, passes, retry_after

DATE = "Fri, 20 Nov 2026 10:00:00 GMT"


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529, 599])
def test_what_is_busy_slow_or_broken_passes(status: int) -> None:
    assert passes(status)


@pytest.mark.parametrize("status", [200, 304, 400, 401, 403, 404, 405, 410, 413, 422, 451])
def test_what_was_refused_does_not(status: int) -> None:
    assert not passes(status)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("7", 7.0),
        (" 1.5 ", 1.5),
        ("0", 0.0),
        ("-3", 0.0),
        ("Fri, 20 Nov 2026 10:01:30 GMT", 90.0),
        ("Fri, 20 Nov 2026 09:00:00 GMT", 0.0),
        ("Fri, 20 Nov 2126 10:00:00 GMT", LONGEST),
        ("9" * 400, LONGEST),
        ("inf", LONGEST),
        ("nan", None),
        ("", None),
        ("soon", None),
        ("Fri, 20 Nov 2026", None),
    ],
)
def test_when_to_come_back_is_read_and_bounded(value: str, expected: float | None) -> None:
    assert retry_after({"retry-after": value, "date": DATE}) == expected


def test_milliseconds_come_first_and_a_date_needs_the_server_s_own() -> None:
    assert retry_after({"retry-after-ms": "250", "retry-after": "9"}) == 0.25
    assert retry_after({"retry-after": DATE}) is None
    assert retry_after({}) is None
