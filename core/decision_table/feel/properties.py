"""Parts of dates, times, durations and ranges, as in `due.year` (DMN 1.3, 10.3.2)."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from core.decision_table.feel.values import Months, NoValue, Range, Value, kind_of


def property_of(value: Value, name: str) -> Value:
    """Give a part of a value. Raises NoValue where the value has none of that name."""
    parts = _parts(value)
    if name not in parts:
        listed = ", ".join(f"'{part}'" for part in parts) or "none"
        raise NoValue(f"{kind_of(value)} has no part '{name}' (it has {listed})")
    found = parts[name]
    if isinstance(found, int) and not isinstance(found, bool):
        return Decimal(found)
    return found


def _parts(value: Value) -> dict[str, Value | int]:
    parts: dict[str, Value | int] = {}
    if isinstance(value, date):
        parts |= {"year": value.year, "month": value.month, "day": value.day}
        parts["weekday"] = value.isoweekday()
    if isinstance(value, (datetime, time)):
        parts |= {"hour": value.hour, "minute": value.minute, "second": _second(value)}
        zone = value.tzinfo
        parts |= {"time offset": value.utcoffset()}
        parts |= {"timezone": zone.key if isinstance(zone, ZoneInfo) else None}
    if isinstance(value, Range):
        parts |= {"start": value.low, "end": value.high}
        parts |= {"start included": value.low_closed, "end included": value.high_closed}
    if isinstance(value, Months):
        years, months = divmod(abs(value.count), 12)
        sign = -1 if value.count < 0 else 1
        parts |= {"years": sign * years, "months": sign * months}
    if isinstance(value, timedelta):
        sign = -1 if value < timedelta() else 1
        minutes, seconds = divmod(int(abs(value).total_seconds()), 60)
        parts |= {"days": sign * (minutes // 1440), "hours": sign * (minutes // 60 % 24)}
        parts |= {"minutes": sign * (minutes % 60), "seconds": sign * seconds}
    return parts


def _second(clock: datetime | time) -> Decimal:
    return clock.second + Decimal(clock.microsecond).scaleb(-6)
