"""Which HTTP statuses are transient, and how long to wait: one rule for every client."""

from __future__ import annotations

import math
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

# A server may send any number: an absurd delay must not stop work forever.
LONGEST = 86_400.0
# Timeout, Conflict (a server that is busy with the same thing), Too Early, Too Many Requests.
_PASSING = frozenset({408, 409, 425, 429})


def passes(status: int) -> bool:
    """Whether a call answered with this status may succeed later: 408, 409, 425, 429, 5xx."""
    return status in _PASSING or status >= 500


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return Retry-After (RFC 9110, section 10.2.3) in seconds, a day at most; None if absent.

    A date is read against the server's own clock, its `Date`. Some model providers send
    `retry-after-ms` as well. Header names are expected in lower case, or in a case-insensitive
    mapping.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        seconds = _number(headers.get(name, ""))
        if seconds is not None:
            return min(max(seconds * unit, 0.0), LONGEST)
    return _until(headers.get("retry-after", ""), headers.get("date", ""))


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return None if math.isnan(number) else number


def _until(due: str, now: str) -> float | None:
    try:
        wait = (parsedate_to_datetime(due) - parsedate_to_datetime(now)).total_seconds()
    except (ValueError, TypeError):  # not a date, or only one of the two has a time zone
        return None
    return min(max(wait, 0.0), LONGEST)
