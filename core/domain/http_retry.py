"""Which answers of HTTP servers pass, and when they say to come back: one rule for all borders."""

from __future__ import annotations

import math
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

# Who asks for more names a day: a number that is no wait at all must not stop work for ever.
LONGEST = 86_400.0
# Timeout, Conflict (a server that is busy with the same thing), Too Early, Too Many Requests.
_PASSING = frozenset({408, 409, 425, 429})


def passes(status: int) -> bool:
    """Tell whether a call that was answered so may succeed later: 408, 409, 425, 429, 5xx."""
    return status in _PASSING or status >= 500


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Read Retry-After (RFC 9110, section 10.2.3) in seconds, a day at most; None where unsaid.

    A date is taken by the server's own clock, its `Date`. `retry-after-ms` is what some model
    providers send besides. Names of headers are expected in lower case, or in a mapping that
    does not mind.
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
    except (ValueError, TypeError):  # no date; or one of them says no time zone
        return None
    return min(max(wait, 0.0), LONGEST)
